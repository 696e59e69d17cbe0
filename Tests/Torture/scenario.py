# SPDX-License-Identifier: Apache-2.0
"""What every scenario needs: a folder to torture, a clock to end by, and a count of what was found."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from oracle import Oracle, Verdict

FAULTS_SOURCE = Path(__file__).resolve().parents[2] / "Tests" / "FaultInjection" / "faults.c"


@dataclass
class Count:
    """What a scenario has found so far."""

    rounds: int = 0
    verdict: Verdict = field(default_factory=Verdict)
    events: dict[str, int] = field(default_factory=dict)

    def happened(self, event: str, times: int = 1) -> None:
        self.events[event] = self.events.get(event, 0) + times

    def add(self, verdict: Verdict) -> None:
        self.rounds += 1
        self.verdict.add(verdict)

    @property
    def text(self) -> str:
        found = self.verdict
        events = "".join(f"{times:,} {event}, " for event, times in self.events.items())
        return (
            f"{self.rounds} rounds, {events}acknowledged {found.acknowledged:,} changes, visible {found.visible:,} records, "
            f"refused {found.refused:,}, lost {found.lost}, torn {found.torn}, wrong {found.wrong}"
        )


@dataclass
class Torture:
    """One run of one scenario."""

    name: str
    oracle: Oracle
    folder: Path  # on the disk that is tortured
    scratch: Path  # elsewhere: what must outlive that disk
    end: float  # of time.monotonic()
    random: random.Random
    count: Count = field(default_factory=Count)

    def rounds(self) -> Iterator[Path]:
        """A folder of its own for each round; at least one. What writers and stores leave behind is removed."""
        while True:
            folder = self.folder / f"{self.name}-{self.count.rounds}"
            folder.mkdir(mode=0o700)
            try:
                yield folder
            finally:
                self.oracle.forget()
                shutil.rmtree(folder, ignore_errors=True)
            self.show()
            if time.monotonic() >= self.end or self.count.verdict.bad:
                return

    def show(self) -> None:
        """How far it has come, on a terminal."""
        if sys.stderr.isatty():
            left = max(0, self.end - time.monotonic())
            print(f"\r\033[K{self.name}: {self.count.text} ({left:.0f} s left)", end="", file=sys.stderr, flush=True)

    def moment(self, shortest: float, longest: float) -> None:
        """Lets the writers write for a random time: not a wait for something, but the moment of the blow."""
        time.sleep(self.random.uniform(shortest, longest))

    def sizes(self) -> list[str]:
        """Small files, so that compactions and splits never stop, and sometimes the product's own."""
        return ["--bucket-bytes", str(self.random.choice([1_500, 3_000, 6_000, 131_072]))]

    def owners(self) -> list[str]:
        return ["--owners", str(self.random.choice([12, 200]))]

    def tears(self) -> list[str]:
        return ["--torn-pause", str(self.random.choice([100, 300, 2_000]))]

    @contextmanager
    def faults(self) -> Iterator["Faults"]:
        folder = self.scratch / f"faults-{self.name}"
        folder.mkdir()
        try:
            yield Faults(self.scratch / "faults.so", folder)
        finally:
            shutil.rmtree(folder)


class Faults:
    """Faults of disk and clock in programs that are started with `environment`; Tests/FaultInjection has them."""

    def __init__(self, library: Path, folder: Path):
        self._folder = folder
        self.environment = {"LD_PRELOAD": str(library), "FAULTS": str(folder)}

    def begin(self, name: str, text: str = "") -> None:
        # Written aside and renamed: no reader may see half of it.
        made = self._folder / f".{name}"
        made.write_text(text)
        made.rename(self._folder / name)

    def end(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)


def build_faults(target: Path) -> None:
    """Raises CalledProcessError."""
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(target), str(FAULTS_SOURCE)]
    subprocess.run(command, check=True)


@dataclass(frozen=True)
class Scenario:
    """A name to choose it by, what it does, and who may."""

    name: str
    tells: str
    run: Callable[[Torture], None]
    needs_root: bool = False

    @property
    def is_possible(self) -> bool:
        return not self.needs_root or os.geteuid() == 0
