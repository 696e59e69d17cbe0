# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference that `script/reference` makes are what it makes now."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "script" / "reference.d"))

import messages  # noqa: E402
import metrics  # noqa: E402
import routes  # noqa: E402
import swift  # noqa: E402
from pages import PAGES  # noqa: E402


class Reference(unittest.TestCase):
    def test_each_page_is_what_the_sources_make_of_it(self) -> None:
        for name, make in PAGES.items():
            with self.subTest(page=name):
                is_same = (ROOT / "docs" / "reference" / name).read_text() == make()
                self.assertTrue(is_same, f"docs/reference/{name} is of other sources: run script/reference")

    def test_each_fix_of_a_message_is_a_sentence_that_says_what_to_do(self) -> None:
        fixes = [entry["fix"] for section in messages.sections() for entry in section.get("entries", []) if "fix" in entry]
        self.assertGreater(len(fixes), 250)
        self.assertEqual([fix for fix in fixes if not re.fullmatch(r"[A-Z][a-z]+,? .*\.", fix)], [])

    def test_every_metric_of_the_sources_is_found(self) -> None:
        count = sum(code.count("MetricName(\n") + code.count('MetricName("') for _, code in swift.sources())
        self.assertEqual(len(metrics.families()), count)
        self.assertEqual({kind for _, _, kind, _ in metrics.families()}, {"counter", "gauge", "histogram"})

    def test_every_route_of_the_document_is_on_the_page(self) -> None:
        page = routes.page()
        self.assertEqual([path for method, path, _ in routes.operations() if f"### `{method} {path}`" not in page], [])

    def test_a_swift_text_is_read_with_names_for_its_values(self) -> None:
        for expression, wanted in {
            '"plain"': "plain",
            '"a \\(path) b"': "a PATH b",
            '"\\(setting("store.path")); run \\(list.joined(separator: ", "))"': "`store.path`; run …",
            '"one " + "two"': "one two",
            '"""\n    one \\\n    two\n    """': "one two",
            "value": "",
        }.items():
            with self.subTest(expression=expression):
                self.assertEqual(swift.text_of(expression), wanted)


if __name__ == "__main__":
    unittest.main()
