# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: appends a line of JSON to $APP_BACKEND_TEST_EVENTS for the number of tests, and for each that ended."""

import json
import os
from typing import Any

import pytest

FILE = os.environ.get("APP_BACKEND_TEST_EVENTS")
_seconds: dict[str, float] = {}
_outcomes: dict[str, tuple[str, str]] = {}


def _write(**event: Any) -> None:
    if FILE is None:
        return
    # One write at the end of the file: several processes share it.
    with open(FILE, "a", encoding="utf-8", buffering=1) as file:
        file.write(json.dumps(event) + "\n")


def pytest_collection_finish(session: pytest.Session) -> None:
    # xdist's workers do not report, and the process that leads them has no tests.
    if not hasattr(session.config, "workerinput") and not session.config.getoption("numprocesses", None):
        _write(total=len(session.items))


_counted = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    # Every worker collects the same tests.
    global _counted
    if not _counted:
        _counted = True
        _write(total=len(ids))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return
    name = report.nodeid
    _seconds[name] = _seconds.get(name, 0) + report.duration
    before = _outcomes.get(name)
    if before is None or before[0] == "passed":
        reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
        _outcomes[name] = (report.outcome, reason.removeprefix("Skipped: "))
    if report.when == "teardown":
        outcome, reason = _outcomes.pop(name)
        _write(test=name, outcome=outcome, seconds=round(_seconds.pop(name), 3), reason=reason)
