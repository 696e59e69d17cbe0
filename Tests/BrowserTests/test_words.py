# SPDX-License-Identifier: Apache-2.0
"""What the page allows before it is time, and what it says, beside which control, when something is in the way."""

import time
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation, User
from notify_page import PLATFORMS, NotifyPage
from opening import HIDDEN
from subscriber import Subscriber
from tab import Tab
from test_chromium import DELIVERING, subscribed
from test_truth import Page, await_words, send, value

# Failed log-ins that a name has within a minute, which begins with the first of them.
MAXIMUM_FAILURES, MINUTE = 10, 60
TRIES = 5

# Lets the page's own `PUT /api/register/…` end in `answer`, and counts how often it is made.
REGISTERING = """(() => {{
    const real = window.fetch;
    const answer = {answer};
    window.registrations = 0;
    window.fetch = async (url, request) => {{
        if (request?.method !== "PUT") return real(url, request);
        window.registrations += 1;
        return answer(() => real(url, request));
    }};
}})()"""


# What is said of a server's answers, which a second engine gets and shows as the first one does.
IN_ONE_BROWSER = pytest.mark.parametrize("open_page", ["chromium"], indirect=True)


@pytest.fixture(params=["firefox", "chromium"])
def open_page(request: pytest.FixtureRequest, installation: Installation, subscriber: Subscriber) -> Callable[..., Page]:
    """Opens the page, which has a device token, no user logged in."""

    def open_it(script: str = "") -> Page:
        tab: Tab = request.getfixturevalue(f"{request.param}_tab")()
        subscribed(tab, subscriber)
        tab.on_new_document(script)
        page = NotifyPage[Tab](tab, installation.origin).open()
        page.await_state("token")
        return page

    return open_it


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    return open_page()


def has_focus(page: Page, id: str) -> bool:
    return bool(page.tab.evaluate("document.activeElement.id") == id)


def shown_platforms(page: Page) -> list[str]:
    label = 'document.querySelector("label[for={id}]").hidden'
    return [id for id in PLATFORMS if not page.tab.evaluate(label.format(id=id))]


@IN_ONE_BROWSER
def test_a_message_goes_where_the_server_delivers_and_nothing_else_is_offered(
    page: Page, open_page: Callable[..., Page], alice: Account, bob: Account
) -> None:
    page.log_in(alice)
    page.unfold()
    chosen = [id for id in PLATFORMS if page.tab.evaluate(f'document.getElementById("{id}").checked')]
    assert chosen == shown_platforms(page) == ["browser"]
    # A single place is no choice.
    assert page.tab.evaluate('document.getElementById("where").hidden')
    everywhere = open_page(DELIVERING)
    everywhere.log_in(bob)
    everywhere.unfold()
    assert sorted(shown_platforms(everywhere)) == sorted(PLATFORMS)
    assert all(everywhere.tab.evaluate(f'document.getElementById("{id}").checked') for id in PLATFORMS)


@IN_ONE_BROWSER
def test_sending_does_not_wait_for_the_registration_of_the_device(
    open_page: Callable[..., Page], alice: Account, bob: Account
) -> None:
    held = "async (go) => { await new Promise((resolve) => { window.release = resolve; }); return go(); }"
    page = open_page(REGISTERING.format(answer=held))
    assert not page.is_enabled("send")
    page.log_in(alice, state="registering")
    page.tab.wait_until("window.release !== undefined")
    assert page.send(bob, "Hello")[0].kind == "NoTargetFound"
    assert page.state == "registering"
    page.tab.evaluate("window.release()")
    page.await_state("registered")


@IN_ONE_BROWSER
def test_a_server_that_forgets_every_id_is_asked_for_another_one_once_and_not_for_ever(
    open_page: Callable[..., Page], alice: Account
) -> None:
    page = open_page(REGISTERING.format(answer="() => new Response('', { status: 410 })"))
    page.log_in(alice, state="loggedin")
    await_words(page, "device", "The server has forgotten this device")
    assert page.tab.evaluate('document.getElementById("again").checkVisibility()')
    assert page.tab.evaluate("window.registrations") == 2


def test_the_message_is_counted_in_bytes_and_what_is_too_long_stays_where_it_is(page: Page, alice: Account) -> None:
    page.log_in(alice)
    page.write(alice.name, "aé漢")
    assert page.text("counter") == "6 of 2,500 bytes"
    page.tab.evaluate(
        """(message => {
            message.value = "é".repeat(1251);
            message.dispatchEvent(new Event("input"));
        })(document.getElementById("message"))"""
    )
    assert page.text("counter") == "2,502 of 2,500 bytes: 2 too many"
    page.tab.click("send")
    await_words(page, "messageError", "The message is too long.")
    assert has_focus(page, "message")
    assert page.tab.evaluate('document.getElementById("message").ariaInvalid') == "true"
    assert page.tab.evaluate('document.getElementById("results").hidden')


def test_a_recipient_whom_one_may_not_send_to_is_named_and_the_message_stays_typed(
    page: Page, installation: Installation, alice: Account
) -> None:
    limited = Account(installation, installation.add_user("limited", "--send-to", "nosuch"))
    page.log_in(limited)
    send(page, alice.name, "Hello")
    await_words(page, "recipientError", f"You may not send to {alice.name}.")
    assert has_focus(page, "recipient")
    assert value(page, "message") == "Hello"


def test_without_a_network_the_message_stays_typed_and_goes_out_later(page: Page, alice: Account) -> None:
    page.log_in(alice)
    page.tab.cut_off(True)
    send(page, alice.name, "Hello")
    await_words(page, "sendError", "There is no network.")
    assert value(page, "message") == "Hello"
    page.tab.cut_off(False)
    # By itself.
    assert [line.kind for line in page.await_results()] == ["Completed"]
    page.tab.wait_until('document.getElementById("message").value === ""')
    assert page.text("sendError") == ""
    assert value(page, "message") == ""


@IN_ONE_BROWSER
def test_a_message_whose_answer_was_lost_is_sent_once_though_send_is_pressed_again(
    open_page: Callable[..., Page], alice: Account, subscriber: Subscriber
) -> None:
    page = open_page(
        """(() => {
            const real = window.fetch;
            window.keys = [];
            window.fetch = async (url, request) => {
                const answer = await real(url, request);
                if (!new URL(url).pathname.endsWith("/notifications") || request.method !== "POST") return answer;
                window.keys.push(request.headers["Idempotency-Key"]);
                if (window.keys.length === 1) throw new TypeError("the connection broke");
                return answer;
            };
            // The page does not send it by itself while we look.
            const timer = window.setTimeout;
            window.setTimeout = (work, time) => (time > 2000 && time <= 2500 ? 0 : timer(work, time));
        })()"""
    )
    page.log_in(alice)
    send(page, alice.name, "Hello")
    await_words(page, "sendError", "The server cannot be reached.")
    assert value(page, "message") == "Hello"
    page.tab.click("send")
    assert [line.kind for line in page.await_results()] == ["Completed"]
    assert value(page, "message") == ""
    assert len(subscriber.subscription.messages) == 1
    # The same text once more is another message.
    assert page.send(alice, "Hello")[0].kind == "Completed"
    assert len(subscriber.subscription.messages) == 2
    first, again, other = page.tab.evaluate("window.keys")
    assert first == again != other


@IN_ONE_BROWSER
def test_who_failed_too_often_is_told_how_long_to_wait(page: Page, installation: Installation) -> None:
    # On a busy machine the minute may be over before the right password is tried: then another user tries.
    assert any(is_refused_after_failures(page, installation) for _ in range(TRIES))
    assert page.state == "token"


def is_refused_after_failures(page: Page, installation: Installation) -> bool:
    """False when the page logged in, and might."""
    user = installation.add_user("forgetful")
    wrong, began = User(user.name, "wrong"), time.monotonic()
    answers = [installation.call("GET", "/api/register", wrong).status for _ in range(MAXIMUM_FAILURES)]
    assert answers == [401] * MAXIMUM_FAILURES
    page.tab.fill("username", user.name)
    page.tab.fill("password", user.password)
    page.tab.click("login")
    waits = '/Try again in [0-9]+ seconds?/.test(document.getElementById("loginResult").textContent)'
    told = page.tab.wait_until(f'{waits} ? "refused" : document.body.dataset.state === "registered" && "logged in"')
    if told == "logged in":
        assert time.monotonic() - began >= MINUTE - 1, "the minute was not over"
        page.log_out()
    return bool(told == "refused")


def test_what_was_logged_out_elsewhere_says_so_and_keeps_what_was_typed(page: Page, alice: Account) -> None:
    page.log_in(alice)
    # The page does not find out by itself.
    page.tab.evaluate(HIDDEN)
    page.tab.evaluate('fetch("/api/session?everywhere=true", { method: "DELETE" }).then(answer => answer.status)')
    send(page, alice.name, "Hello")
    await_words(page, "loginResult", "Your session has ended.")
    page.log_in(alice)
    assert value(page, "message") == "Hello"


def test_a_worker_that_starts_late_is_taken_all_the_same(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    tab.on_new_document(
        """(() => {
            const register = ServiceWorkerContainer.prototype.register;
            ServiceWorkerContainer.prototype.register = async function (...all) {
                await new Promise((resolve) => { window.release = resolve; });
                return register.apply(this, all);
            };
            // The page's patience is over at once.
            const real = window.setTimeout;
            window.setTimeout = (work, time) => real(work, time < 1000 ? time : 0);
        })()"""
    )
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("unsupported")
    assert "could not start" in page.text("device")
    tab.evaluate("window.release()")
    page.await_state("token")


@IN_ONE_BROWSER
def test_nothing_waits_for_a_push_service_that_does_not_answer_after_a_reload(
    open_page: Callable[..., Page], installation: Installation, alice: Account, bob: Account
) -> None:
    page = open_page("")
    page.log_in(alice)
    page.tab.on_new_document(
        """(() => {
            PushManager.prototype.getSubscription = () => new Promise((resolve) => { window.release = resolve; });
            // However long we take to look, the page does not lose its patience with the push service.
            const real = window.setTimeout;
            window.setTimeout = (work, time) => time < 1000 ? real(work, time) : 0;
        })()"""
    )
    page.open()
    page.await_state("subscribing")
    page.tab.wait_until("!document.getElementById('account').hidden")
    text = installation.secret("read meanwhile ")
    bob.send_secret(alice, text)
    assert page.send(bob, "Hello")[0].kind == "NoTargetFound"
    page.open()
    page.tab.wait_until("document.querySelector('#received li button') !== null")
    page.tab.evaluate("document.querySelector('#received li button').click()")
    assert page.await_received(text).kind == "secret"
    assert page.state == "subscribing"
