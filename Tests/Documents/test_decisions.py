# SPDX-License-Identifier: Apache-2.0
"""The records of decisions have one form, are numbered without a gap, and are all in their index."""

import re
import unittest
from pathlib import Path

import prose

FOLDER = Path(__file__).parents[2] / "docs" / "maintain" / "decisions"
PARTS = ["Context.", "Decision.", "Rejected.", "Measured.", "Consequences.", "Revisit if"]
WAY_BACK = "[Back to the decisions](README.md)"
# Of a record, so that ten minutes are enough for a subject.
MOST_WORDS = 200


class Records(unittest.TestCase):
    def setUp(self) -> None:
        self.records = {page.name: page.read_text() for page in sorted(FOLDER.glob("*.md")) if page.name != "README.md"}
        self.assertGreater(len(self.records), 20)

    def test_a_record_has_number_title_date_and_every_part(self) -> None:
        for number, (name, text) in enumerate(self.records.items(), 1):
            head, back, date = text.splitlines()[0:5:2]
            with self.subTest(record=name):
                self.assertTrue(name.startswith(f"{number:04}-"))
                self.assertRegex(head, rf"^# {number}\. [A-Z]")
                self.assertEqual(back, WAY_BACK)
                self.assertRegex(date, r"^\*\d{4}-\d\d-\d\d\*$")
                self.assertEqual(re.findall(r"^\*\*(.*?)\*\* \S", text, re.M), PARTS)

    def test_a_record_is_short(self) -> None:
        words = {name: sum(one.words for one in prose.sentences(text)) for name, text in self.records.items()}
        self.assertEqual({name: count for name, count in words.items() if count > MOST_WORDS}, {})

    def test_the_index_has_every_record_with_its_title_and_date(self) -> None:
        index = (FOLDER / "README.md").read_text()
        for name, text in self.records.items():
            head, _, date = text.splitlines()[0:5:2]
            number, title = head.removeprefix("# ").split(". ", 1)
            with self.subTest(record=name):
                self.assertIn(f"| {number} | [{title}]({name}) | {date.strip('*')} |", index)


if __name__ == "__main__":
    unittest.main()
