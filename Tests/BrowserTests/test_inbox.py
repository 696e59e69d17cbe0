# SPDX-License-Identifier: Apache-2.0
"""The inbox, the list of what was sent, and the user's devices, in both browsers."""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from opening import TOLD
from subscriber import Subscriber
from tab import Tab
from test_chromium import forward, subscribed

Page = NotifyPage[Tab]

LINKS = "[...document.querySelectorAll('#received a')]"
RESULTS = "document.getElementById('results')"
# What the page holds of one user's messages and devices, beside what was received.
WRITTEN = """['recipient', 'message', 'resultsFor', 'sendResults', 'recipientError', 'announce', 'devices', 'sent']
    .map(id => document.getElementById(id)).map(one => one.value ?? one.textContent)"""
# What the page reads of what was received here comes when `release` is called.
SLOWLY_READ = """(() => {
    const kept = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, "oncomplete");
    const released = new Promise((resolve) => { window.release = resolve; });
    Object.defineProperty(IDBTransaction.prototype, "oncomplete", { set(work) {
        const isHeld = this.mode === "readonly" && this.objectStoreNames.contains("inbox");
        kept.set.call(this, isHeld ? () => released.then(work) : work);
    } });
})()"""
# As the worker tells of a notification.
ARRIVE = """new BroadcastChannel("app-backend").postMessage({ about: "received", text: "meanwhile", entry: {
    key: 99, user: document.getElementById("who").textContent, at: Date.now(), kind: "message", title: "News", body: "meanwhile",
    secret: null, message: null,
} })"""
# The page asks for new messages at once, and not every 20 seconds.
HASTE = "{ const real = window.setInterval; window.setInterval = (work) => real(work, 100); }"


@pytest.fixture
def received(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, subscriber: Subscriber
) -> NotifyPage[ChromiumTab]:
    """The page of alice, who receives."""
    tab = chromium_tab()
    subscribed(tab, subscriber)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice)
    return page


@pytest.fixture(params=["firefox", "chromium"])
def page(request: pytest.FixtureRequest, installation: Installation, alice: Account) -> Page:
    """The page in a browser that receives nothing, where alice is logged in."""
    tab = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    return page


def test_addresses_in_a_text_are_links_and_nothing_in_it_is_markup(
    received: NotifyPage[ChromiumTab], alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    text = (
        "<img src=x onerror=alert(1)> see https://example.com/a?b=1&c=2, (http://example.org/x_(y)), "
        "javascript:alert(1) and https://example.net/end."
    )
    bob.send(alice, text)
    forward(received, subscriber)
    received.await_received("see https://example.com")
    assert received.tab.evaluate(f"{LINKS}.map(one => one.href)") == [
        "https://example.com/a?b=1&c=2",
        "http://example.org/x_(y)",
        "https://example.net/end",
    ]
    assert received.tab.evaluate(f"{LINKS}.every(one => one.target === '_blank' && one.rel.includes('noopener'))")
    assert received.tab.evaluate("document.querySelector('#received img')") is None
    assert received.tab.evaluate("document.querySelector('#received .text').textContent") == text


def test_unread_messages_are_counted_in_the_title_until_they_are_read(page: Page, alice: Account, bob: Account) -> None:
    assert page.tab.evaluate("document.title") == "Notify users"
    for text in ("one", "two"):
        bob.send_secret(alice, text)
    page.open()
    page.tab.wait_until('document.title === "(2) Notify users"')
    assert page.text("unread") == "2"
    page.tab.evaluate("document.querySelector('#received button').click()")
    page.tab.wait_until('document.title === "(1) Notify users"')


def test_a_message_appears_while_the_page_is_open_though_nothing_is_pushed(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.on_new_document(HASTE)
    page = NotifyPage[ChromiumTab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    # What the server tells first is not new.
    page.tab.wait_until(f"{TOLD}.then(told => told !== null)")
    bob.send_secret(alice, "for alice")
    page.tab.wait_until("document.querySelectorAll('#received li[data-unread]').length === 1")
    page.tab.wait_until(f"document.getElementById('announce').textContent.includes({json.dumps(bob.name)})")


def test_a_message_is_deleted_from_the_inbox_for_good(
    received: NotifyPage[ChromiumTab], alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.send(alice, "away with it")
    forward(received, subscriber)
    received.await_received("away with it")
    delete = "document.querySelector('#received li button:last-child')"
    received.tab.evaluate(f"{delete}.focus()")
    for _ in range(2):
        received.tab.press("Enter")
        received.tab.think()
    received.tab.wait_until("document.querySelectorAll('#received li').length === 0")
    assert received.tab.evaluate("document.activeElement.id") == "receivedHeading"
    received.open().await_state("registered")
    assert received.received == []


def test_an_answer_goes_to_the_sender_and_people_written_to_are_offered(
    received: NotifyPage[ChromiumTab], alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.send(alice, "Are you there?")
    forward(received, subscriber)
    received.await_received("Are you there?")
    received.tab.evaluate("document.querySelector('#received li button').click()")
    received.tab.wait_until("document.activeElement.id === 'message'")
    assert received.tab.evaluate("document.getElementById('recipient').value") == bob.name
    assert bob.name in received.tab.evaluate("sessionStorage.getItem('draft')")
    received.send(alice, "a note to myself")
    offered = "[...document.querySelectorAll('#people option')].map(one => one.value)"
    received.tab.wait_until(f"{offered}.includes({json.dumps(alice.name)}) && {offered}.includes({json.dumps(bob.name)})")


def test_what_was_sent_is_listed_with_what_became_of_it_and_without_the_text_of_a_secret(
    page: Page, installation: Installation, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    page.send(bob, "the first")
    secret = installation.secret("the secret ")
    page.send(bob, secret, secure=True)
    page.open()
    page.await_state("loggedin")
    page.tab.click("showSent")
    page.tab.wait_until("document.querySelectorAll('#sent > li').length === 2")
    page.tab.wait_until("document.querySelectorAll('#sent .state[data-tone=good]').length >= 2")
    # The last of the steps has come, so that what is below them does not move any more.
    page.tab.wait_until("document.querySelector('#sent > li').innerText.includes('Not read yet')")
    listed = page.tab.evaluate("[...document.querySelectorAll('#sent > li')].map(one => one.innerText)")
    assert "Secure message no." in listed[0] and f"To {bob.name}" in listed[0] and secret not in str(listed)
    assert "the first" in listed[1] and "Browser: Sent" in listed[1]
    for _ in range(2):
        page.tab.click("clearSent")
        page.tab.think()
    page.tab.wait_until("document.querySelectorAll('#sent > li').length === 0")


def test_a_reload_costs_nothing_that_was_typed_and_a_log_out_leaves_nothing(page: Page, bob: Account) -> None:
    page.write(bob.name, "half a mess")
    page.open()
    page.await_state("loggedin")
    page.tab.wait_until("document.getElementById('message').value === 'half a mess'")
    assert page.tab.evaluate("document.getElementById('recipient').value") == bob.name
    page.log_out()
    assert page.tab.evaluate("document.getElementById('message').value") == ""
    assert page.tab.evaluate("sessionStorage.getItem('draft')") is None


def test_the_next_user_of_a_tab_finds_nothing_of_the_one_before(
    page: Page, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    alice.register(subscriber)
    # A browser that keeps no draft.
    page.tab.evaluate("void Object.defineProperty(window, 'sessionStorage', { get() { throw new Error(); } })")
    page.send(bob, installation.secret("the secret "), secure=True)
    page.tab.click("showSent")
    page.tab.wait_until("document.querySelectorAll('#sent > li').length === 1")
    page.open_settings()
    page.tab.wait_until("document.querySelectorAll('#devices li').length === 1")
    page.tab.click("closeSettings")
    # It stays typed, as it reaches no device.
    page.send(bob, "from alice")
    page.tab.wait_until(f"{WRITTEN}.every(text => text !== '') && !{RESULTS}.hidden")
    log_in_elsewhere(page, bob)
    assert page.tab.evaluate(WRITTEN) == [""] * 8
    assert page.tab.evaluate(f"{RESULTS}.hidden && {RESULTS}.innerText.trim() === ''")


def log_in_elsewhere(page: Page, account: Account) -> None:
    """In another window of the same browser. Returns when the page shows that user."""
    credentials = json.dumps({"UserName": account.name, "Password": account.user.password})
    post = f"{{ method: 'POST', body: {json.dumps(credentials)}, headers: {{ 'Content-Type': 'application/json' }} }}"
    assert page.tab.evaluate(f"fetch('/api/session', {post}).then(answer => answer.ok)")
    page.tab.evaluate("new BroadcastChannel('app-backend').postMessage({ about: 'session' })")
    page.tab.wait_until(f"document.getElementById('who').textContent === {json.dumps(account.name)}")


def test_a_device_is_removed_and_this_browser_comes_back_only_when_it_is_asked_to(
    received: NotifyPage[ChromiumTab], alice: Account
) -> None:
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    tab = received.tab
    received.open_settings()
    tab.wait_until("document.querySelectorAll('#devices li').length === 2")
    here = "document.querySelector('#devices li[data-here=true]')"
    assert "this browser" in tab.evaluate(f"{here}.innerText")
    for left in ("document.querySelector('#devices li[data-here=false]')", here):
        tab.evaluate(f"{left}.querySelector('button').focus()")
        for _ in range(2):
            tab.press("Enter")
            tab.think()
        tab.wait_until(f"{left} === null")
    assert alice.call("GET", "/api/register").json() == []
    received.open().await_state("loggedin")
    assert "no longer receives" in received.text("device")
    tab.click("again")
    received.await_state("registered")
    assert len(alice.call("GET", "/api/register").json()) == 1


def test_all_sessions_are_ended_at_once(page: Page, installation: Installation, alice: Account) -> None:
    credentials = {"UserName": alice.name, "Password": alice.user.password}
    other = installation.call("POST", "/api/session", json_body=credentials).headers["Set-Cookie"].split(";")[0]
    installation.keep_secret(other.split("=")[1])
    assert installation.call("GET", "/api/session", Cookie=other).status == 200
    page.open_settings()
    for _ in range(2):
        page.tab.click("everywhere")
        page.tab.think()
    page.await_state("blocked")
    assert installation.call("GET", "/api/session", Cookie=other).status == 401


def test_a_message_that_arrives_while_the_page_reads_the_inbox_stays_in_it(page: Page, alice: Account, bob: Account) -> None:
    bob.send_secret(alice, "kept ")
    page.tab.on_new_document(SLOWLY_READ)
    page.open().await_state("loggedin")
    page.tab.evaluate(ARRIVE)
    page.await_received("meanwhile")
    page.tab.evaluate("window.release()")
    page.tab.wait_until("document.querySelector('#received [data-kind=locked]') !== null")
    assert [line.kind for line in page.received] == ["message", "locked"]
