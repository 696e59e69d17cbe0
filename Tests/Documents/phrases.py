# SPDX-License-Identifier: Apache-2.0
"""Turns of phrase that hide which request, process or user acts, or that only look like English."""

import re
from collections.abc import Iterator
from pathlib import Path

# Each with what to write instead. In sources, comments and messages too.
EVERYWHERE = {
    r"nobody|somebody": "name the user, the process or the request",
    r"whoever": "name the person: a user, an operator",
    r"anew": "again",
    r"(?<!there )is none(?! of\b)": "does not exist, or is ignored",
    r"is told(?! apart)": "learns; or name who says it",
    r"what(?:ever)? becomes of": "the outcome of",
    r"he|him|his|himself": "they for a person, it for software",
    r"(?:stands?|lies) (?:there|in(?! place)|on|at|beside|below|behind)": "is in, is at",
    r"shall": "must, should or will",
    r"how it fares": "its state",
    r"(?:is|are) content": "accept, or pass",
    r"as it comes": "by default",
    r"gives? way": "is removed, is replaced",
    r"slip of the pen": "a typing mistake",
    r"be it": "whether",
    r"(?<!there )(?:is|are) no more(?! than)": "was deleted, has ended",
    r"all the same": "anyway, still",
    r"in vain": "without success",
    r"for ever": "without end",
    r"hub in the box": "built-in hub",
    r"mend(?:s|ed)?": "repair, correct, replace",
    r"belongs? into": "belongs in",
    r"to be had": "available",
    r"dearer": "costs more, takes longer",
    r"whom one|one likes": "you; or name the person",
}
# In pages for people: a comment names an actor by what it does, as in "who answers".
IN_PAGES = {
    r"(?<![^.:;] )who (?!is\b)[a-z]+s(?!.*\?)": "a user who, an operator who",
}


def compiled(phrases: dict[str, str]) -> dict[re.Pattern[str], str]:
    return {re.compile(rf"\b(?:{phrase})\b", re.I): instead for phrase, instead in phrases.items()}


COMPILED_EVERYWHERE = compiled(EVERYWHERE)
# All in one: a whole file is searched quickly, and few files have to be looked at line by line.
ANYWHERE = re.compile("|".join(phrase.pattern for phrase in COMPILED_EVERYWHERE), re.I)
COMPILED_IN_PAGES = compiled(EVERYWHERE | IN_PAGES)


def found_in(text: str, phrases: dict[re.Pattern[str], str]) -> list[str]:
    """What is wrong with it, each as `phrase (write: …)`. A capital inside, as Python's None, makes another word."""
    found = [(match[0], say) for phrase, say in phrases.items() for match in phrase.finditer(text)]
    return [f"“{words}” (write: {say})" for words, say in found if words[1:] == words[1:].lower()]


# Files with such a word in a value or in a message; their comments have none.
VALUES = re.compile(
    r"Tests/(?:BuiltInHubTests/(?:Delivery|Refusal)Tests|PostgresStoreTests/OpeningTests"
    r"|StoreContract/(?:Hub|Idempotency|Session|User)?Contract|StoreOracle/(?:Comparison|Writer))\.swift"
)


def sources(root: Path) -> Iterator[Path]:
    """Every text file that people write and that is no page, but for this folder, which has to name the phrases."""
    for folder in ("Sources", "Tests", "script", "nginx", "debian", "systemd", "hosting", "docs", "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if not path.is_file() or path.suffix == ".md" or "__pycache__" in name or VALUES.fullmatch(name):
                continue
            if not name.startswith("Tests/Documents/") and b"\0" not in path.read_bytes()[:8192]:
                yield path
