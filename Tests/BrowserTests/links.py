# SPDX-License-Identifier: Apache-2.0
"""The links of Markdown pages to each other, and to the files beside them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path


def pages(root: Path) -> Iterator[Path]:
    """Every page below `root`, but not in hidden folders, where builds and git keep theirs."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder) / name for name in files if name.endswith(".md"))


def links(page: Path) -> list[str]:
    """The targets that are no addresses of other sites."""
    targets = re.findall(r"\]\(([^()\s]+)\)", _without_code(page.read_text()))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def broken_links(root: Path) -> list[str]:
    """Each link of a page below `root` that leads nowhere, or out of `root`, as `page: target`."""
    return [
        f"{page.relative_to(root)}: {target}"
        for page in sorted(pages(root))
        for target in links(page)
        if not _is_there(root.resolve(), page.resolve(), target)
    ]


def _is_there(root: Path, page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.is_relative_to(root) or not file.exists():
        return False
    return not anchor or (file.suffix == ".md" and anchor in _anchors(file))


def _anchors(page: Path) -> set[str]:
    """As GitHub names them: a heading's words, and a number where the same heading stands again."""
    found: list[str] = []
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M):
        found.append(re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-"))
    counted = [f"{name}-{found[:at].count(name)}" if name in found[:at] else name for at, name in enumerate(found)]
    return set(counted)


def _without_code(text: str) -> str:
    """What looks like a link in code does not count."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
