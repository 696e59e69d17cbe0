# SPDX-License-Identifier: Apache-2.0
"""How the pages come up: nothing waits for what it does not need, nothing moves, and many messages cost no more than few."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from opening import DESKTOP, PHONE, SETTLED, SHIFTS, TOLD, await_list, moved
from test_inbox import HASTE
from test_languages import LANGUAGES, PREFERRED
from trace import traced

Page = NotifyPage[ChromiumTab]

FEW, MANY = 5, 50
SIZES = {"desktop": DESKTOP, "telephone": PHONE}


@pytest.fixture(params=SIZES)
def tab(request: pytest.FixtureRequest, chromium_tab: Callable[..., ChromiumTab]) -> ChromiumTab:
    """One in which what moves is noted."""
    made = chromium_tab(notifications="denied")
    made.size(*SIZES[request.param], mobile=request.param == "telephone")
    made.on_new_document(SHIFTS)
    return made


@pytest.fixture
def root(installation: Installation) -> Account:
    return Account(installation, installation.add_user("root", "--role", "administrator"))


def filled(installation: Installation, bob: Account, count: int) -> Account:
    """A user in whose inbox so many messages wait."""
    recipient = Account(installation, installation.add_user("carol"))
    for number in range(count):
        bob.send_secret(recipient, f"message {number}")
    return recipient


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_moves_while_the_page_opens(
    tab: ChromiumTab, installation: Installation, bob: Account, language: str
) -> None:
    tab.on_new_document(PREFERRED.format(languages=[language]))
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    assert moved(tab) == []
    page.log_in(filled(installation, bob, FEW), state="loggedin")
    await_list(tab, FEW)
    page.open()
    page.await_state("loggedin")
    await_list(tab, FEW)
    assert moved(tab) == []


def test_nothing_that_is_being_read_moves_while_messages_arrive(
    tab: ChromiumTab, installation: Installation, bob: Account
) -> None:
    tab.on_new_document(HASTE)
    carol = filled(installation, bob, FEW)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(carol, state="loggedin")
    page.open()
    await_list(tab, FEW)
    for number in range(1, 3):
        bob.send_secret(carol, "one more")
        await_list(tab, FEW + number)
        # What slides has not jumped. A second one meanwhile would count as a jump.
        assert moved(tab) == []


def test_what_is_being_read_further_down_stays_where_it_is_when_a_message_arrives(
    tab: ChromiumTab, installation: Installation, bob: Account
) -> None:
    tab.on_new_document(HASTE)
    carol = filled(installation, bob, MANY // 2)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(carol, state="loggedin")
    await_list(tab, MANY // 2)
    name = tab.evaluate("document.querySelectorAll('#received li')[9].dataset.name")
    place = f"Math.round(document.querySelector('#received li[data-name=\"{name}\"]').getBoundingClientRect().top)"
    tab.evaluate("document.querySelectorAll('#received li')[9].scrollIntoView({block: 'center', behavior: 'instant'})")
    tab.evaluate(SETTLED)
    before = tab.evaluate(place)
    bob.send_secret(carol, "one more")
    await_list(tab, MANY // 2 + 1)
    tab.evaluate(SETTLED)
    assert tab.evaluate("scrollY") > 0
    assert tab.evaluate(place) == before


def test_that_notifications_are_blocked_is_said_without_waiting_for_the_worker(
    tab: ChromiumTab, installation: Installation, bob: Account
) -> None:
    tab.on_new_document("if (navigator.serviceWorker) navigator.serviceWorker.register = () => new Promise(() => {});")
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(filled(installation, bob, FEW), state="loggedin")
    await_list(tab, FEW)
    assert page.text("device").startswith("Notifications are blocked")
    assert tab.evaluate("document.getElementById('banner').checkVisibility()")
    assert moved(tab) == []


# Each slide waits at its beginning.
HELD = """{
    const real = Element.prototype.animate;
    Element.prototype.animate = function (...words) {
        const made = real.apply(this, words);
        made.pause();
        return made;
    };
}"""
# Whether a pointer reaches these.
REACHED = """{ids}.map(id => document.getElementById(id)).map(one => [one.id, one.getBoundingClientRect()]).map(([id, at]) =>
    document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)?.closest(`#${{id}}`) !== null)"""


def test_what_slides_is_never_above_what_is_beside_the_list(
    tab: ChromiumTab, installation: Installation, bob: Account
) -> None:
    tab.on_new_document(HASTE)
    tab.on_new_document(HELD)
    carol = filled(installation, bob, FEW)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(carol, state="loggedin")
    await_list(tab, FEW)
    bob.send_secret(carol, "one more")
    await_list(tab, FEW + 1)
    assert tab.evaluate(
        "document.getElementById('received').getAnimations({ subtree: true }).map(one => one.playState)"
    ) == ["paused"]
    edges = [f"document.querySelector('{one}').getBoundingClientRect()" for one in ("#received li", "#banner")]
    assert tab.evaluate(f"{edges[0]}.top < {edges[1]}.bottom")
    ids = ["showInbox", "showSent", "showSettings", "device", "compose"]
    assert tab.evaluate(REACHED.format(ids=ids)) == [True] * len(ids)


@pytest.mark.parametrize("path", ["/", "/admin"], ids=["page", "admin"])
def test_no_module_of_the_first_load_waits_for_another_one(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, root: Account, path: str
) -> None:
    """But for the texts, of which the browser's language tells which."""
    tab = chromium_tab(notifications="denied")
    if path == "/admin":
        NotifyPage(tab, installation.origin).open().log_in(root, state="loggedin")
    tab.navigate(installation.origin + path)
    tab.wait_until("['blocked', 'ready'].includes(document.body.dataset.state)")
    urls = "performance.getEntriesByType('resource').map(one => one.name).filter(one => one.includes('/js/'))"
    loaded = {one for one in tab.evaluate(urls) if "/texts" not in one}
    named = tab.evaluate("[...document.querySelectorAll('link[rel=modulepreload]')].map(one => one.href)")
    assert len(named) == len(set(named)) > 10
    assert loaded == set(named)


def test_nothing_moves_while_the_operators_page_opens(
    tab: ChromiumTab, installation: Installation, root: Account
) -> None:
    NotifyPage(tab, installation.origin).open().log_in(root, state="loggedin")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.querySelectorAll('#findings li').length > 8")
    tab.wait_until("document.body.dataset.state === 'ready'")
    assert moved(tab) == []


# The service looks at itself for the first time, until `release` is called.
FIRST_LOOK = """{
    const real = window.fetch;
    window.release = () => { window.fetch = real; };
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        return String(url).endsWith("/admin/findings") ? Response.json({ Looking: true, Findings: [] }) : answer;
    };
}"""


@pytest.mark.parametrize("edge", [0, 1], ids=["upper", "lower"])
def test_nothing_moves_when_the_service_has_looked_at_itself_for_the_first_time(
    tab: ChromiumTab, installation: Installation, root: Account, edge: int
) -> None:
    tab.on_new_document(FIRST_LOOK)
    NotifyPage(tab, installation.origin).open().log_in(root, state="loggedin")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    tab.evaluate(f"scrollTo({{ top: {edge} * document.body.scrollHeight, behavior: 'instant' }})")
    assert moved(tab) == []
    tab.evaluate("window.release()")
    tab.wait_until("document.querySelectorAll('#findings li').length > 8")
    assert moved(tab) == []


@pytest.mark.parametrize(
    ("path", "styles"),
    [("/", {"/style.css", "/controls.css"}), ("/admin", {"/style.css", "/controls.css", "/admin.css"})],
    ids=["page", "admin"],
)
def test_the_first_paint_waits_for_the_styles_alone(
    tab: ChromiumTab, installation: Installation, root: Account, path: str, styles: set[str]
) -> None:
    url = installation.origin + path
    # Who has no session sees the log-in in its place.
    if path == "/admin":
        NotifyPage(tab, installation.origin).open().log_in(root, state="loggedin")
        tab.call("Network.enable")
        tab.call("Network.setCacheDisabled", cacheDisabled=True)

    def work() -> None:
        tab.navigate(url)
        tab.wait_until("['token', 'blocked', 'ready'].includes(document.body.dataset.state)")
        tab.wait_until("performance.getEntriesByName('first-contentful-paint').length === 1")

    trace = traced(tab, installation.origin, work)
    assert {one.removeprefix(installation.origin) for one in trace.blockers} == styles
    assert trace.shifts == []
    assert 0 < trace.first("firstPaint") <= trace.first("firstContentfulPaint")


@pytest.mark.parametrize("path", ["/", "/admin"], ids=["page", "admin"])
def test_the_first_contents_are_painted_before_any_script_has_come(
    tab: ChromiumTab, installation: Installation, path: str
) -> None:
    tab.call("Fetch.enable", patterns=[{"urlPattern": "*.js"}])
    # Not before it is loaded: a module is waited for, and none comes.
    tab.call("Page.navigate", url=installation.origin + path)
    tab.wait_until("performance.getEntriesByName('first-contentful-paint').length === 1")
    held = tab.events("Fetch.requestPaused")
    assert held
    for event in held:
        tab.call("Fetch.continueRequest", requestId=event.params["requestId"])
    tab.call("Fetch.disable")
    tab.wait_until("document.readyState === 'complete'")


# Counts the elements that scripts make, and the formats of times.
MADE = """{
    const real = Document.prototype.createElement;
    window.made = 0;
    Document.prototype.createElement = function (...words) {
        window.made += 1;
        return real.apply(this, words);
    };
    const format = Intl.DateTimeFormat;
    window.formats = 0;
    Intl.DateTimeFormat = function (...words) {
        window.formats += 1;
        return new format(...words);
    };
}"""


def test_many_messages_are_drawn_as_often_as_few(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, bob: Account
) -> None:
    drawn, made = [], []
    for count in (FEW, MANY):
        tab = chromium_tab(notifications="denied")
        tab.on_new_document(MADE)
        tab.call("Performance.enable")
        page = NotifyPage(tab, installation.origin).open()
        page.log_in(filled(installation, bob, count), state="loggedin")
        # What was told is drawn at once the next time, and then what the server tells.
        tab.wait_until(f"{TOLD}.then(told => told?.entries.length === {count})")
        page.open()
        await_list(tab, count)
        tab.evaluate(SETTLED)
        told = {one["name"]: one["value"] for one in tab.call("Performance.getMetrics")["metrics"]}
        drawn.append((told["LayoutCount"], told["RecalcStyleCount"]))
        made.append(tab.evaluate("window.made"))
        # One for times of today, and one for others.
        assert 1 <= tab.evaluate("window.formats") <= 2
    # How often depends on when answers come; but if it were once for each message, it would be as many times more.
    for few, many in zip(*drawn):
        assert 0 < many < few + (MANY - FEW) / 2, drawn
    # The list that was kept is drawn, too, if it comes before the server's.
    assert 2 * made[0] * MANY / FEW >= made[1] > made[0] > 0
