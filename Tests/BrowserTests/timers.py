# SPDX-License-Identifier: Apache-2.0
"""Ends timers of the page early, on request of a test."""

from typing import Any

from tab import Tab

# Keeps the pauses of retry.js, of which the shortest is two seconds, until `passTime` ends them.
RETRIES = """{
    const [start, clear, pauses] = [window.setTimeout, window.clearTimeout, new Map()];
    window.setTimeout = (work, time, ...more) => {
        if (time < 2000 || !String(work).includes("this.now()")) return start(work, time, ...more);
        const timer = start(() => {});
        pauses.set(timer, work);
        return timer;
    };
    window.clearTimeout = (timer) => { pauses.delete(timer); clear(timer); };
    window.passTime = () => {
        for (const [timer, work] of [...pauses]) { window.clearTimeout(timer); work(); }
    };
}"""
# Lets device.js wait for a push service, to which it then says that it subscribes, for one second and not for fifteen.
IMPATIENCE = """{
    const start = window.setTimeout;
    const isSubscribing = () => document.body.dataset.state === "subscribing";
    window.setTimeout = (work, time, ...more) => start(work, time === 15000 && isSubscribing() ? 1000 : time, ...more);
}"""


def retry_until(tab: Tab, condition: str) -> Any:
    """As `wait_until`, in a tab with `RETRIES`: each question ends the pause before the next try."""
    return tab.wait_until(f"(window.passTime(), {condition})")
