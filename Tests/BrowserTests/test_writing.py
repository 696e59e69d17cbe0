# SPDX-License-Identifier: Apache-2.0
"""Writing one message after the other: where the focus is, what Enter does, and what is left of the message before."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from tab import Tab
from test_admin import tab  # noqa: F401
from test_languages import PREFERRED
from test_touch import Hand, hand, log_in  # noqa: F401
from test_truth import value
from timers import RETRIES, retry_until

LOCKED = "document.querySelector('#received [data-kind=locked] button')"
REPLY = "[...document.querySelectorAll('#received button')].find(one => one.textContent === 'Reply')"


@pytest.fixture
def page(tab: Tab, installation: Installation, alice: Account) -> NotifyPage[Tab]:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    return page


def sent(page: NotifyPage[Tab], recipient: Account, text: str, *, secure: bool = True) -> None:
    """Presses Send, and returns when the form is empty again."""
    page.choose("secure", secure)
    page.write(recipient.name, text)
    page.tab.click("send")
    page.tab.wait_until("document.getElementById('message').value === ''")
    page.await_enabled("send")


def test_after_the_log_in_the_focus_is_on_what_is_seen(page: NotifyPage[Tab]) -> None:
    assert page.tab.evaluate("document.activeElement.id") == "showInbox"
    assert page.tab.evaluate("document.activeElement.checkVisibility()")


def test_after_send_the_focus_stays_in_the_form(page: NotifyPage[Tab], bob: Account) -> None:
    sent(page, bob, "Hello")
    assert page.tab.evaluate("document.activeElement.id") == "send"


def test_after_a_log_in_that_failed_the_focus_is_in_the_form(tab: Tab, installation: Installation) -> None:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    tab.fill("username", "alice")
    tab.fill("password", "x")
    tab.hold("/api/session")
    tab.click("login")
    tab.wait_until("document.getElementById('login').ariaBusy === 'true'")
    assert tab.evaluate("document.activeElement.id") == "login"
    tab.release()


def test_the_padlock_is_open_after_a_secret(page: NotifyPage[Tab], bob: Account) -> None:
    sent(page, bob, "a secret")
    assert not page.tab.evaluate("document.getElementById('secure').checked")
    assert page.text("secureNote") == ""


def test_a_name_is_no_part_of_what_is_said_of_a_secret(page: NotifyPage[Tab]) -> None:
    page.write("carol.of.accounting", "Hello")
    page.choose("secure", True)
    assert "until it is read" in page.text("secureNote") and "carol" not in page.text("secureNote")


def test_the_result_of_a_message_goes_when_the_next_one_is_begun(page: NotifyPage[Tab], bob: Account) -> None:
    sent(page, bob, "first")
    page.tab.wait_until("!document.getElementById('results').hidden")
    page.tab.click("message")
    page.tab.write("s")
    assert page.tab.evaluate("document.getElementById('results').hidden")


def test_without_a_network_a_message_waits_and_nothing_is_called_a_failure(page: NotifyPage[Tab], bob: Account) -> None:
    tone = "(one => one.textContent !== '' && one.dataset.tone)(document.getElementById('{}'))"
    page.choose("secure", False)
    page.write(bob.name, "Hello")
    page.tab.wait_until("document.body.dataset.state === 'loggedin' && !document.getElementById('receivedEmpty').hidden")
    page.tab.evaluate(f"void (() => {RETRIES})()")
    page.tab.cut_off(True)
    # At once.
    page.tab.wait_until(f"{tone.format('receivedNote')} === 'wait'")
    page.tab.click("send")
    page.tab.wait_until(f"{tone.format('sendError')} === 'wait'")
    assert page.text("sendResults") == ""
    page.tab.cut_off(False)
    # By itself: the server knows no device of the recipient.
    retry_until(page.tab, "document.getElementById('recipientError').textContent !== ''")


def test_a_draft_is_seen_while_the_form_is_folded(page: NotifyPage[Tab], bob: Account) -> None:
    line = "document.getElementById('compose').textContent"
    page.write(bob.name, "half a mess")
    page.tab.press("Escape")
    assert page.tab.evaluate(line) == f"Draft: To {bob.name} – half a mess"
    page.tab.click("compose")
    page.tab.wait_until("!document.getElementById('sendForm').hidden")
    page.tab.fill("message", "")
    page.tab.press("Escape")
    assert page.tab.evaluate(line) == "Write a message …"


def test_who_has_begun_a_message_writes_to_another_user_after_all(
    page: NotifyPage[Tab], installation: Installation, alice: Account, bob: Account
) -> None:
    page.write("carol", "for carol")
    bob.send_secret(alice, installation.secret("to alice "))
    page.tab.ask_until(f"{LOCKED} !== null")
    page.tab.evaluate(f"{LOCKED}.click()")
    page.tab.wait_until(f"{REPLY} !== undefined")
    page.tab.evaluate(f"{REPLY}.click()")
    page.tab.wait_until("!document.getElementById('instead').hidden")
    assert page.text("instead") == f"Write to {bob.name} instead"
    page.tab.click("instead")
    assert (page.text("instead"), value(page, "message")) == ("Discard what you have begun", "for carol")
    page.tab.think()
    page.tab.click("instead")
    page.tab.wait_until("document.activeElement.id === 'message'")
    assert (value(page, "recipient"), value(page, "message")) == (bob.name, "")
    assert page.tab.evaluate("document.getElementById('instead').hidden") and page.text("sendError") == ""


def test_enter_on_a_telephone_begins_a_new_line(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    touched = chromium_tab(notifications="denied")
    touched.navigate(f"{installation.origin}/")
    finger = Hand(touched)
    log_in(touched, finger, alice)
    assert touched.evaluate("matchMedia('(pointer: coarse) and (hover: none)').matches")
    finger.tap("#compose")
    touched.wait_until("document.activeElement.id === 'recipient'")
    touched.write(bob.name)
    finger.write("#message", "one")
    touched.press("Enter")
    touched.write("two")
    assert touched.evaluate("document.getElementById('message').value") == "one\ntwo"


@pytest.mark.parametrize(("language", "quoted"), [("en", "“Hello”"), ("de", "„Hello“"), ("es", "«Hello»")])
def test_what_was_sent_is_quoted_as_the_language_does(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, language: str, quoted: str
) -> None:
    own = chromium_tab(notifications="denied")
    own.on_new_document(PREFERRED.format(languages=[language]))
    page = NotifyPage(own, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.write(alice.name, "Hello")
    own.click("send")
    own.wait_until(f"document.getElementById('resultsFor').textContent.endsWith({quoted!r})")
