# SPDX-License-Identifier: Apache-2.0
"""How often a page has the words that make its English stiff, and how often it speaks to its reader: for 1,000 words.

`script/words` prints the counts of all pages. `python3 -B Tests/Documents/style.py` lowers the numbers of style.txt to those of the pages. It raises none.
"""

import math
import re
from pathlib import Path

import prose

ROOT = Path(__file__).parents[2]
# The most that each page may have, in the order of TARGET. A page without a line has the target.
TABLE = Path(__file__).with_name("style.txt")
COUNTED = {
    "what": r"\bwhat\b",
    "where": r"\bwhere\b",
    "semicolons": ";",
    "alone": r"\balone\b",
    # The subject comes late.
    "openings": r"(?:^|(?<=[.!?] ))(?-i:Of|Behind|Besides?|Upon)\b",
    # A status is returned, and not a thing's state.
    "statuses": r"\b(?<!response )(?:is|are|was) [1-5]\d\d\b(?! [a-z])",
    # The verb is negated, and not the noun.
    "no": r"\b(?<!there )(?:is|are) no (?!longer|more|other|such)\w+",
    "too": r", too\b|\balso (?:when|where|if|to|without)\b",
    # The noun is repeated.
    "pronouns": r"\b(?:that one|those of|that of|likewise|the former(?! \w)|as above)\b",
    # Verbs and nouns of the field.
    "verbs": r"\b(?:tells?|told(?! apart)|g[ia]ve[ns]? up|tak(?:e|en|es) back|hears?|bears?|believed?)\b",
    "nouns": r"\b(?:telephones?|log-(?:in|out)s?|operator's page|expressions? of tags|messages? for later)\b",
    "history": r"\b(?:so far|used to be|any more|formerly)\b",
    "you": r"\byou(?:rs?)?\b",
}
TARGET = {"what": 2.0, "where": 0.5, "semicolons": 3.0, "alone": 0.0} | dict.fromkeys(
    ("openings", "statuses", "no", "too", "pronouns", "verbs", "nouns", "history"), 2.0
) | {"nouns": 0.0}
GUIDES = ("README.md", *(f"docs/{name}.md" for name in """
    build/delivery-status build/devices build/inbox build/login-and-tokens build/receive-android build/receive-ios build/receive-web build/receive-windows-maui
    build/retry-safely build/schedule build/secure-messages build/send build/server-examples build/webhooks explain/comparison operate/admin-page
    operate/configuration operate/hub-for-other-backends operate/install operate/install-container operate/leavers-and-lost-devices
    operate/monitor operate/nginx operate/package operate/push-android
    operate/push-apple operate/push-azure operate/push-browsers operate/push-windows operate/several-apps operate/shared-hosting operate/single-sign-on operate/sizing
    operate/troubleshoot operate/users-and-permissions migrate/from-other-services start/first-app
    start/try-on-a-phone
""".split()))
# In a guide.
LEAST_YOU = 10.0


def pages() -> dict[str, str]:
    """The text of each page by its path. The changelog is a list of changes, and its past is not rewritten."""
    found = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"}
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(found)}


def counts(text: str) -> dict[str, float]:
    """For 1,000 words. Cells of tables count, and code does not."""
    found = prose.sentences(text, shortest_cell=1)
    plain, total = " ".join(prose.plain(one.text) for one in found), max(1, sum(one.words for one in found))
    return {name: 1000 * len(re.findall(pattern, plain, re.I)) / total for name, pattern in COUNTED.items()}


def words(text: str) -> int:
    return sum(one.words for one in prose.sentences(text, shortest_cell=1))


def limits() -> dict[str, dict[str, float]]:
    """Those of the table, by page."""
    rows = [line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {name: dict(zip(TARGET, map(float, numbers), strict=True)) for name, *numbers in rows}


def lowered(text: str, before: dict[str, float] | None) -> dict[str, float]:
    """The page's numbers in whole ones, upwards; not above `before`, and not below the target."""
    now = counts(text)
    return {name: max(least, min((before or {}).get(name, math.inf), math.ceil(now[name]))) for name, least in TARGET.items()}


if __name__ == "__main__":
    known = limits() if TABLE.exists() else {}
    rows = {page: lowered(text, known.get(page)) for page, text in pages().items() if not known or page in known}
    lines = [
        f"{page:<38}" + "".join(f"{number:>{len(name) + 2}g}" for name, number in row.items())
        for page, row in rows.items()
        if row != TARGET
    ]
    TABLE.write_text("\n".join([f"# {'page':<36}  " + "  ".join(TARGET), *lines]) + "\n")
