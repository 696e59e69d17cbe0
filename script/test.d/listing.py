# SPDX-License-Identifier: Apache-2.0
"""`script/test --list`: the steps with their last durations, and the slowest tests of each."""

from pathlib import Path

from history import History
from steps import ALL, DAILY, STEPS, Step

SLOWEST = 10
# A test above this needs a reason in `slow-tests`, in seconds.
NEEDS_REASON = 5
REASONS = Path(__file__).with_name("slow-tests")


def reasons(text: str) -> list[tuple[str, str, str]]:
    """The rows of `slow-tests`: step, part of a test's name, reason."""
    rows = [line.split("|") for line in text.splitlines() if line and not line.startswith("#")]
    return [(step.strip(), name.strip(), reason.strip()) for step, name, reason in rows]


def print_list(history: History) -> None:
    known = reasons(REASONS.read_text())
    print(f"{'step':<13} {'seconds':>8} {'cpu':>6} {'tests':>6}  of")
    for step in STEPS:
        last = history.step(f"{step.name} --all") or history.step(step.name)
        numbers = f"{last.get('seconds', 0):8.0f} {last.get('cpu', 0):6.0f} {last.get('tests') or '':>6}" if last else f"{'~' + str(step.seconds):>8} {'':>6} {'':>6}"
        heights = [flag for flag, names in (("script/test", DAILY), ("--all", ALL)) if step.name in names]
        print(f"{step.name:<13} {numbers}  {step.title} ({', '.join(heights)})")
    print("~: not measured here; on two quiet cores, in a fresh clone.")
    for step in STEPS:
        print_slowest(step, history, known)


def print_slowest(step: Step, history: History, known: list[tuple[str, str, str]]) -> None:
    tests = history.tests(f"{step.name} --all") or history.tests(step.name)
    slowest = sorted(tests.items(), key=lambda item: -item[1])[:SLOWEST]
    if not slowest or slowest[0][1] < 0.05:
        return
    print(f"\nSlowest of {step.name}:")
    for name, seconds in slowest:
        reason = next((why for where, part, why in known if where == step.name and part in name), None)
        if reason is None and seconds > NEEDS_REASON:
            reason = "no reason is written down in script/test.d/slow-tests"
        print(f"{seconds:8.1f} s  {name}" + (f": {reason}" if reason else ""))
