# SPDX-License-Identifier: Apache-2.0
"""A press that is for good is on a button in the colour of danger, which is read by day and by night."""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from later import DAY, post
from notify_page import NotifyPage
from test_admin import log_in, open_user, root  # noqa: F401
from test_looks import settle

Page = NotifyPage[ChromiumTab]

LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
# Of a button: whether its background is the colour of danger, and how far its words are from it.
MEASURE = """(button => {{
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {{ willReadFrequently: true }});
    const parts = (colour) => {{
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }};
    const light = (colour) => parts(colour).map(one => one / 255)
        .map(one => one <= .04045 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4)
        .reduce((sum, one, place) => sum + one * [.2126, .7152, .0722][place], 0);
    const {{ backgroundColor, color }} = getComputedStyle(button);
    const danger = getComputedStyle(document.documentElement).getPropertyValue("--bad");
    const [dark, bright] = [light(backgroundColor), light(color)].sort((one, other) => one - other);
    return [String(parts(backgroundColor)) === String(parts(danger)), (bright + .05) / (dark + .05)];
}})(document.querySelector({selector}))"""


@pytest.fixture
def tab(chromium_tab: Callable[..., ChromiumTab]) -> ChromiumTab:
    return chromium_tab(notifications="denied")


def assert_dangerous(tab: ChromiumTab, selector: str) -> None:
    for scheme in ("light", "dark"):
        tab.prefer(scheme)
        settle(tab)
        is_dangerous, contrast = tab.evaluate(MEASURE.format(selector=json.dumps(selector)))
        assert is_dangerous and contrast >= LEAST_CONTRAST, (selector, scheme, contrast)


def is_dangerous(tab: ChromiumTab, selector: str) -> bool:
    return bool(tab.evaluate(MEASURE.format(selector=json.dumps(selector)))[0])


def press(tab: ChromiumTab, selector: str) -> None:
    tab.wait_until(f"document.querySelector({json.dumps(selector)}) !== null")
    tab.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
    tab.press("Enter")


def test_the_second_press_on_the_page_is_seen_to_be_for_good_and_the_first_is_not(
    tab: ChromiumTab, installation: Installation, alice: Account, bob: Account
) -> None:
    bob.send_secret(alice, "waits")
    post(alice, bob.name, "Later", DAY)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    asked = ["#received button:last-child", "#sent button", "#everywhere"]
    for selector in asked:
        if selector.startswith("#sent"):
            tab.click("showSent")
        if selector == "#everywhere":
            page.open_settings()
        tab.wait_until(f"document.querySelector({json.dumps(selector)}) !== null")
        assert not is_dangerous(tab, selector)
        press(tab, selector)
        assert_dangerous(tab, selector)
        # Who goes elsewhere has not decided.
        tab.press("Tab")
        settle(tab)
        assert not is_dangerous(tab, selector)


def test_what_an_administrator_confirms_is_seen_to_be_for_good(
    tab: ChromiumTab, installation: Installation, alice: Account, root: Account  # noqa: F811
) -> None:
    log_in(tab, installation, root)
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    open_user(tab, alice.name)
    for button in ("disable", "remove"):
        tab.click(button)
        tab.wait_until("document.getElementById('confirm').open")
        assert_dangerous(tab, "#sure")
        assert not is_dangerous(tab, "#cancel")
        tab.click("cancel")
