# SPDX-License-Identifier: Apache-2.0
"""Waiting for something that another process does, and never without end."""

import time
from collections.abc import Callable

INTERVAL_SECONDS = 0.005


def wait_until(condition: Callable[[], object], what: str, seconds: float) -> None:
    """Asks again and again. Raises TimeoutError, naming `what`, when the time is over."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            raise TimeoutError(f"waited {seconds:g} s without success: {what}")
        time.sleep(INTERVAL_SECONDS)
