# SPDX-License-Identifier: Apache-2.0
"""The pages are written in short sentences, without the turns of phrase that the project has left behind."""

import re
import unittest
from pathlib import Path

import phrases
import prose

ROOT = Path(__file__).parents[2]
# Words of a sentence, on average over a page.
LONGEST_MEAN = 20.0
# Words of one sentence, outside of tables.
LONGEST = 60
SHOWN = 5


def pages() -> dict[str, str]:
    """The text of every Markdown page by its path."""
    found = [path for pattern in ("*.md", "docs/**/*.md", "examples/*.md", ".github/**/*.md") for path in ROOT.glob(pattern)]
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(found)}


class Pages(unittest.TestCase):
    def test_a_sentence_has_twenty_words_on_average(self) -> None:
        """Counted over paragraphs and lists, and once more with the sentences of tables, without their fragments."""
        self.assertGreater(len(pages()), 30)
        for name, text in pages().items():
            all_of_it = prose.sentences(text)
            for kind, found in (("text", [one for one in all_of_it if not one.is_cell]), ("all", all_of_it)):
                mean = prose.mean(found)
                with self.subTest(page=name, counted=kind):
                    longest = sorted(found, key=lambda one: -one.words)[:SHOWN]
                    lines = [f"  {name}:{one.line}: {one.words} words: {one.text}" for one in longest]
                    too_long = f"{name}: {mean:.1f} words a sentence. The longest:\n" + "\n".join(lines)
                    self.assertLessEqual(round(mean, 1), LONGEST_MEAN, too_long)

    def test_no_row_of_a_table_has_more_cells_than_its_head(self) -> None:
        """A viewer drops those that are too many, and with them what two rows on one line say."""
        found, head = [], 0
        for name, text in pages().items():
            for number, line in enumerate(text.splitlines(), 1):
                cells = re.sub(r"`[^`]*`", "", line).replace("\\|", "").count("|") if line.startswith("|") else 0
                head = head or cells if cells else 0
                if cells > head:
                    found.append(f"{name}:{number}: {cells - 1} cells, and its head has {head - 1}")
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_no_sentence_is_endless(self) -> None:
        found = [
            f"{name}:{one.line}: {one.words} words: {one.text}"
            for name, text in pages().items()
            for one in prose.sentences(text)
            if one.words > LONGEST and not one.is_cell
        ]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_no_page_has_a_phrase_that_was_left_behind(self) -> None:
        hits = [
            f"{name}:{one.line}: {fault}: {one.text}"
            for name, text in pages().items()
            for one in prose.sentences(text, shortest_cell=1)
            for fault in phrases.found_in(prose.plain(one.text), phrases.COMPILED_IN_PAGES)
        ]
        self.assertEqual(hits, [], "\n" + "\n".join(hits))


class Sources(unittest.TestCase):
    def test_no_source_has_a_phrase_that_was_left_behind(self) -> None:
        files = list(phrases.sources(ROOT))
        self.assertGreater(len(files), 1000)
        suspicious = {path: text for path in files if phrases.ANYWHERE.search(text := path.read_text(errors="replace"))}
        hits = [
            f"{path.relative_to(ROOT)}:{number}: {fault}: {line.strip()}"
            for path, text in suspicious.items()
            for number, line in enumerate(text.splitlines(), 1)
            for fault in phrases.found_in(line, phrases.COMPILED_EVERYWHERE)
        ]
        self.assertEqual(hits, [], "\n" + "\n".join(hits))


class Reading(unittest.TestCase):
    """What the two counts above rest on."""

    def test_sentences_end_where_a_reader_ends_them(self) -> None:
        for text, wanted in {
            "One. Two? Three!": ["One.", "Two?", "Three!"],
            "Version 1.2.3 of `a. B` is e.g. Apple's.": ["Version 1.2.3 of `a. B` is e.g. Apple's."],
            "It said \"No.\" Then it ended.": ['It said "No."', "Then it ended."],
            "First\nline. `code` begins a sentence.": ["First line.", "`code` begins a sentence."],
            "It ends. systemd begins.": ["It ends.", "systemd begins."],
            "- an item\n- another one.\n  It goes on.": ["an item", "another one.", "It goes on."],
            "A paragraph:\n\n```\nNot. This.\n```\n\n# Nor this.\n\nEnd.": ["A paragraph:", "End."],
        }.items():
            with self.subTest(text=text):
                self.assertEqual([one.text for one in prose.sentences(text)], wanted)

    def test_a_sentence_knows_its_line(self) -> None:
        text = "# Head\n\nOne is\nlong. Two\nis too.\n\n<!-- gone\nfor good -->\n- Three.\n"
        self.assertEqual([one.line for one in prose.sentences(text)], [3, 4, 9])

    def test_words_are_counted_without_marks(self) -> None:
        for text, wanted in {
            "See [the *other* page](other.md#here), `a b c` and 1,000.": 7,
            "no-one's \"client-side\" e-mail": 3,
        }.items():
            with self.subTest(text=text):
                self.assertEqual([one.words for one in prose.sentences(text)], [wanted])

    def test_a_fragment_of_a_table_is_no_sentence(self) -> None:
        text = "| head | second |\n| --- | --- |\n| a key | One two three four five six seven eight nine ten. |\n"
        self.assertEqual([one.words for one in prose.sentences(text)], [10])

    def test_a_phrase_is_found_and_named(self) -> None:
        for text in ("Who wants it gets it.", "So be it.", "it is told", "The hub in the box", "Whoever", "his key"):
            with self.subTest(text=text):
                self.assertEqual(len(phrases.found_in(text, phrases.COMPILED_IN_PAGES)), 1)
        for text in ("A user who sends", "told apart", "there is none", "the shell", "Who is it?"):
            with self.subTest(text=text):
                self.assertEqual(phrases.found_in(text, phrases.COMPILED_IN_PAGES), [])


if __name__ == "__main__":
    unittest.main()
