# SPDX-License-Identifier: Apache-2.0
"""Runs a step: one or more processes, some at a time, whose output is kept and read while it grows."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from results import Reader, Results

# From TERM to KILL.
STOP_SECONDS = 30


@dataclass
class Command:
    """`events`: the file that is read for results in place of the output. `tests`: how many it runs; 0: not known."""

    words: list[str]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    events: Path | None = None
    tests: int = 0


class Running:
    """The commands of one step, `width` at a time. `poll` starts what comes next and reads what was said."""

    def __init__(self, name: str, commands: list[Command], width: int, read: Callable[[Results, str], None]):
        self.name, self.width, self.read = name, width, read
        # Runners add to what an earlier round has left there.
        for command in commands:
            if command.events is not None:
                command.events.unlink(missing_ok=True)
        self.waiting = list(commands)
        self.active: list[tuple[subprocess.Popen[bytes], Command]] = []
        self.readers = [Reader(command.events or command.log) for command in commands]
        self.logs = [command.log for command in commands]
        self.results = Results(total=sum(command.tests for command in commands))
        self.statuses: list[tuple[Path, int]] = []
        self.cpu = 0.0
        self.started = time.monotonic()
        self.seconds = 0.0

    def poll(self) -> bool:
        """Returns whether all commands have ended."""
        for pair in list(self.active):
            process, command = pair
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                continue
            process.returncode = os.waitstatus_to_exitcode(status)
            self.active.remove(pair)
            self.statuses.append((command.log, process.returncode))
            self.cpu += usage.ru_utime + usage.ru_stime
            # A process that it started and did not wait for.
            signal_group(process, signal.SIGKILL)
        while self.waiting and len(self.active) < self.width:
            command = self.waiting.pop(0)
            self.active.append((start(command), command))
        for reader in self.readers:
            for line in reader.lines():
                self.read(self.results, line)
        self.seconds = time.monotonic() - self.started
        return not self.active

    @property
    def worst(self) -> int:
        """The first status that is not 0, else 0."""
        return next((status for _, status in self.statuses if status != 0), 0)



def stop(steps: list[Running]) -> None:
    """Ends what runs, with all that it has started: TERM, and after `STOP_SECONDS` KILL. A second Ctrl-C does not interrupt it."""
    active = [process for step in steps for process, _ in step.active]
    if not active:
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for process in active:
        signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    for process in active:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0, deadline - time.monotonic()))
        signal_group(process, signal.SIGKILL)
        process.wait()


def start(command: Command) -> "subprocess.Popen[bytes]":
    """In a group of its own, which ends with this script, whatever ends that: the kernel signals the child then."""
    with command.log.open("wb") as output:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", *command.words],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env=os.environ | command.environment, start_new_session=True,
        )  # fmt: skip


def signal_group(process: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class Display:
    """One line at the end of each step; while it runs, the last line of a terminal, or a line each half minute elsewhere."""

    LINE_SECONDS = 30

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()
        self.last = time.monotonic()
        self.shown = ""

    def show(self, running: list[Running]) -> None:
        if not running:
            return
        text = ", ".join(f"{step.name}{_progress(step.results)} {step.seconds:.0f} s" for step in running)
        if self.is_terminal:
            width = shutil.get_terminal_size().columns - 1
            text = f"... {text}"[:width]
            if text != self.shown:
                print(f"\r{text:<{width}}", end="", flush=True)
                self.shown = text
        elif time.monotonic() - self.last >= self.LINE_SECONDS:
            self.last = time.monotonic()
            print(f"... {text}", flush=True)

    def clear(self) -> None:
        """Takes the progress away; before anything else is printed."""
        if self.shown:
            print(f"\r{'':<{len(self.shown)}}\r", end="", flush=True)
            self.shown = ""

    def say(self, line: str) -> None:
        self.clear()
        print(line, flush=True)


def _progress(results: Results) -> str:
    if results.total:
        return f" {results.ended} of {results.total}"
    if results.ended:
        return f" {results.ended}"
    return f" {results.progress}" if results.progress else ""
