# SPDX-License-Identifier: Apache-2.0
"""Messages for later: written with a time, seen until then, taken back, and sent when the time has come."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from later import CANCEL, DAY, ITEMS, SCHEDULED, choose_time, post, press, schedule, send_soon, show_sent, waiting
from notify_page import NotifyPage
from subscriber import Subscriber
from test_languages import opened
from test_looks import DESKTOP, NARROWEST, settle, violations
from test_truth import Page, await_words, page, value  # noqa: F401


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
    page.tab.wait_until("document.querySelector('#sent').textContent.includes('Browser: No device')")
    [secret] = bob.call("GET", "/api/notifications").json()
    assert bob.read_secret(secret["Id"]).json()["Payload"] == text
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
    # As the browser's English has it, which is American.
    clock = f"{(int(local[11:13]) + 11) % 12 + 1}:{local[14:16]}"
    page.tab.click("send")
    await_words(page, "resultsNote", clock)
    [kept] = waiting(alice)
    expected = datetime.fromisoformat(local + "+05:30").astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert kept["SendAt"] == expected
    assert clock in show_sent(page)[0]


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
    # For the list the time does not come, however late we look: its clock stands still, it does not look again by itself, and
    # is not told what waits until it is to learn it.
    page.tab.evaluate(
        """void (() => {
            const [now, timer, real] = [Date.now(), window.setTimeout, window.fetch];
            Date.now = () => now;
            window.setTimeout = (work, time) => timer(String(work).includes("sentCard") ? () => {} : work, time);
            window.fetch = (url, request) => String(url).endsWith("/scheduled") && !window.isTold
                ? Promise.reject(new TypeError("no network")) : real(url, request);
        })()"""
    )
    send_soon(page, bob.name, "on its way")
    show_sent(page)
    subscriber.subscription.await_message()
    press(page, CANCEL)
    page.tab.evaluate("void (window.isTold = true)")
    press(page, CANCEL)
    await_words(page, "sentNote", "it was sent already")
    page.tab.wait_until("document.querySelector('#sent').textContent.includes('Browser: Sent')")
    assert page.tab.evaluate(f"{CANCEL} === null")


# How it looks


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
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("(dock => dock.scrollWidth - dock.clientWidth)(document.querySelector('.dock'))") == 0
        for look in ("writing", "list"):
            if look == "list":
                tab.click("close")
            elif name == "desktop":
                page.unfold()
            settle(tab)
            tab.screenshot(screenshots / f"later-{language}-{name}-{look}.png")
            assert violations(tab) == []
