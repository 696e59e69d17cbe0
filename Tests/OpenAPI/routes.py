# SPDX-License-Identifier: Apache-2.0
"""The routes as the program's sources have them, and as docs/reference/routes.md has them."""

import re
from pathlib import Path

from contract import nameless

Routes = set[tuple[str, str]]


def of_sources(root: Path) -> Routes:
    """Every row of a router's table in Sources/AppBackend, and the monitors.

    Raises ValueError for a row that it cannot read.
    """
    paths = dict(re.findall(r'static let (\w+) = "([^"]+)"', (root / "Sources/DeviceAPI/Path.swift").read_text()))
    found: Routes = set()
    for file in sorted((root / "Sources/AppBackend").rglob("*.swift")):
        text = file.read_text()
        rows = re.findall(r'\bRoute\((\.\w+), Path\.(\w+)(?: \+ "([^"]+)")?\)', text)
        if len(rows) != len(re.findall(r"\bRoute\(", text)):
            raise ValueError(f"{file.name} has a route of another form than Route(.method, Path.name + \"/rest\")")
        for method, name, rest in rows:
            found.add((method[1:].upper(), nameless(paths[name] + rest)))
    # `[Path.health: …]` and `found[Path.metrics] = …`.
    parts = (root / "Sources/AppBackend/Backend+Parts.swift").read_text()
    return found | {("GET", paths[name]) for name in re.findall(r"\[Path\.(\w+)(?:: |\] = )", parts)}


def of_page(page: Path) -> Routes:
    """The tables of docs/reference/routes.md: ``| `GET /api/config` | …``."""
    found: Routes = set()
    for method, path in re.findall(r"^\| `([A-Z]+) (/[^`?]*)[^`]*` \|", page.read_text(), re.M):
        found.add((method, nameless(path).rstrip("/")))
    return found
