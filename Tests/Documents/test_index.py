# SPDX-License-Identifier: Apache-2.0
"""A reader finds every page: from the index, and back."""

import re
import sys
import unittest
from pathlib import Path

import prose
import style

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "script" / "reference.d"))

from pages import PAGES  # noqa: E402

# Of the README: what it is, why, one command, how to deploy.
LONGEST_README = 150
# Words of a page, without its code: six minutes. Raw measurements are looked up.
LONGEST_PAGE = 1500
LONGER = {"maintain/benchmarks.md": 3600}
# Words of all pages by hand together. It may fall.
LONGEST_ALTOGETHER = 65_700
# Lines from the top of a page to its first example.
FIRST_EXAMPLE = 15
FOLDERS = {"start", "operate", "build", "migrate", "reference", "explain", "maintain"}
WAY_BACK = "[Back to the documentation](../README.md)"
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
        lost = [page.name for page in self.pages if page.read_text().splitlines()[2] != WAY_BACK]
        self.assertEqual(lost, [])

    def test_every_page_is_in_the_folder_of_its_readers(self) -> None:
        self.assertEqual({page.parent.name for page in self.pages} - FOLDERS, set())

    def test_a_page_by_hand_can_be_read_in_a_few_minutes(self) -> None:
        for page in self.pages:
            name = str(page.relative_to(ROOT / "docs"))
            words = sum(one.words for one in prose.sentences(page.read_text(), shortest_cell=1))
            if name.removeprefix("reference/") not in PAGES:
                with self.subTest(page=name):
                    self.assertLessEqual(words, LONGER.get(name, LONGEST_PAGE))

    def test_the_pages_by_hand_do_not_grow_together(self) -> None:
        """A fact that another page has is linked. script/words shows the counts."""
        by_hand = {name: text for name, text in style.pages().items() if name.removeprefix("docs/reference/") not in PAGES}
        self.assertLessEqual(sum(map(style.words, by_hand.values())), LONGEST_ALTOGETHER)
        self.assertLessEqual(style.words(by_hand["CONTRIBUTING.md"]), LONGEST_PAGE)

    def test_a_page_begins_with_its_purpose_and_an_example(self) -> None:
        """A block of code, a picture or a table follows the heading within a few lines."""
        for page in self.pages:
            head = page.read_text().splitlines()[4:FIRST_EXAMPLE]
            with self.subTest(page=str(page.relative_to(ROOT / "docs"))):
                self.assertRegex(head[0], r"^(?!```)[A-Z`*<\[]")
                self.assertTrue(any(line.lstrip().startswith(("```", "|", "![")) for line in head))

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
