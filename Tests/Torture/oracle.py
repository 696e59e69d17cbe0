# SPDX-License-Identifier: Apache-2.0
"""Drives store-oracle: processes that write and tell what they were promised, and comparisons with that."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass, field, fields
from pathlib import Path

from waiting import wait_until

WRITER_SECONDS = 600  # a writer whose driver has died ends by itself
COMPARISON_SECONDS = 900
DEATH_SECONDS = 30


class TortureError(Exception):
    """The rig itself does not work: nothing was learnt of the store."""


@dataclass
class Verdict:
    """What a comparison, or several of them, have found."""

    acknowledged: int = 0
    refused: int = 0
    visible: int = 0
    unacknowledged: int = 0
    lost: int = 0
    torn: int = 0
    wrong: int = 0
    broken_lines: int = 0
    cut_lines: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    @property
    def bad(self) -> int:
        return self.lost + self.torn + self.wrong


class Writer:
    """A process that writes until it is killed. Its log is what it was promised."""

    def __init__(self, program: Path, store: Path, log: Path, options: list[str], environment: dict[str, str]):
        self.log = log
        self._errors = log.with_suffix(".errors")
        # The kernel ends it with its parent.
        guard = ["setpriv", "--pdeathsig", "KILL", "--"]
        command = [*guard, str(program), "write", str(store), "--name", log.name, "--seconds", str(WRITER_SECONDS), *options]
        with log.open("ab") as output, self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=os.environ | environment
            )

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    @property
    def complaints(self) -> str:
        return self._errors.read_text(errors="replace").strip()

    @property
    def size(self) -> int:
        return self.log.stat().st_size

    def has_said(self, text: str, since: int = 0, times: int = 1) -> bool:
        """Whether so many lines of its log, from that offset on, begin so. Raises TortureError when it has ended."""
        if self.status is not None:
            raise TortureError(f"a writer has ended with {self.status}: {self.complaints}")
        with self.log.open("rb") as file:
            file.seek(since)
            return ("\n" + file.read().decode()).count("\n" + text) >= times

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(DEATH_SECONDS)

    def wait(self, seconds: float) -> int:
        return self._process.wait(seconds)

    def promised_so_far(self) -> str:
        """Its log as a comparison takes it, for a moment before which all was promised that is there now."""
        return f"{self.log}@{self.size}"


class Oracle:
    """The program, and where its logs go."""

    def __init__(self, program: Path, logs: Path):
        self.program = program
        self._logs = logs
        self._count = 0
        self.writers: list[Writer] = []

    def start(self, store: Path, *options: str, environment: dict[str, str] | None = None) -> Writer:
        self._count += 1
        writer = Writer(self.program, store, self._logs / f"w{self._count}", list(options), environment or {})
        self.writers.append(writer)
        return writer

    def start_all(self, count: int, store: Path, *options: str, environment: dict[str, str] | None = None) -> list[Writer]:
        """Several on one store, all of whose threads have written each kind of record."""
        writers = [self.start(store, *options, environment=environment) for _ in range(count)]
        for writer in writers:
            wait_until(lambda writer=writer: writer.has_said("# begun"), "a writer has begun", 60)
        return writers

    def kill_all(self) -> None:
        for writer in self.writers:
            if writer.status is None:
                writer.kill()

    def compare(self, store: Path, *options: str, promised: list[str] | None = None) -> Verdict:
        """Compares the store with `promised`, or all logs since the last `forget`."""
        logs = promised if promised is not None else [str(writer.log) for writer in self.writers]
        command = [str(self.program), "verify", str(store), *options, *logs]
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=COMPARISON_SECONDS, check=False)
        if outcome.returncode not in (0, 1):
            # A store that does not even open has lost everything.
            return Verdict(lost=1, faults=[outcome.stderr.strip() or f"the comparison ended with {outcome.returncode}"])
        found = json.loads(outcome.stdout)
        return Verdict(
            acknowledged=found["acknowledged"],
            refused=found["refused"],
            visible=found["visible"],
            unacknowledged=found["unacknowledged"],
            lost=found["lost"],
            torn=found["torn"],
            wrong=found["wrong"],
            broken_lines=found["brokenLines"],
            cut_lines=found["cutLines"],
            faults=found["faults"],
        )

    def forget(self) -> None:
        """Ends the writers and removes their logs."""
        self.kill_all()
        for writer in self.writers:
            writer.log.unlink(missing_ok=True)
            writer.log.with_suffix(".errors").unlink(missing_ok=True)
        self.writers = []
