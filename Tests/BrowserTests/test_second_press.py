# SPDX-License-Identifier: Apache-2.0
"""What is for good is asked twice, and a double click is no answer."""

import json

import pytest

from account import Account
from installation import Installation
from later import CANCEL, DAY, ITEMS, post, waiting
from notify_page import NotifyPage
from tab import Tab
from test_admin import tab  # noqa: F401

DELETE = "document.querySelector('#received button:last-child')"
CLEAR = "document.getElementById('clearSent')"


@pytest.fixture
def page(tab: Tab, installation: Installation, alice: Account) -> NotifyPage[Tab]:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    return page


def double_click(tab: Tab, button: str, words: str) -> None:  # noqa: F811
    """Both presses within a moment. The button has asked, and does nothing yet."""
    tab.wait_until(f"{button} !== null")
    tab.evaluate(f"(one => {{ one.focus(); one.click(); one.click(); one.click(); }})({button})")
    assert tab.evaluate(f"[{button}.textContent, {button}.ariaBusy === 'true']") == [words, False]


def test_a_double_click_deletes_no_message_and_a_second_press_does(
    page: NotifyPage[Tab], installation: Installation, alice: Account, bob: Account
) -> None:
    bob.send_secret(alice, installation.secret("stays "))
    page.open().await_state("loggedin")
    double_click(page.tab, DELETE, "Delete for good")
    page.tab.think()
    assert len(alice.call("GET", "/api/notifications").json()) == 1
    page.tab.press("Enter")
    page.tab.wait_until(f"{DELETE} === null")
    assert alice.call("GET", "/api/notifications").json() == []


def test_a_double_click_takes_back_no_message_for_later(page: NotifyPage[Tab], alice: Account, bob: Account) -> None:
    post(alice, bob.name, "Later", DAY)
    page.tab.click("showSent")
    double_click(page.tab, CANCEL, "Do not send it")
    page.tab.think()
    assert len(waiting(alice)) == 1


def test_the_list_of_what_was_sent_is_cleared_by_two_presses_and_what_waits_stays_in_it(
    page: NotifyPage[Tab], alice: Account, bob: Account
) -> None:
    page.send(bob, "now", secure=True)
    post(alice, bob.name, "Later", DAY)
    page.tab.click("close")
    page.tab.click("showSent")
    page.tab.wait_until(f"{ITEMS}.length === 2")
    double_click(page.tab, CLEAR, "Clear the whole list")
    page.tab.think()
    assert page.tab.evaluate(f"{ITEMS}.length") == 2
    page.tab.press("Enter")
    # With nothing left that it could clear the button goes, and the focus does not.
    page.tab.wait_until(f"{ITEMS}.length === 1 && {CLEAR}.hidden")
    page.tab.wait_until("document.activeElement.id === 'sentHeading'")
    assert "Later" in str(page.tab.evaluate(f"{ITEMS}[0].innerText"))
    page.open().await_state("loggedin")
    page.tab.click("showSent")
    page.tab.wait_until(f"{ITEMS}.length === 1 && document.getElementById('sentCard').ariaBusy === 'false'")
    assert page.tab.evaluate(f"{CLEAR}.hidden")
    assert json.dumps(waiting(alice)).count("Later") == 1
