# SPDX-License-Identifier: Apache-2.0
"""What `swift build` has made."""

import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWIFT_SECONDS = 300


@cache
def _debug_folder() -> Path:
    command = ["swift", "build", "--show-bin-path", "--package-path", str(ROOT)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SWIFT_SECONDS)
    return Path(told.stdout.strip())


def _folder(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return None if named is None else Path(named)


def built_program(name: str) -> Path:
    """The product that $APP_BACKEND_PROGRAM names; another program of that name in $APP_BACKEND_TOOLS; else of the debug build.

    Raises RuntimeError if there is no such executable.
    """
    product = _folder("APP_BACKEND_PROGRAM")
    if name == "app-backend" and product is not None:
        program = product
    else:
        program = (_folder("APP_BACKEND_TOOLS") or (product and product.parent) or _debug_folder()) / name
    if not os.access(program, os.X_OK):
        raise RuntimeError(
            f"There is no {program}. `APP_BACKEND_BLACK_BOX=1 swift build` makes it; $APP_BACKEND_PROGRAM may name another."
        )
    return program
