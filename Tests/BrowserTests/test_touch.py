# SPDX-License-Identifier: Apache-2.0
"""Both pages at a telephone's size, by a finger alone: all that is touched is large enough and in sight, and nothing is beside the
screen."""

import json
from collections.abc import Callable

import pytest

from account import Account
from hand import BESIDE_KEYBOARD, SCREEN, Hand
from installation import Installation, User
from notify_page import NotifyPage
from tab import Tab
from test_account import log_in as log_in_elsewhere
from test_admin import USERS, await_confirmed, await_words, root, seek, sent_to_alice, tab  # noqa: F401
from test_inbox import HASTE
from test_keyboard import await_count, await_focus


@pytest.fixture
def hand(tab: Tab, installation: Installation) -> Hand:  # noqa: F811
    tab.on_new_document(HASTE)
    tab.navigate(f"{installation.origin}/")
    return Hand(tab)


def log_in(tab: Tab, hand: Hand, account: Account) -> None:  # noqa: F811
    hand.write("#username", account.name)
    hand.write("#password", account.user.password)
    hand.tap("#login")
    tab.wait_until("document.body.dataset.state === 'loggedin'")


def place(tab: Tab, id: str) -> dict[str, float]:  # noqa: F811
    found: dict[str, float] = tab.evaluate(f"document.getElementById('{id}').getBoundingClientRect().toJSON()")
    return found


def write_a_secret(tab: Tab, hand: Hand, recipient: str, text: str) -> None:  # noqa: F811
    """The line for it is where a thumb is, and what it unfolds to stays beside the keyboard."""
    assert SCREEN[1] * 0.8 < place(tab, "compose")["top"] and place(tab, "compose")["bottom"] < SCREEN[1]
    hand.tap("#compose")
    await_focus(tab, "#recipient")
    tab.write(recipient)
    hand.hold(BESIDE_KEYBOARD)
    hand.write("#message", text)
    for id in ("recipient", "message", "secure", "chooseWhen", "send", "close"):
        shown = place(tab, id)
        assert 0 <= shown["top"] and shown["bottom"] <= BESIDE_KEYBOARD[1], f"{id} is behind the keyboard: {shown}"
    hand.tap("label[for=secure]")
    assert tab.evaluate("document.getElementById('secure').checked")
    hand.tap("#send")
    tab.wait_until("document.getElementById('message').value === ''")
    hand.hold(SCREEN)
    hand.tap("#close")


def read_answer_and_delete(tab: Tab, hand: Hand, sender: Account) -> None:  # noqa: F811
    hand.tap("#received [data-kind=locked] button")
    await_count(tab, "#received [data-kind=secret]", 1)
    hand.tap("#received [data-kind=secret] button:first-child")
    await_focus(tab, "#message")
    assert tab.evaluate("document.getElementById('recipient').value") == sender.name
    tab.write("yes")
    # The padlock is open again after each secret.
    hand.tap("label[for=secure]")
    hand.tap("#send")
    tab.wait_until("document.getElementById('message').value === ''")
    hand.tap("#close")
    hand.tap_twice("#received [data-kind=secret] button:last-child")
    await_count(tab, "#received li", 0)


def look_at_what_was_sent(tab: Tab, hand: Hand, *recipients: str) -> None:  # noqa: F811
    hand.tap("#showSent")
    await_count(tab, "#sent > li", len(recipients))
    tab.wait_until("[...document.querySelectorAll('#sent > li')].every(one => one.innerText.includes('Kept on the server'))")
    titles = tab.evaluate("[...document.querySelectorAll('#sent .title')].map(one => one.innerText)")
    assert titles == [f"To {name}" for name in recipients]


def use_the_settings(tab: Tab, hand: Hand) -> None:  # noqa: F811
    """Removes the one device, ends the other session, and leaves."""
    hand.tap("#showSettings")
    await_count(tab, "#sessions li", 2)
    hand.tap_twice("#devices button")
    await_count(tab, "#devices li", 0)
    hand.tap_twice("#sessions button")
    await_count(tab, "#sessions li", 1)
    hand.tap("#closeSettings")
    tab.wait_until("!document.getElementById('settings').open")
    hand.tap("#showSettings")
    hand.tap("#logout")
    tab.wait_until("document.body.dataset.state === 'blocked'")


def test_a_person_with_a_telephone_writes_reads_answers_deletes_and_leaves(
    tab: Tab, hand: Hand, installation: Installation, alice: Account, bob: Account  # noqa: F811
) -> None:
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    elsewhere = log_in_elsewhere(installation, alice)
    log_in(tab, hand, alice)
    write_a_secret(tab, hand, alice.name, installation.secret("to myself "))
    await_count(tab, "#received li", 1)
    hand.tap_twice("#received button:last-child")
    await_count(tab, "#received li", 0)
    bob.send_secret(alice, installation.secret("to alice "))
    await_count(tab, "#received [data-kind=locked]", 1)
    read_answer_and_delete(tab, hand, bob)
    assert len(bob.call("GET", "/api/notifications").json()) == 1
    look_at_what_was_sent(tab, hand, bob.name, alice.name)
    use_the_settings(tab, hand)
    assert alice.call("GET", "/api/register").json() == []
    assert installation.call("GET", "/api/session", Cookie=elsewhere).status == 401


def open_admin(tab: Tab, hand: Hand, administrator: Account) -> None:  # noqa: F811
    log_in(tab, hand, administrator)
    hand.tap("#showSettings")
    hand.tap("#administration a")
    tab.wait_until("location.pathname === '/admin' && document.body?.dataset.state === 'ready'")


def open_user(tab: Tab, hand: Hand, name: str) -> None:  # noqa: F811
    seek(tab, name, lambda: hand.write("#search", name))
    tab.wait_until(f"{USERS}.join() === {json.dumps(name)}")
    hand.tap("#users button")


def confirm(tab: Tab, hand: Hand, button: str, administrator: Account) -> None:  # noqa: F811
    """Presses what asks for the administrator's password."""
    hand.tap(button)
    hand.write("#ownPassword", administrator.user.password)
    hand.tap("#sure")
    await_confirmed(tab)


def test_an_administrator_with_a_telephone_disables_a_user_and_looks_at_messages_and_findings(
    tab: Tab, hand: Hand, installation: Installation, root: Account, alice: Account, bob: Account  # noqa: F811
) -> None:
    message = sent_to_alice(alice, bob, "Hello")
    open_admin(tab, hand, root)
    open_user(tab, hand, alice.name)
    confirm(tab, hand, "#disable", root)
    await_words(tab, "userWords", "disabled")
    hand.tap("#closeUser")
    assert alice.call("GET", "/api/register").status == 401
    hand.write("#messageUser", bob.name)
    hand.tap("#findMessages")
    await_count(tab, f"#messages tr[data-id='{message}']", 1)
    await_count(tab, "#messages tr", 1)
    hand.tap("#messages button")
    tab.wait_until(f"document.getElementById('messageFacts').textContent.includes({json.dumps(message)})")
    hand.tap("#closeMessage")
    tab.wait_until("document.querySelectorAll('#findings li').length > 8")
    hand.tap("#verdict")
    hand.tap("#findings summary")
    tab.wait_until("document.querySelector('#others li').checkVisibility()")
    hand.tap("#lookAgain")
    await_words(tab, "findingsNote", "Looked at")
    hand.tap(".masthead a")
    tab.wait_until("location.pathname === '/' && document.body?.dataset.state === 'loggedin'")


def test_an_administrator_with_a_telephone_adds_a_user_and_ends_what_is_theirs(
    tab: Tab, hand: Hand, installation: Installation, root: Account  # noqa: F811
) -> None:
    carol = Account(installation, User(f"new.{root.name}", installation.secret("of-the-new-one-")))
    open_admin(tab, hand, root)
    hand.tap("#adding summary")
    hand.write("#newName", carol.name)
    hand.write("#newPassword", carol.user.password)
    confirm(tab, hand, "#add", root)
    await_words(tab, "addNote", carol.name)
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert carol.call("PUT", f"/api/register/{carol.ask_for_id()}", phone).status == 200
    elsewhere = log_in_elsewhere(installation, carol)
    open_user(tab, hand, carol.name)
    for kind in ("Devices", "Sessions"):
        confirm(tab, hand, f"#{kind.lower()} button", root)
        tab.wait_until(f"!document.getElementById('no{kind}').hidden")
    assert carol.call("GET", "/api/register").json() == []
    assert installation.call("GET", "/api/session", Cookie=elsewhere).status == 401
    confirm(tab, hand, "#disable", root)
    confirm(tab, hand, "#enable", root)
    await_words(tab, "userNote", "Done.")
    tab.wait_until("document.getElementById('enable').hidden")
    assert carol.call("GET", "/api/register").status == 200
    confirm(tab, hand, "#remove", root)
    await_words(tab, "usersNote", "is removed")
    assert carol.call("GET", "/api/register").status == 401
