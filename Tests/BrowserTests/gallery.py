# SPDX-License-Identifier: Apache-2.0
"""The screenshots of a run on one page, for a person who looks at them."""

import html
from itertools import groupby
from pathlib import Path

STYLE = """
body { margin: 2rem; font: 1rem/1.5 system-ui, sans-serif; color: #1a1f23; background: #ecebe7; }
section { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: start; }
figure { margin: 0; max-width: 30rem; }
img { max-width: 100%; max-height: 40rem; border: 1px solid #b9b5aa; }
figcaption { font-size: .875rem; }
"""


def write_index(folder: Path) -> None:
    """`index.html`, with all pictures of the folder below each other: those whose names begin alike in one row."""
    names = sorted(file.name for file in folder.glob("*.png"))
    rows = groupby(names, lambda name: "-".join(name.removesuffix(".png").split("-")[:2]))
    text = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Screenshots</title><style>{STYLE}</style>\n'
    for row, of_it in rows:
        text += f"<h2>{html.escape(row)}</h2>\n<section>\n" + "".join(_figure(name) for name in of_it) + "</section>\n"
    (folder / "index.html").write_text(text)


def _figure(name: str) -> str:
    name = html.escape(name)
    return f'<figure><a href="{name}"><img src="{name}" alt="" loading="lazy"></a><figcaption>{name}</figcaption></figure>\n'
