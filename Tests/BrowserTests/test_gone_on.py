# SPDX-License-Identifier: Apache-2.0
"""What a person has pressed takes its time, and they go on: what they type meanwhile stays whole where they type it."""

import pytest

from account import Account
from deadline import wait_until
from installation import Installation
from later import CANCEL, DAY, post, press, show_sent
from notify_page import NotifyPage
from opening import SETTLED
from tab import Tab
from test_account import log_in as log_in_elsewhere
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
    sender.tab.wait_until("!document.getElementById('send').disabled")
    show_sent(sender)
    # One press is enough; the second one does nothing more.
    sender.tab.evaluate("performance.clearResourceTimings()")
    asked = "performance.getEntriesByType('resource').some(one => one.name.endsWith('/scheduled') && one.responseEnd > 0)"
    go_on(sender, "document.getElementById('clearSent')", "message", asked)


def test_a_message_is_deleted_from_the_inbox(sender: Page, alice: Account, bob: Account) -> None:
    bob.send_secret(alice, "kept ")
    sender.tab.evaluate("void dispatchEvent(new Event('focus'))")
    erase = "[...document.querySelectorAll('#received button')].at(-1)"
    sender.tab.wait_until(f"{erase} !== undefined")
    gone = "document.querySelectorAll('#received li').length === 0"
    go_on(sender, erase, "message", gone)
