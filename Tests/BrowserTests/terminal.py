# SPDX-License-Identifier: Apache-2.0
"""Commands of the product and what they really print, drawn as a terminal shows them."""

import html
import re
from pathlib import Path
from urllib.parse import quote

from chromium import ChromiumTab

STYLE = """
body { margin: 0; padding: 20px 24px; background: #14191d; color: #d8dee4; font: 14px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { margin: 0; font: inherit; white-space: pre; }
b { color: #ffffff; }
i { color: #5fd0b4; font-style: normal; }
"""


def shape(story: list[tuple[str, str]]) -> str:
    """What of it is the same each time: without ids, ends of handles and times, and without the spaces that their lengths need."""
    text = "\n".join(f"$ {command}\n{output}" for command, output in story)
    text = re.sub(r"\d{4}-\d\d-\d\dT\S+Z", "TIME", text)
    text = re.sub(r"(?<!\S)([\w-]{20,}|[0-9a-f]{6})(?!\S)", "ID", text)
    return re.sub(r"[ \t]+", " ", text)


def draw(tab: ChromiumTab, story: list[tuple[str, str]], file: Path) -> None:
    lines = "".join(f"<i>$</i> <b>{html.escape(command)}</b>\n{html.escape(output)}" for command, output in story)
    tab.navigate("data:text/html;charset=utf-8," + quote(f"<!doctype html><style>{STYLE}</style><pre>{lines.rstrip()}</pre>"))
    size = "['Width', 'Height'].map(name => document.documentElement[`scroll${name}`])"
    tab.size(200, 100)
    tab.wait_until("innerWidth === 200")
    width, height = tab.evaluate(size)
    tab.size(width + 24, height, scale=1.25)
    tab.wait_until(f"innerWidth === {width + 24}")
    tab.screenshot(file, optimizeForSpeed=False)
