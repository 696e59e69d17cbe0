# SPDX-License-Identifier: Apache-2.0
"""A process of the tests' that cannot outlive them."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path


class Child:
    """A running program whose output goes to a file.

    It has a process group of its own, so that a Ctrl-C reaches the tests alone and they end everything in order. When
    the tests themselves are killed, the kernel tells the child (`setpriv --pdeathsig`). So a child must be started by
    the main thread: the signal follows the death of the thread that started it.
    """

    def __init__(
        self,
        command: list[str],
        log: Path,
        environment: dict[str, str] | None = None,
        orphaned: str = "KILL",
        has_input: bool = False,
    ):
        """`orphaned` is the signal for a child whose parent has gone. One with children of its own needs TERM.

        `has_input`: the child gets a standard input that is open until `stop`, and ends by itself when it is closed.
        """
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", orphaned, "--", *command],
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._process.poll()

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def send(self, number: int) -> None:
        """Sends it a signal, and does not wait."""
        self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM, seconds: float = 30) -> int:
        """Ends it with a signal, or its input where it has one; with SIGKILL after the deadline; and its group with it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        elif self.exit_status is None:
            self._process.send_signal(number)
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait(seconds)
        finally:
            self._kill_group()

    def _kill_group(self) -> None:
        # Usually no process is left in it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
