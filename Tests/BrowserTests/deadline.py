# SPDX-License-Identifier: Apache-2.0
"""Waiting for something that another process does, and never without end."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# Between two questions. Short, because what is asked is near; it hides no race, because the answer decides.
INTERVAL_SECONDS = 0.01


# Against waiting without end, and for nothing else: a busy machine may well let a process stand still for a minute.
PATIENCE_SECONDS = 180


def wait_until(condition: Callable[[], Found | None], what: str, seconds: float = PATIENCE_SECONDS) -> Found:
    """Asks again and again until the answer is true, and returns it.

    Raises TimeoutError, naming `what` was waited for and the last answer, when the time is over.
    """
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() >= end:
            raise TimeoutError(f"Waited {seconds:g} s without success: {what}. The last answer was {answer!r}.")
        time.sleep(INTERVAL_SECONDS)
