# SPDX-License-Identifier: Apache-2.0
"""The sentences of a Markdown page, each with the line that it begins in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# A fragment of a table ("a key", "see below") is no sentence.
SHORTEST_CELL = 10
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|St|no)\.$")
# Names that are never written with a capital.
SMALL = "systemd|nginx|libpq|libfcgi|libcurl|apt|lintian"
# Behind it a sentence begins with a capital, a digit, a code span, an emphasis, a bracket or a quotation mark.
END = re.compile(rf"(?<=[.!?])[)”\"'*_]*\s+(?=[A-Z0-9`*_(“\"'\[]|(?:{SMALL})\b)")


@dataclass(frozen=True)
class Sentence:
    line: int
    text: str
    is_cell: bool = False

    @property
    def words(self) -> int:
        """A code span, a number, a path and a word with hyphens count as one."""
        return len(re.findall(r"\w(?:[\w'’./-]|,(?=\d))*", plain(self.text)))


@dataclass
class Block:
    """A paragraph, an item of a list or a cell of a table: what no sentence reaches beyond."""

    pieces: list[tuple[int, str]] = field(default_factory=list)
    is_cell: bool = False

    def sentences(self, shortest_cell: int) -> Iterator[Sentence]:
        text = " ".join(piece for _, piece in self.pieces)
        at = 0
        for part in split(text):
            at = text.index(part, at)
            sentence = Sentence(self._line(at), part, self.is_cell)
            at += len(part)
            if sentence.words >= (shortest_cell if self.is_cell else 1):
                yield sentence

    def _line(self, offset: int) -> int:
        """The line whose piece has the character at `offset` of the joined text."""
        line = self.pieces[0][0]
        for number, piece in self.pieces:
            if offset < 0:
                break
            line, offset = number, offset - len(piece) - 1
        return line


def plain(text: str) -> str:
    """Without marks: a code span is one word, of a link its text is left."""
    text = re.sub(r"``.+?``|`[^`]*`", " `code` ", text)
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()\s]*\)", r"\1", text)
    return re.sub(r"<[^<>\s]+>|https?://\S+", " link ", text).replace("*", "")


def split(text: str) -> list[str]:
    """The sentences of a block. What stands in a code span ends none."""
    spans = [match.span() for match in re.finditer(r"``.+?``|`[^`]*`", text)]
    found, start = [], 0
    for end in END.finditer(text):
        inside = any(first < end.start() < last for first, last in spans)
        if not inside and not ABBREVIATION.search(text[: end.start()]):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [part for part in [*found, text[start:].strip()] if part]


def blocks(text: str) -> Iterator[Block]:
    """Without headings, code blocks, comments, and the heads of tables."""
    current = Block()
    fence = ""
    for number, line in enumerate(re.sub(r"<!--.*?-->", blank, text, flags=re.S).splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence or mark:
            fence = "" if fence and line.strip().startswith(fence) else fence or mark[1]
            ends, adds = True, ""
        elif line.lstrip().startswith("|"):
            yield current
            current = Block()
            yield from cells(number, line)
            continue
        else:
            ends = not line.strip() or bool(re.match(r"#|\s*(?:[-*+]|\d+[.)])\s", line))
            adds = "" if line.startswith(("#", "    ")) and not current.pieces else marker_off(line)
            adds = "" if line.startswith("#") else adds
        if ends:
            yield current
            current = Block()
        if adds:
            current.pieces.append((number, adds))
    yield current


def blank(match: re.Match[str]) -> str:
    """Keeps the lines of what it takes away."""
    return "\n" * match[0].count("\n")


def marker_off(line: str) -> str:
    return re.sub(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?", "", line).rstrip()


def cells(number: int, line: str) -> Iterator[Block]:
    """Of a row; the line of dashes has none."""
    if not re.fullmatch(r"[\s|:-]+", line):
        for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]:
            yield Block([(number, cell.strip())], is_cell=True)


def sentences(text: str, shortest_cell: int = SHORTEST_CELL) -> list[Sentence]:
    """In their order; of a table's cells those with at least so many words."""
    return [one for block in blocks(text) if block.pieces for one in block.sentences(shortest_cell)]


def mean(found: list[Sentence]) -> float:
    """Words of a sentence, on average."""
    return sum(one.words for one in found) / len(found) if found else 0
