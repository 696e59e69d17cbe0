# SPDX-License-Identifier: Apache-2.0
"""Every path of the page by the keyboard alone: Tab leads there, Enter and Space press, Escape leaves, and the focus is then
where one goes on. (Logging in and sending is in test_chromium.py, a time for later in test_when.py.)"""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation, User
from notify_page import IS_LISTED, NotifyPage
from subscriber import Subscriber
from tab import Tab
from test_account import log_in
from test_chromium import DELIVERING
from test_truth import page  # noqa: F401
from timers import RETRIES

Page = NotifyPage[Tab]

# More than the longest page of an administrator's has: 50 messages, 100 for later and 50 users.
MAXIMUM_TABS = 300


def reach(tab: Tab, selector: str) -> None:
    """Presses Tab until such an element has the focus."""
    for _ in range(MAXIMUM_TABS):
        if has_focus(tab, selector):
            return
        tab.press("Tab")
    raise AssertionError(f"{MAXIMUM_TABS} times Tab do not lead to {selector}")


def has_focus(tab: Tab, selector: str) -> bool:
    return bool(tab.evaluate(f"document.activeElement?.matches({json.dumps(selector)}) ?? false"))


def await_focus(tab: Tab, selector: str) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"document.activeElement?.matches({json.dumps(selector)}) ?? false")


def press(tab: Tab, selector: str, times: int = 1) -> None:
    """Reaches the element and presses Enter there."""
    reach(tab, selector)
    words = "document.activeElement.textContent"
    for number in range(times):
        before = tab.evaluate(words)
        tab.press("Enter")
        if number < times - 1:
            # It asks once more.
            tab.wait_until(f"{words} !== {json.dumps(before)}")
            tab.think()


def await_count(tab: Tab, selector: str, count: int) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"document.querySelectorAll({json.dumps(selector)}).length === {count}")


def test_a_secret_is_read_answered_and_deleted(page: Page, installation: Installation, alice: Account, bob: Account) -> None:
    tab = page.tab
    bob.send_secret(alice, installation.secret("the secret "))
    page.open()
    await_count(tab, "#received [data-kind=locked]", 1)
    press(tab, "#received [data-kind=locked] button")
    await_count(tab, "#received [data-kind=secret]", 1)
    press(tab, "#received [data-kind=secret] button:first-child")
    await_focus(tab, "#message")
    assert tab.evaluate("document.getElementById('recipient').value") == bob.name
    tab.press("Escape")
    await_focus(tab, "#compose")
    # From the top again: behind the page's end Firefox has its own buttons, which are not ours to press.
    page.open()
    await_count(tab, "#received [data-kind=read]", 1)
    press(tab, "#received button:last-child", times=2)
    await_count(tab, "#received li", 0)
    assert has_focus(tab, "#receivedHeading")
    assert alice.call("GET", "/api/notifications").json() == []


def test_where_a_message_goes_is_chosen(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.on_new_document(DELIVERING)
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    press(tab, "#compose")
    await_focus(tab, "#recipient")
    tab.write(bob.name)
    reach(tab, "#message")
    tab.write("Hello")
    press(tab, "#whereNow")
    for platform in ("browser", "gcm", "wns"):
        reach(tab, f"#{platform}")
        tab.press(" ")
    assert "iPhone" in page.text("whereNow")
    press(tab, "#send")
    assert [line.label for line in page.await_results()] == ["apns"]


def test_the_list_of_what_was_sent_is_opened_and_a_message_for_later_taken_back(page: Page, alice: Account, bob: Account) -> None:
    tab = page.tab
    later = str(tab.evaluate("new Date(Date.now() + 86400000).toISOString().replace(/[.].*/, 'Z')"))
    assert alice.call("POST", "/api/notifications", {"To": bob.name, "Body": "Later", "SendAt": later}).status == 200
    press(tab, "#showSent")
    await_count(tab, "#sent > li", 1)
    press(tab, "#sent button", times=2)
    await_count(tab, "#sent > li", 0)
    await_focus(tab, "#sentHeading")
    assert alice.call("GET", "/api/notifications/scheduled").json() == []
    page.send(bob, "a secret", secure=True)
    await_count(tab, "#sent > li", 1)
    page.open().await_state("loggedin")
    press(tab, "#showSent")
    await_count(tab, "#sent > li", 1)
    press(tab, "#clearSent", times=2)
    await_count(tab, "#sent > li", 0)
    await_focus(tab, "#sentHeading")


def open_settings(page: Page, sessions: int = 1) -> None:
    press(page.tab, "#showSettings")
    page.tab.wait_until(IS_LISTED)
    await_count(page.tab, "#sessions li", sessions)


def test_the_settings_are_opened_and_left(page: Page) -> None:
    for leave in ("Escape", "#closeSettings"):
        open_settings(page)
        if leave == "Escape":
            page.tab.press(leave)
        else:
            press(page.tab, leave)
        page.tab.wait_until("!document.getElementById('settings').open")
        assert has_focus(page.tab, "#showSettings")


def test_a_device_is_removed(page: Page, alice: Account, subscriber: Subscriber) -> None:
    alice.register(subscriber)
    open_settings(page)
    await_count(page.tab, "#devices li", 1)
    press(page.tab, "#devices button", times=2)
    await_count(page.tab, "#devices li", 0)
    await_focus(page.tab, "#devicesHeading")
    assert alice.call("GET", "/api/register").json() == []


def test_sessions_are_ended_one_and_all(page: Page, installation: Installation, alice: Account) -> None:
    for _ in range(3):
        log_in(installation, alice)
    open_settings(page, sessions=4)
    press(page.tab, "#sessions button", times=2)
    await_count(page.tab, "#sessions li", 3)
    await_focus(page.tab, "#sessionsHeading")
    press(page.tab, "#others", times=2)
    await_count(page.tab, "#sessions li", 1)
    await_focus(page.tab, "#sessionsHeading")


def test_the_password_is_changed(page: Page, installation: Installation, alice: Account) -> None:
    wanted = installation.secret("a new password ")
    open_settings(page)
    reach(page.tab, "#presentPassword")
    page.tab.write(alice.user.password)
    reach(page.tab, "#newPassword")
    page.tab.write(wanted)
    page.tab.press("Enter")
    await_focus(page.tab, "#passwordResult")
    assert installation.call("GET", "/api/register", User(alice.name, wanted)).status == 200


def test_another_language_is_chosen(page: Page) -> None:
    open_settings(page)
    reach(page.tab, "#language")
    page.tab.press("ArrowDown")
    page.tab.wait_until("document.documentElement?.lang === 'de' && document.body?.dataset.state === 'loggedin'")


@pytest.mark.parametrize(("button", "times"), [("#logout", 1), ("#everywhere", 2)])
def test_the_session_is_ended_here_or_everywhere(page: Page, button: str, times: int) -> None:
    open_settings(page)
    press(page.tab, button, times)
    page.await_state("blocked")
    await_focus(page.tab, "#username")


def test_the_banner_is_put_off(page: Page) -> None:
    press(page.tab, "#later")
    page.tab.wait_until("document.getElementById('banner').hidden")
    assert has_focus(page.tab, "#receivedHeading")


def test_a_server_that_was_away_is_asked_again(page: Page, installation: Installation) -> None:
    # The page does not ask by itself, which would take the button away.
    page.tab.on_new_document(RETRIES)
    with installation.without_service():
        page.open()
        page.tab.wait_until("!document.getElementById('retry').hidden")
    press(page.tab, "#retry")
    await_focus(page.tab, "#connection")
    page.await_state("loggedin")


def test_what_is_above_the_content_is_skipped(page: Page) -> None:
    page.open().await_state("loggedin")
    page.tab.press("Tab")
    assert has_focus(page.tab, ".skip")
    page.tab.press("Enter")
    await_focus(page.tab, "#main")
