# SPDX-License-Identifier: Apache-2.0
"""The inbox where the site keeps plain messages: one list, on whatever device it is read."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import vapid
from account import Account
from certificates import Authority
from deadline import wait_until
from installation import Installation
from later import await_steps, show_sent
from notify_page import PLATFORMS, NotifyPage
from push_service import PushService
from subscriber import Subscriber
from tab import Tab
from test_chromium import DELIVERING, forward, subscribed
from test_inbox import HASTE
from test_truth import AS_AZURE, await_words, value

Page = NotifyPage[Tab]
Open = Callable[[str], Page]

LIST = "[...document.querySelectorAll('#received li')]"


@pytest.fixture(scope="module")
def site(
    program: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, push: PushService
) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("kept")
    with Installation(program, folder, authority, push.authority, groups={"inbox": {"plainDays": 7}}) as running:
        yield running


@pytest.fixture
def people(site: Installation) -> tuple[Account, Account]:
    return Account(site, site.add_user("alice")), Account(site, site.add_user("bob"))


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest, site: Installation, people: tuple[Account, Account], tabs: list[Tab]
) -> Open:
    """Opens the page in a browser of that name, which receives nothing, as alice; it asks for new messages at once."""

    def open_one(browser: str) -> Page:
        tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
        tabs.append(tab)
        tab.on_new_document(HASTE)
        page = NotifyPage[Tab](tab, site.origin).open()
        page.log_in(people[0], state="loggedin")
        return page

    return open_one


def inbox(account: Account) -> Any:
    return account.call("GET", "/api/inbox").json()


def send(people: tuple[Account, Account], **members: str) -> None:
    alice, bob = people
    reply = bob.call("POST", "/api/notifications", {"To": alice.name, "Platforms": ["browser"], **members})
    assert reply.status == 200, reply


def test_a_message_to_several_platforms_is_one_entry_in_the_inbox_and_one_in_the_list_of_what_was_sent(
    people: tuple[Account, Account], open_page: Open, push: PushService, site: Installation
) -> None:
    alice, bob = people
    bob.register(Subscriber(push.subscribe(vapid.decode(site.vapid_key))))
    page = open_page("chromium")
    page.tab.on_new_document(DELIVERING)
    page.open()
    page.await_state("loggedin")
    page.unfold()
    page.tab.wait_until('!document.querySelector("label[for=wns]").hidden')
    lines = page.send(bob, "At noon", platforms=PLATFORMS)
    assert {line.label: line.kind for line in lines} == {
        name: "Completed" if name == "browser" else "NoTargetFound" for name in PLATFORMS
    }
    assert [(one["From"], one["Body"]) for one in inbox(bob)["Messages"]] == [(alice.name, "At noon")]
    page.tab.click("showSent")
    page.tab.wait_until("document.querySelectorAll('#sent > li').length === 1")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_plain_message_that_no_push_brought_is_shown_whole_and_counts_as_read_when_it_was_seen(
    people: tuple[Account, Account], open_page: Open, browser: str
) -> None:
    alice, bob = people
    send(people, Title="Lunch", Body="At <noon>", Link="https://example.com/4")
    assert inbox(alice)["Unread"] == 1
    page = open_page(browser)
    line = page.await_received("At <noon>")
    assert line.kind == "message" and f"{bob.name}: Lunch" in line.text
    assert page.tab.evaluate("document.querySelector('#received a').href") == "https://example.com/4"
    page.tab.wait_until("fetch('/api/inbox').then(answer => answer.json()).then(({ Unread }) => Unread === 0)")
    assert page.text("unread") in ("", "0")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_message_that_no_device_but_the_inbox_has_is_sent_and_the_page_says_so(
    people: tuple[Account, Account], open_page: Open, browser: str
) -> None:
    _, bob = people
    page = open_page(browser)
    page.write(bob.name, "At noon")
    page.tab.click("send")
    await_kept(page, bob)
    # A second press finds no message.
    page.tab.click("send")
    page.tab.wait_until("document.getElementById('message').ariaInvalid === 'true'")
    assert [one["Body"] for one in inbox(bob)["Messages"]] == ["At noon"]
    assert "At noon" in show_sent(page)[0]
    await_steps(page, "Sent ", "Kept in the inbox", "Browser: No device", "Not read yet")


def test_a_message_of_which_the_hub_learns_later_that_only_the_inbox_has_it_does_not_come_back(
    people: tuple[Account, Account], open_page: Open
) -> None:
    _, bob = people
    page = open_page("chromium")
    page.tab.evaluate(AS_AZURE)
    page.write(bob.name, "At noon")
    page.tab.click("send")
    await_kept(page, bob)


def test_a_message_that_no_inbox_has_stays_typed(people: tuple[Account, Account], open_page: Open) -> None:
    page = open_page("chromium")
    page.write("nosuchuser", "At noon")
    page.tab.click("send")
    await_words(page, "recipientError", "No device of nosuchuser was reached", "The message is still here.")
    assert value(page, "message") == "At noon"
    assert show_sent(page, 0) == []


def await_kept(page: Page, recipient: Account) -> None:
    """The page says so, and the form is empty. Raises TimeoutError."""
    await_words(page, "resultsNote", f"Kept in the inbox of {recipient.name}. No device of {recipient.name} was notified.")
    assert value(page, "message") == ""
    assert page.text("sendError") == page.text("recipientError") == ""


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_people_whose_messages_no_push_brought_are_offered_as_recipients(
    people: tuple[Account, Account], site: Installation, open_page: Open, browser: str
) -> None:
    alice, bob = people
    carol, dora = (Account(site, site.add_user(name)) for name in ("carol", "dora"))
    send(people, Body="plain")
    carol.send_secret(alice, site.secret("secret "))
    page = open_page(browser)
    page.tab.wait_until(f"{LIST}.length === 2")
    page.unfold()
    await_offered(page, bob, carol)
    # One who writes while the page is open is offered, too.
    page.tab.click("message")
    dora.send_secret(alice, site.secret("later "))
    page.tab.ask_until(f"{LIST}.length === 3")
    page.tab.click("recipient")
    await_offered(page, bob, carol, dora)


def await_offered(page: Page, *senders: Account) -> None:
    """Raises TimeoutError."""
    offered = "[...document.querySelectorAll('#people option')].map(one => one.value).sort().join()"
    page.tab.wait_until(f"{offered} === {json.dumps(','.join(sorted(one.name for one in senders)))}")


def test_what_is_read_or_deleted_on_one_device_is_so_on_the_other(
    people: tuple[Account, Account], open_page: Open
) -> None:
    alice, bob = people
    bob.send_secret(alice, "one")
    send(people, Body="two")
    page = open_page("chromium")
    page.tab.wait_until(f"{LIST}.length === 2")
    kinds = f"{LIST}.map(one => one.dataset.kind).sort().join()"
    assert page.tab.evaluate(kinds) == "locked,message"
    # Another device of hers.
    for message in inbox(alice)["Messages"]:
        if message["Secure"]:
            assert alice.call("POST", f"/api/inbox/{message['Id']}/read").status == 200
        else:
            assert alice.call("DELETE", f"/api/inbox/{message['Id']}").status == 200
    page.tab.wait_until(f"{kinds} === 'read'")
    page.tab.wait_until('document.title === "Notify users"')
    delete = "document.querySelector('#received li button:last-child')"
    page.tab.evaluate(f"{delete}.focus()")
    for _ in range(2):
        page.tab.press("Enter")
        page.tab.think()
    page.tab.wait_until(f"{LIST}.length === 0")
    assert inbox(alice)["Messages"] == []


def test_a_message_that_is_pushed_and_kept_is_shown_once_and_deleted_in_both_places(
    request: pytest.FixtureRequest,
    site: Installation,
    people: tuple[Account, Account],
    push: PushService,
    tabs: list[Tab],
) -> None:
    alice, _ = people
    subscriber = Subscriber(push.subscribe(vapid.decode(site.vapid_key)))
    tab = request.getfixturevalue("chromium").open_tab(site.origin)
    tabs.append(tab)
    tab.on_new_document(HASTE)
    subscribed(tab, subscriber)
    page = NotifyPage(tab, site.origin).open()
    page.log_in(alice)
    send(people, Body="only once")
    page.await_received("only once")
    forward(page, subscriber)
    tab.wait_until("document.querySelectorAll('#received li[id]').length === 1")
    assert len(page.received) == 1
    page.open().await_state("registered")
    page.await_received("only once")
    delete = "document.querySelector('#received li button:last-child')"
    tab.evaluate(f"{delete}.focus()")
    for _ in range(2):
        tab.press("Enter")
        tab.think()
    tab.wait_until(f"{LIST}.length === 0")
    assert inbox(alice)["Messages"] == []
    page.open().await_state("registered")
    assert page.received == []


def test_a_message_that_comes_while_the_person_looks_at_what_was_sent_stays_unread(
    people: tuple[Account, Account], open_page: Open
) -> None:
    alice, bob = people
    page = open_page("chromium")
    page.tab.click("showSent")
    assert bob.call("POST", "/api/notifications", {"To": alice.name, "Body": "At noon"}).status == 200
    page.tab.ask_until("document.getElementById('unread').textContent === '1'")
    assert [one["Read"] for one in inbox(alice)["Messages"]] == [False]
    page.tab.click("showInbox")
    page.tab.wait_until("document.getElementById('unread').hidden")
    wait_until(lambda: [one["Read"] for one in inbox(alice)["Messages"]] == [True], "the message is marked as read")
