# SPDX-License-Identifier: Apache-2.0
"""What a step's tests have said: counts, durations and reasons, read from the output of their runner while it grows."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Results:
    """`total` is 0 until it is known. `seconds` has every test that ended, by its name."""

    total: int = 0
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    # Of Swift's tests: those that run, and since when.
    began: dict[str, float] = field(default_factory=dict)
    # For steps whose runner counts something else, such as a compiler.
    progress: str = ""

    @property
    def ended(self) -> int:
        return self.passed + len(self.failed) + len(self.skipped)

    def add(self, name: str, outcome: str, seconds: float, reason: str = "") -> None:
        self.seconds[name] = seconds
        if outcome == "passed":
            self.passed += 1
        elif outcome == "skipped":
            self.skipped.append((name, reason))
        else:
            self.failed.append(name)


class Reader:
    """Reads what a file has gained since the last call, whole lines only."""

    def __init__(self, file: Path):
        self.file, self.offset = file, 0

    def lines(self) -> list[str]:
        try:
            with self.file.open("rb") as file:
                file.seek(self.offset)
                text = file.read()
        except FileNotFoundError:
            return []
        end = text.rfind(b"\n") + 1
        self.offset += end
        # Not splitlines(), which ends a line at characters that tests are about.
        return [line for line in text[:end].decode(errors="replace").split("\n") if line]


SWIFT_FUNCTION = re.compile(r"^(.*)/[^/]*\.swift:\d+:\d+$")
UNITTEST_END = re.compile(r"^(.*) \.\.\. (?:.* )?(ok|FAIL|ERROR|skipped '(.*)')$")
COMPILED = re.compile(r"^\[(\d+)/(\d+)\]")


def read_swift(results: Results, line: str) -> None:
    """A line of Swift Testing's event stream (ABI version 0). Suites, which end too, have no place in a file behind their names."""
    event = json.loads(line)["payload"]
    match = SWIFT_FUNCTION.match(event.get("testID", ""))
    if match is None:
        return
    text = "".join(message["text"] for message in event["messages"])
    if event["kind"] == "testStarted":
        results.began[match[1]] = event["instant"]["absolute"]
    elif event["kind"] == "testEnded":
        is_well = all(message["symbol"] != "fail" for message in event["messages"])
        seconds = event["instant"]["absolute"] - results.began.pop(match[1], event["instant"]["absolute"])
        results.add(match[1], "passed" if is_well else "failed", round(seconds, 3))
    elif event["kind"] == "testSkipped":
        results.add(match[1], "skipped", 0, text.partition('skipped: "')[2].rstrip('"'))


def read_compiler(results: Results, line: str) -> None:
    """A line of SwiftPM's."""
    if match := COMPILED.match(line):
        results.progress = f"{match[1]} of {match[2]}"


def read_unittest(results: Results, line: str) -> None:
    """A line of `python3 -m unittest --verbose`, whose outcome may be on the line after the test's name."""
    if match := UNITTEST_END.match(line):
        outcome = {"ok": "passed", "FAIL": "failed", "ERROR": "failed"}.get(match[2], "skipped")
        results.add(f"{match[1]} {results.ended}", outcome, 0, match[3] or "")


def read_pytest(results: Results, line: str) -> None:
    """A line of `pytest_events.py`."""
    event = json.loads(line)
    if "total" in event:
        results.total += event["total"]
    else:
        results.add(event["test"], event["outcome"], event["seconds"], event["reason"])


def read_nothing(results: Results, line: str) -> None:
    """For a step that is itself the test."""
