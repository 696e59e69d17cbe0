# SPDX-License-Identifier: Apache-2.0
"""Chromium's own trace of what it does for a page, read as Lighthouse reads it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chromium import ChromiumTab
from deadline import wait_until

CATEGORIES = ["loading", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
# A task that is longer keeps a person's key or click waiting, and what it has above that is blocking time.
LONG_TASK_MS = 50.0
MICROSECONDS = 1000.0  # of a millisecond

TraceEvent = dict[str, Any]


@dataclass(frozen=True)
class Trace:
    """Of one document: its main thread's events, in the order of their times (microseconds)."""

    start: float
    events: list[TraceEvent]

    def first(self, name: str) -> float:
        """Milliseconds from the start of the navigation. Raises StopIteration."""
        return self._since(next(one for one in self.events if one["name"] == name))

    @property
    def largest_paint(self) -> float:
        """When the largest thing was painted, in milliseconds. Raises IndexError where Chromium has not told it."""
        return self._since([one for one in self.events if one["name"] == "largestContentfulPaint::Candidate"][-1])

    @property
    def tasks(self) -> list[float]:
        """What each task of the main thread took from the first contents on, in milliseconds."""
        painted = self.first("firstContentfulPaint")
        tasks = [one for one in self.events if one["name"].endswith("RunTask") and self._since(one) > painted]
        return [one.get("dur", 0) / MICROSECONDS for one in tasks]

    @property
    def blocking(self) -> float:
        """Milliseconds (Lighthouse's total blocking time, until the trace ended)."""
        return sum(max(0.0, one - LONG_TASK_MS) for one in self.tasks)

    @property
    def shifts(self) -> list[Any]:
        """What moved by itself: what a person's click or key moved is not among them."""
        moved = [one["args"]["data"] for one in self.events if one["name"] == "LayoutShift"]
        return [one for one in moved if not one["had_recent_input"]]

    @property
    def blockers(self) -> set[str]:
        """The URLs without which nothing is painted."""
        sent = [one["args"]["data"] for one in self.events if one["name"] == "ResourceSendRequest"]
        return {one["url"] for one in sent if "blocking" in one.get("renderBlocking", "").split("_parser_")[:1]}

    def _since(self, event: TraceEvent) -> float:
        return float(event["ts"] - self.start) / MICROSECONDS


def traced(tab: ChromiumTab, origin: str, work: Callable[[], None]) -> Trace:
    """What Chromium does for the tab while `work` opens a page of that origin and waits for what it wants to see."""
    # A process that begins with the page may tell of its first moments or not: now it is there before.
    tab.navigate(f"{origin}/lock.svg")
    tab.call("Tracing.start", transferMode="ReturnAsStream", traceConfig={"includedCategories": CATEGORIES})
    work()
    before = len(tab.events("Tracing.tracingComplete"))
    tab.call("Tracing.end")
    ended = wait_until(lambda: tab.events("Tracing.tracingComplete")[before:], "the trace is complete")
    events = json.loads(_read(tab, ended[0].params["stream"]))["traceEvents"]
    # It tells of other tabs, too.
    document = tab.call("Page.getFrameTree")["frameTree"]["frame"]["loaderId"]
    begun = [one for one in events if one["name"] == "navigationStart"]
    main = next(one for one in begun if one["args"]["data"]["navigationId"] == document)
    own = [one for one in events if (one["pid"], one["tid"]) == (main["pid"], main["tid"]) and one["ts"] >= main["ts"]]
    # The document before may still be painted.
    own = [one for one in own if one.get("args", {}).get("data", {}).get("navigationId", document) == document]
    return Trace(main["ts"], sorted(own, key=lambda one: float(one["ts"])))


def _read(tab: ChromiumTab, stream: str) -> str:
    text, is_ended = "", False
    while not is_ended:
        part = tab.call("IO.read", handle=stream)
        assert not part.get("base64Encoded", False)
        text, is_ended = text + part["data"], part["eof"]
    tab.call("IO.close", handle=stream)
    return text
