# SPDX-License-Identifier: Apache-2.0
"""Called by `script/test`, which has its usage: plans the steps, runs them, and counts what they proved."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import rounds
from announcement import announce, install_packages, say_left_out
from arguments import Arguments, UsageError
from history import History
from listing import print_list
from plan_run import Run
from steps import ALL, BY_NAME, DAILY, NEED_BLACK_BOX, STEPS, Context, Step


def main(words: list[str]) -> int:
    try:
        arguments = Arguments.parse(words)
    except UsageError as error:
        print(f"script/test: {error}", file=sys.stderr)
        return 2
    history = History()
    if arguments.lists:
        print_list(history)
        return 0
    steps = plan(arguments)
    with tempfile.TemporaryDirectory(prefix="app-backend-test-") as scratch:
        context = Context(Path(scratch), history, arguments.filters, needs_black_box(steps), arguments.with_browsers)
        context.planned = frozenset(step.name for step in steps)
        announce(steps, context, arguments)
        install_packages(steps, context)
        say_left_out(steps, context, arguments)
        if arguments.sanitizer:
            return rounds.sanitized(arguments.sanitizer, context)
        if arguments.repeat:
            return rounds.repeated(arguments.repeat, steps, context)
        run = Run(steps, context)
        run.carry_out()
        return run.finish()


def plan(arguments: Arguments) -> list[Step]:
    """The steps that were asked for, and those that they come after, in the order of the table."""
    names = set(arguments.steps or (ALL if arguments.is_all else DAILY))
    if arguments.filters and not arguments.steps:
        names = {"format"} | ({step.name for step in STEPS if step.tests} if arguments.is_all else {"modules", "stories"})
    if arguments.sanitizer:
        return []
    while missing := {before for name in names for before in BY_NAME[name].after} - names:
        names |= missing
    if os.geteuid() != 0 and not arguments.steps:
        names.discard("install")
    # With the debug build; `wire` has the same tests with the release build.
    if "wire" in names:
        names.discard("stories")
    return [step for step in STEPS if step.name in names]


def needs_black_box(steps: list[Step]) -> bool:
    return any(step.name in NEED_BLACK_BOX for step in steps)


def interrupted(number: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for caught in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(caught, interrupted)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        sys.exit(130)
