# SPDX-License-Identifier: Apache-2.0
"""The page on a line with 400 ms to each answer and 50 KiB a second: it works, says what is under way, and loses nothing."""

from collections.abc import Iterator

import pytest

from account import Account
from deadline import wait_until
from installation import Installation, User
from later import DAY, post, press
from notify_page import IS_LISTED, NotifyPage
from opening import SETTLED, SHIFTS, WITHOUT_WORKER
from slow_line import SlowLine
from tab import Tab
from test_account import log_in as log_in_elsewhere
from test_admin import await_confirmed, await_messages, find, root, sent_to_alice  # noqa: F401
from test_truth import await_words, value
from timers import IMPATIENCE

# Notes all that is said in these places, however short the time is that it is shown.
LISTEN = """void (window.said = {{}}, {ids}.forEach(id => {{
    const place = document.getElementById(id);
    const note = () => (window.said[id] ??= []).push(place.textContent);
    new MutationObserver(note).observe(place, {{ childList: true, subtree: true, characterData: true }});
}}))"""

# Of a whole document: all that was said in places that are listened to, and all changes that were asked for.
SAID = """window.said = new Set();
new MutationObserver(() => {
    for (const one of document.querySelectorAll("p[id], button[id]")) said.add(`${one.id}: ${one.textContent}`);
}).observe(document, { childList: true, subtree: true, characterData: true });"""
CHANGES = """window.changes = [];
const real = window.fetch;
window.fetch = (url, request) => {
    if (request?.method && request.method !== "GET") changes.push([request.method, new URL(url, location.href).pathname]);
    return real(url, request);
};"""

BUTTONS = "[...document.querySelectorAll('#settings button')].filter(one => one.offsetParent).length"


@pytest.fixture(scope="module")
def slow_origin(installation: Installation) -> Iterator[str]:
    with SlowLine(installation.port) as line:
        yield f"https://localhost:{line.port}"


@pytest.fixture(params=["firefox", "chromium", "chromium whose push service is silent"])
def tab(request: pytest.FixtureRequest, slow_origin: str, tabs: list[Tab]) -> Tab:
    browser, _, rest = request.param.partition(" ")
    options = {"notifications": "granted", "is_private": False} if rest else {"notifications": "denied"}
    made: Tab = request.getfixturevalue(browser).open_tab(slow_origin, **options)
    tabs.append(made)
    if rest:
        made.on_new_document(IMPATIENCE)
    return made


def test_a_person_logs_in_reads_writes_and_is_written_to(
    tab: Tab, slow_origin: str, installation: Installation, alice: Account, bob: Account
) -> None:
    bob.send_secret(alice, "before")
    page = NotifyPage(tab, slow_origin).open()
    tab.evaluate(LISTEN.format(ids='["loginResult"]'))
    page.log_in(alice, state="loggedin")
    assert "Logging in …" in tab.evaluate("window.said.loginResult")
    tab.wait_until("document.querySelectorAll('#received li[data-kind=locked]').length === 1")
    tab.evaluate("document.querySelector('#received button').click()")
    assert page.await_received("before").kind == "secret"
    tab.evaluate(LISTEN.format(ids='["compose", "sentEmpty"]'))
    tab.click("showSent")
    tab.wait_until("document.getElementById('sentEmpty').textContent.startsWith('What you send is listed')")
    page.unfold()
    assert "Loading …" in tab.evaluate("window.said.compose") and "Loading …" in tab.evaluate("window.said.sentEmpty")
    tab.click("showInbox")
    # What is typed while the message before is under way is the next one.
    page.choose("secure", True)
    page.write(bob.name, "first")
    tab.evaluate(LISTEN.format(ids='["resultsFor", "resultsNote"]'))
    tab.hold()
    tab.click("send")
    assert not page.is_enabled("send")
    assert any(bob.name in words for words in tab.evaluate("window.said.resultsFor"))
    tab.click("message")
    tab.write(" and second")
    tab.release()
    wait_until(lambda: len(bob.call("GET", "/api/notifications").json()) == 1, "the message is there")
    page.await_enabled("send")
    assert value(page, "message") == "first and second"
    # Nor does a reload cost it.
    page.open()
    tab.wait_until('document.getElementById("message").value === "first and second"')
    bob.send_secret(alice, "meanwhile")
    tab.ask_until("document.querySelectorAll('#received li[data-kind=locked]').length === 1")


# What is loaded when it is needed, and what the operator's page does


@pytest.fixture(params=["firefox", "chromium"])
def watched(request: pytest.FixtureRequest, slow_origin: str, tabs: list[Tab]) -> Tab:
    """A tab that notes what is said, what moves by itself (Chromium alone knows that), and which changes are asked for."""
    made: Tab = request.getfixturevalue(request.param).open_tab(slow_origin, notifications="denied")
    tabs.append(made)
    # The worker's files would take the line for seconds.
    for script in (SAID, CHANGES, WITHOUT_WORKER, *([SHIFTS] if request.param == "chromium" else [])):
        made.on_new_document(f"{{ {script} }}")
    return made


def moved(tab: Tab) -> list[object]:
    """What has moved by itself since the last question. Only Chromium tells."""
    return list(tab.evaluate(f"{SETTLED}.then(() => window.shifts?.splice(0) ?? [])"))


def opened(tab: Tab, installation: Installation, slow_origin: str, account: Account) -> NotifyPage[Tab]:
    """The page on the slow line, of a user who has logged in on a fast one."""
    NotifyPage(tab, installation.origin).open().log_in(account, state="loggedin")
    page = NotifyPage(tab, slow_origin).open()
    page.await_state("loggedin")
    tab.wait_until("!document.getElementById('banner').hidden")
    moved(tab)
    return page


def test_the_list_of_what_was_sent_loads_and_a_message_for_later_is_taken_back_once(
    watched: Tab, installation: Installation, slow_origin: str, alice: Account, bob: Account
) -> None:
    post(alice, bob.name, "Later", DAY)
    page = opened(watched, installation, slow_origin, alice)
    page.write(bob.name, "half a ")
    watched.click("showSent")
    # What is typed while the list loads stays.
    watched.click("message")
    watched.write("message")
    watched.wait_until("document.querySelectorAll('#sent > li').length === 1")
    assert watched.evaluate("said.has('sentEmpty: Loading …')")
    assert value(page, "message") == "half a message"
    # Not later: a press gives its button wider words. On a slow machine these are drawn so late that the browser takes it for
    # a move without a press.
    assert moved(watched) == []
    press(page, "document.querySelector('#sent button')", times=4)
    watched.wait_until("document.querySelectorAll('#sent > li').length === 0")
    await_words(page, "sentNote", "is not sent")
    assert watched.evaluate("changes.map(([method]) => method)") == ["DELETE"]
    assert alice.call("GET", "/api/notifications/scheduled").json() == []


def test_the_settings_load_and_a_device_is_removed_once(
    watched: Tab, installation: Installation, slow_origin: str, alice: Account
) -> None:
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    page = opened(watched, installation, slow_origin, alice)
    watched.hold("/js/account.js")
    watched.click("showSettings")
    # Of the buttons only those that are not about to move.
    watched.wait_until(f"document.getElementById('settingsLoading').textContent === 'Loading …' && {BUTTONS} === 3")
    watched.release()
    watched.wait_until(IS_LISTED)
    assert watched.evaluate("document.getElementById('settingsLoading').textContent") == ""
    press(page, "document.querySelector('#devices button')", times=4)
    watched.click("presentPassword")
    watched.write("while it is under way")
    await_words(page, "settingsNote", "The device is removed.")
    assert value(page, "presentPassword") == "while it is under way"
    assert watched.evaluate("changes.map(([method]) => method)") == ["DELETE"]
    assert alice.call("GET", "/api/register").json() == []
    assert moved(watched) == []


def test_a_person_logs_out_while_the_settings_load(
    watched: Tab, installation: Installation, slow_origin: str, alice: Account
) -> None:
    page = opened(watched, installation, slow_origin, alice)
    watched.hold("/js/account.js")
    watched.click("showSettings")
    assert watched.evaluate("document.getElementById('settings').ariaBusy") == "true"
    watched.click("logout")
    page.await_state("blocked", "unsupported")
    watched.release()


def open_admin(tab: Tab, installation: Installation, slow_origin: str, administrator: Account) -> None:
    """The operator's page on the slow line, of a user who has logged in on a fast one."""
    NotifyPage(tab, installation.origin).open().log_in(administrator, state="loggedin")
    tab.navigate(f"{slow_origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")


def test_the_operators_page_loads_and_a_user_is_disabled_once(
    watched: Tab, installation: Installation, slow_origin: str, alice: Account, root: Account  # noqa: F811
) -> None:
    open_admin(watched, installation, slow_origin, root)
    assert watched.evaluate("said.has('note: Loading …')")
    assert watched.evaluate("document.getElementById('note').textContent") == ""
    watched.click("refresh")
    watched.fill("messageUser", alice.name)
    watched.wait_until("document.getElementById('refresh').ariaBusy === 'false'")
    assert moved(watched) == []
    find(watched, alice.name)
    # What is below a shorter table is higher.
    moved(watched)
    assert is_busy_when_pressed(watched, "#users button")
    watched.wait_until("document.getElementById('user').open")
    assert moved(watched) == []
    watched.click("disable")
    watched.fill("ownPassword", root.user.password)
    for _ in range(2):
        watched.press("Enter")
    await_confirmed(watched)
    watched.wait_until("document.getElementById('userWords').textContent.includes('disabled')")
    assert watched.evaluate("document.getElementById('messageUser').value") == alice.name
    assert watched.evaluate("changes.map(([, path]) => path)") == [f"/api/admin/users/{alice.name}/disable"]
    assert alice.call("GET", "/api/register").status == 401


def is_busy_when_pressed(tab: Tab, button: str) -> bool:
    return bool(tab.evaluate(f"(one => {{ one.click(); return one.ariaBusy === 'true'; }})(document.querySelector('{button}'))"))


def twice(tab: Tab, button: str, administrator: Account | None = None) -> None:
    """Presses it, and what asks for the administrator's password, twice."""
    tab.evaluate(f"document.querySelector('{button}').focus()")
    tab.press("Enter")
    if administrator:
        tab.wait_until("document.getElementById('confirm').open")
        tab.fill("ownPassword", administrator.user.password)
        tab.press("Enter")
    else:
        tab.think()
    tab.press("Enter")
    if administrator:
        await_confirmed(tab)


# In one browser: each takes 13 s.
@pytest.mark.parametrize("watched", ["firefox"], indirect=True)
def test_an_operator_finds_messages_adds_a_user_and_ends_what_is_theirs_once(
    watched: Tab, installation: Installation, slow_origin: str, alice: Account, bob: Account, root: Account  # noqa: F811
) -> None:
    tab, carol = watched, User(f"new.{root.name}", installation.secret("of-the-new-one-"))
    message = sent_to_alice(alice, bob, "Hello")
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    log_in_elsewhere(installation, alice)
    open_admin(tab, installation, slow_origin, root)
    tab.evaluate("said.clear()")
    tab.fill("messageUser", bob.name)
    twice(tab, "#findMessages")
    await_messages(tab, message)
    assert tab.evaluate("said.has('messagesNote: Loading …')") and is_busy_when_pressed(tab, "#lookAgain")
    tab.evaluate("document.getElementById('adding').open = true")
    tab.fill("newName", carol.name)
    tab.fill("newPassword", carol.password)
    twice(tab, "#add", root)
    tab.wait_until(f"document.getElementById('addNote').textContent.includes('{carol.name}')")
    find(tab, alice.name)
    assert tab.evaluate("said.has('usersNote: Loading …')")
    twice(tab, "#users button")
    tab.wait_until("document.getElementById('user').open")
    for kind in ("Devices", "Sessions"):
        twice(tab, f"#{kind.lower()} button", root)
        tab.wait_until(f"!document.getElementById('no{kind}').hidden")
    twice(tab, "#disable", root)
    tab.wait_until("!document.getElementById('enable').hidden")
    twice(tab, "#enable", root)
    tab.wait_until("document.getElementById('enable').hidden")
    done = [(method, path.split("/")[5:6]) for method, path in tab.evaluate("changes")]
    ended = [("DELETE", ["devices"]), ("DELETE", ["sessions"])]
    assert done == [("POST", []), *ended, ("POST", ["disable"]), ("POST", ["enable"])]
    assert alice.call("GET", "/api/register").json() == []
    assert installation.call("GET", "/api/register", carol).status == 200
