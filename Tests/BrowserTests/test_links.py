# SPDX-License-Identifier: Apache-2.0
"""Links between pages of the repository, and the paths that its guides name, exist."""

import re
from pathlib import Path

import pytest

from built import ROOT
from links import broken_links, links, pages

DECISIONS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "maintain" / "decisions").glob("*.md"))]


def test_every_link_in_the_repository_leads_somewhere() -> None:
    assert sum(len(links(page)) for page in pages(ROOT)) > 50
    assert broken_links(ROOT) == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/maintain/architecture.md", *DECISIONS])
def test_every_path_that_a_guide_names_exists(page: str) -> None:
    folders = "Sources|Tests|docs|script|nginx|systemd|debian|hosting"
    paths = re.findall(rf"`((?:{folders})/[\w.+/-]+)`", (ROOT / page).read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert paths or page != "CONTRIBUTING.md"


@pytest.mark.parametrize(
    "target",
    ["other.md", "other.md#what-it-does", "other.md#what-it-does-1", "#here", "folder/", "https://example.com/gone"],
)
def test_a_link_that_leads_somewhere_is_let_be(tmp_path: Path, target: str) -> None:
    (tmp_path / "page.md").write_text(f"# Here\n\n[it]({target})\n")
    (tmp_path / "other.md").write_text("# Other\n\n## What `it` does\n\n## What it does\n")
    (tmp_path / "folder").mkdir()
    assert broken_links(tmp_path) == []


@pytest.mark.parametrize("target", ["gone.md", "other.md#gone", "#gone", "picture.png", "../"])
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, target: str) -> None:
    (tmp_path / "page.md").write_text(f"# Here\n\n`[not](a-link.md)`\n\n```\n# gone\n```\n\n[it]({target})\n")
    (tmp_path / "other.md").write_text("# Other\n")
    assert broken_links(tmp_path) == [f"page.md: {target}"]
