# SPDX-License-Identifier: Apache-2.0
"""Takes the page through its states, and a picture of each: on a desktop and a telephone, by day and by night, in each language."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from account import Account
from chromium import ChromiumTab
from gallery import write_index
from installation import Installation
from notify_page import NotifyPage
from opening import DESKTOP, PHONE
from subscriber import Subscriber
from test_languages import LANGUAGES, opened
from test_looks import settle

Page = NotifyPage[ChromiumTab]
SIZES = {"desktop": DESKTOP, "phone": PHONE}


class Photographer:
    """Numbers the states, so that the pictures are in the order of the walk."""

    def __init__(self, tab: ChromiumTab, folder: Path, language: str):
        self._tab, self._folder, self._language, self._number = tab, folder, language, 0

    def take(self, state: str) -> None:
        self._number += 1
        for (size, (width, height)), scheme in product(SIZES.items(), ("light", "dark")):
            self._tab.prefer(scheme)
            self._tab.size(width, height, mobile=size == "phone")
            self._tab.wait_until(f"innerWidth === {width}")
            settle(self._tab)
            assert self._tab.evaluate("document.documentElement.scrollWidth") <= width, (state, size)
            self._tab.screenshot(self._folder / f"page-{self._number:02}-{state}-{self._language}-{size}-{scheme}.png")
        self._tab.prefer("light")
        self._tab.size(*DESKTOP)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_can_be_looked_at(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account,
    subscriber: Subscriber, screenshots: Path, language: str,
) -> None:
    tab = chromium_tab(notifications="prompt")
    page = opened(tab, installation, language)
    take = Photographer(tab, screenshots, language).take
    take("log-in")
    page.fail_to_log_in(alice)
    take("log-in-wrong")
    page.log_in(alice, state="loggedin")
    tab.wait_until("!document.getElementById('receivedEmpty').hidden")
    take("inbox-empty")
    inbox(page, alice, bob, take)
    writing(page, bob, subscriber, take)
    page.tab.click("close")
    tab.click("showSent")
    tab.wait_until("document.querySelectorAll('#sent .state[data-tone=good]').length > 0")
    take("sent-list")
    page.open_settings()
    tab.wait_until("document.querySelectorAll('#sessions li').length > 0")
    take("settings")
    tab.click("closeSettings")
    tab.call("Network.enable")
    tab.call("Network.setBlockedURLs", urls=["*/api/*"])
    page.open()
    page.await_state("offline")
    take("offline")
    tab.call("Network.setBlockedURLs", urls=[])
    page.open()
    page.await_state("loggedin")
    tab.call("Network.clearBrowserCookies")
    tab.ask_until("!document.getElementById('loginCard').hidden")
    take("session-ended")


def inbox(page: Page, alice: Account, bob: Account, take: Callable[[str], None]) -> None:
    """Secrets wait, one is read, and its end is asked for once."""
    for text in ("The door’s code is 4711.", "The table is booked for eight."):
        bob.send_secret(alice, text)
    page.open()
    page.tab.wait_until("document.querySelectorAll('#received li').length === 2")
    take("inbox-waiting")
    page.tab.evaluate("document.querySelector('#received button').click()")
    page.tab.wait_until("document.querySelectorAll('#received li[data-kind=secret]').length === 1")
    take("inbox-read")
    page.tab.evaluate("document.querySelector('#received button:last-child').click()")
    take("inbox-deleting")


def writing(page: Page, bob: Account, subscriber: Subscriber, take: Callable[[str], None]) -> None:
    """What is written is too long, then reaches no device, and arrives at last."""
    page.write(bob.name, "Thank you!")
    take("writing")
    page.tab.evaluate("document.getElementById('message').value = 'x'.repeat(3000)")
    page.tab.click("send")
    page.tab.wait_until('document.getElementById("message").ariaInvalid === "true"')
    take("writing-too-long")
    page.write(bob.name, "Thank you!")
    page.tab.click("send")
    page.tab.wait_until('document.getElementById("recipient").ariaInvalid === "true"')
    take("writing-unreached")
    bob.register(subscriber)
    page.tab.click("send")
    page.tab.wait_until("document.querySelectorAll('#sendResults [data-state=Completed]').length === 1")
    take("writing-sent")


def test_the_index_shows_every_picture(tmp_path: Path) -> None:
    for name in ("page-01-log-in-en-desktop-light.png", "admin-overview-en-light.png"):
        (tmp_path / name).touch()
    write_index(tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert text.count("<img ") == text.count("<h2>") == 2
    assert '<img src="page-01-log-in-en-desktop-light.png"' in text and "<h2>page-01</h2>" in text
