# SPDX-License-Identifier: Apache-2.0
"""What every test run does about its end and about failures. A conftest.py imports it: the hooks by their names."""

import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deadline import wait_until

# Of a test, and of all of them: whether one has failed.
FAILED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    # Told to end, the tests end as upon Ctrl-C: they stop everything that they have started.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
        item.session.stash[FAILED] = True
    return report


def empty_folder(path: Path) -> Path:
    """Made again, without what an earlier run has left in it."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


@contextmanager
def scratch_folder(prefix: str, session: pytest.Session, leavings: Path) -> Iterator[Path]:
    """Goes with the tests; logs in it stay, in `leavings`, when one has failed."""
    made = Path(tempfile.mkdtemp(prefix=prefix))
    yield made
    if session.stash.get(FAILED, False):
        for log in [*made.glob("*.log"), *made.glob("nginx/log/*.log")]:
            shutil.copy(log, leavings / "-".join(log.relative_to(made).parts))
    wait_until(lambda: _is_removed(made), f"{made} can be removed")


def _is_removed(folder: Path) -> bool:
    """Not while a process that was told to end still writes into it."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
