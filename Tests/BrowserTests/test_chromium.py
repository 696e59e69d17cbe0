# SPDX-License-Identifier: Apache-2.0
"""A second engine, and what only its tools can do: real keys, restarted workers, and a push service that is silent.

Chromium's own push service is not on this host. Where a registered browser is wanted, the push service of the tests
answers in its place, an independent decoder reads what comes, and DevTools hands that to the worker.
"""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import SHIFT, ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from subscriber import Subscriber
from tab import Tab
from timers import IMPATIENCE

Page = NotifyPage[ChromiumTab]

MAXIMUM_TABS = 40

# Lets the page believe that the server delivers on every platform.
DELIVERING = """(() => {
    const real = window.fetch;
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        if (!String(url).endsWith("/api/config") || !answer.ok) return answer;
        const config = await answer.json();
        return Response.json({ ...config, Platforms: config.Platforms.map((one) => ({ ...one, Delivers: true })) });
    };
})()"""


def subscribed(tab: Tab, subscriber: Subscriber) -> None:
    """Lets the browser's push service answer with this subscription."""
    found = {"endpoint": subscriber.subscription.endpoint, "keys": subscriber.keys}
    tab.on_new_document(
        f"""(() => {{
            const subscription = {{ ...{json.dumps(found)}, options: {{}}, toJSON: () => ({json.dumps(found)}),
                                    unsubscribe: async () => true }};
            // An empty tab has none.
            if (!window.PushManager) return;
            PushManager.prototype.getSubscription = async () => subscription;
            PushManager.prototype.subscribe = async () => subscription;
        }})()"""
    )


@pytest.fixture
def page(chromium_tab: Callable[..., ChromiumTab], installation: Installation, subscriber: Subscriber) -> Page:
    """The page with a device token, no user logged in."""
    tab = chromium_tab()
    subscribed(tab, subscriber)
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("token")
    return page


def forward(page: Page, subscriber: Subscriber, number: int = 1) -> None:
    """Brings a message from the push service to the worker."""
    message = subscriber.subscription.await_messages(number)[number - 1]
    page.tab.push(subscriber.decrypt(message).decode())


def tab_to(tab: ChromiumTab, id: str, backwards: bool = False) -> None:
    """Presses Tab until the element has the focus."""
    for _ in range(MAXIMUM_TABS):
        if tab.evaluate("document.activeElement.id") == id:
            return
        tab.press("Tab", SHIFT if backwards else 0)
    raise AssertionError(f"{MAXIMUM_TABS} times Tab do not lead to {id}")


def test_the_page_is_worked_by_mouse(page: Page, alice: Account, subscriber: Subscriber) -> None:
    page.log_in(alice)
    assert page.send(alice, "by mouse")[0].kind == "Completed"
    forward(page, subscriber)
    assert page.await_received("by mouse").kind == "message"
    assert (f"From {alice.name}", "by mouse") in page.shown


def test_the_page_is_worked_by_keyboard_alone(page: Page, alice: Account, subscriber: Subscriber) -> None:
    tab = page.tab
    tab_to(tab, "username")
    tab.write(alice.name)
    tab_to(tab, "password")
    tab.write(alice.user.password)
    tab.press("Enter")
    page.await_state("registered")
    tab_to(tab, "compose")
    tab.press("Enter")
    # The line unfolds, and the recipient is the first thing to write.
    tab.wait_until("document.activeElement.id === 'recipient'")
    tab_to(tab, "secure")
    tab.press(" ")
    assert tab.evaluate("document.activeElement.checked")
    tab_to(tab, "recipient", backwards=True)
    tab.write(alice.name)
    tab_to(tab, "message")
    tab.write("by keyboard")
    tab_to(tab, "send")
    tab.press(" ")
    assert "Completed" in [line.kind for line in page.await_results()]
    forward(page, subscriber)
    assert page.await_received("by keyboard").kind == "secret"


def test_a_restarted_worker_fetches_a_secret_with_its_cookie(
    page: Page, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    page.log_in(alice)
    text = installation.secret("the secret ")
    bob.send_secret(alice, text)
    page.tab.stop_workers()
    forward(page, subscriber)
    assert page.await_received(text).kind == "secret"
    assert text in [body for _, body in page.shown]


def test_without_a_session_a_secret_stays_closed(
    page: Page, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    page.log_in(alice)
    text = installation.secret("the secret ")
    bob.send_secret(alice, text)
    page.tab.call("Network.clearBrowserCookies")
    forward(page, subscriber)
    page.await_shown('one.body === "Open to read"')
    assert text not in str(page.shown)
    page.open()
    assert text not in str(page.received)


@pytest.mark.parametrize(
    "data", ["", "no JSON", "[]", "null", '{"title":7}', '{"web_push":8030,"notification":{"title":"T"}}']
)
def test_whatever_is_pushed_something_is_shown(page: Page, data: str) -> None:
    page.tab.push(data)
    page.await_shown('one.title !== ""')


def test_a_push_service_that_never_answers_does_not_hang_the_page(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    # Offline, Chromium's own subscription does not settle.
    tab = chromium_tab(is_private=False)
    tab.on_new_document(IMPATIENCE)
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("silent")
    assert "No push service answered" in page.text("device")
    page.log_in(alice, state="loggedin")
    assert page.send(bob, "Hello")[0].kind == "NoTargetFound"


def test_a_browser_that_refuses_to_subscribe_says_so_and_sends_all_the_same(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    # In a private window Chromium's subscription is refused.
    page = NotifyPage(chromium_tab(), installation.origin).open()
    page.tab.expect_complaint("does not support the Push API in incognito mode")
    page.await_state("silent", "blocked")
    page.log_in(alice, state="loggedin")
    assert page.send(bob, "Hello")[0].kind == "NoTargetFound"


def test_the_page_can_be_installed(chromium_tab: Callable[..., ChromiumTab], installation: Installation) -> None:
    tab = chromium_tab(is_private=False)
    NotifyPage(tab, installation.origin).open()
    assert tab.call("Page.getAppManifest")["errors"] == []
    assert tab.call("Page.getInstallabilityErrors")["installabilityErrors"] == []
