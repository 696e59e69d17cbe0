# SPDX-License-Identifier: Apache-2.0
"""Every path of the operator's page by the keyboard alone, as test_keyboard.py."""

import json
import secrets
from collections.abc import Callable

from account import Account
from installation import Installation, User
from later import DAY, SCHEDULED, post
from subscriber import Subscriber
from tab import Tab
from test_account import log_in
from test_admin import open_admin, root, seek, tab  # noqa: F401
from test_keyboard import await_count, await_focus, has_focus, press, reach

# Of no password.
HASH = "$6$saltsalt$" + 86 * "a"


def confirm(tab: Tab, account: Account) -> None:  # noqa: F811
    await_focus(tab, "#ownPassword")
    tab.write(account.user.password)
    tab.press("Enter")
    tab.wait_until("!document.getElementById('confirm').open")


def open_user(tab: Tab, name: str) -> None:  # noqa: F811
    reach(tab, "#search")
    seek(tab, name, lambda: tab.write(name))
    await_count(tab, f"#users tr[data-name='{name}']", 1)
    await_count(tab, "#users tr", 1)
    press(tab, "#users button")
    await_focus(tab, "#userHeading")


def test_a_message_is_found_and_opened_and_left(
    tab: Tab, root: Account, alice: Account, bob: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    id = bob.call("POST", "/api/notifications", {"To": alice.name, "Body": "Hello"}).json()["MessageId"]
    open_admin(tab, root)
    reach(tab, "#messageUser")
    tab.write(bob.name)
    tab.press("Enter")
    # As many may have been listed before.
    tab.wait_until("document.getElementById('messagesNote').textContent !== 'Loading …'")
    await_count(tab, "#messages tr", 1)
    press(tab, f"#messages tr[data-id='{id}'] button")
    await_focus(tab, "#messageHeading")
    tab.press("Escape")
    await_focus(tab, f"#messages tr[data-id='{id}'] button")


def test_a_user_is_added(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    carol = User(f"new.{root.name}", installation.secret("of-the-new-one-"))
    open_admin(tab, root)
    # The way to the form leads through all users that are listed.
    reach(tab, "#search")
    seek(tab, root.name, lambda: tab.write(root.name))
    press(tab, "#adding summary")
    reach(tab, "#newName")
    tab.write(carol.name)
    reach(tab, "#newPassword")
    tab.write(carol.password)
    tab.press("Enter")
    confirm(tab, root)
    tab.wait_until(f"document.getElementById('addNote').textContent.includes({json.dumps(carol.name)})")
    assert installation.call("GET", "/api/register", carol).status == 200


def test_a_device_and_sessions_are_ended_and_the_dialog_is_left(
    tab: Tab, installation: Installation, root: Account, alice: Account, subscriber: Subscriber,  # noqa: F811
    open_admin: Callable[[Tab, Account], None],  # noqa: F811
) -> None:
    alice.register(subscriber)
    for _ in range(2):
        log_in(installation, alice)
    open_admin(tab, root)
    open_user(tab, alice.name)
    press(tab, "#devices button")
    confirm(tab, root)
    await_count(tab, "#devices li", 0)
    await_focus(tab, "#userHeading")
    press(tab, "#sessions button")
    confirm(tab, root)
    await_count(tab, "#sessions li", 1)
    press(tab, "#endSessions")
    confirm(tab, root)
    await_count(tab, "#sessions li", 0)
    await_focus(tab, "#userHeading")
    # Escape leaves one dialog after the other.
    press(tab, "#remove")
    await_focus(tab, "#ownPassword")
    tab.press("Escape")
    tab.wait_until("!document.getElementById('confirm').open && document.getElementById('user').open")
    tab.press("Escape")
    await_focus(tab, "#users button")


def test_a_user_is_disabled_enabled_and_removed(
    tab: Tab, installation: Installation, root: Account, alice: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    open_admin(tab, root)
    open_user(tab, alice.name)
    for button, status in (("#disable", 401), ("#enable", 200), ("#remove", 401)):
        press(tab, button)
        confirm(tab, root)
        tab.wait_until(f"document.querySelector('{button}').hidden || !document.getElementById('user').open")
        assert installation.call("GET", "/api/register", alice.user).status == status
    await_focus(tab, "#usersHeading")


def test_a_message_for_later_is_taken_back(
    tab: Tab, root: Account, alice: Account, bob: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    post(bob, alice.name, "Later", DAY)
    open_admin(tab, root)
    reach(tab, "#messageUser")
    tab.write(bob.name)
    # The list may have one message already, which the page replaces by the one that it finds.
    tab.evaluate("document.querySelectorAll('#scheduled li').forEach(one => { one.dataset.former = true; })")
    tab.press("Enter")
    await_count(tab, "#scheduled li:not([data-former])", 1)
    press(tab, "#scheduled button")
    confirm(tab, root)
    await_count(tab, "#scheduled li", 0)
    await_focus(tab, "#scheduledHeading")
    assert bob.call("GET", SCHEDULED).json() == []


def test_status_and_findings_are_looked_at_again(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    open_admin(tab, root)
    for button, path in (("#refresh", "status"), ("#lookAgain", "findings")):
        tab.evaluate("performance.clearResourceTimings()")
        if path == "findings":
            # Past all messages and users.
            press(tab, "#verdict")
        press(tab, button)
        tab.wait_until(f"performance.getEntriesByType('resource').some(one => one.name.endsWith('/api/admin/{path}'))")
        assert has_focus(tab, button)


def test_who_asks_for_more_users_is_led_to_the_first_of_them(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    prefix = f"row{secrets.token_hex(4)}-"
    names = [f"{prefix}{number:02}" for number in range(52)]
    installation.run("user", "import-htpasswd", "-", input="".join(f"{name}:{HASH}\n" for name in names))
    open_admin(tab, root)
    reach(tab, "#search")
    seek(tab, prefix, lambda: tab.write(prefix))
    await_count(tab, f"#users [data-name^={prefix}]", 50)
    press(tab, "#more")
    await_focus(tab, f"#users [data-name={names[50]}] button")
    await_count(tab, f"#users [data-name^={prefix}]", 52)
