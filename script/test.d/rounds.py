# SPDX-License-Identifier: Apache-2.0
"""`script/test --repeat` and `--sanitize`: the same tests many times, or in another build."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import swift_tests
from plan_run import FAILED_LOGS, closing, count_text, no_such_test, say_skipped
from results import Results, read_compiler, read_swift
from running import Command, Display, Running, stop
from steps import Context, NoSuchTest, Step, is_wire, swift_step

KEPT = Path(".build/repeat")
# A thousand threads take minutes under a sanitizer, and so does one thread that writes much: there is no race to be found in
# that. WireTests wait for programs that are not built so.
SLOW_UNDER_SANITIZERS = ("a thousand workers", "a real disk that is full", "a mailbox of several pieces", "many removals of one name")


def complete(step: Running, display: Display) -> Running:
    """Polls until it has ended."""
    try:
        while not step.poll():
            display.show([step])
            time.sleep(0.2)
    finally:
        display.clear()
        stop([step])
    return step


def text_of(step: Running) -> str:
    return "".join(log.read_text(errors="replace") for log in step.logs if log.exists())


def repeated(count: int, steps: list[Step], context: Context) -> int:
    """Runs the tests so often, beside a process that keeps one core busy. Returns the exit status."""
    display = Display()
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    for step in (step for step in steps if not step.tests):
        made = complete(Running(step.name, step.commands(context), step.width, step.read), display)
        if made.worst != 0:
            print(f"{text_of(made)[-4000:]}\n{step.name}: FAILED")
            return 1
        if step.name == "release":
            context.program = Path(made.logs[0].read_text().splitlines()[-1])
    # The kernel ends it with this script.
    command = ["setpriv", "--pdeathsig", "KILL", "--", sys.executable, "-c", "while True: pass"]
    busy = subprocess.Popen(command, start_new_session=True)
    try:
        return _rounds(count, [step for step in steps if step.tests], context, display)
    finally:
        busy.kill()
        busy.wait()


def _rounds(count: int, steps: list[Step], context: Context, display: Display) -> int:
    failed_rounds, everything = 0, list[Results]()
    for number in range(1, count + 1):
        results, is_well = list[Results](), True
        for step in steps:
            try:
                running = complete(Running(step.name, step.commands(context), step.width, step.read), display)
            except NoSuchTest:
                continue
            # pytest's 5: no test is called so.
            if running.worst == 5 and running.results.ended == 0:
                continue
            results.append(running.results)
            if running.worst != 0 or running.results.failed:
                is_well = False
                kept = KEPT / f"{step.name}-{number}.log"
                kept.write_text(text_of(running))
                display.say(f"round {number}: {', '.join(running.results.failed) or f'status {running.worst}'}: {kept}")
        if not results:
            return no_such_test([step.name for step in steps], context)
        failed_rounds += not is_well
        everything += results
        display.say(f"round {number} of {count}: {', '.join(map(count_text, results))}; {failed_rounds} rounds failed so far")
    say_skipped(everything)
    passed = sum(result.passed for result in everything)
    failed = max(sum(len(result.failed) for result in everything), failed_rounds)
    print(closing(passed, failed, sum(len(result.skipped) for result in everything)))
    return 1 if failed_rounds or not passed else 0


def sanitized(sanitizer: str, context: Context) -> int:
    """The tests of the modules in a build of their own; any report is a failure, also of a program that a test has started."""
    display = Display()
    options = [f"--sanitize={sanitizer}", "--scratch-path", f".build/sanitize-{sanitizer}"]
    words = ["swift", "build", "--build-tests", *options]
    build = complete(Running("build", [Command(words, context.log("build"))], 1, read_compiler), display)
    display.say(f"{'build':<13} {build.seconds:5.0f} s  with the {sanitizer} sanitizer")
    if build.worst != 0:
        print(text_of(build)[-8000:])
        return 1
    swift_tests.BUNDLE = Path(f".build/sanitize-{sanitizer}/debug/app-backendPackageTests.xctest")
    tests = [test for test in swift_tests.list_tests() if not is_wire(test)]
    slow = [test for test in tests if any(part in test for part in SLOW_UNDER_SANITIZERS)]
    for test in filter(context.matches, slow):
        print(f"Left out: {test}, which takes minutes under a sanitizer")
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    try:
        commands = swift_step("modules", [test for test in tests if test not in slow], context, environment)
    except NoSuchTest:
        return no_such_test(["modules"], context)
    step = complete(Running("modules", commands, swift_tests.WIDTH, read_swift), display)
    display.say(f"{'modules':<13} {step.seconds:5.0f} s  {count_text(step.results)}")
    lines = text_of(step).replace("✘", "\n✘").splitlines()
    reports = [line for line in lines if "Sanitizer:" in line]
    is_well = step.worst == 0 and not reports and not step.results.failed
    if not is_well:
        FAILED_LOGS.mkdir(parents=True, exist_ok=True)
        kept = FAILED_LOGS / f"sanitize-{sanitizer}.log"
        kept.write_text(text_of(step))
        print("\n".join([line for line in lines if line.startswith("✘")] + reports))
        print(f"The whole output: {kept}")
    say_skipped([step.results])
    failed = max(len(step.results.failed) + len(reports), not is_well)
    print(closing(step.results.passed, failed, len(step.results.skipped)))
    return 0 if is_well else 1
