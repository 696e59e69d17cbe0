# SPDX-License-Identifier: Apache-2.0
"""How long the pages take to open, by Chromium's own trace. `script/bench page` writes it down; no time is asserted."""

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from opening import DESKTOP, FAST, PHONE, SETTLED, SLID, SLOW, Machine, await_list
from test_drawing import MANY, filled, root  # noqa: F401
from trace import Trace, traced

# How often, and how slow; without the variable once, to see that it can be measured.
ROUNDS = int(os.environ.get("APP_BACKEND_ROUNDS", "0"))
MACHINES = [FAST, SLOW] if ROUNDS else [FAST]
SIZES = {"desktop": DESKTOP, "telephone": PHONE}



def logged_out(tab: ChromiumTab, origin: str) -> None:
    tab.navigate(f"{origin}/")
    tab.wait_until("!document.getElementById('loginCard').hidden && !document.getElementById('login').disabled")


def many(tab: ChromiumTab, origin: str) -> None:
    tab.navigate(f"{origin}/")
    await_list(tab, MANY)


def admin(tab: ChromiumTab, origin: str) -> None:
    tab.navigate(f"{origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")


def measured(tab: ChromiumTab, origin: str, machine: Machine, opening: Callable[[ChromiumTab, str], None]) -> Trace:
    """An opening with nothing in the browser's cache, and no worker that answers."""
    tab.call("Network.enable")
    tab.call("Network.setCacheDisabled", cacheDisabled=True)
    tab.call("Network.setBypassServiceWorker", bypass=True)
    machine.emulate(tab)

    def work() -> None:
        opening(tab, origin)
        tab.evaluate(SLID)
        tab.evaluate(SETTLED)

    trace = traced(tab, origin, work)
    FAST.emulate(tab)
    return trace


def row(words: str, traces: list[Trace]) -> str:
    def middle(of: Callable[[Trace], float]) -> str:
        return f"{median(of(one) for one in traces):.0f} ms"

    times = [lambda one: one.first("firstPaint"), lambda one: one.first("firstContentfulPaint"),
             lambda one: one.largest_paint, lambda one: one.blocking, lambda one: max(one.tasks)]
    shift = sum(one["score"] for trace in traces for one in trace.shifts)
    return f"| {words} | {' | '.join(middle(of) for of in times)} | {shift:g} |\n"


@pytest.mark.parametrize("opening", [logged_out, many, admin], ids=lambda one: one.__name__)
def test_the_figures_of_an_opening(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, bob: Account, root: Account,  # noqa: F811
    screenshots: Path, opening: Callable[[ChromiumTab, str], None],
) -> None:
    tab = chromium_tab(notifications="denied")
    if opening is not logged_out:
        user = filled(installation, bob, MANY) if opening is many else root
        NotifyPage(tab, installation.origin).open().log_in(user, state="loggedin")
    for (screen, size), machine in [(size, machine) for size in SIZES.items() for machine in MACHINES]:
        tab.size(*size, mobile=screen == "telephone")
        traces = [measured(tab, installation.origin, machine, opening) for _ in range(max(1, ROUNDS))]
        assert [one.shifts for one in traces] == [[]] * len(traces)
        if ROUNDS:
            with (screenshots / "figures.md").open("a") as file:
                file.write(row(f"{opening.__name__} | {screen} | {machine.name}", traces))
