# SPDX-License-Identifier: Apache-2.0
"""A program that makes files by writing them aside and renaming them: what the rig of power cuts is tried on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 120
DEATH_SECONDS = 30
# After each promise, so that few other flushes make it good by the way.
PAUSE_SECONDS = 0.01


def write_names(folder: Path, flushes: bool) -> None:
    """Prints the name of each file that it takes for durable."""
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    end = time.monotonic() + SECONDS
    number = 0
    while time.monotonic() < end:
        name = f"file-{number}"
        file = os.open(folder / f"{name}.tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, content(name))
        os.fdatasync(file)
        os.close(file)
        os.rename(folder / f"{name}.tmp", folder / name)
        if flushes:
            os.fsync(directory)
        os.write(sys.stdout.fileno(), f"{name}\n".encode())
        number += 1
        time.sleep(PAUSE_SECONDS)


def content(name: str) -> bytes:
    return (name * 20).encode()


class NameWriter:
    """Runs it as a process, until it is killed."""

    def __init__(self, folder: Path, log: Path, flushes: bool):
        self._log = log
        log.write_bytes(b"")
        with log.open("ab") as output:
            guard = ["setpriv", "--pdeathsig", "KILL", "--"]
            command = [*guard, sys.executable, __file__, str(folder), *(["flushes"] if flushes else [])]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)

    @property
    def promised(self) -> set[str]:
        return set(self._log.read_text().split("\n")[:-1])

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(DEATH_SECONDS)

    @staticmethod
    def whole_files(folder: Path) -> set[str]:
        return {path.name for path in folder.glob("file-*") if path.read_bytes() == content(path.name)}


if __name__ == "__main__":
    write_names(Path(sys.argv[1]), "flushes" in sys.argv[2:])
