# SPDX-License-Identifier: Apache-2.0
"""Messages for later: written with a time, seen until then, taken back, and sent when the time has come."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import wait_until
from installation import Installation
from notify_page import NotifyPage
from subscriber import Subscriber
from test_chromium import tab_to
from test_languages import opened
from test_looks import DESKTOP, NARROWEST, settle, violations
from test_truth import Page, await_words, page, value  # noqa: F401

MINUTE, HOUR, DAY = 60, 3600, 86_400  # seconds
SCHEDULED = "/api/notifications/scheduled"
ITEMS = "[...document.querySelectorAll('#sent > li')]"
CANCEL = "document.querySelector('#sent button')"
# Puts a time so many seconds ahead into the field, as a person's own clock has it.
CHOOSE = """(() => {{
    const at = new Date(Date.now() + {seconds} * 1000);
    const field = document.getElementById("when");
    field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
    field.dispatchEvent(new Event("input"));
    return field.value;
}})()"""
# The page asks for another time than the person: `{made}` is the next request's, once.
REPLACE = """void (() => {{
    const real = window.fetch;
    window.fetch = async (url, request) => {{
        if (request?.method !== "POST") return real(url, request);
        window.fetch = real;
        return real(url, {{ ...request, body: JSON.stringify({{ ...JSON.parse(request.body), SendAt: "{made}" }}) }});
    }};
}})()"""
# The answer to the first send is lost, though the server has carried it out.
LOSE = """void (() => {
    const real = window.fetch;
    window.sends = [];
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        if (request?.method !== "POST") return answer;
        const key = new Headers(request.headers).get("Idempotency-Key");
        window.sends.push([key, answer.headers.has("Idempotency-Replayed")]);
        if (window.sends.length === 1) throw new TypeError("the connection broke");
        return answer;
    };
})()"""


def choose_time(page: Page, seconds: int) -> str:
    """Puts the time into the field, and returns what stands there then."""
    page.unfold()
    return str(page.tab.evaluate(CHOOSE.format(seconds=seconds)))


def schedule(page: Page, recipient: str, text: str, seconds: int) -> None:
    """Sends a message for later, and returns when the page has said so."""
    page.write(recipient, text)
    choose_time(page, seconds)
    page.tab.click("send")
    await_words(page, "resultsNote", "Scheduled for ")


def send_soon(page: Page, recipient: str, text: str, said: str = "resultsNote") -> str:
    """Sends a message for the next seconds, and returns its time as soon as the page says something at that place."""
    page.write(recipient, text)
    words = 'document.getElementById("{id}").textContent !== ""'
    taken, late = words.format(id=said), words.format(id="whenError")
    # A machine that stood still for so long needs another time.
    for seconds in (3, 30, 3 * MINUTE):
        chosen = choose_time(page, seconds)
        page.tab.click("send")
        if page.tab.wait_until(f'{taken} ? "taken" : {late} && "late"') == "taken":
            return chosen
    raise AssertionError("too late for every time")


def waiting(account: Account) -> list[dict[str, Any]]:
    """What the server keeps of the user's for later."""
    reply = account.call("GET", SCHEDULED)
    assert reply.status == 200, reply
    found: list[dict[str, Any]] = reply.json()
    return found


def show_sent(page: Page, count: int = 1) -> list[str]:
    """The texts of the list, as soon as there are so many. Raises TimeoutError."""
    page.tab.click("showSent")
    page.tab.wait_until(f"{ITEMS}.length === {count}")
    return list(page.tab.evaluate(f"{ITEMS}.map(one => one.innerText)"))


def press(page: Page, button: str, times: int = 1) -> None:
    page.tab.wait_until(f"{button} !== null")
    page.tab.evaluate(f"{button}.focus()")
    for _ in range(times):
        page.tab.press("Enter")


def iso(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def post(account: Account, recipient: str, text: str, seconds: int) -> None:
    """Sends a message for later from another device."""
    message = {"To": recipient, "Body": text, "Platforms": ["browser"], "SendAt": iso(seconds)}
    reply = account.call("POST", "/api/notifications", message)
    assert reply.status == 200, reply


# Until its time


def test_a_message_for_later_is_listed_with_its_time_until_it_is_cancelled(
    page: Page, alice: Account, bob: Account
) -> None:
    schedule(page, bob.name, "the day after", 2 * DAY)
    assert page.tab.evaluate("document.querySelectorAll('#sendResults li').length") == 0
    assert (value(page, "message"), value(page, "when"), page.text("send")) == ("", "", "Send")
    [kept] = waiting(alice)
    assert (kept["To"], kept["Body"]) == (bob.name, "the day after")
    for _ in range(2):
        [text] = show_sent(page)
        assert f"To {bob.name}" in text and "the day after" in text and "Scheduled for " in text
        # It has no other states yet, and its label says to whom and when.
        assert page.tab.evaluate("document.querySelectorAll('#sent .state').length") == 1
        assert f"To {bob.name}, " in page.tab.evaluate(f"{CANCEL}.ariaLabel")
        page.open().await_state("loggedin")
    show_sent(page)
    press(page, CANCEL)
    page.tab.wait_until(f"{CANCEL}.textContent === 'Do not send it'")
    assert waiting(alice) == [kept]
    press(page, CANCEL)
    await_words(page, "sentNote", "It is not sent.")
    page.tab.wait_until(f"{ITEMS}.length === 0")
    assert page.tab.evaluate("document.activeElement.id") == "sentHeading"
    assert waiting(alice) == []


def test_a_message_for_later_is_sent_when_its_time_has_come_and_the_list_says_what_became_of_it(
    page: Page, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    send_soon(page, bob.name, "now it is time")
    show_sent(page)
    page.tab.wait_until("document.querySelector('#sent .state[data-tone=good]') !== null")
    [text] = page.tab.evaluate(f"{ITEMS}.map(one => one.innerText)")
    assert "Browser: Sent" in text and "now it is time" in text and "Scheduled" not in text
    assert page.tab.evaluate(f"{CANCEL} === null")
    subscriber.subscription.await_message()
    assert waiting(alice) == []
    # What became of it is known from then on, like any other message's.
    page.open().await_state("loggedin")
    assert "Browser: Sent" in show_sent(page)[0]


def test_no_timeline_is_asked_for_before_its_time(page: Page, alice: Account, bob: Account) -> None:
    schedule(page, bob.name, "tomorrow", DAY)
    page.tab.evaluate(
        """void (() => {
            const real = window.fetch;
            window.asked = [];
            window.fetch = async (url, request) => {
                const answer = await real(url, request);
                window.asked.push(new URL(url).pathname);
                return answer;
            };
        })()"""
    )
    show_sent(page)
    page.tab.wait_until(f"window.asked.includes({json.dumps(SCHEDULED)})")
    page.tab.click("showInbox")
    show_sent(page)
    page.tab.wait_until(f"window.asked.filter(one => one === {json.dumps(SCHEDULED)}).length === 2")
    assert not [path for path in page.tab.evaluate("window.asked") if "timeline" in path]


def test_a_secret_for_later_is_listed_without_its_text_and_read_after_its_time(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    text = installation.secret("for later ")
    page.choose("secure", True)
    send_soon(page, bob.name, text)
    [shown] = show_sent(page)
    assert "Secure message" in shown and text not in shown
    kept = """(async () => {
        const { list } = await import(new URL("js/sent.js", location.href));
        return JSON.stringify(await list(document.getElementById("who").textContent));
    })()"""
    assert text not in page.tab.evaluate(kept)
    assert all("Body" not in one and one["Secure"] for one in waiting(alice))
    [secret] = wait_until(lambda: bob.call("GET", "/api/notifications").json(), "the secret was sent")
    assert bob.read_secret(secret["Id"]).json()["Payload"] == text
    page.tab.wait_until("document.querySelector('#sent').textContent.includes('Browser: No device')")
    assert text not in page.tab.evaluate(kept)


def test_the_time_is_the_persons_own(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    page = NotifyPage[Any](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "half an hour apart")
    local = choose_time(page, DAY)
    page.tab.click("send")
    await_words(page, "resultsNote", local[11:16])
    [kept] = waiting(alice)
    expected = datetime.fromisoformat(local + "+05:30").astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert kept["SendAt"] == expected
    assert local[11:16] in show_sent(page)[0]


# What is wrong with a time


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-MINUTE, "This time has come already."), (7 * DAY + MINUTE, "That is more than seven days ahead.")],
    ids=["it has come", "more than a week"],
)
@pytest.mark.parametrize("judge", ["page", "server"])
def test_a_time_that_cannot_be_is_said_at_its_field_and_nothing_is_lost(
    page: Page, alice: Account, bob: Account, seconds: int, words: str, judge: str
) -> None:
    page.write(bob.name, "Hello")
    if judge == "page":
        chosen = choose_time(page, seconds)
    else:
        # The server's clock is an hour before the page's, or behind it.
        chosen = choose_time(page, seconds + (HOUR if seconds < 0 else -HOUR))
        page.tab.evaluate(REPLACE.format(made=iso(seconds)))
    assert page.text("send") == "Send later"
    page.tab.click("send")
    await_words(page, "whenError", words)
    assert page.tab.evaluate("document.activeElement.id") == "when"
    assert page.tab.evaluate("document.activeElement.ariaInvalid") == "true"
    assert (value(page, "recipient"), value(page, "message"), value(page, "when")) == (bob.name, "Hello", chosen)
    assert waiting(alice) == []
    # With a time that can be it goes.
    choose_time(page, DAY)
    assert page.text("whenError") == ""
    page.tab.click("send")
    await_words(page, "resultsNote", "Scheduled for ")


def test_where_no_more_may_wait_the_page_says_so_at_the_time(page: Page, bob: Account) -> None:
    page.tab.evaluate(
        """void (() => {
            const real = window.fetch;
            const problem = { type: "about:blank", title: "Too Many Requests", status: 429, field: "SendAt" };
            window.fetch = async (url, request) => request?.method !== "POST" ? real(url, request)
                : Response.json(problem, { status: 429, headers: { "Retry-After": "60" } });
        })()"""
    )
    page.write(bob.name, "Hello")
    chosen = choose_time(page, DAY)
    page.tab.click("send")
    await_words(page, "whenError", "As many messages wait for their time as may.")
    assert (value(page, "message"), value(page, "when")) == ("Hello", chosen)


def test_a_time_that_is_only_half_typed_is_no_message_for_now(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    page = NotifyPage[Any](chromium_tab(notifications="denied"), installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "Hello")
    page.tab.evaluate("document.getElementById('when').focus()")
    page.tab.write("12")
    page.tab.click("send")
    await_words(page, "whenError", "Enter a date and a time, or neither.")
    assert value(page, "message") == "Hello"


# What is typed is kept


def test_a_time_that_was_chosen_is_still_there_after_a_reload(page: Page, bob: Account) -> None:
    page.write(bob.name, "not ready")
    chosen = choose_time(page, DAY)
    page.open().await_state("loggedin")
    page.tab.wait_until('document.getElementById("message").value === "not ready"')
    assert (value(page, "when"), page.text("send")) == (chosen, "Send later")
    # Nor is it the next user's.
    page.log_out()
    assert value(page, "when") == ""


def test_a_message_for_later_whose_time_comes_while_the_server_is_away_is_sent_as_soon_as_it_is_back(
    page: Page, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    with installation.without_service():
        chosen = send_soon(page, bob.name, "better late", said="sendError")
        await_words(page, "sendError", "sent by itself")
        page.tab.wait_until(f"Date.now() > Date.parse({json.dumps(chosen)})")
        assert (value(page, "message"), value(page, "when")) == ("better late", chosen)
    assert [line.kind for line in page.await_results()] == ["Completed"]
    assert (value(page, "message"), value(page, "when")) == ("", "")
    subscriber.subscription.await_message()
    assert waiting(alice) == []


@pytest.mark.parametrize("way", ["by itself", "by Send"])
def test_a_message_for_later_whose_answer_was_lost_is_not_sent_once_more_after_its_time(
    page: Page, alice: Account, bob: Account, subscriber: Subscriber, way: str
) -> None:
    bob.register(subscriber)
    page.tab.evaluate(LOSE)
    # The page does not try again before its time has come.
    page.tab.evaluate(
        """void (() => {
            const timer = window.setTimeout;
            window.setTimeout = (work, time) => timer(() => window.isTime ? work() : (window.late = work), time);
        })()"""
    )
    send_soon(page, bob.name, "once", said="sendError")
    subscriber.subscription.await_message()
    assert waiting(alice) == []
    page.tab.evaluate("void (window.isTime = true)")
    if way == "by Send":
        page.tab.click("send")
    else:
        page.tab.evaluate("void dispatchEvent(new Event('online'))")
    page.tab.wait_until('document.getElementById("message").value === ""')
    assert page.tab.evaluate("new Set(window.sends.map(([key]) => key)).size") == 1
    assert page.tab.evaluate("window.sends.map(([, isReplayed]) => isReplayed)") == [False, True]
    assert len(subscriber.subscription.messages) == 1


# Other devices


def test_a_message_for_later_of_another_device_is_listed_and_cancelled_here(
    page: Page, alice: Account, bob: Account
) -> None:
    post(alice, bob.name, "written elsewhere", DAY)
    [text] = show_sent(page)
    assert "written elsewhere" in text and "Scheduled for " in text
    press(page, CANCEL, times=2)
    await_words(page, "sentNote", "It is not sent.")
    page.tab.wait_until(f"{ITEMS}.length === 0")
    assert waiting(alice) == []


def test_a_message_for_later_that_was_cancelled_on_another_device_is_listed_as_cancelled(
    page: Page, alice: Account, bob: Account
) -> None:
    schedule(page, bob.name, "never mind", DAY)
    show_sent(page)
    [kept] = waiting(alice)
    page.tab.wait_until(f"{CANCEL} !== null")
    assert alice.call("DELETE", f"{SCHEDULED}/{kept['MessageId']}").status == 200
    press(page, CANCEL, times=2)
    await_words(page, "sentNote", "It is not waiting any more")
    page.tab.wait_until(f"{ITEMS}.length === 1 && {CANCEL} === null")
    assert page.tab.evaluate("document.querySelector('#sent .state').textContent") == "Cancelled"


def test_a_message_that_was_sent_before_it_is_cancelled_says_so_and_what_became_of_it(
    page: Page, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    # The list does not look again by itself when the time has come.
    page.tab.evaluate(
        """void (() => {
            const timer = window.setTimeout;
            window.setTimeout = (work, time) => timer(String(work).includes("sentCard") ? () => {} : work, time);
        })()"""
    )
    send_soon(page, bob.name, "on its way")
    show_sent(page)
    page.tab.wait_until(f"{CANCEL} !== null")
    subscriber.subscription.await_message()
    press(page, CANCEL, times=2)
    await_words(page, "sentNote", "it was sent already")
    page.tab.wait_until("document.querySelector('#sent').textContent.includes('Browser: Sent')")
    assert page.tab.evaluate(f"{CANCEL} === null")


# How it looks, and without a mouse


def test_a_time_is_chosen_by_keyboard_alone(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    page = NotifyPage[Any](chromium_tab(notifications="denied"), installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.unfold()
    tab = page.tab
    tab_to(tab, "recipient")
    tab.write(bob.name)
    tab_to(tab, "message")
    tab.write("by keyboard")
    tab_to(tab, "when")
    # Month, day, year, hour, minute and half of the day; the year has six places.
    ahead = datetime.now(UTC) + timedelta(days=1)
    tab.write(ahead.strftime("%m%d%Y"))
    tab.press("Tab")
    tab.write(ahead.strftime("%I%M%p").lower())
    assert value(page, "when") == ahead.strftime("%Y-%m-%dT%H:%M")
    tab_to(tab, "send")
    tab.press(" ")
    await_words(page, "resultsNote", "Scheduled for ")
    assert waiting(alice)[0]["SendAt"] == ahead.strftime("%Y-%m-%dT%H:%M:00Z")


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_axe_finds_nothing_to_say_about_a_time_and_all_of_it_is_on_a_telephones_screen(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account, language: str,
    screenshots: Any,
) -> None:
    tab = chromium_tab(notifications="denied")
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    # From right to left.
    page.write(bob.name, "שלום")
    choose_time(page, DAY)
    tab.click("send")
    tab.wait_until("document.getElementById('resultsNote').textContent !== ''")
    page.write(bob.name, "x")
    choose_time(page, -DAY)
    tab.click("send")
    tab.wait_until("document.getElementById('whenError').textContent !== ''")
    show_sent(page)
    press(page, CANCEL)
    for name, (width, height) in {"phone": NARROWEST, "desktop": DESKTOP}.items():
        tab.size(width, height, scale=2, mobile=name == "phone")
        tab.wait_until(f"document.documentElement.clientWidth === {width}")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate("(dock => dock.scrollWidth - dock.clientWidth)(document.querySelector('.dock'))") == 0
        for look in ("writing", "list"):
            if look == "list":
                tab.click("close")
            elif name == "desktop":
                page.unfold()
            settle(tab)
            tab.screenshot(screenshots / f"later-{language}-{name}-{look}.png")
            assert violations(tab) == []
