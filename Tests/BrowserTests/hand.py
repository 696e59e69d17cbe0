# SPDX-License-Identifier: Apache-2.0
"""A telephone in a person's hand: a small screen, and a finger that hits what is large enough and in sight."""

import json
from contextlib import suppress
from typing import Any

from connection import Refused
from deadline import wait_until
from tab import Tab

SCREEN = (390, 844)
# What the telephone's own keyboard leaves of it.
BESIDE_KEYBOARD = (390, 508)
# WCAG 2.2, 2.5.8.
SMALLEST = 24

# The first such element's box, after it was put where a finger can reach it, and whether nothing is above its middle.
TARGET = """(() => {{
    const one = document.querySelector({selector});
    if (!one?.checkVisibility({{ visibilityProperty: true }}) || one.disabled) return null;
    const look = () => {{
        const {{ left, top, right, bottom, width, height }} = one.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        const isSeen = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        const hit = document.elementFromPoint(x, y);
        return {{ x, y, width, height, isSeen, isHit: one.contains(hit), hit: hit?.outerHTML.slice(0, 80) }};
    }};
    const found = look();
    if (found.isSeen && found.isHit) return found;
    one.scrollIntoView({{ block: "center", behavior: "instant" }});
    return look();
}})()"""
# Notes what the next press of a finger, and the click that it makes, hit.
NOTE = """void (() => {{
    const touched = window.touched = {{}};
    const note = ({{ type, target, pointerType }}) => {{
        touched[type] = [Boolean(target.closest?.({selector})), pointerType];
    }};
    for (const kind of ["pointerdown", "click"]) addEventListener(kind, note, {{ capture: true, once: true }});
}})()"""
# What is wider than its place: the document, which Firefox has not yet while it goes to another, or what scrolls in it.
WIDER = """[document.documentElement, ...document.querySelectorAll("dialog[open], .dock")]
    .filter(one => one?.scrollWidth > one?.clientWidth).map(one => `${one.tagName} ${one.id} ${one.scrollWidth}`)"""


class Hand:
    """Raises AssertionError for what a finger cannot hit well, or what makes a person scroll sideways."""

    def __init__(self, tab: Tab):
        self._tab = tab
        self.hold(SCREEN)

    def hold(self, size: tuple[int, int]) -> None:
        self._tab.size(*size, scale=2, mobile=True)
        self._tab.wait_until(f"innerWidth === {size[0]} && innerHeight === {size[1]}")

    def tap(self, selector: str) -> None:
        """Touches the first of these elements as soon as it stays where it is."""
        place = self._place(selector)
        assert min(place["width"], place["height"]) >= SMALLEST, f"{selector} is too small for a finger: {place}"
        assert place["isSeen"] and place["isHit"], f"{selector} is out of sight: {place}"
        assert self._tab.evaluate(WIDER) == []
        self._tab.evaluate(NOTE.format(selector=json.dumps(selector)))
        self._tab.touch(place["x"], place["y"])
        # The document may go away for it.
        with suppress(Refused):
            assert self._tab.wait_until("window.touched === undefined || window.touched.click") in (True, [True, "touch"])
            assert self._tab.evaluate("window.touched?.pointerdown") in (None, [True, "touch"])
            assert self._tab.evaluate(WIDER) == []

    def tap_twice(self, selector: str) -> None:
        """What asks once more, and is then done."""
        words = f"document.querySelector({json.dumps(selector)}).textContent"
        before = self._tab.wait_until(words)
        self.tap(selector)
        self._tab.wait_until(f"{words} !== {json.dumps(before)}")
        self._tab.think()
        self.tap(selector)

    def write(self, selector: str, text: str) -> None:
        """Into a field, with the telephone's keyboard."""
        self.tap(selector)
        self._tab.wait_until(f"document.activeElement.matches({json.dumps(selector)})")
        self._tab.write(text)

    def _place(self, selector: str) -> dict[str, Any]:
        """Where it is as soon as it is there twice in turn.

        Raises TimeoutError.
        """
        before: dict[str, Any] | None = None

        def unmoved() -> dict[str, Any] | None:
            nonlocal before
            place: dict[str, Any] = self._tab.wait_until(TARGET.format(selector=json.dumps(selector)))
            before, last = place, before
            return place if place == last else None

        return wait_until(unmoved, f"{selector} stays where it is")
