# SPDX-License-Identifier: Apache-2.0
"""What runs while a `with` block lasts, and how the tests talk to it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

from child import Child
from deadline import wait_until

Found = TypeVar("Found")
# Of what a child has written, the most that an error repeats.
MAXIMUM_CHARACTERS = 2000


class Running(ABC):
    """Runs while the `with` block lasts. What has started ends in the opposite order, also when the rest does not start."""

    def __init__(self) -> None:
        self._running = ExitStack()

    @abstractmethod
    def _start(self, running: ExitStack) -> None:
        """Returns when it can be talked to. What must be ended is put into `running` as soon as it is there."""

    def __enter__(self) -> Self:
        with ExitStack() as running:
            self._start(running)
            self._running = running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()


def started(running: ExitStack, child: Child) -> Child:
    """The child, which ends with what is `running`."""
    running.callback(child.stop)
    return child


def await_word(child: Child, said: Callable[[], Found | None], what: str) -> Found:
    """What the child says by its output or its files, as soon as that is there.

    Raises TimeoutError, and RuntimeError when it has ended before.
    """

    def word() -> Found | None:
        if child.exit_status is not None:
            told = child.output[-MAXIMUM_CHARACTERS:]
            raise RuntimeError(f"It ended with status {child.exit_status} before {what}: {told}")
        return said()

    return wait_until(word, what)
