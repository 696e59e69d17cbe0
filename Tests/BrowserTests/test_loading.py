# SPDX-License-Identifier: Apache-2.0
"""What is loaded when it is needed first says so in its own place until it is there, and nothing moves."""

import json
from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from later import DAY, post
from notify_page import NotifyPage
from opening import DESKTOP, PHONE, SHIFTS, moved
from test_languages import LANGUAGES, opened

Page = NotifyPage[ChromiumTab]

LOADING = {"en": "Loading …", "de": "Wird geladen …", "es": "Cargando …"}
SIZES = {"desktop": DESKTOP, "telephone": PHONE}
PLACE = """(({{ top, left, width, height }}) => [top, left, width, height].map(Math.round))(
    document.getElementById("{id}").getBoundingClientRect())"""


@pytest.fixture(params=SIZES)
def tab(request: pytest.FixtureRequest, chromium_tab: Callable[..., ChromiumTab]) -> ChromiumTab:
    """One in which what moves is noted, and whose requests reach the server."""
    made = chromium_tab(notifications="denied")
    made.size(*SIZES[request.param], mobile=request.param == "telephone")
    made.on_new_document(SHIFTS)
    made.call("Network.enable")
    made.call("Network.setBypassServiceWorker", bypass=True)
    return made


def hold(tab: ChromiumTab, path: str) -> None:
    """No answer comes for that path until `Fetch.disable`."""
    tab.call("Fetch.enable", patterns=[{"urlPattern": f"*{path}"}])


def is_busy(tab: ChromiumTab, id: str) -> bool:
    return bool(tab.evaluate(f"document.getElementById('{id}').ariaBusy === 'true'"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_for_a_message_says_that_the_form_is_loading(
    tab: ChromiumTab, installation: Installation, alice: Account, language: str
) -> None:
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    tab.wait_until("document.getElementById('compose').offsetParent !== null")
    before, words = tab.evaluate(PLACE.format(id="compose")), page.text("compose")
    hold(tab, "/js/composer.js")
    tab.click("compose")
    tab.wait_until(f"document.getElementById('compose').textContent === {json.dumps(LOADING[language])}")
    assert is_busy(tab, "compose")
    assert tab.evaluate(PLACE.format(id="compose")) == before
    tab.call("Fetch.disable")
    tab.wait_until("!document.getElementById('sendForm').hidden")
    assert (page.text("compose"), is_busy(tab, "compose")) == (words, False)
    assert moved(tab) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_of_what_was_sent_says_that_it_is_loading(
    tab: ChromiumTab, installation: Installation, alice: Account, bob: Account, language: str
) -> None:
    post(alice, bob.name, "Later", DAY)
    page = opened(tab, installation, language)
    page.log_in(alice, state="loggedin")
    # The list itself, and then what the server knows of it.
    for path in ("/js/sent-list.js", "/api/notifications/scheduled"):
        hold(tab, path)
        tab.click("showInbox")
        tab.click("showSent")
        tab.wait_until(f"document.getElementById('sentEmpty').textContent === {json.dumps(LOADING[language])}")
        assert is_busy(tab, "sentCard")
        assert tab.evaluate("document.getElementById('sentEmpty').offsetHeight") > 100
        if path.endswith(".js"):
            # It does not end between the two.
            tab.call("Fetch.enable", patterns=[{"urlPattern": "*/api/notifications/scheduled"}])
            for event in tab.events("Fetch.requestPaused"):
                tab.call("Fetch.continueRequest", requestId=event.params["requestId"])
            tab.wait_until("document.getElementById('sentNote') !== null")
    tab.call("Fetch.disable")
    tab.wait_until("document.querySelectorAll('#sent > li').length === 1")
    assert not is_busy(tab, "sentCard")
    assert moved(tab) == []


def test_a_list_that_cannot_be_loaded_says_so_and_is_loaded_the_next_time(
    tab: ChromiumTab, installation: Installation, alice: Account
) -> None:
    tab.expect_complaint("sent-list.js")
    tab.expect_complaint("net::ERR_FAILED")
    page = opened(tab, installation, "en")
    page.log_in(alice, state="loggedin")
    hold(tab, "/js/sent-list.js")
    tab.click("showSent")
    tab.wait_until("document.getElementById('sentEmpty').textContent === 'Loading …'")
    (event,) = tab.events("Fetch.requestPaused")
    tab.call("Fetch.failRequest", requestId=event.params["requestId"], errorReason="Failed")
    tab.wait_until("document.getElementById('sentEmpty').textContent === 'The server cannot be reached.'")
    assert not is_busy(tab, "sentCard")
    tab.call("Fetch.disable")
    # Chromium remembers a module that failed for as long as its document is there.
    page.open().await_state("loggedin")
    tab.click("showSent")
    tab.wait_until("document.getElementById('sentEmpty').textContent === 'What you send is listed here, in this browser only.'")
