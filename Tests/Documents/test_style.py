# SPDX-License-Identifier: Apache-2.0
"""No page gets stiffer than it was, and a page that was rewritten stays plain."""

import unittest

import style


class Pages(unittest.TestCase):
    def test_no_page_has_more_of_a_stiff_word_than_before(self) -> None:
        """CONTRIBUTING.md says what to write instead."""
        known = style.limits()
        self.assertEqual(known.keys() - style.pages().keys(), set(), "no such page")
        for page, text in style.pages().items():
            now = style.counts(text)
            for name, most in known.get(page, style.TARGET).items():
                with self.subTest(page=page, counted=name):
                    self.assertLessEqual(now[name], most, f"{page}: {now[name]:.1f} {name} for 1,000 words")

    def test_a_guide_speaks_to_its_reader(self) -> None:
        pages = style.pages()
        for page in style.GUIDES:
            with self.subTest(page=page):
                self.assertGreaterEqual(style.counts(pages[page])["you"], style.LEAST_YOU)

    def test_a_limit_above_the_target_falls_and_does_not_rise(self) -> None:
        text = "What one has; what two has. " + "word " * 94
        self.assertEqual(style.counts(text)["what"], 20)
        for before, wanted in ({"what": 30.0}, 20), ({"what": 5.0}, 5), (None, 20):
            self.assertEqual(style.lowered(text, before)["what"], wanted)
        self.assertEqual(style.lowered("No such word.", {"what": 30.0})["what"], style.TARGET["what"])


if __name__ == "__main__":
    unittest.main()
