# SPDX-License-Identifier: Apache-2.0
"""The changelog is read in two minutes: a release has a short list, and each entry is one line."""

import re
import unittest
from pathlib import Path

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
# Of a release or of what is unreleased, its headings included.
MOST_LINES = 60
LONGEST_ENTRY = 200


class Changelog(unittest.TestCase):
    def setUp(self) -> None:
        self.text = CHANGELOG.read_text()

    def test_what_is_unreleased_comes_first(self) -> None:
        """`script/release` wants a date there, and a test of the release replaces the heading."""
        headings = re.findall(r"^## (.*)$", self.text, re.M)
        self.assertRegex(headings[0], r"^(Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d)$")
        self.assertLessEqual(headings.count("Unreleased"), 1)

    def test_a_release_is_a_short_list(self) -> None:
        for section in re.split(r"^## ", self.text, flags=re.M)[1:]:
            name, *lines = section.splitlines()
            with self.subTest(release=name):
                self.assertLessEqual(len(list(filter(None, lines))), MOST_LINES)

    def test_an_entry_is_one_line(self) -> None:
        lines = self.text.splitlines()
        self.assertEqual([line for line in lines if line.startswith(" ")], [], "a second line, or an entry below another")
        self.assertEqual([line for line in lines if line.startswith("- ") and len(line) > LONGEST_ENTRY], [])

    def test_no_entry_is_there_twice(self) -> None:
        entries = re.findall(r"^- (.*)$", self.text, re.M)
        self.assertEqual(sorted({one for one in entries if entries.count(one) > 1}), [])


if __name__ == "__main__":
    unittest.main()
