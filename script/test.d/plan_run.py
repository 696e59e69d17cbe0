# SPDX-License-Identifier: Apache-2.0
"""Carries out a plan of steps on two cores, and says how it ended."""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import swift_tests
from results import Results
from running import Display, Running, stop
from steps import BLACK_BOX, BY_NAME, STEPS, Context, NoSuchTest, Step

CORES = 2
POLL_SECONDS = 0.2
FAILED_LOGS = Path(".build/failed-steps")
# Of a failed step whose runner marks no failures.
TAIL_LINES = 100
FAILURE = re.compile(r"^✘|Fatal error|error:|^(FAILED|ERROR|FAIL)\b|^E  |ended by signal")


def estimate(step: Step, context: Context) -> float:
    return context.history.seconds(context.key(step.name)) or step.seconds


def next_step(waiting: list[Step], running: list[Step], planned: set[str], ended: set[str]) -> Step | None:
    """The first step whose needs have ended and whose cores are free. None overtakes a step that waits for all cores."""
    busy = sum(step.cores for step in running)
    for step in waiting:
        if any(name in planned and name not in ended for name in step.after):
            continue
        if busy + step.cores <= CORES:
            return step
        if step.cores == CORES:
            return None
    return None


def length(steps: list[Step], context: Context) -> float:
    """The estimate of the whole, in seconds."""
    waiting, running, ended, now = list(steps), list[tuple[float, Step]](), set[str](), 0.0
    planned = {step.name for step in steps}
    while waiting or running:
        while step := next_step(waiting, [step for _, step in running], planned, ended):
            waiting.remove(step)
            running.append((now + estimate(step, context), step))
        first = min(running, key=lambda pair: pair[0])
        running.remove(first)
        now = first[0]
        ended.add(first[1].name)
    return now


def no_such_test(tested: Collection[str], context: Context) -> int:
    """Says that the filters match nothing in these steps. Returns the exit status."""
    print(f"No test of {', '.join(name for name in BY_NAME if name in tested)} has such a name: {' '.join(context.filters)}", file=sys.stderr)
    if others := ", ".join(step.name for step in STEPS if step.tests and step.name not in tested):
        print(f"Other steps have tests, too: {others}. script/test STEP FILTER looks there.", file=sys.stderr)
    if "modules" in tested and not (context.black_box or BLACK_BOX.items() <= os.environ.items()):
        words = " ".join("=".join(pair) for pair in BLACK_BOX.items())
        print(f"Tests in folders named BlackBox are built by --all, or after {words} in the environment.", file=sys.stderr)
    return 2



class Run:
    """Carries out a plan: begins each step as soon as a core is free and what it needs has passed."""

    def __init__(self, steps: list[Step], context: Context):
        self.waiting, self.context = list(steps), context
        self.running: dict[str, Running] = {}
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.results: dict[str, Results] = {}
        self.without_match: list[str] = []
        self.display = Display()
        self.started = time.monotonic()
        self.planned = {step.name for step in steps}

    def carry_out(self) -> None:
        try:
            while self.waiting or self.running:
                self.begin_what_can()
                for name, running in list(self.running.items()):
                    if running.poll():
                        del self.running[name]
                        self.end(BY_NAME[name], running)
                self.display.show(list(self.running.values()))
                if self.running:
                    time.sleep(POLL_SECONDS)
        finally:
            self.display.clear()
            stop(list(self.running.values()))

    def begin_what_can(self) -> None:
        for step in [step for step in self.waiting if any(name in self.failed for name in step.after)]:
            self.waiting.remove(step)
            self.failed.add(step.name)
            causes = ", ".join(name for name in step.after if name in self.failed)
            self.display.say(f"{step.name:<13}          not run: {causes} failed")
        while step := next_step(self.waiting, [BY_NAME[name] for name in self.running], self.planned, self.passed):
            self.waiting.remove(step)
            self.begin(step)

    def begin(self, step: Step) -> None:
        try:
            commands = step.commands(self.context)
        except NoSuchTest:
            self.passed.add(step.name)
            self.without_match.append(step.name)
            return
        except (OSError, subprocess.SubprocessError) as error:
            self.failed.add(step.name)
            self.display.say(f"{step.name:<13}          FAILED  {error}")
            return
        self.running[step.name] = Running(step.name, commands, step.width, step.read)

    def end(self, step: Step, running: Running) -> None:
        results = self.results[step.name] = running.results
        # pytest says 5 where no test is called so.
        if self.context.filters and step.tests and running.worst in (0, 5) and results.ended == 0:
            self.passed.add(step.name)
            self.without_match.append(step.name)
            return
        is_well = running.worst == 0 and not results.failed
        (self.passed if is_well else self.failed).add(step.name)
        counted = count_text(results) if step.tests or results.ended else step.title
        self.display.say(f"{step.name:<13} {running.seconds:5.0f} s  {'' if is_well else 'FAILED  '}{counted}")
        if not is_well:
            show_failure(step, running)
        elif not self.context.filters and (step.name != "browsers" or self.context.with_browsers):
            self.context.history.note(self.context.key(step.name), running.seconds, running.cpu, results.seconds)
        if step.name == "release" and is_well:
            self.context.program = Path(running.logs[0].read_text().splitlines()[-1])

    def finish(self) -> int:
        """The closing lines. Returns the exit status."""
        tested = [name for name in self.planned if BY_NAME[name].tests]
        if self.context.filters and tested and all(name in self.without_match for name in tested):
            return no_such_test(tested, self.context)
        say_skipped(list(self.results.values()))
        hashes = self.context.hashes
        if hashes:
            program = self.context.program
            print(f"One executable in {', '.join(hashes)}: {program}, SHA-256 {' '.join(sorted(set(hashes.values())))}")
            if len(set(hashes.values())) > 1:
                self.failed.add("release")
        passed = sum(results.passed for results in self.results.values())
        failed = sum(max(len(results.failed), name in self.failed) for name, results in self.results.items())
        skipped = sum(len(results.skipped) for results in self.results.values())
        minutes, seconds = divmod(round(time.monotonic() - self.started), 60)
        names = [step.name for step in STEPS if step.name in self.failed]
        outcome = f"Failed: {', '.join(names)}" if names else "All steps passed"
        print(f"{outcome}. {minutes} min {seconds} s.")
        print(closing(passed, failed, skipped))
        return 1 if self.failed else 0


def say_skipped(all_results: list[Results]) -> None:
    """A line for each reason."""
    skips = Counter(reason for results in all_results for _, reason in results.skipped)
    for reason, number in sorted(skips.items()):
        print(f"Skipped: {number} {'test' if number == 1 else 'tests'}: {reason or 'no reason given'}")


def closing(passed: int, failed: int, skipped: int) -> str:
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def count_text(results: Results) -> str:
    parts = [f"{results.passed} passed"]
    parts += [f"{len(results.failed)} failed"] if results.failed else []
    parts += [f"{len(results.skipped)} skipped"] if results.skipped else []
    return ", ".join(parts)


def show_failure(step: Step, running: Running) -> None:
    """Prints what the runner marks as a failure, else the end of the output; keeps the whole."""
    FAILED_LOGS.mkdir(parents=True, exist_ok=True)
    kept = FAILED_LOGS / f"{step.name}.log"
    with kept.open("w") as file:
        for log in running.logs:
            if log.exists():
                # The runner may print a result behind a test's own output.
                file.write(log.read_text(errors="replace").replace("✘", "\n✘"))
        for log, status in running.statuses:
            if status < 0 or status > 1:
                file.write(f"{log.stem}: {end_text(status)}\n")
    lines = [line for line in kept.read_text(errors="replace").splitlines() if not line.endswith(" ... ok")]
    marked = [line for line in lines if FAILURE.search(line) or ": ended " in line]
    for line in (marked if step.tests and marked else lines)[-TAIL_LINES:]:
        print(f"    {line}")
    print(f"    The whole output: {kept}", flush=True)


def end_text(status: int) -> str:
    if status == 124:
        return f"ended by the limit of {swift_tests.PROCESS_SECONDS} s"
    if status < 0 or status > 128:
        return f"ended by signal {-status if status < 0 else status - 128}"
    return f"ended with status {status}"
