# SPDX-License-Identifier: Apache-2.0
"""`script/bench files --sources` finds what it counts."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Bench"))

import described  # noqa: E402

SOURCES = {
    "Sources/Server/A.swift": 'struct AError: Error, Equatable {}\nlet row = ("workers", "workers: too many", "workers")',
    "Sources/B/B.swift": 'enum Finding {}\nstruct SendOutcome {}\nextension B.Fault: Error {}\nlet name = "workers"',
}


class Counts(unittest.TestCase):
    def test_types_are_found_by_what_they_are_and_by_their_names(self) -> None:
        self.assertEqual(described.error_types(SOURCES), ["AError", "B.Fault"])
        self.assertEqual(described.types(SOURCES, r"\w*Outcome|Finding"), ["Finding", "SendOutcome"])

    def test_a_setting_is_counted_where_the_server_names_its_key(self) -> None:
        self.assertEqual(described.places(SOURCES), {"workers": 2})

    def test_the_sources_have_counts(self) -> None:
        counts = described.rows(described.texts())
        self.assertEqual([name for name, value in counts.items() if not value], [])
        self.assertEqual(counts["lines that name a setting, median"], 1)


if __name__ == "__main__":
    unittest.main()
