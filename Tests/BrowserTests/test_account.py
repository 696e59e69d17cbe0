# SPDX-License-Identifier: Apache-2.0
"""A user's own sessions and password, on the page."""

import json

import pytest

from account import Account
from installation import Installation, User
from test_truth import Page, await_words, page  # noqa: F401

SESSIONS = "document.querySelectorAll('#sessions li')"


def log_in(installation: Installation, account: Account) -> str:
    """Begins a session in another browser, and returns its cookie."""
    credentials = {"UserName": account.name, "Password": account.user.password}
    cookie = installation.call("POST", "/api/session", json_body=credentials).headers["Set-Cookie"].split(";")[0]
    installation.keep_secret(cookie.split("=")[1])
    return cookie


def status(installation: Installation, cookie: str) -> int:
    return installation.call("GET", "/api/session", Cookie=cookie).status


def open_settings(page: Page, sessions: int) -> None:
    """Returns when so many sessions are listed."""
    page.open_settings()
    page.tab.wait_until(f"{SESSIONS}.length === {sessions}")


def change(page: Page, present: str, wanted: str) -> None:
    for id, text in (("presentPassword", present), ("newPassword", wanted)):
        page.tab.evaluate(f"document.getElementById('{id}').value = {json.dumps(text)}")
    page.tab.click("changePassword")


def test_another_session_is_ended_by_the_second_press_and_the_others_stay(
    page: Page, installation: Installation, alice: Account
) -> None:
    others = [log_in(installation, alice) for _ in range(2)]
    open_settings(page, sessions=3)
    here = page.tab.evaluate(f"[...{SESSIONS}].map(one => one.dataset.here)")
    assert sorted(here) == ["false", "false", "true"]
    # This one has no button of its own.
    assert page.tab.evaluate("document.querySelectorAll('#sessions button').length") == 2
    page.tab.evaluate("document.querySelector('#sessions button').focus()")
    for _ in range(2):
        assert [status(installation, cookie) for cookie in others] == [200, 200]
        page.tab.press("Enter")
        page.tab.think()
    page.tab.wait_until(f"{SESSIONS}.length === 2")
    assert sorted(status(installation, cookie) for cookie in others) == [200, 401]
    assert page.text("sessionsNote") == "Ended."
    assert page.tab.evaluate("document.activeElement.id") == "sessionsHeading"


def test_all_other_sessions_are_ended_and_this_one_goes_on(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    others = [log_in(installation, alice) for _ in range(3)]
    bobs = log_in(installation, bob)
    open_settings(page, sessions=4)
    for _ in range(2):
        page.tab.click("others")
        page.tab.think()
    page.tab.wait_until(f"{SESSIONS}.length === 1")
    assert [status(installation, cookie) for cookie in [*others, bobs]] == [401, 401, 401, 200]
    assert page.tab.evaluate("document.getElementById('others').hidden")
    assert page.state == "loggedin"


def test_the_password_is_changed_and_only_this_session_goes_on(
    page: Page, installation: Installation, alice: Account
) -> None:
    other = log_in(installation, alice)
    open_settings(page, sessions=2)
    wanted = installation.secret("a new password ")
    change(page, alice.user.password, wanted)
    await_words(page, "passwordResult", "The password is changed.")
    page.tab.wait_until(f"{SESSIONS}.length === 1")
    assert status(installation, other) == 401
    assert page.tab.evaluate("document.getElementById('newPassword').value") == ""
    assert installation.call("GET", "/api/register", User(alice.name, wanted)).status == 200
    assert alice.call("GET", "/api/register").status == 401
    page.open().await_state("loggedin")


def make_token(alice: Account, installation: Installation, **wish: object) -> dict[str, str]:
    """Makes an app token, and returns the header field that shows it."""
    made = alice.call("POST", "/api/tokens", {"Scopes": ["send"]} | wish).json()
    installation.keep_secret(made["Token"])
    return {"Authorization": f"Bearer {made['Token']}"}


def is_good(installation: Installation, token: dict[str, str]) -> bool:
    return installation.call("GET", "/api/notifications/outcomes/x", **token).status == 404


TOKENS = "document.querySelectorAll('#tokens li')"


def test_an_app_token_is_listed_with_what_it_may_and_ended_by_the_second_press(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    one = make_token(alice, installation, Label="build server", To=[bob.name], ExpiresInDays=90)
    other = make_token(alice, installation, Scopes=["read", "register", "send"])
    assert is_good(installation, one) and is_good(installation, other)
    open_settings(page, sessions=1)
    page.tab.wait_until(f"{TOKENS}.length === 2")
    # Of one second they are in no certain order.
    listed = sorted(page.tab.evaluate(f"[...{TOKENS}].map(one => one.textContent)"))
    words = ("build server", "may send", f"only to {bob.name}", "made", "last used", "until", "End")
    assert all(word in listed[0] for word in words), listed
    assert all(word in listed[1] for word in ("without a label", "may read messages", "may register devices")), listed
    page.tab.evaluate(f"[...{TOKENS}].find(one => one.textContent.includes('build server')).querySelector('button').focus()")
    for _ in range(2):
        assert is_good(installation, one)
        page.tab.press("Enter")
        page.tab.think()
    page.tab.wait_until(f"{TOKENS}.length === 1")
    assert not is_good(installation, one) and is_good(installation, other)
    assert page.text("tokensNote") == "Ended."
    assert page.tab.evaluate("document.activeElement.id") == "tokensHeading"


@pytest.mark.parametrize("keeps", [False, True], ids=["not kept", "kept"])
def test_app_tokens_end_with_the_password_unless_they_are_kept(
    page: Page, installation: Installation, alice: Account, keeps: bool
) -> None:
    tokens = [make_token(alice, installation) for _ in range(2)]
    open_settings(page, sessions=1)
    page.tab.wait_until(f"{TOKENS}.length === 2")
    if keeps:
        page.tab.click("keepTokens")
    change(page, alice.user.password, installation.secret("a new password "))
    await_words(page, "passwordResult", "The password is changed.")
    page.tab.wait_until(f"{TOKENS}.length === {2 if keeps else 0}")
    assert ("2 app tokens have ended." in page.text("passwordResult")) != keeps
    assert page.tab.evaluate("document.getElementById('keepTokensPart').hidden") != keeps
    assert [is_good(installation, one) for one in tokens] == [keeps, keeps]


@pytest.mark.parametrize(
    ("present", "wanted", "field", "words"),
    [
        ("", "new", "presentPassword", "Enter your current password."),
        ("right", "", "newPassword", "Enter a new password."),
        ("right", "é" * 256, "newPassword", "A password has at most 511 bytes."),
        ("right", "control\u0007", "newPassword", "The new password has characters that cannot be used."),
        ("right", "seven77", "newPassword", "A password has 8 characters or more."),
        ("wrong", "new-secret", "presentPassword", "That is not your current password."),
    ],
    ids=["no present one", "no new one", "too long", "a control character", "a short one", "a wrong present one"],
)
def test_what_is_wrong_with_a_new_password_is_said_at_its_field(
    page: Page, installation: Installation, alice: Account, present: str, wanted: str, field: str, words: str
) -> None:
    open_settings(page, sessions=1)
    change(page, alice.user.password if present == "right" else present, wanted)
    await_words(page, f"{field}Error", words)
    assert page.tab.evaluate("document.activeElement.id") == field
    assert alice.call("GET", "/api/register").status == 200


def test_guessing_the_present_password_is_slowed_down_and_the_page_says_for_how_long(
    page: Page, installation: Installation, alice: Account
) -> None:
    open_settings(page, sessions=1)
    change(page, "wrong", "new-secret")
    await_words(page, "presentPasswordError", "not your current password")
    for _ in range(20):
        # As many as are allowed in a minute, in one go: the page alone may be too slow for them.
        guess = {"Password": "wrong", "NewPassword": "new-secret"}
        assert any(alice.call("PUT", "/api/password", guess).status == 429 for _ in range(20))
        change(page, "wrong", "new-secret")
        page.await_enabled("changePassword")
        if "Too many attempts." in page.text("passwordResult"):
            break
    await_words(page, "passwordResult", "Too many attempts. Try again in")


def test_nothing_of_one_users_sessions_is_left_for_the_next_one(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    log_in(installation, alice)
    open_settings(page, sessions=2)
    page.tab.click("logout")
    page.await_state("blocked")
    assert page.tab.evaluate(f"{SESSIONS}.length") == 0
    page.log_in(bob, state="loggedin")
    open_settings(page, sessions=1)
    assert page.tab.evaluate("document.getElementById('passwordUser').value") == bob.name
