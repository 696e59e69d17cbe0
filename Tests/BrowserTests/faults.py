# SPDX-License-Identifier: Apache-2.0
"""A disk and clocks that fail, for a program that knows nothing of it (Tests/FaultInjection)."""

import subprocess
from pathlib import Path
from built import ROOT



def environment(folder: Path) -> dict[str, str]:
    """In which files of the folder say what fails. `clock` holds the seconds that the time of day is off by."""
    library = folder / "faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, ROOT / "Tests/FaultInjection/faults.c"], check=True)
    return {"LD_PRELOAD": str(library), "FAULTS": str(folder)}
