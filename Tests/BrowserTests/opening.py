# SPDX-License-Identifier: Apache-2.0
"""Openings of the pages as a person has them: on a desktop or a telephone, fast or slow, with few messages or many."""

from dataclasses import dataclass

from chromium import ChromiumTab
from tab import Tab

DESKTOP, PHONE = (1280, 900), (390, 844)

# Tells what moved by itself, with the elements that did.
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const one of list.getEntries()) {
        if (!one.hadRecentInput) window.shifts.push([one.value, ...one.sources.map(({ node }) => node?.id || node?.nodeName)]);
    }
}).observe({ type: "layout-shift", buffered: true });
"""
# What it has to tell comes with the next picture.
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"

# The page's requests reach the server.
WITHOUT_WORKER = "navigator.serviceWorker && (navigator.serviceWorker.register = () => Promise.reject(new Error()));"

# As of a page that is not looked at: it asks once a minute. `UNHIDDEN` ends it.
HIDDEN = "void Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })"
UNHIDDEN = "void delete document.hidden"

# What the page has kept of what the server told.
TOLD = """new Promise((resolve, reject) => {
    const opening = indexedDB.open("app-backend");
    opening.onerror = reject;
    opening.onsuccess = () => {
        const request = opening.result.transaction("device").objectStore("device").get("told");
        opening.result.close();
        request.onsuccess = () => resolve(request.result ?? null);
    };
})"""

SLID = "Promise.all(document.getAnimations().map(one => one.finished.catch(() => {})))"


@dataclass(frozen=True)
class Machine:
    """How slow the browser is made: Lighthouse's telephone computes four times slower, on a slow line of 4G."""

    name: str
    slowdown: int = 1
    latency_ms: float = 0
    bytes_per_second: float = -1

    def emulate(self, tab: ChromiumTab) -> None:
        tab.call("Emulation.setCPUThrottlingRate", rate=self.slowdown)
        tab.call("Network.emulateNetworkConditions", offline=False, latency=self.latency_ms,
                 downloadThroughput=self.bytes_per_second, uploadThroughput=self.bytes_per_second)


FAST = Machine("as it is")
# Lighthouse's `mobileSlow4G` as its DevTools throttling applies it (core/config/constants.js): 150 ms and 1.6 Mbit/s.
SLOW = Machine("throttled", slowdown=4, latency_ms=150 * 3.75, bytes_per_second=1.6 * 1024 * 1024 / 8 * 0.9)


def await_list(tab: ChromiumTab, count: int) -> None:
    tab.wait_until(f"document.querySelectorAll('#received li').length === {count}")


def moved(tab: Tab) -> list[object]:
    """What has moved by itself since the page was opened. Only Chromium tells."""
    tab.evaluate(SLID)
    tab.evaluate(SETTLED)
    found = tab.evaluate("window.shifts ?? []")
    assert isinstance(found, list)
    return found
