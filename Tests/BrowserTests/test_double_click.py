# SPDX-License-Identifier: Apache-2.0
"""A double click on what takes its time: it is done once, and the page says that it is under way."""

from account import Account
from deadline import wait_until
from installation import Installation
from notify_page import NotifyPage
from opening import SETTLED
from tab import Tab
from test_admin import await_confirmed, await_words, log_in, open_user, root, tab  # noqa: F401

CHANGES = ("POST", "PUT", "DELETE")


def double_click(tab: Tab, id: str) -> list[tuple[str, str]]:  # noqa: F811
    """Method and path of what was asked to be done by it. No answer comes before all was said."""
    tab.hold()
    for _ in range(2):
        tab.click(id)
    tab.wait_until(f"(one => one.disabled || one.ariaBusy === 'true')(document.getElementById('{id}'))")
    tab.evaluate(SETTLED)
    # The browser tells of requests one after the other: when it has told of this one, of all before it.
    tab.evaluate("void fetch('/api/config?last')")
    wait_until(lambda: any(address.endswith("?last") for _, address in tab.held()), "the last request is held")
    found = [(method, address.partition("/api/")[2]) for method, address in tab.held() if method in CHANGES]
    tab.release()
    return found


def test_a_log_in_is_one(tab: Tab, installation: Installation, alice: Account) -> None:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    tab.fill("username", alice.name)
    tab.fill("password", alice.user.password)
    assert double_click(tab, "login") == [("POST", "session")]
    page.await_state("loggedin")


def test_a_message_is_sent_once(tab: Tab, installation: Installation, alice: Account, bob: Account) -> None:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.choose("secure", True)
    page.write(bob.name, "once")
    assert double_click(tab, "send") == [("POST", "notifications")]
    page.await_enabled("send")
    assert len(bob.call("GET", "/api/notifications").json()) == 1


def test_a_password_is_changed_once(tab: Tab, installation: Installation, alice: Account) -> None:  # noqa: F811
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.open_settings()
    tab.fill("presentPassword", alice.user.password)
    tab.fill("newPassword", installation.secret("another-"))
    assert double_click(tab, "changePassword") == [("PUT", "password")]
    await_words(tab, "passwordResult", "The password is changed")


def test_an_administrator_does_once_what_was_clicked_twice(
    tab: Tab, installation: Installation, alice: Account, root: Account  # noqa: F811
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
