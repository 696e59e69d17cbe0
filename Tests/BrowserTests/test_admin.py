# SPDX-License-Identifier: Apache-2.0
"""The operator's page: who sees it, what it shows, and what it does."""

import json
import re
from collections.abc import Callable

import pytest

from account import Account
from installation import Installation, User
from notify_page import NotifyPage
from subscriber import Subscriber
from tab import Tab
from test_languages import HTML, LANGUAGES, LINE, names

# The names in the list.
USERS = "[...document.querySelectorAll('#users tr')].map(one => one.dataset.name)"
# The page has asked for users whose names begin with `name`, and shows how many the server has found.
SOUGHT = """performance.getEntriesByType('resource').map(one => new URL(one.name))
    .some(one => one.pathname.endsWith('/admin/users') && one.searchParams.get('name') === {name})
    && /[0-9]/.test(document.getElementById('usersNote').textContent)"""


@pytest.fixture
def root(installation: Installation) -> Account:
    return Account(installation, installation.add_user("root", "--role", "administrator"))


@pytest.fixture(params=["firefox", "chromium"])
def tab(request: pytest.FixtureRequest) -> Tab:
    made = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    assert isinstance(made, Tab)
    return made


@pytest.fixture
def open_admin(installation: Installation) -> Callable[[Tab, Account], None]:
    """Logs a user in at the page, and opens the operator's."""

    def open_it(tab: Tab, account: Account) -> None:
        log_in(tab, installation, account)
        tab.navigate(f"{installation.origin}/admin")
        tab.wait_until("['ready', 'refused'].includes(document.body.dataset.state)")

    return open_it


def log_in(tab: Tab, installation: Installation, account: Account) -> NotifyPage[Tab]:
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(account, state="loggedin")
    return page


def text(tab: Tab, id: str) -> str:
    return str(tab.evaluate(f'document.getElementById("{id}").textContent.trim()'))


def await_words(tab: Tab, id: str, words: str) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f'document.getElementById("{id}").textContent.includes({json.dumps(words)})')


def shown_users(tab: Tab) -> list[str]:
    return [str(one) for one in tab.evaluate(USERS)]


def seek(tab: Tab, name: str, write: Callable[[], None]) -> None:
    """Looks for users whose names begin with `name`, which `write` types, and waits until the list is that of this search.

    Raises TimeoutError.
    """
    tab.evaluate("performance.clearResourceTimings()")
    write()
    tab.wait_until(SOUGHT.format(name=json.dumps(name)))


def find(tab: Tab, name: str) -> None:
    """Looks for the one user of that name."""
    seek(tab, name, lambda: tab.fill("search", name))
    tab.wait_until(f"{USERS}.join() === {json.dumps(name)}")


def open_user(tab: Tab, name: str) -> None:
    find(tab, name)
    tab.evaluate("document.querySelector('#users button').click()")
    tab.wait_until("document.getElementById('user').open")


def confirm(tab: Tab, password: str) -> None:
    tab.wait_until("document.getElementById('confirm').open")
    tab.fill("ownPassword", password)
    tab.click("sure")


def await_confirmed(tab: Tab) -> None:
    """Raises TimeoutError."""
    tab.wait_until("!document.getElementById('confirm').open")


def test_an_administrator_adds_disables_enables_and_removes_a_user(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    open_admin(tab, root)
    carol = User(f"new.{root.name}", installation.secret("of-the-new-one-"))
    tab.evaluate("document.getElementById('adding').open = true")
    tab.fill("newName", carol.name)
    tab.fill("newPassword", carol.password)
    tab.click("add")
    confirm(tab, "wrong")
    await_words(tab, "ownPasswordError", "That is not your password.")
    assert installation.call("GET", "/api/register", carol).status == 401
    confirm(tab, root.user.password)
    await_confirmed(tab)
    await_words(tab, "addNote", carol.name)
    assert installation.call("GET", "/api/register", carol).status == 200
    open_user(tab, carol.name)
    tab.click("disable")
    # A wrong password changes nothing, and is said to be wrong.
    confirm(tab, "wrong")
    await_words(tab, "ownPasswordError", "That is not your password.")
    assert installation.call("GET", "/api/register", carol).status == 200
    confirm(tab, root.user.password)
    await_confirmed(tab)
    await_words(tab, "userWords", "disabled")
    assert installation.call("GET", "/api/register", carol).status == 401
    tab.click("enable")
    confirm(tab, root.user.password)
    await_confirmed(tab)
    tab.wait_until("!document.getElementById('userWords').textContent.includes('disabled')")
    assert installation.call("GET", "/api/register", carol).status == 200
    tab.click("remove")
    confirm(tab, root.user.password)
    tab.wait_until("!document.getElementById('user').open")
    await_words(tab, "usersNote", "is removed")
    assert installation.call("GET", "/api/register", carol).status == 401
    assert shown_users(tab) == []


def test_an_administrator_removes_a_device_and_ends_a_session(
    tab: Tab, installation: Installation, root: Account, alice: Account, subscriber: Subscriber,
    open_admin: Callable[[Tab, Account], None],
) -> None:
    alice.register(subscriber)
    credentials = {"UserName": alice.name, "Password": alice.user.password}
    begun = installation.call("POST", "/api/session", json_body=credentials)
    cookie = begun.headers["Set-Cookie"].partition(";")[0]
    open_admin(tab, root)
    open_user(tab, alice.name)
    assert subscriber.subscription.endpoint not in str(tab.evaluate("document.body.textContent"))
    tab.evaluate("document.querySelector('#devices button').click()")
    confirm(tab, root.user.password)
    await_confirmed(tab)
    tab.wait_until("!document.getElementById('noDevices').hidden")
    assert alice.call("GET", "/api/register").json() == []
    tab.evaluate("document.querySelector('#sessions button').click()")
    confirm(tab, root.user.password)
    await_confirmed(tab)
    tab.wait_until("!document.getElementById('noSessions').hidden")
    assert installation.call("GET", "/api/session", Cookie=cookie).status == 401


def test_a_user_without_the_right_sees_a_sentence_and_the_way_to_the_page(
    tab: Tab, installation: Installation, alice: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    page = log_in(tab, installation, alice)
    page.open_settings()
    assert tab.evaluate("document.getElementById('administration').hidden")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'refused'")
    assert "You cannot administer this site" in text(tab, "refusedWords")
    assert tab.evaluate("document.querySelector('#refused a').href") == f"{installation.origin}/"
    assert not tab.evaluate("document.getElementById('usersCard').checkVisibility()")


def test_the_page_leads_an_administrator_there(tab: Tab, installation: Installation, root: Account) -> None:
    page = log_in(tab, installation, root)
    page.tab.click("showSettings")
    tab.wait_until("!document.getElementById('administration').hidden")
    assert tab.evaluate("document.querySelector('#administration a').href") == f"{installation.origin}/admin"


def test_who_has_no_session_logs_in_first_and_comes_back(tab: Tab, installation: Installation, root: Account) -> None:
    tab.expect_complaint("401")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("location.pathname === '/' && document.body?.dataset.state === 'blocked'")
    page = NotifyPage(tab, installation.origin)
    page.await_enabled("login")
    tab.fill("username", root.name)
    tab.fill("password", root.user.password)
    tab.click("login")
    tab.wait_until("location.pathname === '/admin' && document.body?.dataset.state === 'ready'")


def test_a_user_who_may_not_administer_is_not_led_in_a_circle(tab: Tab, installation: Installation, alice: Account) -> None:
    tab.expect_complaint("401")
    tab.navigate(f"{installation.origin}/?next=admin")
    page = NotifyPage(tab, installation.origin)
    page.await_enabled("login")
    tab.fill("username", alice.name)
    tab.fill("password", alice.user.password)
    tab.click("login")
    tab.wait_until("location.pathname === '/admin' && document.body?.dataset.state === 'refused'")
    assert tab.evaluate("document.querySelector('#refused a').href") == f"{installation.origin}/"


def test_who_is_logged_out_meanwhile_comes_back_from_the_log_in(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    tab.expect_complaint("401")
    open_admin(tab, root)
    tab.evaluate('fetch("/api/session?everywhere=true", { method: "DELETE" }).then(answer => answer.status)')
    tab.click("refresh")
    tab.wait_until("document.body.dataset.state === 'refused'")
    assert "Your session has ended." in text(tab, "refusedWords")
    assert tab.evaluate("document.querySelector('#refused a').search") == "?next=admin"


def test_an_administrator_is_not_offered_their_own_end(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    open_admin(tab, root)
    open_user(tab, root.name)
    assert tab.evaluate("['disable', 'remove'].every(id => document.getElementById(id).hidden)")


def test_the_status_tells_what_was_delivered(
    tab: Tab, root: Account, alice: Account, subscriber: Subscriber, open_admin: Callable[[Tab, Account], None]
) -> None:
    alice.register(subscriber)
    alice.await_outcome(alice.send(alice, "Hello"))
    open_admin(tab, root)
    assert "writable" in text(tab, "facts")
    label = tab.evaluate("document.querySelector('#pushes svg').getAttribute('aria-label')")
    assert "Browser: " in str(label) and " accepted" in str(label)
    hours = tab.evaluate("document.querySelector('#day svg.hours').getAttribute('aria-label')")
    assert "Browser: " in str(hours) and " accepted" in str(hours) and " per hour" in str(hours)
    # An hour may have begun meanwhile.
    assert tab.evaluate("Math.max(...[...document.querySelectorAll('#day .good')].map(one => one.getAttribute('height')))") > 0
    assert text(tab, "noWaiting") == "No messages are paused."


def sent_to_alice(alice: Account, bob: Account, words: str) -> str:
    """The id of a message of bob's."""
    answer = bob.call("POST", "/api/notifications", {"To": alice.name, "Title": words, "Body": words})
    return str(answer.json()["MessageId"])


def shown_messages(tab: Tab) -> list[str]:
    found = tab.evaluate("[...document.querySelectorAll('#messages tr')].map(one => one.dataset.id)")
    return [str(one) for one in found]


def await_messages(tab: Tab, *ids: str) -> None:
    """Those of one second are in any order. Raises TimeoutError."""
    tab.wait_until(f"[...document.querySelectorAll('#messages tr')].map(one => one.dataset.id).sort().join() === "
                   f"{json.dumps(','.join(sorted(ids)))}")


def test_an_administrator_finds_a_message_and_what_became_of_it_and_not_its_text(
    tab: Tab, installation: Installation, root: Account, alice: Account, bob: Account, subscriber: Subscriber,
    open_admin: Callable[[Tab, Account], None],
) -> None:
    alice.register(subscriber)
    words = installation.secret("of-a-message-")
    first = sent_to_alice(alice, bob, words)
    second = str(alice.call("POST", "/api/notifications", {"To": bob.name, "Body": words}).json()["MessageId"])
    open_admin(tab, root)
    assert {first, second} <= set(shown_messages(tab))
    tab.fill("messageUser", bob.name)
    tab.click("findMessages")
    await_messages(tab, first, second)
    tab.evaluate("document.getElementById('messageBefore').value = '2020-01-01T00:00'")
    tab.click("findMessages")
    await_words(tab, "messagesNote", "No such message was sent")
    tab.evaluate("document.getElementById('messageBefore').value = ''")
    tab.click("findMessages")
    await_messages(tab, first, second)
    tab.evaluate(f"document.querySelector('#messages tr[data-id={json.dumps(first)}] button').click()")
    tab.wait_until("document.getElementById('message').open")
    assert text(tab, "messageHeading") == f"From {bob.name} to {alice.name}"
    assert first in text(tab, "messageFacts") and "Browser" in text(tab, "outcomes")
    assert tab.evaluate("document.querySelector('#outcomes ul li bdi').textContent") == alice.name
    tab.click("closeMessage")
    tab.wait_until(f"document.activeElement.closest('tr')?.dataset.id === {json.dumps(first)}")
    assert words not in str(tab.evaluate("document.documentElement.outerHTML"))


def test_a_message_is_found_by_its_id_and_what_is_none_is_said_at_the_field(
    tab: Tab, root: Account, alice: Account, bob: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    id = sent_to_alice(alice, bob, "Hello")
    open_admin(tab, root)
    tab.expect_complaint("404")
    tab.fill("messageId", id[::-1])
    tab.click("findMessages")
    await_words(tab, "messageIdError", "There is no such message")
    assert tab.evaluate("document.activeElement.id") == "messageId"
    tab.fill("messageId", id)
    tab.click("findMessages")
    tab.wait_until("document.getElementById('message').open")
    assert id in text(tab, "messageFacts")


def test_the_page_shows_what_the_service_finds_and_what_to_change(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]
) -> None:
    open_admin(tab, root)
    tab.wait_until("document.querySelectorAll('#findings li').length > 8")
    await_words(tab, "findingsNote", "Looked at")
    found = tab.evaluate(
        "[...document.querySelectorAll('#findings li')].map(({ dataset }) => [dataset.step, dataset.verdict])")
    # Of the store, the disk of this host may be nearly full.
    assert ["nginx", "skipped"] in found and ["socket", "ok"] in found and ["store", "wrong"] not in found
    assert "app-backend doctor --url" in text(tab, "findings")
    ranks = [["wrong", "warning", "skipped", "ok"].index(str(verdict)) for _, verdict in found]
    assert ranks == sorted(ranks)


def test_it_is_served_with_the_policy_of_the_page(installation: Installation) -> None:
    page, admin = installation.call("GET", "/"), installation.call("GET", "/admin")
    assert (admin.status, admin.headers.get_content_type()) == (200, "text/html")
    for name in ("Cache-Control", "Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"):
        assert admin.headers[name] == page.headers[name] is not None
    assert installation.call("POST", "/admin").status == 403


def kind_of(key: str) -> str | None:
    """Of a text for a name that the server has, `admin.storeIs.writable`: test_admin_names.py compares those."""
    found = re.match(r"admin\.(storeIs|hubIs|cause|outcome)\.", key)
    return found and found[1]


def texts(language: str) -> dict[str, str]:
    return dict(LINE.findall((HTML / "js" / "admin" / f"texts-{language}.js").read_text()))


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_every_language_has_the_same_texts(language: str) -> None:
    english, other = texts("en"), texts(language)
    assert list(other) == list(english) and len(english) > 50
    assert {key: names(text) for key, text in other.items()} == {key: names(text) for key, text in english.items()}


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    sources = [HTML / "admin.html", HTML / "admin.js", *(HTML / "js" / "admin").glob("[!t]*.js")]
    code = "\n".join(file.read_text() for file in sources)
    unused = {key for key in texts("en") if key.removesuffix(".one").removesuffix(".other") not in code and not kind_of(key)}
    assert unused == set()
    wanted = {one.removesuffix("'") for one in code.replace('"', "'").split("'") if one.startswith("admin.")}
    known = {key.removesuffix(".one").removesuffix(".other") for key in texts("en")} | {"admin.js", "admin.css"}
    assert wanted - known == set()
