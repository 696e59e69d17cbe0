# SPDX-License-Identifier: Apache-2.0
"""Whoever follows a link from one page of the repository to another arrives."""

from pathlib import Path

import pytest

from installation import ROOT
from links import broken_links, links, pages


def test_every_link_in_the_repository_leads_somewhere() -> None:
    assert sum(len(links(page)) for page in pages(ROOT)) > 50
    assert broken_links(ROOT) == []


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
