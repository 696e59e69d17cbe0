# SPDX-License-Identifier: Apache-2.0
"""A control group of a booted system's own, so that two systems do not share the groups of their services."""

import contextlib
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from deadline import wait_until
from mounts import mount, unmount

PREFIX = "app-backend-tests-"


class ControlGroup:
    """Exists while the `with` block lasts. Processes that are in it at the end are killed."""

    def __init__(self) -> None:
        # Mounted for ourselves: where a machine has this hierarchy differs, and some have not mounted it.
        self._mounted = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.path = self._mounted / f"{PREFIX}{os.getpid()}-{self._mounted.name[-8:]}"

    def __enter__(self) -> Self:
        mount("cgroup2", self._mounted)
        self._remove_leftovers()
        self.path.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            (self.path / "cgroup.kill").write_text("1")
            wait_until(self._is_empty, "the processes of a booted system have ended")
            _remove(self.path)
        finally:
            unmount(self._mounted)
            self._mounted.rmdir()

    def _is_empty(self) -> bool:
        return "populated 0" in (self.path / "cgroup.events").read_text()

    def _remove_leftovers(self) -> None:
        """Of tests that were killed; those of another run at work are its own, also while they are empty."""
        for group in self._mounted.glob(f"{PREFIX}*"):
            owner = group.name.removeprefix(PREFIX).split("-")[0]
            if not Path("/proc", owner).exists():
                with contextlib.suppress(OSError):
                    _remove(group)


def _remove(group: Path) -> None:
    for folder, _, _ in os.walk(group, topdown=False):
        os.rmdir(folder)
