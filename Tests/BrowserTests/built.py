# SPDX-License-Identifier: Apache-2.0
"""What `swift build` has made."""

import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWIFT_SECONDS = 300


@cache
def _folder() -> Path:
    named = os.environ.get("APP_BACKEND_PROGRAM")
    if named is not None:
        return Path(named).parent
    command = ["swift", "build", "--show-bin-path", "--package-path", str(ROOT)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SWIFT_SECONDS)
    return Path(told.stdout.strip())


def built_program(name: str) -> Path:
    """The executable of that name beside $APP_BACKEND_PROGRAM, else of the debug build. Raises RuntimeError without one."""
    program = _folder() / name
    if not os.access(program, os.X_OK):
        raise RuntimeError(f"There is no {program}. `swift build` makes it.")
    return program
