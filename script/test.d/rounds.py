# SPDX-License-Identifier: Apache-2.0
"""`script/test --repeat` and `--sanitize`: the same tests many times, or in another build."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import swift_tests
from results import Results, read_compiler, read_swift
from running import Command, Display, Running
from steps import Context, NoSuchTest, Step, is_wire, swift_command

KEPT = Path(".build/repeat")
# A thousand threads take minutes under a sanitizer, and so does one thread that writes much: there is no race to be found in
# that. WireTests wait for programs that are not built so.
SLOW_UNDER_SANITIZERS = "a thousand workers|a real disk that is full|a mailbox of several pieces|many removals of one name"


def complete(running: Running, display: Display) -> Running:
    """Polls until it has ended."""
    try:
        while not running.poll():
            display.show([running])
            time.sleep(0.2)
    finally:
        running.stop()
    return running


def repeated(count: int, steps: list[Step], context: Context) -> int:
    """Runs the tests so often, beside a process that keeps one core busy. Returns the exit status."""
    display = Display()
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    for step in (step for step in steps if not step.tests):
        made = complete(Running(step.name, step.commands(context), step.width, step.read), display)
        if made.worst != 0:
            print(made.logs[0].read_text(errors="replace")[-4000:])
            print(f"{step.name}: FAILED")
            return 1
        if step.name == "release":
            context.program = Path(made.logs[0].read_text().splitlines()[-1])
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    try:
        return _rounds(count, [step for step in steps if step.tests], context, display)
    finally:
        busy.kill()
        busy.wait()


def _rounds(count: int, steps: list[Step], context: Context, display: Display) -> int:
    failures = passed = failed = 0
    for number in range(1, count + 1):
        results = []
        for step in steps:
            try:
                running = complete(Running(step.name, step.commands(context), step.width, step.read), display)
            except NoSuchTest:
                continue
            if running.worst == 5 and running.results.ended == 0:
                continue
            results.append(running.results)
            if running.worst != 0 or running.results.failed:
                failures += 1
                failed += max(1, len(running.results.failed))
                kept = KEPT / f"{step.name}-{number}.log"
                kept.write_text("".join(log.read_text(errors="replace") for log in running.logs))
                display.say(f"round {number}: {', '.join(running.results.failed) or 'the process'} failed: {kept}")
        if not any(result.ended for result in results):
            print(f"No test of {', '.join(step.name for step in steps)} has such a name: {' '.join(context.filters)}", file=sys.stderr)
            return 2
        passed += sum(result.passed for result in results)
        display.say(f"round {number} of {count}: {sum(result.passed for result in results)} passed, {failures} failed rounds so far")
    print(f"{passed} passed, {failed} failed")
    return 1 if failures else 0


def sanitized(sanitizer: str, context: Context) -> int:
    """The tests of the modules in a build of their own; any report is a failure, also of a program that a test has started."""
    display = Display()
    options = [f"--sanitize={sanitizer}", "--scratch-path", f".build/sanitize-{sanitizer}"]
    words = ["swift", "build", "--build-tests", *options]
    build = complete(Running("build", [Command(words, context.log("build"))], 1, read_compiler), display)
    display.say(f"build with the {sanitizer} sanitizer {build.seconds:5.0f} s")
    if build.worst != 0:
        print(build.logs[0].read_text(errors="replace")[-8000:])
        return 1
    swift_tests.BUNDLE = Path(f".build/sanitize-{sanitizer}/debug/app-backendPackageTests.xctest")
    chosen = [test for test in swift_tests.list_tests() if not is_wire(test) and context.matches(test)]
    chosen = [test for test in chosen if not any(part in test for part in SLOW_UNDER_SANITIZERS.split("|"))]
    if not chosen:
        print(f"No test of modules has such a name: {' '.join(context.filters)}", file=sys.stderr)
        return 2
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    command = swift_command(chosen, "sanitized", context, environment)
    running = complete(Running("modules", [command], 1, read_swift), display)
    text = running.logs[0].read_text(errors="replace")
    reports = [line for line in text.splitlines() if "Sanitizer:" in line]
    print("\n".join([line for line in text.splitlines() if line.startswith("✘")] + reports))
    results: Results = running.results
    is_well = running.worst == 0 and not reports
    if not is_well:
        kept = Path(".build/failed-steps")
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(running.logs[0], kept / f"sanitize-{sanitizer}.log")
        print(f"The whole output: {kept / f'sanitize-{sanitizer}.log'}")
    print(f"{results.passed} passed, {len(results.failed) + len(reports)} failed" + (f", {len(results.skipped)} skipped" if results.skipped else ""))
    return 0 if is_well else 1

