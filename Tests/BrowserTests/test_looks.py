# SPDX-License-Identifier: Apache-2.0
"""How the page looks in its states: to those who do not see it, at night, and on a telephone."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation, User
from notify_page import NotifyPage
from subscriber import Subscriber
from test_chromium import DELIVERING, forward, subscribed

Page = NotifyPage[ChromiumTab]

DESKTOP, PHONE, NARROWEST = (1280, 900), (390, 844), (320, 640)
AXE = files("axe_core_python").joinpath("axe.min.js").read_text()


def start(page: Page, alice: Account, subscriber: Subscriber) -> None:
    """No user is logged in."""


def registered(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.log_in(alice)


def results(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.log_in(alice)
    page.send(alice, "The table is booked for eight.")
    forward(page, subscriber)
    page.await_received("booked for eight")
    page.send(alice, "The door's code is 4711.", secure=True)
    forward(page, subscriber, number=2)
    page.await_received("4711")


def error(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.fail_to_log_in(alice)


def writing(page: Page, alice: Account, subscriber: Subscriber) -> None:
    """A secret that is too long, of several platforms' worth."""
    page.log_in(alice)
    page.write(alice.name, "x")
    page.tab.click("whereNow")
    page.tab.evaluate("document.getElementById('message').value = 'x'.repeat(3000)")
    page.tab.click("send")
    page.tab.wait_until('document.getElementById("message").ariaInvalid === "true"')


def sent(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.log_in(alice)
    page.send(alice, "The table is booked for eight.")
    page.tab.click("showSent")
    page.tab.wait_until("document.querySelectorAll('#sent .state[data-tone=good]').length > 0")


def settings(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.log_in(alice)
    page.open_settings()
    page.tab.wait_until("document.querySelectorAll('#devices li').length > 0")


@pytest.fixture(params=[start, registered, results, error, writing, sent, settings], ids=lambda state: state.__name__)
def page(
    request: pytest.FixtureRequest,
    chromium_tab: Callable[..., ChromiumTab],
    installation: Installation,
    alice: Account,
    subscriber: Subscriber,
) -> Page:
    """The page in each of its states."""
    tab = chromium_tab()
    tab.size(*DESKTOP)
    subscribed(tab, subscriber)
    tab.on_new_document(DELIVERING)
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("token")
    request.param(page, alice, subscriber)
    return page


def settle(tab: ChromiumTab) -> None:
    """A colour on its way to another one is not what is looked at, nor what follows the view while it scrolls."""
    tab.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    tab.evaluate("Promise.all(document.getAnimations().map(one => one.finished.catch(() => {})))")


def violations(tab: ChromiumTab) -> list[str]:
    """What axe-core finds. It runs in a world of its own, where the page's policy does not reach, nor it the page."""
    frame = tab.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = tab.call("Page.createIsolatedWorld", frameId=frame, worldName="axe")["executionContextId"]
    tab.evaluate(f"{AXE}; true", world)
    found = tab.evaluate('axe.run(document, {resultTypes: ["violations"]})', world)
    assert len(found["passes"]) > 20, "axe-core has looked at nothing"
    return [f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_say_by_day_and_by_night(
    page: Page, scheme: str, screenshots: Path, request: pytest.FixtureRequest
) -> None:
    tab = page.tab
    tab.prefer(scheme)
    settle(tab)
    tab.screenshot(screenshots / f"desktop-{scheme}-{request.node.callspec.params['page'].__name__}.png")
    assert violations(tab) == []


def test_nothing_of_it_is_beside_a_telephones_screen(
    page: Page, screenshots: Path, request: pytest.FixtureRequest
) -> None:
    tab = page.tab
    for width, height in (NARROWEST, PHONE):
        tab.size(width, height, scale=2, mobile=True)
        tab.wait_until(f"screen.width === {width} && document.documentElement.clientWidth === {width}")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
    settle(tab)
    tab.screenshot(screenshots / f"phone-{request.node.callspec.params['page'].__name__}.png")
    assert violations(tab) == []


@pytest.mark.parametrize("language", ["de", "es"])
def test_axe_finds_nothing_to_say_in_other_languages(
    chromium_tab: Callable[..., ChromiumTab],
    installation: Installation,
    alice: Account,
    subscriber: Subscriber,
    screenshots: Path,
    language: str,
) -> None:
    """In the longest words, on the narrowest screen."""
    tab = chromium_tab()
    subscribed(tab, subscriber)
    tab.on_new_document(DELIVERING)
    tab.on_new_document(f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{language}'] }});")
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("token")
    for state in ("start", "results", "settings"):
        if state == "results":
            results(page, alice, subscriber)
        elif state == "settings":
            # With a result the composer takes all of so small a screen.
            tab.click("close")
            page.open_settings()
            tab.wait_until("document.querySelectorAll('#devices li').length > 0")
        tab.size(*NARROWEST, scale=2, mobile=True)
        tab.wait_until(f"document.documentElement.clientWidth === {NARROWEST[0]}")
        assert tab.evaluate("document.documentElement.scrollWidth") == NARROWEST[0]
        settle(tab)
        tab.screenshot(screenshots / f"{language}-{state}.png")
        assert violations(tab) == []
