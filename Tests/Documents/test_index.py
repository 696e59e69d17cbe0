# SPDX-License-Identifier: Apache-2.0
"""A reader finds every page: from the index, and back."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of the README: what it is, why, one command, how to deploy.
LONGEST_README = 150
# What the Debian package ships beside the folder docs.
SHIPPED = {"README.md", "CHANGELOG.md", "SECURITY.md"}


class Index(unittest.TestCase):
    def setUp(self) -> None:
        # Without the records of decisions, which have an index of their own (test_decisions.py).
        self.pages = sorted(path for path in (ROOT / "docs").glob("*/*.md") if path.name != "README.md")
        self.assertGreater(len(self.pages), 20)

    def test_the_index_lists_every_page(self) -> None:
        index = (ROOT / "docs" / "README.md").read_text()
        self.assertEqual([page for page in self.pages if f"({page.relative_to(ROOT / 'docs')})" not in index], [])
        self.assertIn("(maintain/decisions/README.md)", index)

    def test_every_page_begins_with_a_way_back(self) -> None:
        ways = ("[Back to the README](../../README.md)", "[Back to the documentation](../README.md)")
        lost = [page.name for page in self.pages if page.read_text().splitlines()[2] not in ways]
        self.assertEqual(lost, [])

    def test_a_page_that_is_shipped_links_to_what_is_shipped(self) -> None:
        for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in sorted(SHIPPED))]:
            text = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S))
            links = [link.partition("#")[0] for link in re.findall(r"\]\(([^()\s]+)\)", text) if ":" not in link]
            paths = {(page.parent / link).resolve().relative_to(ROOT) for link in links if link}
            away = [str(path) for path in paths if str(path) not in SHIPPED and path.parts[0] != "docs"]
            with self.subTest(page=page.name):
                self.assertEqual(away, [])

    def test_the_readme_is_short(self) -> None:
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), LONGEST_README)


if __name__ == "__main__":
    unittest.main()
