# SPDX-License-Identifier: Apache-2.0
"""The page tells the truth: about messages that reach no device, and a server that is away."""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from subscriber import Subscriber
from tab import Tab
from test_chromium import DELIVERING, subscribed
from timers import RETRIES, retry_until

Page = NotifyPage[Tab]

SECRETS = "#received li"
# Answers sends as Azure does, which learns later that there is no device.
AS_AZURE = """(() => {
    const real = window.fetch;
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        if (!new URL(url).pathname.endsWith("/notifications") || request.method !== "POST") return answer;
        return new Response((await answer.text()).replaceAll("NoTargetFound", "Enqueued"), answer);
    };
})()"""


@pytest.fixture(params=["firefox", "chromium"])
def page(request: pytest.FixtureRequest, installation: Installation, alice: Account) -> Page:
    """The page in a browser that receives nothing, where alice is logged in."""
    tab = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    return page


def value(page: Page, id: str) -> str:
    return str(page.tab.evaluate(f'document.getElementById("{id}").value'))


def await_words(page: Page, id: str, *words: str) -> None:
    """Raises TimeoutError."""
    for word in words:
        page.tab.wait_until(f'document.getElementById("{id}").textContent.includes({json.dumps(word)})')


def send(page: Page, recipient: str, message: str) -> None:
    page.write(recipient, message)
    page.tab.click("send")


def await_secrets(page: Page, kinds: list[str]) -> None:
    """Raises TimeoutError."""
    shown = f"[...document.querySelectorAll('{SECRETS}')].map(one => one.dataset.kind)"
    page.tab.wait_until(f"JSON.stringify({shown}) === {json.dumps(json.dumps(kinds, separators=(',', ':')))}")


# Messages without a recipient


@pytest.mark.parametrize("kind", ["unknown", "without a device"])
def test_a_message_that_reaches_no_device_stays_typed_and_the_page_says_why(page: Page, bob: Account, kind: str) -> None:
    name = bob.name if kind == "without a device" else "nosuchuser"
    send(page, name, "Hello")
    await_words(page, "recipientError", f"No device of {name} was reached", f"Is “{name}” the right name?")
    await_words(page, "sendResults", "no such device is registered")
    assert value(page, "message") == "Hello"
    assert page.tab.evaluate("document.activeElement.id") == "recipient"
    assert page.tab.evaluate("document.activeElement.ariaInvalid") == "true"


def test_a_message_that_reaches_one_of_several_platforms_is_sent(
    chromium_tab: Callable[..., ChromiumTab],
    installation: Installation,
    alice: Account,
    bob: Account,
    subscriber: Subscriber,
) -> None:
    page = NotifyPage[ChromiumTab](chromium_tab(notifications="denied"), installation.origin).open()
    page.log_in(alice, state="loggedin")
    bob.register(subscriber)
    page.tab.on_new_document(DELIVERING)
    page.open()
    page.await_state("loggedin")
    page.unfold()
    page.tab.wait_until('!document.querySelector("label[for=wns]").hidden')
    send(page, bob.name, "Hello")
    assert sorted(line.kind for line in page.await_results()) == ["Completed"] + ["NoTargetFound"] * 3
    assert value(page, "message") == ""
    assert page.text("sendError") == page.text("recipientError") == ""


def test_a_secret_that_no_device_is_told_of_is_kept_and_the_page_says_so(page: Page, bob: Account) -> None:
    page.choose("secure", True)
    send(page, bob.name, "Hello")
    await_words(page, "resultsNote", f"is kept on this server for {bob.name}. No device of {bob.name} was notified.")
    assert value(page, "message") == ""
    assert len(bob.call("GET", "/api/notifications").json()) == 1


def test_a_message_of_which_the_hub_learns_later_that_it_reached_nobody_comes_back(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.on_new_document(AS_AZURE)
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    # The page does not learn it before we have seen that the text was gone.
    page.tab.hold("/notifications/outcomes/")
    send(page, bob.name, "Hello")
    page.tab.wait_until('document.getElementById("message").value === ""')
    page.tab.release()
    await_words(page, "sendError", f"No device of {bob.name} was reached", "The message is still here.")
    assert value(page, "message") == "Hello"


# A server that is away


def test_a_page_that_loaded_while_the_service_was_away_recovers_by_itself(
    page: Page, installation: Installation, alice: Account
) -> None:
    page.tab.on_new_document(RETRIES)
    with installation.without_service():
        page.open()
        await_words(page, "connection", "The server is temporarily unavailable (503).", "automatically")
        assert not page.is_enabled("login")
        assert not page.tab.evaluate('document.getElementById("retry").hidden')
        # It shows what this browser has kept for the user who was logged in last.
        assert page.state == "offline"
        assert page.text("who") == alice.name
    retry_until(page.tab, "document.body.dataset.state === 'loggedin'")
    page.unfold()
    await_words(page, "wnsNote", "recorded, not delivered")
    assert page.text("connection") == ""
    assert page.tab.evaluate('document.getElementById("retry").hidden')
    page.await_enabled("send")


def test_a_service_that_is_away_while_somebody_looks_at_the_page_costs_them_nothing(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    text = installation.secret("kept ")
    bob.send_secret(alice, text)
    # The page does not send by itself before it is loaded again.
    page.tab.evaluate(f"void (() => {RETRIES})()")
    with installation.without_service():
        send(page, bob.name, "Hello")
        await_words(page, "sendError", "The server is temporarily unavailable (503).", "sent automatically")
        assert value(page, "message") == "Hello"
    page.open()
    await_secrets(page, ["locked"])
    # What was typed is there after the reload, and was sent once the server was back.
    await_words(page, "recipientError", f"No device of {bob.name} was reached")
    assert (value(page, "recipient"), value(page, "message")) == (bob.name, "Hello")


def test_a_message_that_is_changed_while_it_fails_is_said_to_have_failed_and_waits_for_send(
    page: Page, bob: Account
) -> None:
    # The next send is answered by 503 when the test says so.
    page.tab.evaluate(
        """void (() => {
            const real = window.fetch;
            window.fetch = async (url, request) => {
                if (request?.method !== "POST") return real(url, request);
                await new Promise((resolve) => { window.answer = resolve; });
                return new Response("{}", { status: 503, headers: { "Retry-After": "3600" } });
            };
        })()"""
    )
    send(page, bob.name, "Hello")
    page.tab.wait_until("Boolean(window.answer)")
    page.tab.fill("message", "Hello again")
    page.tab.evaluate("window.answer()")
    await_words(page, "sendError", "The server is temporarily unavailable (503).")
    assert "automatically" not in page.text("sendError")
    assert (value(page, "recipient"), value(page, "message")) == (bob.name, "Hello again")
    page.await_enabled("send")


# Answers the first calls for the session with 503, and notes how long the page waits after each.
AWAY = """(() => {
    const real = window.fetch;
    const delays = %s;
    window.waits = [];
    const timer = window.setTimeout;
    window.setTimeout = (work, time) => {
        if (time < 2000 || time > 4600000 || time === 20000 || time === 15000 || time === 10000) return timer(work, time);
        window.waits.push(time / 1000);
        return timer(work, %s ? 0 : 3600000);
    };
    window.fetch = async (url, request) => {
        if (!String(url).endsWith("/api/session") || request.method !== "GET" || delays.length === 0) return real(url, request);
        const delay = delays.shift();
        return new Response("{}", { status: 503, headers: delay === null ? {} : { "Retry-After": String(delay) } });
    };
})()"""


def test_the_page_waits_as_long_as_the_server_says_and_longer_each_time_when_it_says_nothing(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.on_new_document(AWAY % (json.dumps([7, 300, None, None, None, None, None, None, 86_400]), "true"))
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.await_enabled("login")
    assert page.text("connection") == ""
    waits = tab.evaluate("window.waits")
    wanted = [7, 300, 8, 16, 32, 60, 60, 60, 3_600]
    assert len(waits) == len(wanted)
    assert all(least <= wait <= least * 1.25 for wait, least in zip(waits, wanted, strict=True)), waits


def test_somebody_who_does_not_want_to_wait_tries_again(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    tab.on_new_document(AWAY % (json.dumps([60, 60]), "false"))
    page = NotifyPage[Tab](tab, installation.origin).open()
    for tries in (1, 2):
        page.tab.wait_until(f'!document.getElementById("retry").hidden && window.waits.length === {tries}')
        assert not page.is_enabled("login")
        page.tab.click("retry")
    page.await_enabled("login")
    page.tab.wait_until("document.activeElement.id === 'connection'")
    page.await_state("token")
