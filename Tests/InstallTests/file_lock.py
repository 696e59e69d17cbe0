# SPDX-License-Identifier: Apache-2.0
"""One at a time, also of several runs."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deadline import wait_until


@contextmanager
def file_lock(path: Path, what: str, seconds: float) -> Iterator[None]:
    """Held while the `with` block lasts. Raises TimeoutError, naming `what` was waited for, when it did not come in time."""
    with path.open("w") as file:
        wait_until(lambda: _is_locked(file.fileno()), what, seconds)
        yield


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
