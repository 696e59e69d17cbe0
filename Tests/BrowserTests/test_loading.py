# SPDX-License-Identifier: Apache-2.0
"""What is loaded when it is needed first says so in its own place until it is there, and nothing moves."""

import json
from dataclasses import dataclass

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import wait_until
from installation import Installation
from later import DAY, post
from notify_page import IS_LISTED, NotifyPage
from opening import DESKTOP, PHONE, SHIFTS, WITHOUT_WORKER, moved
from tab import Tab
from test_languages import LANGUAGES, opened
from test_truth import await_words

LOADING = {"en": "Loading …", "de": "Wird geladen …", "es": "Cargando …"}
SIZES = {"desktop": DESKTOP, "telephone": PHONE}
PLACE = """(({{ top, left, width, height }}) => [top, left, width, height].map(Math.round))(
    document.getElementById("{id}").getBoundingClientRect())"""


@pytest.fixture(params=["chromium desktop", "chromium telephone", "firefox telephone"])
def tab(request: pytest.FixtureRequest) -> Tab:
    """One in which what moves is noted, and whose requests reach the server."""
    browser, size = request.param.split()
    made: Tab = request.getfixturevalue(f"{browser}_tab")(notifications="denied")
    made.size(*SIZES[size], mobile=size == "telephone")
    if isinstance(made, ChromiumTab):
        made.on_new_document(SHIFTS)
        made.call("Network.enable")
        made.call("Network.setBypassServiceWorker", bypass=True)
    else:
        made.on_new_document(WITHOUT_WORKER)
    return made


def is_busy(tab: Tab, id: str) -> bool:
    return bool(tab.evaluate(f"document.getElementById('{id}').ariaBusy === 'true'"))


def await_held(tab: Tab, path: str) -> None:
    """Raises TimeoutError."""
    wait_until(lambda: any(path in address for _, address in tab.held()), f"{path} waits")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_for_a_message_says_that_the_form_is_loading(
    tab: Tab, installation: Installation, alice: Account, language: str
) -> None:
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    tab.wait_until("document.getElementById('compose').offsetParent !== null")
    before, words = tab.evaluate(PLACE.format(id="compose")), page.text("compose")
    tab.hold("/js/composer.js")
    tab.click("compose")
    tab.wait_until(f"document.getElementById('compose').textContent === {json.dumps(LOADING[language])}")
    assert is_busy(tab, "compose")
    assert tab.evaluate(PLACE.format(id="compose")) == before
    tab.release()
    tab.wait_until("!document.getElementById('sendForm').hidden")
    assert (page.text("compose"), is_busy(tab, "compose")) == (words, False)
    assert moved(tab) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_of_what_was_sent_says_that_it_is_loading(
    tab: Tab, installation: Installation, alice: Account, bob: Account, language: str
) -> None:
    post(alice, bob.name, "Later", DAY)
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    # The list itself, and then what the server knows of it. It does not end between the two.
    tab.hold("/js/sent-list.js", "/api/notifications/scheduled")
    for part in ("/js/sent-list.js", "/api/notifications/scheduled"):
        tab.click("showInbox")
        tab.click("showSent")
        await_held(tab, part)
        tab.wait_until(f"document.getElementById('sentEmpty').textContent === {json.dumps(LOADING[language])}")
        assert is_busy(tab, "sentCard")
        assert tab.evaluate("document.getElementById('sentEmpty').offsetHeight") > 100
        tab.let_go()
    tab.release()
    tab.wait_until("document.querySelectorAll('#sent > li').length === 1")
    assert not is_busy(tab, "sentCard")
    assert moved(tab) == []


@dataclass(frozen=True)
class Part:
    """What is loaded when its button is pressed: where the page says that it cannot be, and how it is known to be there."""

    file: str
    button: str
    place: str
    is_there: str


PARTS = [
    Part("sent-list", "showSent", "sentEmpty",
         "document.getElementById('sentEmpty').textContent === 'What you send is listed here, in this browser only.'"),
    Part("composer", "compose", "connection", "!document.getElementById('sendForm').hidden"),
    Part("account", "showSettings", "settingsLoading", IS_LISTED),
]


def fail_to_load(page: NotifyPage[Tab], part: Part) -> None:
    """The connection is lost when the part is asked for. Returns when the page has said so."""
    tab = page.tab
    tab.expect_complaint(f"/{part.file}.js")
    tab.hold(f"/js/{part.file}.js")
    tab.click(part.button)
    await_held(tab, f"/{part.file}.js")
    tab.let_go(fails=True)
    tab.release()
    await_words(page, part.place, "The server cannot be reached.")


def test_what_cannot_be_loaded_says_so_and_is_loaded_the_next_time(
    tab: Tab, installation: Installation, alice: Account
) -> None:
    page = opened(tab, installation, "en")
    page.log_in(alice, state="loggedin")
    for part in PARTS:
        fail_to_load(page, part)
        assert not is_busy(tab, "sentCard") and not is_busy(tab, "compose")
        if part.button == "showSettings":
            tab.click("closeSettings")
        tab.click(part.button)
        tab.wait_until(part.is_there)
        assert "cannot be reached" not in page.text(part.place)


def test_a_person_whose_settings_cannot_be_loaded_can_log_out(tab: Tab, installation: Installation, alice: Account) -> None:
    page = opened(tab, installation, "en")
    page.log_in(alice, state="loggedin")
    fail_to_load(page, PARTS[-1])
    tab.click("logout")
    page.await_state("blocked", "unsupported")
