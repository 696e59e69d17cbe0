# SPDX-License-Identifier: Apache-2.0
"""The tables of refused requests in the documentation."""

import re

from built import ROOT

PAGES = ("reference/api-errors.md", "build/login-and-tokens.md")


def table(heading: str) -> list[list[str]]:
    """The cells of each row of the one table below a heading. An empty first cell stands for the one above it."""
    text = "\n".join((ROOT / "docs" / page).read_text() for page in PAGES)
    section = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    if section is None:
        raise ValueError(f"There is no heading {heading}.")
    lines = [[cell.strip() for cell in line.split("|")] for line in re.findall(r"^\|(.*)\|$", section[1], re.M)]
    # Behind the head and the line below it.
    _, _, *found = lines
    for above, cells in zip(found, found[1:]):
        cells[0] = cells[0] or above[0]
    return found
