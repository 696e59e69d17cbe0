# SPDX-License-Identifier: Apache-2.0
"""The field of a message's time: what is wrong with it is said there, and what was typed stays."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from later import DAY, HOUR, MINUTE, choose_time, iso, send_soon, waiting
from notify_page import NotifyPage
from subscriber import Subscriber
from test_chromium import tab_to
from test_languages import LANGUAGES, opened
from test_looks import DESKTOP, NARROWEST, PHONE
from test_truth import Page, await_words, page, value  # noqa: F401
from timers import RETRIES, retry_until

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
        // A time that is over by then is refused, and another one chosen.
        if (request?.method !== "POST" || !answer.ok) return answer;
        const key = new Headers(request.headers).get("Idempotency-Key");
        window.sends.push([key, answer.headers.has("Idempotency-Replayed")]);
        if (window.sends.length === 1) throw new TypeError("the connection broke");
        return answer;
    };
})()"""


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
    # With a possible time it goes.
    choose_time(page, DAY)
    assert page.text("whenError") == ""
    page.tab.click("send")
    await_words(page, "resultsNote", "Scheduled for ")


def test_where_no_more_may_wait_the_page_says_so_at_the_time(page: Page, bob: Account) -> None:
    page.tab.evaluate(
        """void (() => {
            const real = window.fetch;
            const problem = { title: "Too Many Requests", status: 429, code: "tooManyScheduled", field: "SendAt" };
            window.fetch = async (url, request) => request?.method !== "POST" ? real(url, request)
                : Response.json(problem, { status: 429, headers: { "Retry-After": "60" } });
        })()"""
    )
    page.write(bob.name, "Hello")
    chosen = choose_time(page, DAY)
    page.tab.click("send")
    await_words(page, "whenError", "Too many messages are scheduled.")
    assert (value(page, "message"), value(page, "when")) == ("Hello", chosen)


def test_a_time_that_is_only_half_typed_is_no_message_for_now(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    page = NotifyPage[Any](chromium_tab(notifications="denied"), installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "Hello")
    page.tab.click("chooseWhen")
    page.tab.write("12")
    page.tab.click("send")
    await_words(page, "whenError", "Enter a date and a time, or neither.")
    assert value(page, "message") == "Hello"


# The field's place

# How much higher the form is for the button, and what is wider than the dock.
COST = """(() => {
    const [form, button, dock] = ["#sendForm", "#chooseWhen", ".dock"].map(one => document.querySelector(one));
    const { height } = form.getBoundingClientRect();
    const { width: own, height: ownHeight } = button.getBoundingClientRect();
    button.style.display = "none";
    const cost = height - form.getBoundingClientRect().height;
    button.style.display = "";
    return [cost, own >= 44 && ownHeight >= 44, dock.scrollWidth - dock.clientWidth];
})()"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "secure"])
def test_a_time_that_is_not_wanted_costs_no_row(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account, language: str,
    secure: bool,
) -> None:
    tab = chromium_tab(notifications="denied")
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "Hello")
    page.choose("secure", secure)
    for width, height in (DESKTOP, PHONE, (360, 740), NARROWEST):
        tab.size(width, height, scale=2, mobile=width < DESKTOP[0])
        tab.wait_until(f"document.documentElement.clientWidth === {width}")
        cost, *rest = tab.evaluate(COST)
        # On the narrowest screen the longer words of German and Spanish take a row.
        assert cost == 0 or (width == NARROWEST[0] and language != "en"), width
        assert rest == [True, 0], width
        # Who wants it has the field, and not the button.
        tab.click("chooseWhen")
        assert tab.evaluate("document.activeElement.id") == "when"
        choose_time(page, DAY)
        assert tab.evaluate("document.getElementById('chooseWhen').hidden")
        assert tab.evaluate("(dock => dock.scrollWidth - dock.clientWidth)(document.querySelector('.dock'))") == 0, width
        # Its words are in one row.
        assert tab.evaluate("document.getElementById('send').offsetHeight") <= 46, width
        tab.click("withoutWhen")


def test_a_time_is_taken_away_with_its_field_and_what_was_wrong_with_it(
    page: Page, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    page.write(bob.name, "Hello")
    choose_time(page, -MINUTE)
    page.tab.click("send")
    await_words(page, "whenError", "This time has come already.")
    page.tab.click("withoutWhen")
    assert (value(page, "when"), page.text("whenError"), page.text("send")) == ("", "", "Send")
    assert page.tab.evaluate("document.getElementById('whenLine').hidden && document.activeElement.id") == "chooseWhen"
    page.tab.click("send")
    subscriber.subscription.await_message()
    assert waiting(alice) == []


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
    page.tab.evaluate(f"void (() => {RETRIES})()")
    with installation.without_service():
        chosen = send_soon(page, bob.name, "better late", said="sendError")
        await_words(page, "sendError", "sent automatically")
        page.tab.wait_until(f"Date.now() > Date.parse({json.dumps(chosen)})")
        assert (value(page, "message"), value(page, "when")) == ("better late", chosen)
    retry_until(page.tab, 'document.querySelectorAll("#sendResults li").length > 0')
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


# Without a mouse


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
    tab_to(tab, "chooseWhen")
    tab.press(" ")
    assert tab.evaluate("document.activeElement.id") == "when"
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
