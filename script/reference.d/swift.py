# SPDX-License-Identifier: Apache-2.0
"""Reads Swift sources as far as the generated pages and their tests need it, and writes Markdown."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# By how much a character nests deeper.
DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def source(path: str) -> str:
    return (ROOT / path).read_text()


def sources(folder: str = "Sources") -> Iterator[tuple[str, str]]:
    """Path and text of each Swift file, in their order."""
    for path in sorted((ROOT / folder).rglob("*.swift")):
        yield str(path.relative_to(ROOT)), path.read_text()


def body(code: str, beginning: str) -> str:
    """From `beginning`, which ends in a bracket, to the one that closes it."""
    start = code.index(beginning)
    return code[start : _closing(code, start + len(beginning) - 1) + 1]


def head(title: str, purpose: str) -> str:
    """The beginning of a page."""
    made = "<!-- `script/reference` makes this page. Do not edit it. -->"
    return f"# {title}\n\n[Back to the documentation](../README.md)\n\n{made}\n\n{purpose.strip()}\n"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(columns), ["---"] * len(list(columns)), *map(list, rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def code(text: str) -> str:
    """In a code span of a table, whatever backticks and bars it has."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def cell(text: str) -> str:
    """On one line, for a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def arguments(code: str, at: int) -> list[str]:
    """Those of a call whose bracket opens at `at`, each with its label."""
    found, start, depth = [], at + 1, 0
    while True:
        if code[at] == '"':
            at = read_text(code, at)[1]
            continue
        depth += DEPTH.get(code[at], 0)
        if depth == 0 or (depth == 1 and code[at] == ","):
            found.append(code[start:at].strip())
            start = at + 1
        if depth == 0:
            return [one for one in found if one]
        at += 1


def text_of(expression: str) -> str:
    """The text of an expression of literals and names that `+` joins. Empty if it begins with something else."""
    at, parts = 0, []
    while at < len(expression):
        if expression[at] == '"':
            part, at = read_text(expression, at)
            parts.append(part)
        elif expression[at] in " \n+":
            at += 1
        elif parts and (name := re.compile(r"[A-Za-z]+(?=\s*(?:\+|$))").match(expression, at)):
            parts.append(_value(name[0]))
            at = name.end()
        else:
            break
    return re.sub("…{2,}", "…", "".join(parts))


def texts_in(expression: str) -> list[str]:
    """Those of all its literals, in their order."""
    at, found = 0, []
    while at < len(expression):
        if expression[at] == '"':
            text, at = read_text(expression, at)
            found.append(text)
        else:
            at += 1
    return found


def read_text(code: str, at: int) -> tuple[str, int]:
    """The text of the literal that begins at `at`, with names in the place of values, and the place behind it."""
    if code.startswith('"""', at):
        end = code.index('"""', at + 3)
        return " ".join(code[at + 3 : end].replace("\\\n", "\n").split()), end + 3
    parts, end = read_parts(code, at + 1)
    parts[1::2] = map(_value, parts[1::2])
    return "".join(parts), end


def read_parts(code: str, at: int) -> tuple[list[str], int]:
    """Texts and, between them, the expressions of the literal whose quotation mark is before `at`. And the place behind it."""
    parts = [""]
    while code[at] != '"':
        if code[at] != "\\":
            parts[-1] += code[at]
            at += 1
        elif code[at + 1] == "(":
            end = _closing(code, at + 1)
            parts += [code[at + 2 : end], ""]
            at = end + 1
        else:
            parts[-1] += code[at + 1]
            at += 2
    return parts, at + 1


def _closing(code: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`. Brackets in texts do not count."""
    depth = 0
    while True:
        if code[at] == '"':
            at = read_text(code, at)[1]
            continue
        depth += DEPTH.get(code[at], 0)
        if depth == 0:
            return at
        at += 1


def _value(expression: str) -> str:
    """What a reader sees for an interpolated value: a setting's key, a name in capitals, or a mark."""
    if key := re.fullmatch(r'setting\("([\w.]+)"\)', expression):
        return f"`{key[1]}`"
    return expression.upper() if re.fullmatch(r"[a-z]+", expression) else "…"
