# SPDX-License-Identifier: Apache-2.0
"""What a person has pressed takes its time, and they go on: what they type meanwhile stays whole where they type it, and goes to whom
they wrote it."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import wait_until
from installation import Installation
from later import CANCEL, DAY, post, press, show_sent
from notify_page import NotifyPage
from opening import SETTLED
from subscriber import Subscriber
from tab import Tab
from test_account import log_in as log_in_elsewhere
from test_chromium import subscribed
from test_truth import page, value  # noqa: F401

Page = NotifyPage[Tab]


def go_on(page: Page, button: str, field: str, is_done: str) -> None:  # noqa: F811
    """Presses the button twice, and types into the field before the server is asked, and afterwards."""
    tab = page.tab
    tab.hold()
    press(page, button, times=2)
    wait_until(tab.held, "the request is held")
    tab.click(field)
    tab.write("typed before")
    tab.release()
    tab.wait_until(is_done)
    tab.evaluate(SETTLED)
    tab.write(" and after")
    assert value(page, field) == "typed before and after"


def says(id: str, words: str) -> str:
    return f"document.getElementById('{id}').textContent === '{words}'"


@pytest.fixture
def sender(page: Page) -> Page:  # noqa: F811
    page.unfold()
    return page


def test_a_device_is_removed(page: Page, alice: Account) -> None:  # noqa: F811
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    page.open_settings()
    go_on(
        page, "document.querySelector('#devices button')", "presentPassword",
        says("settingsNote", "The device is removed."),
    )


@pytest.mark.parametrize("button", ["document.querySelector('#sessions button')", "document.getElementById('others')"])
def test_a_session_is_ended(page: Page, installation: Installation, alice: Account, button: str) -> None:  # noqa: F811
    log_in_elsewhere(installation, alice)
    page.open_settings()
    ended = "document.querySelectorAll('#sessions li').length === 1"
    go_on(page, button, "presentPassword", ended)


def test_a_message_for_later_is_taken_back(sender: Page, alice: Account, bob: Account) -> None:
    post(alice, bob.name, "Later", DAY)
    show_sent(sender)
    gone = "document.querySelectorAll('#sent > li').length === 0"
    go_on(sender, CANCEL, "message", gone)


def test_the_list_of_what_was_sent_is_cleared(sender: Page, bob: Account) -> None:
    sender.send(bob, "now", secure=True)
    sender.await_enabled("send")
    show_sent(sender)
    sender.tab.evaluate("performance.clearResourceTimings()")
    asked = "performance.getEntriesByType('resource').some(one => one.name.endsWith('/scheduled') && one.responseEnd > 0)"
    go_on(sender, "document.getElementById('clearSent')", "message", asked)


def test_a_message_is_deleted_from_the_inbox(sender: Page, alice: Account, bob: Account) -> None:
    bob.send_secret(alice, "kept ")
    erase = "[...document.querySelectorAll('#received button')].at(-1)"
    sender.tab.ask_until(f"{erase} !== undefined")
    gone = "document.querySelectorAll('#received li').length === 0"
    go_on(sender, erase, "message", gone)


# Recipients


def test_a_message_is_refused_and_the_next_one_is_not_typed_over_its_recipient(sender: Page, alice: Account) -> None:
    tab = sender.tab
    tab.expect_complaint("400")
    sender.choose("secure", True)
    sender.write("nosuch", "first")
    tab.hold()
    tab.click("send")
    wait_until(tab.held, "the request is held")
    tab.click("message")
    tab.write(" and second")
    tab.release()
    tab.wait_until("document.getElementById('recipientError').textContent !== ''")
    tab.write(" and third")
    assert (value(sender, "recipient"), value(sender, "message")) == ("nosuch", "first and second and third")


def test_a_text_for_one_user_does_not_become_an_answer_to_another(sender: Page, alice: Account, bob: Account) -> None:
    sender.write("carol", "for carol")
    bob.send_secret(alice, "kept ")
    locked = "document.querySelector('#received [data-kind=locked] button')"
    sender.tab.ask_until(f"{locked} !== null")
    sender.tab.evaluate(f"{locked}.click()")
    answer = "[...document.querySelectorAll('#received button')].find(one => one.textContent === 'Reply')"
    sender.tab.wait_until(f"{answer} !== undefined")
    sender.tab.evaluate(f"{answer}.click()")
    sender.tab.wait_until("document.activeElement.id === 'message'")
    assert (value(sender, "recipient"), value(sender, "message")) == ("carol", "for carol")
    assert "another message" in sender.text("sendError")
    # With nothing typed it is one.
    sender.tab.fill("message", "")
    sender.tab.evaluate(f"{answer}.click()")
    assert value(sender, "recipient") == bob.name


# A log-out

# The push service never says that a subscription has ended.
WITHOUT_END = """if (window.PushManager) {
    const { getSubscription } = PushManager.prototype;
    PushManager.prototype.getSubscription = async () => ({ ...await getSubscription(), unsubscribe: () => new Promise(() => {}) });
}"""


def test_the_next_user_logs_in_while_the_push_service_keeps_the_log_out_waiting(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    tab.on_new_document(WITHOUT_END)
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice)
    page.open_settings()
    tab.click("logout")
    tab.wait_until("!document.getElementById('loginCard').hidden")
    tab.fill("username", bob.name)
    page.await_enabled("login")
    tab.fill("password", bob.user.password)
    tab.evaluate(SETTLED)
    assert tab.evaluate("document.activeElement.id") == "password"
    tab.press("Enter")
    tab.wait_until(f"document.getElementById('who').textContent === '{bob.name}'")
