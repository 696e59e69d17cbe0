# SPDX-License-Identifier: Apache-2.0
"""What a loss of power leaves: ext4 and XFS on a loop device whose image is on an XFS that can clone files.

At a random moment the image is cloned (`cp --reflink`), which holds what the file system had given its disk until then and
nothing of what it still had in memory. The clone is mounted, which replays its journal, and compared with what had been
promised before the clone was begun. A promise without a flush is then found out; that this rig finds it out is shown by
controls that must fail.
"""

import random
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mounts import make_image, mounted, mounted_image, run
from names import NameWriter
from oracle import Oracle, Verdict
from scenario import Count

HOST_BYTES = 8 << 30  # sparse: only what is written is taken
DISK_BYTES = 512 << 20  # mkfs.xfs makes none below 300 MiB
CONTROL_CUTS = 12  # a control has failed at the latest by then
SMALLEST = ["--bucket-bytes", "3000"]


@dataclass(frozen=True)
class Case:
    """What is cut: a file system, the writers on it, and which flushes are left out."""

    kind: str
    processes: int
    threads: int
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        left_out = "".join(f", {option.removeprefix('--')}" for option in self.options)
        return f"{self.kind}, {self.processes} x {self.threads} threads{left_out}"


CASES = [Case("ext4", 1, 8), Case("ext4", 3, 4), Case("xfs", 1, 8), Case("xfs", 3, 4)]
WITHOUT_FILE_FLUSHES = [Case(kind, 1, 8, ("--without-file-flushes",)) for kind in ("ext4", "xfs")]
WITHOUT_FOLDER_FLUSHES = Case("xfs", 1, 8, ("--without-folder-flushes",))


class Rig:
    """The disk that is cut, and what is left of it."""

    def __init__(self, folder: Path):
        self._host = folder / "host"
        self._disk = folder / "disk"
        self._remains = folder / "remains"

    @contextmanager
    def new_disk(self, kind: str) -> Iterator[Path]:
        """A folder on a disk of its own."""
        image = self._host / "disk.img"
        empty = self._host / f"{kind}.img"
        if not empty.exists():
            make_image(empty, kind, DISK_BYTES, [])
        image.unlink(missing_ok=True)
        run("cp", "--reflink=always", str(empty), str(image))
        with mounted(self._disk, kind, "loop", source=str(image)) as disk:
            folder = disk / "folder"
            folder.mkdir(mode=0o700)
            # What was before the writers began is no matter of theirs.
            run("sync", "--file-system", str(disk))
            yield folder

    def cut(self) -> None:
        """The moment of the loss."""
        remains = self._host / "remains.img"
        remains.unlink(missing_ok=True)
        run("cp", "--reflink=always", str(self._host / "disk.img"), str(remains))

    @contextmanager
    def what_is_left(self, kind: str) -> Iterator[Path]:
        # The clone has the other one's identity, which XFS does not mount twice.
        options = "loop,nouuid" if kind == "xfs" else "loop"
        with mounted(self._remains, kind, options, source=str(self._host / "remains.img")) as remains:
            yield remains / "folder"


@contextmanager
def prepared(folder: Path) -> Iterator[Rig]:
    """Raises CalledProcessError where loop devices, or one of the file systems, cannot be had."""
    place = folder / "power-cut"
    place.mkdir(mode=0o700)
    try:
        with mounted_image(place / "host.img", place / "host", "xfs", HOST_BYTES, ["-m", "reflink=1"]):
            yield Rig(place)
    finally:
        shutil.rmtree(place)


def cut_store(rig: Rig, case: Case, oracle: Oracle, chance: random.Random) -> Verdict:
    """One loss of power under a store, and what is left of it."""
    owners = ["--owners", str(chance.choice([12, 200]))]
    try:
        with rig.new_disk(case.kind) as folder:
            for _ in range(case.processes):
                oracle.start(folder, "--threads", str(case.threads), *SMALLEST, *owners, *case.options)
            time.sleep(chance.uniform(0.2, 1.5))
            promised = [writer.promised_so_far() for writer in oracle.writers]
            rig.cut()
            oracle.kill_all()
        with rig.what_is_left(case.kind) as folder:
            if not folder.exists():
                return Verdict(lost=1, faults=["the whole folder is gone"])
            return oracle.compare(folder, *SMALLEST, "--after-power-cut", promised=promised)
    finally:
        oracle.forget()


def cut_names(rig: Rig, kind: str, flushes: bool, logs: Path, chance: random.Random) -> Verdict:
    """One loss of power under a program that writes a file aside, flushes it, and renames it."""
    with rig.new_disk(kind) as folder:
        writer = NameWriter(folder, logs / "names.log", flushes)
        try:
            time.sleep(chance.uniform(0.2, 0.6))
            promised = writer.promised
            rig.cut()
        finally:
            writer.kill()
    with rig.what_is_left(kind) as folder:
        present = NameWriter.whole_files(folder)
    return Verdict(acknowledged=len(promised), visible=len(present), lost=len(promised - present))


class PowerCut:
    """All cases in turn, until the time is over; then the controls."""

    def __init__(self, rig: Rig, oracle: Oracle, logs: Path, seconds: float, chance: random.Random):
        self._rig = rig
        self._oracle = oracle
        self._logs = logs
        self._seconds = seconds
        self._chance = chance

    def run(self) -> bool:
        """Whether nothing was lost, and every control has lost something."""
        is_good = all([self._case(case) for case in CASES])
        are_seen = all([self._control(case) for case in WITHOUT_FILE_FLUSHES])
        names = self._names()
        self._informative(WITHOUT_FOLDER_FLUSHES)
        return is_good and are_seen and names

    def _case(self, case: Case) -> bool:
        count, end = Count(), time.monotonic() + self._seconds / len(CASES)
        while (count.rounds == 0 or time.monotonic() < end) and not count.verdict.bad:
            self._add(count, case.title, cut_store(self._rig, case, self._oracle, self._chance))
        report(f"power cut, {case.title}", count, count.verdict.bad == 0)
        return count.verdict.bad == 0

    def _control(self, case: Case) -> bool:
        count = Count()
        while count.rounds < CONTROL_CUTS and not count.verdict.bad:
            self._add(count, case.title, cut_store(self._rig, case, self._oracle, self._chance))
        report(f"control that must lose, {case.title}", count, count.verdict.bad > 0)
        return count.verdict.bad > 0

    def _names(self) -> bool:
        """Whether the rig sees a rename that no flush of its folder has made durable, and only that."""
        is_good = True
        for flushes, title in ((True, "with"), (False, "control that must lose, without")):
            count = Count()
            while count.rounds < CONTROL_CUTS and not count.verdict.bad:
                verdict = cut_names(self._rig, "xfs", flushes, self._logs, self._chance)
                self._add(count, f"renamed files {title} flushes of their folder", verdict)
            is_right = (count.verdict.lost == 0) == flushes
            report(f"renamed files, xfs, {title} flushes of their folder", count, is_right)
            is_good = is_good and is_right
        return is_good

    def _informative(self, case: Case) -> None:
        """Not a control: the journals of ext4 and XFS keep the order of names, and a line is flushed after each rename."""
        count = Count()
        for _ in range(CONTROL_CUTS):
            self._add(count, case.title, cut_store(self._rig, case, self._oracle, self._chance))
        report(f"for information, {case.title}", count, None)

    def _add(self, count: Count, title: str, verdict: Verdict) -> None:
        count.add(verdict)
        if sys.stderr.isatty():
            print(f"\r\033[K{title}: {count.text}", end="", file=sys.stderr, flush=True)


def report(title: str, count: Count, is_right: bool | None) -> None:
    """A line for the reader of the log, and the faults below it where they are no intention."""
    verdict = "" if is_right is None else "ok      " if is_right else "FAILED  "
    print(f"{verdict}{title}: {count.text}", flush=True)
    if is_right is False:
        for fault in count.verdict.faults[:20]:
            print(f"        {fault}", flush=True)


