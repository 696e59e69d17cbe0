# SPDX-License-Identifier: Apache-2.0
"""Calls that go on and on, on a thread each."""

import http.client
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

from deadline import wait_until

CALL_SECONDS = 200
ANSWERS_SECONDS = 300


class Worker:
    """Makes a call again and again. The first that fails ends it, and is kept."""

    def __init__(self, call: Callable[[], object]):
        """`call` raises AssertionError when the answer is not as it should be."""
        self._call = call
        self._is_over = Event()
        self._thread = Thread(target=self._work, daemon=True)
        self.answered = 0
        self.failure: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """After the call that is under way."""
        self._is_over.set()

    def join(self) -> None:
        self._thread.join(CALL_SECONDS)
        assert not self._thread.is_alive(), "a call has not ended"

    def _work(self) -> None:
        while not self._is_over.is_set():
            try:
                self._call()
            except (AssertionError, OSError, http.client.HTTPException) as error:
                self.failure = error
                return
            self.answered += 1


class Load:
    """Goes on while the `with` block lasts."""

    def __init__(self, workers: list[Worker]):
        self._workers = workers

    def __enter__(self) -> Self:
        for worker in self._workers:
            worker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()
        for worker in self._workers:
            worker.join()

    @property
    def answered(self) -> int:
        return sum(worker.answered for worker in self._workers)

    @property
    def failures(self) -> list[Exception]:
        return [worker.failure for worker in self._workers if worker.failure is not None]

    def carry_on(self, more: int = 3) -> None:
        """Waits until everybody has had so many more answers. Raises the first failure, or TimeoutError."""
        goals = [worker.answered + more for worker in self._workers]

        def are_there() -> bool:
            if self.failures:
                raise self.failures[0]
            return all(worker.answered >= goal for worker, goal in zip(self._workers, goals, strict=True))

        wait_until(are_there, f"everybody has {more} more answers", ANSWERS_SECONDS)
