# SPDX-License-Identifier: Apache-2.0
"""The steps of a message in the list of what was sent: each as soon as it has happened."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import vapid
from account import Account
from chromium import Chromium, ChromiumTab
from deadline import wait_until
from installation import Installation
from later import ITEMS, await_steps, show_sent
from notify_page import NotifyPage
from push_service import PushService
from subscriber import Subscriber
from tab import Tab
from test_inbox_kept import people, site  # noqa: F401
from test_languages import opened
from test_looks import DESKTOP, NARROWEST, settle, violations

Page = NotifyPage[Tab]

# Counts how often a timeline is asked for, and how often the page had the time to ask, which comes at once; notes the pauses between.
COUNT = """(() => {
    const [real, timer] = [window.fetch, window.setInterval];
    [window.asked, window.turns, window.pauses] = [0, 0, []];
    window.setInterval = (work, pause) => {
        window.pauses.push(pause);
        timer(() => { work(); window.turns += 1; }, 100);
    };
    window.fetch = (url, request) => {
        if (String(url).endsWith("/timeline")) window.asked += 1;
        return real(url, request);
    };
})()"""
# Holds what the server tells of messages for later and of timelines, until `release` is called.
HOLD = """(() => {
    const real = window.fetch;
    const released = new Promise((resolve) => { window.release = resolve; });
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        if (["scheduled", "timeline"].includes(String(url).split("/").at(-1))) await released;
        return answer;
    };
})()"""
# Puts an entry into the list, as an earlier visit has left it.
ADD = """(async () => {{
    const {{ add }} = await import(new URL("js/sent.js", location.href));
    const entry = {{ user: document.getElementById("who").textContent, at: Date.now() - 60000, secret: null }};
    return add({{ ...entry, ...{entry} }});
}})()"""
KNOWN = {"platform": "browser", "state": "Completed", "notification": "1", "counts": {"Success": 1}}
OTHER = {"firefox": "chromium", "chromium": "firefox"}


@pytest.fixture(params=["firefox", "chromium"])
def browser(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_page(request: pytest.FixtureRequest, site: Installation, tabs: list[Tab]) -> Any:  # noqa: F811
    """Opens the page in a browser of that name, which receives nothing, as that user, which counts and hurries."""

    def open_one(browser: str, account: Account) -> Page:
        tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
        tabs.append(tab)
        tab.on_new_document(COUNT)
        page = NotifyPage[Tab](tab, site.origin).open()
        page.log_in(account, state="loggedin")
        return page

    return open_one


@pytest.fixture
def alice(people: tuple[Account, Account], site: Installation, push: PushService) -> Account:  # noqa: F811
    """Receives in a browser that shows nothing."""
    people[0].register(Subscriber(push.subscribe(vapid.decode(site.vapid_key))))
    return people[0]


@pytest.fixture
def bob(people: tuple[Account, Account]) -> Account:  # noqa: F811
    return people[1]


def add(page: Page, **entry: Any) -> None:
    assert page.tab.evaluate(ADD.format(entry=json.dumps(entry)))


# By itself


def test_the_list_says_by_itself_that_a_message_was_read_on_another_screen(
    browser: str, open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page(browser, bob)
    page.send(alice, "At noon")
    show_sent(page)
    steps = await_steps(page, "Sent ", "Kept in the inbox", "Browser: Sent", "Not read yet")
    assert "taken by the push service for 1 device" in steps[2]
    # In a browser of her own.
    open_page(OTHER[browser], alice).await_received("At noon")
    await_steps(page, "Sent ", "Kept in the inbox", "Browser: Sent", "Read")
    # It is still so when the list is opened again.
    page.open().await_state("loggedin")
    assert "At noon" in show_sent(page)[0]
    await_steps(page, "Sent ", "Kept in the inbox", "Browser: Sent", "Read")


def test_of_a_secret_the_list_says_that_only_its_number_was_sent_and_when_it_was_read(
    browser: str, open_page: Any, site: Installation, alice: Account, bob: Account  # noqa: F811
) -> None:
    text = site.secret("quietly ")
    page = open_page(browser, bob)
    page.send(alice, text, secure=True)
    [shown] = show_sent(page)
    assert text not in shown
    kept = "Kept on the server; the notification has only its number"
    await_steps(page, "Sent ", kept, "Browser: Sent", "Not read yet")
    [secret] = alice.call("GET", "/api/notifications").json()
    assert alice.read_secret(secret["Id"]).json()["Payload"] == text
    await_steps(page, "Sent ", kept, "Browser: Sent", "Read")


def test_a_message_to_a_user_without_a_device_is_kept_and_the_list_says_when_it_was_read(
    browser: str, open_page: Any, site: Installation, people: tuple[Account, Account]  # noqa: F811
) -> None:
    recipient, sender = people
    page = open_page(browser, sender)
    page.send(recipient, site.secret("for whenever "), secure=True)
    show_sent(page)
    steps = await_steps(page, "Sent ", "Kept", "Browser: No device", "Not read yet")
    assert "no such device is registered" in steps[2]
    [secret] = recipient.call("GET", "/api/notifications").json()
    recipient.read_secret(secret["Id"])
    await_steps(page, "Sent ", "Kept", "Browser: No device", "Read")


def test_the_list_says_how_many_have_opened_a_message(
    browser: str, open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page(browser, bob)
    page.send(alice, "Look")
    show_sent(page)
    await_steps(page, "Sent ", "Kept", "Browser: Sent", "Not read yet")
    open_and_read(page, alice)
    await_steps(page, "Sent ", "Kept", "Browser: Sent", "Read", "Opened by 1")


def open_and_read(page: Page, reader: Account) -> None:
    """The newest message, by the reader's app."""
    message = page.tab.evaluate("document.querySelector('#sent > li').dataset.name")
    assert reader.call("POST", f"/api/notifications/{message}/opened").status == 200
    [kept] = reader.call("GET", "/api/inbox").json()["Messages"]
    assert reader.call("POST", f"/api/inbox/{kept['Id']}/read").status == 200


def test_of_two_messages_of_one_second_the_later_one_stays_above_the_other(
    browser: str, open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page(browser, bob)
    (one, other), at = of_one_second(alice, bob)
    # The server's times, which come one after the other, have whole seconds.
    for message, milliseconds in ((one, 100), (other, 700)):
        add(page, to=alice.name, text="Hello", message=message, isSent=True, at=at + milliseconds, lines=[])
    show_sent(page, 2)
    page.tab.wait_until(f"{ITEMS}.every(one => one.innerText.includes('Kept in the inbox'))")
    assert page.tab.evaluate(f"{ITEMS}.map(one => one.dataset.name)") == [other, one]


def of_one_second(recipient: Account, sender: Account) -> tuple[list[str], int]:
    """Two messages, and the time of both in milliseconds.

    Raises TimeoutError.
    """
    def sent() -> tuple[list[str], int] | None:
        sent = [sender.call("POST", "/api/notifications", {"To": recipient.name, "Body": "Hello"}).json() for _ in range(2)]
        ids = [str(one["MessageId"]) for one in sent]
        times = {sender.call("GET", f"/api/notifications/{id}/timeline").json()["SentAt"] for id in ids}
        return (ids, int(datetime.fromisoformat(times.pop()).timestamp() * 1000)) if len(times) == 1 else None

    return wait_until(sent, "two messages are sent in one second")


# When nothing is asked


def test_no_timeline_is_asked_for_while_the_list_or_the_page_is_hidden_nor_when_nothing_is_to_come(
    open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page("chromium", bob)
    tab = page.tab

    def pass_turns(name: str) -> None:
        """Returns when the page has had the time to ask again, and asked at most what it had begun."""
        tab.wait_until(f"(window.{name} ??= window.turns) + 3 < window.turns")
        asked = tab.evaluate("window.asked")
        tab.wait_until(f"window.{name} + 8 < window.turns")
        assert tab.evaluate("window.asked") == asked

    page.send(alice, "At noon")
    assert tab.evaluate("window.asked") == 0
    show_sent(page)
    # Of the inbox, and of this list.
    assert tab.evaluate("window.pauses") == [20_000, 20_000]
    await_steps(page, "Sent ", "Kept", "Browser: Sent", "Not read yet")
    tab.wait_until("window.asked > 3")
    tab.click("showInbox")
    pass_turns("list")
    asked = tab.evaluate("window.asked")
    show_sent(page)
    tab.wait_until(f"window.asked > {asked}")
    tab.evaluate("void Object.defineProperty(document, 'hidden', { configurable: true, get: () => window.isHidden })")
    show = "(window.isHidden = {}, document.dispatchEvent(new Event('visibilitychange')))"
    tab.evaluate(show.format("true"))
    pass_turns("page")
    open_and_read(page, alice)
    tab.evaluate(show.format("false"))
    await_steps(page, "Sent ", "Kept", "Browser: Sent", "Read", "Opened by 1")
    pass_turns("end")


def test_an_entry_of_an_older_version_without_an_id_is_shown_as_it_was_and_not_asked_for(
    open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page("chromium", bob)
    add(page, to=alice.name, text="long ago", lines=[{**KNOWN, "state": "Enqueued", "counts": {}}, KNOWN])
    assert "long ago" in show_sent(page)[0]
    await_steps(page, "Sent ", "Browser: Queued", "Browser: Sent")
    page.tab.wait_until("window.turns > 3")
    assert page.tab.evaluate("window.asked") == 0


def test_what_was_known_of_a_message_whose_timeline_is_forgotten_stays(
    browser: str, open_page: Any, alice: Account, bob: Account
) -> None:
    page = open_page(browser, bob)
    page.tab.expect_complaint("404")
    add(
        page, to=alice.name, text="last week", message="Zk0V7yq1T3e9uJc2LxWn4A", isSent=True,
        kept=True, read=False, opened=2, lines=[KNOWN],
    )
    # The list may be looked at for long before it knows what is for later.
    page.tab.evaluate(HOLD)
    assert "last week" in show_sent(page)[0]
    page.tab.wait_until("(window.first ??= window.turns) + 3 < window.turns")
    page.tab.evaluate("window.release()")
    known = ("Sent ", "Kept in the inbox", "Browser: Sent", "Not read yet", "Opened by 2")
    await_steps(page, *known)
    page.tab.wait_until("window.asked > 0")
    page.tab.wait_until("(window.then ??= window.turns) + 5 < window.turns")
    assert page.tab.evaluate("window.asked") == 1
    await_steps(page, *known)


# How it looks


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_axe_finds_nothing_to_say_about_the_steps_and_they_fit_on_a_telephones_screen(
    chromium: Chromium, tabs: list[Tab], site: Installation, alice: Account, bob: Account, language: str,  # noqa: F811
    screenshots: Path,
) -> None:
    tab = chromium.open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    page: NotifyPage[ChromiumTab] = opened(tab, site, language)
    page.log_in(bob, state="loggedin")
    # From right to left.
    page.send(alice, "שלום")
    show_sent(page)
    open_and_read(page, alice)
    page.send(alice, site.secret("quietly "), secure=True)
    tab.click("showInbox")
    show_sent(page, 2)
    page.tab.wait_until(f"{ITEMS}.map(one => one.querySelectorAll('li').length).join() === '4,5'")
    tab.click("close")
    for name, (width, height) in {"phone": NARROWEST, "desktop": DESKTOP}.items():
        tab.size(width, height, scale=2, mobile=name == "phone")
        tab.wait_until(f"document.documentElement.clientWidth === {width}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in ("light", "dark"):
            tab.prefer(scheme)
            settle(tab)
            tab.screenshot(screenshots / f"steps-{language}-{name}-{scheme}.png")
            assert violations(tab) == []
