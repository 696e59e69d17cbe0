# SPDX-License-Identifier: Apache-2.0
"""How the page looks in all its states: to those who do not see it, at night, on a telephone, and in each language."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

import vapid
from account import Account
from certificates import Authority
from chromium import Chromium, ChromiumTab
from installation import Installation
from later import DAY, choose_time
from notify_page import NotifyPage
from opening import HIDDEN, SETTLED, SLID, UNHIDDEN
from push_service import PushService
from subscriber import Subscriber
from tab import Tab
from test_chromium import DELIVERING, subscribed
from test_languages import LANGUAGES, PREFERRED

Page = NotifyPage[ChromiumTab]

DESKTOP, PHONE, NARROWEST = (1280, 900), (390, 844), (320, 640)
AXE = files("axe_core_python").joinpath("axe.min.js").read_text()
FINDINGS = """window.axe.run(document, { resultTypes: ["violations"] }).then(({ passes, violations }) => [
    passes.length, violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))])"""
# Each of the languages in one of them, and English in all.
LOOKS = {
    "en": [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")],
    "de": [(NARROWEST, "light")],
    "es": [(NARROWEST, "dark")],
}
BESIDE = """[...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(one => `${one.tagName} ${one.id} ${one.textContent.slice(0, 40)}`)"""


def settle(tab: Tab) -> None:
    """A colour on its way to another one is not what is looked at, nor what follows the view while it scrolls."""
    tab.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    # What the last change sets in motion is known with the next picture.
    tab.evaluate(SETTLED)
    tab.evaluate(SLID)


def violations(tab: Tab) -> list[str]:
    """What axe-core finds."""
    if not tab.evaluate_apart("typeof window.axe === 'object'"):
        tab.evaluate_apart(f"(() => {{ {AXE}; return true; }})()")
    passes, found = tab.evaluate_apart(FINDINGS)
    assert passes > 20, "axe-core has looked at nothing"
    return list(found)


def look(tab: ChromiumTab, language: str, state: str, screenshots: Path) -> list[str]:
    """What is wrong with the page as it is now: for those who do not see it, and beside the screen."""
    assert tab.evaluate("document.documentElement.lang") == language
    found = []
    for (width, height), scheme in LOOKS[language]:
        is_small = width < DESKTOP[0]
        tab.prefer(scheme)
        tab.size(width, height, scale=2 if is_small else 1, mobile=is_small)
        tab.wait_until(f"innerWidth === {width}")
        settle(tab)
        tab.screenshot(screenshots / f"{state.replace(' ', '-')}-{language}-{width}-{scheme}.png")
        seen = violations(tab) + (tab.evaluate(BESIDE) if is_small else [])
        if is_small and tab.evaluate("document.documentElement.scrollWidth") != width:
            seen.append("the page is wider than the screen")
        found += [f"{state}, {width} px, {scheme}: {fault}" for fault in seen]
    tab.size(*DESKTOP)
    return found


def faults(walk: list[Generator[str, None, None]], tab: ChromiumTab, language: str, screenshots: Path) -> list[str]:
    """What is wrong in all states of these walks."""
    found = []
    for part in walk:
        # What a walk has taken away comes back.
        with closing(part):
            for state in part:
                found += look(tab, language, state, screenshots)
    return found


@pytest.fixture(scope="module")
def site(
    program: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, push: PushService
) -> Iterator[Installation]:
    groups = {"inbox": {"plainDays": 7}, "roles": [{"name": "administrator", "administer": True}]}
    with Installation(program, tmp_path_factory.mktemp("looks"), authority, push.authority, groups=groups) as running:
        yield running


@pytest.fixture
def people(site: Installation, push: PushService) -> tuple[Account, Account]:
    """Two who know each other. The first one has a browser and a telephone elsewhere."""
    alice, bob = (Account(site, site.add_user(name)) for name in ("alice", "bob"))
    alice.register(Subscriber(push.subscribe(vapid.decode(site.vapid_key))))
    phone = {"Platform": "apns", "Handle": "ab" * 32}
    assert alice.call("PUT", f"/api/register/{alice.ask_for_id()}", phone).status == 200
    return alice, bob


@pytest.fixture
def open_tab(chromium: Chromium, site: Installation, tabs: list[Tab]) -> Callable[..., ChromiumTab]:
    """Opens a tab whose person reads that language."""

    def open_it(language: str, **options: str) -> ChromiumTab:
        tab = chromium.open_tab(site.origin, **options)
        tabs.append(tab)
        tab.on_new_document(PREFERRED.format(languages=[language]))
        tab.size(*DESKTOP)
        return tab

    return open_it


def press(tab: Tab, selector: str) -> None:
    """The first of those elements, by the keyboard, which then stays there."""
    tab.wait_until(f"document.querySelector({json.dumps(selector)}) !== null")
    tab.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
    tab.press("Enter")


def await_busy(tab: Tab, selector: str) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"document.querySelector('{selector}').ariaBusy === 'true'")


def await_fault(tab: Tab, id: str) -> None:
    """Raises TimeoutError."""
    tab.wait_until(f"document.getElementById('{id}').ariaInvalid === 'true'")


def ask_again(tab: Tab) -> None:
    """Lets the page ask the server at once, as it does when the browser is online again, and not after its pause."""
    tab.evaluate("void dispatchEvent(new Event('online'))")


def at_the_door(page: Page, site: Installation, alice: Account) -> Generator[str, None, None]:
    with site.without_service():
        page.open()
        page.tab.wait_until("!document.getElementById('retry').hidden")
        yield "service down"
    ask_again(page.tab)
    page.await_enabled("login")
    # What the form offers is known, too.
    page.tab.wait_until("document.getElementById('retry').hidden")
    yield "logged out"
    page.tab.click("login")
    await_fault(page.tab, "username")
    yield "nothing entered"
    page.fail_to_log_in(alice)
    yield "wrong password"


def asked(page: Page, alice: Account) -> Generator[str, None, None]:
    """What keeps notifications away."""
    page.log_in(alice, state="loggedin")
    page.tab.wait_until("!document.getElementById('banner').hidden && !document.getElementById('receivedEmpty').hidden")
    yield "asked for notifications"
    page.tab.decide("denied")
    page.tab.wait_until("document.body.dataset.device === 'blocked'")
    yield "notifications blocked"
    page.tab.decide("granted")
    page.await_state("registered")
    yield "empty inbox"
    page.tab.click("showSent")
    page.tab.wait_until("!document.getElementById('sentCard').hidden")
    yield "nothing sent"
    page.tab.click("showInbox")


def reading(page: Page, alice: Account, bob: Account) -> Generator[str, None, None]:
    for members in (
        {"Title": "Lunch", "Body": "At noon", "Link": "https://example.com/4"}, {"Body": "שלום, עולם! https://example.com"},
        {"Body": "one", "Secure": True}, {"Body": "two", "Secure": True},
    ):
        assert bob.call("POST", "/api/notifications", {"To": alice.name, **members}).status == 200
    page.tab.ask_until("document.querySelectorAll('#received li').length === 4")
    yield "messages"
    page.tab.hold()
    press(page.tab, "#received [data-kind=locked] button")
    await_busy(page.tab, "#received [data-kind=locked] button")
    yield "secret on its way"
    page.tab.release()
    press(page.tab, "#received [data-kind=secret] button:last-child")
    yield "secret read and delete pressed once"
    # The page does not ask by itself meanwhile, and find that they are gone.
    page.tab.evaluate(HIDDEN)
    for message in alice.call("GET", "/api/notifications").json():
        assert alice.call("DELETE", f"/api/notifications/{message['Id']}").status == 200
    press(page.tab, "#received [data-kind=locked] button")
    page.tab.wait_until("document.querySelector('#received [data-tone=bad]') !== null")
    page.tab.evaluate(UNHIDDEN)
    yield "secret gone"


def writing(page: Page, alice: Account, bob: Account) -> Generator[str, None, None]:
    tab = page.tab
    page.unfold()
    yield "composer"
    tab.click("send")
    await_fault(tab, "recipient")
    yield "recipient missing"
    tab.click("whereNow")
    page.write(bob.name, "x")
    tab.evaluate("document.getElementById('message').value = 'x'.repeat(3000)")
    tab.click("send")
    await_fault(tab, "message")
    yield "message too long"
    page.write(bob.name, "Hello")
    tab.evaluate("document.getElementById('when').value = '2020-01-01T00:00'")
    tab.click("send")
    await_fault(tab, "when")
    yield "time past"
    tab.evaluate("document.getElementById('when').value = ''")
    page.write("unknown.user", "Hello")
    tab.click("send")
    await_fault(tab, "recipient")
    page.await_enabled("send")
    yield "no device reached"
    page.write(bob.name, "Hello")
    tab.click("send")
    tab.wait_until("document.getElementById('message').value === ''")
    tab.wait_until("document.getElementById('resultsNote').textContent !== ''")
    yield "kept without a device"
    page.send(alice, "The table is booked for eight.", platforms=("browser", "apns"))
    yield "results"
    page.send(bob, "The door's code is 4711.", secure=True)
    yield "secret sent"
    page.choose("secure", False)
    page.write(bob.name, "Good morning")
    choose_time(page, 2 * DAY)
    tab.click("send")
    tab.wait_until("document.getElementById('message').value === ''")
    yield "scheduled"
    tab.click("close")
    tab.click("showSent")
    tab.wait_until("document.querySelectorAll('#sent .state[data-tone=good]').length > 0")
    press(tab, "#sent button")
    yield "timelines and cancel pressed once"


def settings(page: Page, site: Installation, alice: Account) -> Generator[str, None, None]:
    credentials = {"UserName": alice.name, "Password": alice.user.password}
    assert site.call("POST", "/api/session", json_body=credentials).status == 200
    page.open_settings()
    page.tab.wait_until("document.querySelectorAll('#devices li').length === 3")
    yield "settings"
    press(page.tab, "#devices button")
    press(page.tab, "#sessions button")
    yield "ending a session pressed once"
    page.tab.think()
    page.tab.hold()
    page.tab.press("Enter")
    await_busy(page.tab, "#sessions button")
    yield "session on its way to end"
    page.tab.release()
    page.tab.wait_until("document.activeElement.id === 'sessionsHeading'")
    page.tab.click("changePassword")
    await_fault(page.tab, "presentPassword")
    yield "password missing"
    page.tab.click("closeSettings")


def away(page: Page, site: Installation, bob: Account) -> Generator[str, None, None]:
    page.tab.wait_until("caches.match('js/texts/es-more.js').then(one => one !== undefined)")
    with site.without_web_server():
        page.open().await_state("offline")
        yield "offline"
        page.choose("secure", True)
        page.write(bob.name, "Later")
        page.tab.click("send")
        page.tab.wait_until("document.getElementById('sendError').dataset.tone === 'wait'")
        yield "waits to be sent"
    ask_again(page.tab)
    page.await_state("registered")
    page.tab.wait_until("document.getElementById('message').value === ''")
    page.tab.evaluate('fetch("/api/session?everywhere=true", { method: "DELETE" }).then(answer => answer.status)')
    page.tab.ask_until("document.getElementById('loginResult').dataset.tone === 'bad'")
    yield "session expired"


@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_to_say_in_any_state_and_nothing_is_beside_the_screen(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: tuple[Account, Account], push: PushService,
    screenshots: Path, language: str,
) -> None:
    alice, bob = people
    tab = open_tab(language, notifications="prompt")
    subscribed(tab, Subscriber(push.subscribe(vapid.decode(site.vapid_key))))
    tab.on_new_document(DELIVERING)
    page = NotifyPage(tab, site.origin)
    walk = [
        at_the_door(page, site, alice), asked(page, alice), reading(page, alice, bob), writing(page, alice, bob),
        settings(page, site, alice), away(page, site, bob),
    ]
    assert faults(walk, tab, language, screenshots) == []


def test_the_room_for_the_scroll_bar_is_as_dark_as_what_is_behind_a_dialog(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: tuple[Account, Account]
) -> None:
    tab = open_tab("en", notifications="denied")
    page = NotifyPage(tab, site.origin).open()
    page.log_in(people[0], state="loggedin")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert tab.evaluate(ground) == "rgba(0, 0, 0, 0)"
    page.open_settings()
    # 45 % of black above the paper.
    dimmed = """(made => {
        made.style.backgroundColor = "color-mix(in srgb, var(--paper) 55%, #000)";
        document.body.append(made);
        const found = getComputedStyle(made).backgroundColor;
        made.remove();
        return found;
    })(document.createElement("p"))"""
    assert tab.evaluate(ground) == tab.evaluate(dimmed)
    assert tab.evaluate("getComputedStyle(document.getElementById('settings'), '::backdrop').backgroundColor") == "rgba(0, 0, 0, 0.45)"
    left, right = tab.evaluate("""(({ left, right }, own) => [own.left - left, right - own.right])(
        document.getElementById("settings").getBoundingClientRect(), document.getElementById("deviceState").getBoundingClientRect())""")
    assert abs(left - right) < 1
