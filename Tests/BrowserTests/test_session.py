# SPDX-License-Identifier: Apache-2.0
"""The session as browsers treat it: who has the cookie, who sees it, and who cannot use it."""

import json
from collections.abc import Iterator

import pytest

from account import Account
from installation import Installation
from notify_page import NotifyPage
from opening import HIDDEN
from tab import Tab
from web_server import WebServer

Page = NotifyPage[Tab]

# A page that sends in the name of the user who presses its button, if it can.
STRANGER = """<!doctype html><meta charset="utf-8"><title>Stranger</title>
<button id="post">Post</button>
<script>
document.getElementById("post").onclick = () =>
    fetch("{target}", {{method: "POST", body: '"forged"', mode: "no-cors", credentials: "include"}}).catch(() => {{}});
</script>"""


@pytest.fixture(params=["firefox", "chromium"])
def tab(request: pytest.FixtureRequest) -> Tab:
    made = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    assert isinstance(made, Tab)
    return made


@pytest.fixture
def page(tab: Tab, installation: Installation, alice: Account) -> Page:
    """The page, where alice is logged in."""
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    return page


@pytest.fixture
def stranger(installation: Installation, alice: Account) -> Iterator[WebServer]:
    """A site on another port of this host."""
    target = f"{installation.origin}/api/notifications?to_tag={alice.name}"
    with WebServer(installation.certificate, {"/": ("text/html", STRANGER.format(target=target))}) as server:
        yield server


def status(page: Page, method: str, path: str) -> int:
    """What a call from the page itself is answered."""
    return int(page.tab.evaluate(f'fetch("{path}", {{method: "{method}"}}).then(answer => answer.status)'))


def expect_refusal(page: Page) -> None:
    """Browsers say on the stranger's console that they keep the answer from it, each in its words."""
    for words in ("Cross-Origin-Resource-Policy", "CorpNotSame"):
        page.tab.expect_complaint(words)


def test_no_script_can_read_the_cookie_that_its_calls_carry(page: Page, alice: Account) -> None:
    assert page.tab.evaluate("document.cookie") == ""
    assert page.tab.evaluate('fetch("/api/session").then(answer => answer.json())')["User"] == alice.name
    assert status(page, "GET", "/api/register") == 200


def test_a_page_on_another_port_sends_the_cookie_and_is_refused(
    page: Page, stranger: WebServer, installation: Installation, alice: Account
) -> None:
    # Ports are no part of a site, so the cookie travels; the proof of the same origin does not.
    before = installation.log_size
    page.tab.navigate(f"https://localhost:{stranger.port}/")
    page.tab.click("post")
    assert installation.await_status(before, "POST", "/api/notifications") == 403
    expect_refusal(page)
    assert alice.call("GET", "/api/notifications").json() == []


def test_a_page_on_another_host_does_not_even_send_the_cookie(
    page: Page, stranger: WebServer, installation: Installation, alice: Account
) -> None:
    before = installation.log_size
    page.tab.navigate(f"https://127.0.0.1:{stranger.port}/")
    page.tab.click("post")
    assert installation.await_status(before, "POST", "/api/notifications") == 401
    expect_refusal(page)
    assert alice.call("GET", "/api/notifications").json() == []


def test_a_session_outlives_a_reload_and_not_a_log_out(page: Page) -> None:
    page.open().await_state("loggedin")
    page.log_out()
    assert status(page, "GET", "/api/session") == 401
    page.open().await_state("blocked")
    page.await_enabled("login")


# Another user's session in the same browser


def change_the_cookie(page: Page, account: Account) -> None:
    """As a log-in in another window does whose word of it does not come through."""
    credentials = json.dumps({"UserName": account.name, "Password": account.user.password})
    post = f"{{ method: 'POST', body: {json.dumps(credentials)}, headers: {{ 'Content-Type': 'application/json' }} }}"
    assert page.tab.evaluate(f"fetch('/api/session', {post}).then(answer => answer.ok)")


def await_user(page: Page, account: Account) -> None:
    """Raises TimeoutError."""
    page.tab.wait_until(f"document.getElementById('who').textContent === {json.dumps(account.name)}")


def test_the_list_of_one_user_is_never_shown_under_the_name_of_another(
    page: Page, installation: Installation, alice: Account, bob: Account
) -> None:
    alice.send_secret(bob, installation.secret("for bob "))
    page.tab.evaluate(
        """void (() => {
            window.shown = [];
            new MutationObserver(() => {
                const count = document.querySelectorAll("#received li").length;
                if (count > 0) window.shown.push(document.getElementById("who").textContent);
            }).observe(document.getElementById("received"), { childList: true });
        })()"""
    )
    change_the_cookie(page, bob)
    page.tab.ask_until(f"document.getElementById('who').textContent === {json.dumps(bob.name)}")
    page.tab.wait_until("document.querySelectorAll('#received li').length === 1")
    assert set(page.tab.evaluate("window.shown")) == {bob.name}


def test_a_message_never_goes_out_in_the_name_of_another_user_than_the_one_who_is_shown(
    page: Page, alice: Account, bob: Account
) -> None:
    page.choose("secure", True)
    page.write(alice.name, "from alice to herself")
    # The page does not find out by itself.
    page.tab.evaluate(HIDDEN)
    change_the_cookie(page, bob)
    page.tab.click("send")
    await_user(page, bob)
    assert alice.call("GET", "/api/notifications").json() == []
    # What was alice's does not stay for bob to send.
    assert page.tab.evaluate("document.getElementById('message').value") == ""


def test_a_log_out_ends_no_session_of_another_user(page: Page, bob: Account) -> None:
    page.open_settings()
    # The page does not find out by itself, and close them.
    page.tab.evaluate(HIDDEN)
    change_the_cookie(page, bob)
    for _ in range(2):
        page.tab.click("everywhere")
        page.tab.think()
    await_user(page, bob)
    assert page.tab.evaluate('fetch("/api/session").then(answer => answer.json())')["User"] == bob.name


def test_a_fetch_without_a_session_is_not_answered_by_a_browsers_own_password_box(page: Page) -> None:
    page.log_out()
    challenge = page.tab.evaluate('fetch("/api/register").then(answer => answer.headers.get("WWW-Authenticate"))')
    assert challenge.startswith("Session ")
