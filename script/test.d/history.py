# SPDX-License-Identifier: Apache-2.0
"""Durations of earlier runs in this checkout: for estimates, for `--list`, and to pack tests into processes of equal length."""

import json
import os
from pathlib import Path
from typing import Any

FILE = Path(".build/test-history.json")


class History:
    """`steps`: name -> seconds, cpu seconds and number of tests of the last whole run. `tests`: step -> test -> seconds."""

    def __init__(self, file: Path = FILE):
        self.file = file
        try:
            read = json.loads(file.read_text())
        except (OSError, ValueError):
            read = None
        # What another version has written, or a person, counts as far as it has this shape.
        self.known: dict[str, Any] = {name: {} for name in ("steps", "tests")}
        for name in self.known:
            found = read.get(name) if isinstance(read, dict) else None
            self.known[name] = {key: row for key, row in found.items() if isinstance(row, dict)} if isinstance(found, dict) else {}

    def seconds(self, step: str) -> float | None:
        found = self.known["steps"].get(step)
        return found.get("seconds") if found else None

    def step(self, step: str) -> dict[str, Any] | None:
        return self.known["steps"].get(step)

    def tests(self, step: str) -> dict[str, float]:
        return self.known["tests"].get(step, {})

    def note(self, step: str, seconds: float, cpu: float, tests: dict[str, float]) -> None:
        """Writes the file at once: an interrupted run keeps what it has measured."""
        self.known["steps"][step] = {"seconds": round(seconds, 1), "cpu": round(cpu, 1), "tests": len(tests)}
        if tests:
            self.known["tests"][step] = {name: round(value, 2) for name, value in tests.items()}
        self.file.parent.mkdir(exist_ok=True)
        written = self.file.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(self.known, indent=1))
        written.replace(self.file)
