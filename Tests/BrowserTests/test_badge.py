# SPDX-License-Identifier: Apache-2.0
"""The number at the page's icon, where a browser has one: how many messages are unread, or what a message brings; none after a log-out."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from opening import HIDDEN
from subscriber import Subscriber
from tab import Tab
from test_chromium import forward, subscribed
from test_inbox import HASTE

# Notes each number that the page gives its icon, and in the worker, from where the page hears of it.
PAGE = """
window.badges = [];
Navigator.prototype.setAppBadge = async (number) => { badges.push(number); };
Navigator.prototype.clearAppBadge = async () => { badges.push(0); };
if (location.protocol === "https:") new BroadcastChannel("badges").onmessage = ({ data }) => badges.push(data);
"""
WORKER = """(() => {
    const channel = new BroadcastChannel("badges");
    WorkerNavigator.prototype.setAppBadge = async (number) => { channel.postMessage(number); };
    WorkerNavigator.prototype.clearAppBadge = async () => { channel.postMessage(0); };
})()"""
OTHERS = "{ about: 'received', text: 'Hello', entry: { user: 'another', at: 1, kind: 'message', body: 'Hello', badge: 7 } }"


def await_badge(tab: Tab, number: int) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"window.badges.at(-1) === {number}")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_the_number_is_that_of_unread_messages_and_goes_with_the_log_out(
    request: pytest.FixtureRequest, installation: Installation, alice: Account, bob: Account, browser: str
) -> None:
    tab: Tab = request.getfixturevalue(f"{browser}_tab")(notifications="denied")
    for script in (HASTE, PAGE):
        tab.on_new_document(script)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    await_badge(tab, 0)
    for count in (1, 2):
        bob.send_secret(alice, installation.secret("counts "))
        await_badge(tab, count)
    tab.evaluate("document.querySelector('#received button').click()")
    await_badge(tab, 1)
    # What the worker does with a message for the user who was logged in before; the server is not asked meanwhile.
    tab.evaluate(HIDDEN)
    tab.evaluate(f"void badges.push(7), void new BroadcastChannel('app-backend').postMessage({OTHERS})")
    await_badge(tab, 1)
    assert len(page.received) == 2
    page.log_out()
    await_badge(tab, 0)


def test_a_message_brings_a_number_until_the_page_has_counted_and_none_is_left_after_the_log_out(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    tab.on_new_document(PAGE)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice)
    await_badge(tab, 0)
    tab.evaluate_in_worker(WORKER)
    # What is not looked at stays unread.
    tab.evaluate(HIDDEN)
    assert bob.call("POST", "/api/notifications", {"To": alice.name, "Body": "Hello", "Badge": 7}).status == 200
    forward(page, subscriber)
    await_badge(tab, 1)
    assert tab.evaluate("window.badges") == [0, 7, 1]
    page.log_out()
    await_badge(tab, 0)
