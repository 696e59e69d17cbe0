# SPDX-License-Identifier: Apache-2.0
"""Counts the words of each page, and for 1,000 words the habits that Tests/Documents/style.txt limits.

    script/words [PAGE...]      without a page: all, the longest first. Pages that script/reference makes are marked
"""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / "script" / "reference.d")]

import prose  # noqa: E402
import style  # noqa: E402
from pages import PAGES  # noqa: E402


def line(name: str, text: str) -> str:
    """Words, words of a sentence, and each count."""
    mean = prose.mean(prose.sentences(text))
    counts = "".join(f"{number:{max(len(kind), 4) + 2}.1f}" for kind, number in style.counts(text).items())
    return f"{style.words(text):>7,}{mean:>10.1f}{counts}  {name}"


def main() -> None:
    pages = style.pages()
    if unknown := set(sys.argv[1:]) - pages.keys():
        sys.exit(f"script/words: no such page: {', '.join(sorted(unknown))}")
    made = {f"docs/reference/{name}" for name in PAGES}
    print("  words  sentence" + "".join(f"{kind:>{max(len(kind), 4) + 2}}" for kind in style.COUNTED) + "  page")
    chosen = {name: text for name, text in pages.items() if name in (sys.argv[1:] or pages)}
    for name, text in sorted(chosen.items(), key=lambda one: -style.words(one[1])):
        print(line(name + (" (made)" if name in made else ""), text))
    for title, names in (("by hand", chosen.keys() - made), ("made", chosen.keys() & made)):
        print(line(title, "\n\n".join(chosen[name] for name in sorted(names))))


if __name__ == "__main__":
    main()
