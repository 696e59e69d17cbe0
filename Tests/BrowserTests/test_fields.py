# SPDX-License-Identifier: Apache-2.0
"""Every field of both pages: what it says of nothing, of too much, of what is not allowed and of what is not known; and that
nothing typed is lost by an error, a reload or a lost connection."""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from tab import Tab
from test_admin import open_admin, open_user, root, tab  # noqa: F401
from test_chromium import DELIVERING
from test_truth import page  # noqa: F401

Page = NotifyPage[Tab]

LONG_NAME, TWO_WORDS, UNKNOWN = "a" * 112, "two words", "nosuchuser"
TOO_LONG, UNUSABLE = "A user’s name has at most 111 characters.", "A user’s name has only letters, digits and _ @ # . -"
LONG_PASSWORD, PASSWORD_TOO_LONG = "é" * 256, "A password has at most 511 bytes."
UNREACHABLE = "The server cannot be reached."

# Field, what is typed there, what is said, and where, if not at the field.
Row = tuple[str, str, str] | tuple[str, str, str, str]

LOG_IN: list[Row] = [
    ("username", "", "Enter your user name."),
    ("username", LONG_NAME, TOO_LONG),
    ("username", TWO_WORDS, UNUSABLE),
    ("username", UNKNOWN, "User name and password do not match.", "password"),
    ("password", "", "Enter your password."),
    ("password", LONG_PASSWORD, PASSWORD_TOO_LONG),
    ("password", "wrong", "User name and password do not match."),
]
MESSAGE: list[Row] = [
    ("recipient", "", "Enter a recipient."),
    ("recipient", LONG_NAME, TOO_LONG),
    ("recipient", TWO_WORDS, UNUSABLE),
    ("recipient", "tag:two words", "“tag:two words” is no user, tag, role or expression of tags."),
    ("recipient", "role:team", "You may not send to role:team."),
    ("recipient", UNKNOWN, f"No device of {UNKNOWN} was reached."),
    ("message", "", "Enter a message."),
    ("message", "x" * 2501, "The message is too long."),
    ("message", "\ud800", "The message has characters that cannot be sent."),
    ("when", "2020-01-01T00:00", "This time has come already."),
    ("when", "2199-01-01T00:00", "That is more than seven days ahead."),
]
PASSWORD: list[Row] = [
    ("presentPassword", "", "Enter your current password."),
    ("presentPassword", LONG_PASSWORD, PASSWORD_TOO_LONG),
    ("presentPassword", "wrong", "That is not your current password."),
    ("newPassword", "", "Enter a new password."),
    ("newPassword", LONG_PASSWORD, PASSWORD_TOO_LONG),
    ("newPassword", "control\u0007", "The new password has characters that cannot be used."),
    ("newPassword", "seven77", "A password has 8 characters or more."),
]
SEARCH: list[Row] = [
    ("messageUser", LONG_NAME, TOO_LONG),
    ("messageUser", "a" * 9000, TOO_LONG),
    ("messageUser", TWO_WORDS, UNUSABLE),
    # Another test has sent a message to UNKNOWN.
    ("messageUser", "neverwrittento", "No such message was sent in the last seven days.", "messagesNote"),
    ("messageBefore", "12345-01-01T00:00", "Enter a date and a time, or neither."),
    ("messageBefore", "2020-01-01T00:00", "No such message was sent in the last seven days.", "messagesNote"),
    ("messageId", "x" * 23, "A message id has 22 letters, digits, - or _."),
    ("messageId", "x" * 9000, "A message id has 22 letters, digits, - or _."),
    ("messageId", "x" * 21 + "/", "A message id has 22 letters, digits, - or _."),
    ("messageId", "x" * 22, "There is no such message, or it is older than seven days."),
]
USERS: list[Row] = [
    ("search", LONG_NAME, TOO_LONG, "usersNote"),
    ("search", "a" * 9000, TOO_LONG, "usersNote"),
    ("search", TWO_WORDS, UNUSABLE, "usersNote"),
    ("search", UNKNOWN, "There is no such user.", "usersNote"),
]
NEW_USER: list[Row] = [
    ("newName", "", "Enter a name for the new user."),
    ("newName", LONG_NAME, TOO_LONG),
    ("newName", TWO_WORDS, UNUSABLE),
    ("newPassword", "", "Enter a new password."),
    ("newPassword", LONG_PASSWORD, PASSWORD_TOO_LONG),
    ("newPassword", "control\u0007", "The new password has characters that cannot be used."),
    ("newPassword", "seven77", "A password has 8 characters or more."),
    ("newRoles", "nosuchrole", "There is no such role"),
    ("newRoles", "administrator", "A role whose users administer is given by command"),
]
OWN_PASSWORD: list[Row] = [
    ("ownPassword", "", "Enter your password."),
    ("ownPassword", LONG_PASSWORD, PASSWORD_TOO_LONG),
    ("ownPassword", "wrong", "That is not your password."),
]


def put(tab: Tab, id: str, text: str) -> None:
    """As if it were typed."""
    tab.evaluate(
        f"""((field, text) => {{
            field.value = text;
            field.dispatchEvent(new Event("input", {{ bubbles: true }}));
        }})(document.getElementById("{id}"), {json.dumps(text)})"""
    )


def values(tab: Tab, ids: list[str]) -> list[str]:
    found = tab.evaluate(f"{json.dumps(ids)}.map(id => document.getElementById(id).value)")
    return [str(one) for one in found]


def answer(tab: Tab, own: str) -> None:
    """Answers the question for the administrator's password, where it is asked."""
    put(tab, "ownPassword", own)
    tab.evaluate("void (document.getElementById('confirm').open && document.getElementById('sure').click())")


def expect(tab: Tab, rows: list[Row], usual: dict[str, str], button: str, own: str = "") -> None:
    """Tries each row, with what is usual in the other fields. What was typed stays, and a fault leads to its field.

    `own` is the password of an administrator who is asked for it.
    """
    for field, text, words, *elsewhere in rows:
        typed = usual | {field: text}
        for id, one in typed.items():
            put(tab, id, one)
        if button:
            # Not by the pointer, from which a page moves away while another part of it loads. What it says is looked at here.
            tab.evaluate(f"document.getElementById('{button}').click()")
            if own:
                answer(tab, own)
        place = elsewhere[0] if elsewhere else field
        said = place if place.endswith("Note") else f"{place}Error"
        says = f"document.getElementById('{said}').textContent.includes({json.dumps(words)})"
        try:
            tab.wait_until(says)
        except TimeoutError as error:
            seen = tab.evaluate(f"document.getElementById('{said}').textContent")
            raise AssertionError(f"{field}, {text[:30]!r}: {said} says {seen!r}, not {words!r}") from error
        assert values(tab, list(typed)) == list(typed.values()), (field, text[:30])
        if not place.endswith("Note"):
            invalid = "[document.activeElement.id, document.activeElement.ariaInvalid]"
            assert tab.evaluate(invalid) == [place, "true"], (field, text[:30])


def lose_connection(tab: Tab) -> None:
    """Until the page is loaded again."""
    tab.evaluate("void (window.fetch = () => Promise.reject(new TypeError('no network')))")


def await_words(tab: Tab, id: str, words: str) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"document.getElementById('{id}').textContent.includes({json.dumps(words)})")


def test_the_log_in_says_what_is_wrong_with_each_field_and_keeps_the_name(
    tab: Tab, installation: Installation, alice: Account
) -> None:
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    usual = {"username": alice.name, "password": "password"}
    expect(tab, LOG_IN, usual, "login")
    for id, text in usual.items():
        put(tab, id, text)
    lose_connection(tab)
    tab.click("login")
    await_words(tab, "loginResult", UNREACHABLE)
    assert values(tab, list(usual)) == list(usual.values())
    page.open().await_enabled("login")
    assert values(tab, ["username"]) == [alice.name]
    page.log_in(alice, state="loggedin")
    # It was kept as long as it was of use.
    assert tab.evaluate("sessionStorage.getItem('username')") is None


def test_the_message_says_what_is_wrong_with_each_field_and_keeps_all_of_it(page: Page, bob: Account) -> None:
    tab = page.tab
    page.unfold()
    usual = {"recipient": bob.name, "message": "Hello", "when": ""}
    expect(tab, MESSAGE, usual, "send")
    tab.click("secure")
    expect(tab, [("recipient", UNKNOWN, f"There is no user {UNKNOWN}.")], usual, "send")
    for id, text in (usual | {"when": "2199-01-01T00:00"}).items():
        put(tab, id, text)
    page.open().await_state("loggedin")
    tab.wait_until("document.getElementById('message')?.value === 'Hello'")
    assert values(tab, list(usual)) == [bob.name, "Hello", "2199-01-01T00:00"]
    assert tab.evaluate("document.getElementById('secure').checked")
    put(tab, "when", "")
    lose_connection(tab)
    tab.click("send")
    await_words(tab, "sendError", UNREACHABLE)
    assert values(tab, list(usual)) == list(usual.values())


def test_where_a_message_goes_is_kept_through_a_reload(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.on_new_document(DELIVERING)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "Hello")
    page.choose("apns", False)
    page.open().await_state("loggedin")
    on = "['browser', 'apns', 'gcm', 'wns'].map(id => document.getElementById(id).checked)"
    tab.wait_until("document.getElementById('message')?.value === 'Hello' && !document.querySelector('label[for=wns]').hidden")
    assert tab.evaluate(on) == [True, False, True, True]


def test_the_password_form_says_what_is_wrong_with_each_field(page: Page, alice: Account) -> None:
    page.open_settings()
    usual = {"presentPassword": alice.user.password, "newPassword": "another one"}
    expect(page.tab, PASSWORD, usual, "changePassword")
    for id, text in usual.items():
        put(page.tab, id, text)
    lose_connection(page.tab)
    page.tab.click("changePassword")
    await_words(page.tab, "passwordResult", UNREACHABLE)
    assert values(page.tab, list(usual)) == list(usual.values())
    page.open().await_state("loggedin")
    page.open_settings()
    assert values(page.tab, list(usual)) == ["", ""]


def test_the_operators_page_says_what_is_wrong_with_each_field(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    open_admin(tab, root)
    # Nothing moves any more.
    await_words(tab, "findingsNote", "Looked at")
    tab.expect_complaint("40")
    tab.expect_complaint("414")
    expect(tab, SEARCH, {"messageUser": "", "messageBefore": "", "messageId": ""}, "findMessages")
    expect(tab, USERS, {}, "")
    put(tab, "search", "")
    tab.wait_until("document.querySelectorAll('#users tr').length > 0")
    tab.evaluate("document.getElementById('adding').open = true")
    usual = {"newName": f"new.{root.name}", "newPassword": "password", "newRoles": ""}
    taken: Row = ("newName", root.name, "There is a user of that name already.")
    expect(tab, [*NEW_USER, taken], usual, "add", root.user.password)
    open_user(tab, root.name)
    tab.click("endSessions")
    tab.wait_until("document.getElementById('confirm').open")
    expect(tab, OWN_PASSWORD, {}, "sure")
    put(tab, "ownPassword", "password")
    lose_connection(tab)
    tab.click("sure")
    await_words(tab, "confirmNote", UNREACHABLE)
    assert values(tab, ["ownPassword"]) == ["password"]


def test_a_reload_of_the_operators_page_costs_nothing_but_passwords(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    open_admin(tab, root)
    # Nothing moves any more.
    await_words(tab, "findingsNote", "Looked at")
    usual = {
        "messageUser": "a.user", "messageBefore": "2026-01-02T03:04", "messageId": "x", "search": "no",
        "newName": "a.new.user", "newRoles": "team",
    }
    tab.evaluate("document.getElementById('adding').open = true")
    for id, text in (usual | {"newPassword": "password"}).items():
        put(tab, id, text)
    lose_connection(tab)
    tab.click("add")
    answer(tab, "password")
    await_words(tab, "confirmNote", UNREACHABLE)
    tab.click("cancel")
    tab.click("findMessages")
    await_words(tab, "messageIdError", UNREACHABLE)
    put(tab, "messageId", "")
    tab.click("findMessages")
    await_words(tab, "messagesNote", UNREACHABLE)
    put(tab, "messageId", "x")
    assert values(tab, [*usual, "newPassword"]) == [*usual.values(), "password"]
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    assert values(tab, [*usual, "newPassword"]) == [*usual.values(), ""]
    assert tab.evaluate("document.getElementById('adding').open")
    # Another operator of the same tab finds nothing of it.
    other = Account(installation, installation.add_user("root", "--role", "administrator"))
    credentials = json.dumps({"UserName": other.name, "Password": other.user.password})
    post = f"{{ method: 'POST', body: {json.dumps(credentials)}, headers: {{ 'Content-Type': 'application/json' }} }}"
    assert tab.evaluate(f"fetch('/api/session', {post}).then(answer => answer.ok)")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    assert values(tab, [*usual, "newPassword"]) == [""] * 7
