# SPDX-License-Identifier: Apache-2.0
"""The bundle of Swift's tests: its list, and its division among processes.

A test holds one of as many threads as there are cores also while it waits for another process, and most of what the longer
tests do is wait. So the suites are divided among more processes than there are cores. SwiftPM runs one at a time, so the
bundle is started without it.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

BINARIES = Path(".build/debug")
BUNDLE = BINARIES / "app-backendPackageTests.xctest"
LIBRARY = ["--testing-library", "swift-testing"]
LIST_SECONDS = 120
# Of one process: each of a hundred tests that wait without success takes minutes; a limit ends the run before all have.
PROCESS_SECONDS = 2700
# Processes at a time, and how many shares of the tests they take in turn: with more shares they end at about the same time,
# and each share costs a start of the bundle (0.1 s).
WIDTH = 4
SHARES = 16
# So many tests are started in one process. The names of all would be too long for an argument (128 KiB).
FEW = 100
# A suite or module, and a function in it, whose name may have any character but a backtick.
NAME = re.compile(r"^(.*)[/.](`[^`]*`|[^`/.(]+)\([^/]*\)$")
# Of a test that no run has measured.
GUESS_SECONDS = 0.1


def list_tests() -> list[str]:
    """The names of all tests in the bundle, such as `JSONTests.ReadingTests/numbers()`."""
    command = [str(BUNDLE.absolute()), *LIBRARY, "--list-tests"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIST_SECONDS, stdin=subprocess.DEVNULL)
    return sorted(line for line in listed.stdout.splitlines() if re.match(r"^\w+Tests\.", line))


def suite(test: str) -> str:
    """`WireTests.WireTests/ArrowStories/...` is in `WireTests.WireTests/ArrowStories`; a test of no suite is in its module."""
    match = NAME.match(test)
    return match[1] if match else test


def shares(tests: list[str], known: dict[str, float]) -> list[list[str]]:
    """The tests in at most `SHARES` groups of about equal length, the longest first; by durations as far as they are known.

    A suite stays whole: its tests may share a server that the first of them starts.
    """
    suites: dict[str, list[str]] = {}
    for test in tests:
        suites.setdefault(suite(test), []).append(test)
    lengths = {name: sum(known.get(test, GUESS_SECONDS) for test in members) for name, members in suites.items()}
    groups: list[tuple[float, list[str]]] = [(0, []) for _ in range(min(SHARES, len(suites)))]
    for name in sorted(suites, key=lambda name: (-lengths[name], name)):
        index = min(range(len(groups)), key=lambda index: groups[index][0])
        groups[index] = (groups[index][0] + lengths[name], groups[index][1] + suites[name])
    return [members for _, members in sorted(groups, key=lambda group: -group[0])]


def command(tests: list[str], events: Path) -> list[str]:
    """Runs these tests one after the other: within a limit, and with mounts of its own, which the kernel takes down at its end.

    One at a time, because a test that waits for a thread of the process is measured as if it had run all the while.
    """
    limited = ["timeout", "--foreground", "--kill-after=30", str(PROCESS_SECONDS)]
    mounts = ["unshare", "--mount", "--"] if can_mount() else []
    told = ["--event-stream-version", "0", "--event-stream-output-path", str(events)]
    return [*limited, *mounts, str(BUNDLE.absolute()), *LIBRARY, "--no-parallel", *told, "--filter", pattern(tests)]


def pattern(tests: list[str]) -> str:
    """A regular expression that matches these names and no others. The library puts the file behind each name."""
    return "^(" + "|".join(re.escape(test) for test in sorted(tests)) + ")/[^/]*$"


@cache
def can_mount() -> bool:
    """Whether tests may mount disks: root may, where the machine does not forbid it."""
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
