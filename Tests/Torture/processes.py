# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which processes die, freeze, start at once, or are told a wrong time."""

import os
import signal
from pathlib import Path

from oracle import TortureError, Writer
from scenario import Scenario, Torture
from waiting import wait_until

GENERATIONS = 6  # of writers on one store
KILLS = 6  # of single writers beside others, in a generation
YEAR = 365 * 86_400
LOCK_SECONDS = 5  # for how long the store waits for a lock


def kill(torture: Torture) -> None:
    for store in torture.rounds():
        options = [*torture.sizes(), *torture.owners(), *torture.tears()]
        for generation in range(GENERATIONS):
            processes, threads = torture.random.choice([(1, 8), (3, 3), (3, 4)])
            writers = start(torture, store, processes, threads, options)
            if processes > 1 and generation % 2:
                kill_some(torture, store, writers, threads, options)
            torture.moment(0.02, 0.4)
            for writer in writers:
                writer.kill()
                torture.count.happened("kills")
        torture.count.add(torture.oracle.compare(store, *options[:2]))


def start(torture: Torture, store: Path, processes: int, threads: int, options: list[str]) -> list[Writer]:
    return [torture.oracle.start(store, "--threads", str(threads), *options) for _ in range(processes)]


def kill_some(torture: Torture, store: Path, writers: list[Writer], threads: int, options: list[str]) -> None:
    """One at a time is killed and starts again while the others write."""
    for _ in range(KILLS):
        torture.moment(0.02, 0.15)
        index = torture.random.randrange(len(writers))
        writers[index].kill()
        torture.count.happened("kills")
        writers[index] = torture.oracle.start(store, "--threads", str(threads), *options)


def begin_at_once(torture: Torture) -> None:
    """Some are killed at it: whatever they leave, the others must agree on one store."""
    for folder in torture.rounds():
        store, gate = folder / "new", folder / "gate"
        os.mkfifo(gate)
        options = [*torture.sizes(), "--threads", "1", "--gate", str(gate)]
        writers = [torture.oracle.start(store, *options) for _ in range(torture.random.randint(2, 5))]
        for writer in writers:
            wait_until(lambda writer=writer: writer.has_said("# waiting"), "a writer waits", 60)
        opened = os.open(gate, os.O_WRONLY)
        try:
            torture.moment(0, 0.006)
            writers[0].kill()
            torture.count.happened("kills")
            for writer in writers[1:]:
                wait_until(lambda writer=writer: writer.has_said("# begun"), "a writer has begun", 60)
        finally:
            os.close(opened)
        torture.oracle.kill_all()
        torture.count.add(torture.oracle.compare(store, *options[:2]))


def freeze(torture: Torture) -> None:
    """The others are refused what needs the lock, write everything else, and go on when it is free."""
    with torture.faults() as faults:
        for store in torture.rounds():
            options = [*torture.sizes(), "--tolerant", "--threads", "2"]
            frozen = torture.oracle.start_all(1, store, *options, environment=faults.environment)[0]
            others = torture.oracle.start_all(2, store, *options)
            faults.begin("freeze")
            wait_until(lambda: is_stopped(frozen), "a writer has stopped itself", 60)
            torture.count.happened("freezes")
            sizes = {writer: writer.size for writer in others}
            for writer in others:
                # Hangs behind the lock would be seen here: each goes on, perhaps with a refusal.
                wait_until(
                    lambda writer=writer: writer.has_said("+ ", sizes[writer]) or writer.has_said("! ", sizes[writer]),
                    "a writer goes on beside a stopped one",
                    4 * LOCK_SECONDS,
                )
            frozen.signal(torture.random.choice([signal.SIGCONT, signal.SIGKILL]))
            sizes = {writer: writer.size for writer in others}
            for writer in others:
                wait_until(lambda writer=writer: writer.has_said("+ ", sizes[writer], 20), "all go on", 4 * LOCK_SECONDS)
            torture.oracle.kill_all()
            torture.count.add(torture.oracle.compare(store, *options[:2]))


def is_stopped(writer: Writer) -> bool:
    if writer.status is not None:
        raise TortureError(f"a writer has ended with {writer.status}: {writer.complaints}")
    return Path(f"/proc/{writer.id}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def clock(torture: Torture) -> None:
    """Set back by up to ten years, again and again; what the store keeps lives for twenty."""
    with torture.faults() as faults:
        for store in torture.rounds():
            options = [*torture.sizes(), *torture.owners(), "--wall-clock"]
            for _ in range(GENERATIONS):
                torture.oracle.start_all(2, store, *options, environment=faults.environment)
                for _ in range(KILLS):
                    faults.begin("clock", str(-torture.random.choice([1, 3_600, YEAR, 10 * YEAR])))
                    torture.count.happened("jumps")
                    torture.moment(0.02, 0.1)
                    faults.end("clock")
                    torture.moment(0.02, 0.1)
                torture.oracle.kill_all()
            torture.count.add(torture.oracle.compare(store, *options[:2]))


SCENARIOS = [
    Scenario("kill", "kill -9 of one process of 8 threads, and of one of three while the others write", kill),
    Scenario("start", "several processes begin an empty folder at once, and one is killed at it", begin_at_once),
    Scenario("freeze", "a process is stopped in the middle of a line, with a lock; it goes on, or is killed", freeze),
    Scenario("clock", "the clock jumps back by up to ten years while two processes write", clock),
]
