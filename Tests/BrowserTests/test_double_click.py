# SPDX-License-Identifier: Apache-2.0
"""A double click on what takes its time: it is done once, and the page says that it is under way."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from opening import SETTLED
from test_admin import await_confirmed, await_words, log_in, open_user, root  # noqa: F401

Page = NotifyPage[ChromiumTab]

CHANGES = ("POST", "PUT", "DELETE")


def changes(tab: ChromiumTab) -> list[tuple[str, str]]:
    """Method and path of what the page has asked to be done, and still waits for."""
    requests = [event.params["request"] for event in tab.events("Fetch.requestPaused")]
    return [(one["method"], one["url"].partition("/api/")[2]) for one in requests if one["method"] in CHANGES]


def double_click(tab: ChromiumTab, id: str) -> list[tuple[str, str]]:
    """What was asked for by it. No answer comes before all was said."""
    tab.call("Fetch.enable", patterns=[{"urlPattern": "*/api/*"}])
    for _ in range(2):
        tab.click(id)
    tab.wait_until(f"document.getElementById('{id}').disabled")
    tab.evaluate(SETTLED)
    found = changes(tab)
    # What waits goes on.
    tab.call("Fetch.disable")
    return found


@pytest.fixture
def tab(chromium_tab: Callable[..., ChromiumTab]) -> ChromiumTab:
    return chromium_tab(notifications="denied")


def test_a_log_in_is_one(tab: ChromiumTab, installation: Installation, alice: Account) -> None:
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    tab.fill("username", alice.name)
    tab.fill("password", alice.user.password)
    assert double_click(tab, "login") == [("POST", "session")]
    page.await_state("loggedin")


def test_a_message_is_sent_once(tab: ChromiumTab, installation: Installation, alice: Account, bob: Account) -> None:
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.choose("secure", True)
    page.write(bob.name, "once")
    assert double_click(tab, "send") == [("POST", "notifications")]
    page.await_enabled("send")
    assert len(bob.call("GET", "/api/notifications").json()) == 1


def test_a_password_is_changed_once(tab: ChromiumTab, installation: Installation, alice: Account) -> None:
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.open_settings()
    tab.fill("presentPassword", alice.user.password)
    tab.fill("newPassword", installation.secret("another-"))
    assert double_click(tab, "changePassword") == [("PUT", "password")]
    await_words(tab, "passwordResult", "The password is changed")


def test_an_administrator_does_once_what_was_clicked_twice(
    tab: ChromiumTab, installation: Installation, alice: Account, root: Account  # noqa: F811
) -> None:
    log_in(tab, installation, root)
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    open_user(tab, alice.name)
    tab.click("disable")
    tab.wait_until("document.getElementById('confirm').open")
    tab.fill("ownPassword", root.user.password)
    assert double_click(tab, "sure") == [("POST", f"admin/users/{alice.name}/disable")]
    await_confirmed(tab)
    await_words(tab, "userWords", "disabled")
