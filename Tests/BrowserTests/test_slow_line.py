# SPDX-License-Identifier: Apache-2.0
"""The page on a line with 400 ms to each answer and 50 KiB a second: it works, says what is under way, and loses nothing."""

import json
from collections.abc import Callable, Iterator

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import wait_until
from installation import Installation
from notify_page import NotifyPage
from slow_line import SlowLine
from tab import Tab
from test_inbox import HASTE
from test_truth import value

# Notes all that is said in these places, however short the time is that it is shown.
LISTEN = """void (window.said = {{}}, {ids}.forEach(id => {{
    const place = document.getElementById(id);
    const note = () => (window.said[id] ??= []).push(place.textContent);
    new MutationObserver(note).observe(place, {{ childList: true, subtree: true, characterData: true }});
}}))"""


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
    tab.click("send")
    assert not page.is_enabled("send")
    assert any(bob.name in words for words in tab.evaluate("window.said.resultsFor"))
    tab.click("message")
    tab.write(" and second")
    wait_until(lambda: len(bob.call("GET", "/api/notifications").json()) == 1, "the message is there")
    page.await_enabled("send")
    assert value(page, "message") == "first and second"
    # Nor does a reload cost it.
    page.open()
    tab.wait_until('document.getElementById("message").value === "first and second"')
    bob.send_secret(alice, "meanwhile")
    tab.evaluate("void dispatchEvent(new Event('focus'))")
    tab.wait_until("document.querySelectorAll('#received li[data-kind=locked]').length === 1")
