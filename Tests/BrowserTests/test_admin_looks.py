# SPDX-License-Identifier: Apache-2.0
"""How the operator's page looks in all its states, as test_looks.py."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from later import DAY, post
from test_admin import await_words, confirm, log_in, open_user
from test_languages import LANGUAGES
from test_looks import await_busy, await_fault, faults, open_tab, people, press, site  # noqa: F401


def open_admin(tab: ChromiumTab, site: Installation, state: str) -> None:
    tab.navigate(f"{site.origin}/admin")
    tab.wait_until(f"document.body.dataset.state === '{state}'")


def at_the_door(tab: ChromiumTab, site: Installation, alice: Account, root: Account) -> Generator[str, None, None]:
    page = log_in(tab, site, alice)
    open_admin(tab, site, "refused")
    yield "admin refused"
    page.open().await_state("loggedin")
    page.log_out()
    log_in(tab, site, root)
    open_admin(tab, site, "ready")
    tab.evaluate('fetch("/api/session", { method: "DELETE" }).then(answer => answer.status)')
    tab.click("refresh")
    tab.wait_until("document.body.dataset.state === 'refused'")
    yield "admin logged out"
    log_in(tab, site, root)


def overview(tab: ChromiumTab, site: Installation, alice: Account, bob: Account) -> Generator[str, None, None]:
    """All of the page, with the form and what is wrong with its fields."""
    alice.await_outcome(alice.send(alice, "Hello"))
    assert alice.call("POST", "/api/notifications", {"To": bob.name, "Body": "Hello"}).status == 200
    post(alice, bob.name, "Later", DAY)
    open_admin(tab, site, "ready")
    tab.wait_until("document.querySelectorAll('#findings li').length > 8")
    tab.evaluate("document.getElementById('adding').open = true")
    yield "admin overview"
    tab.hold()
    for selector in ("#refresh", "#lookAgain", "#messages button"):
        press(tab, selector)
        await_busy(tab, selector)
    yield "admin busy"
    tab.release()
    tab.wait_until("document.getElementById('message').open")
    tab.click("closeMessage")
    tab.click("add")
    await_fault(tab, "newName")
    tab.fill("messageId", "x")
    tab.click("findMessages")
    await_fault(tab, "messageId")
    yield "admin faults"
    tab.fill("messageId", "")
    tab.fill("messageUser", "nosuchuser")
    tab.fill("search", "nosuchuser")
    tab.click("findMessages")
    tab.wait_until("document.querySelectorAll('#messages tr, #users tr').length === 0")
    yield "admin nothing found"
    tab.fill("messageUser", "")
    tab.click("findMessages")


def dialogs(tab: ChromiumTab, alice: Account, root: Account) -> Generator[str, None, None]:
    press(tab, "#messages button")
    tab.wait_until("document.getElementById('message').open")
    yield "admin message"
    tab.click("closeMessage")
    open_user(tab, alice.name)
    yield "admin user"
    tab.click("disable")
    confirm(tab, root.user.password)
    tab.wait_until("!document.getElementById('confirm').open")
    yield "admin user disabled"
    press(tab, "#devices button")
    confirm(tab, "wrong")
    await_fault(tab, "ownPassword")
    yield "admin password asked again"
    tab.click("cancel")
    tab.click("closeUser")


def away(tab: ChromiumTab, site: Installation) -> Generator[str, None, None]:
    with site.without_service():
        tab.click("refresh")
        tab.click("lookAgain")
        tab.fill("search", "a")
        await_words(tab, "statusNote", "503")
        await_words(tab, "usersNote", "503")
        yield "admin service down"


@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_to_say_in_any_state_and_nothing_is_beside_the_screen(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: tuple[Account, Account],  # noqa: F811
    screenshots: Path, language: str,
) -> None:
    alice, bob = people
    root = Account(site, site.add_user("root", "--role", "administrator"))
    tab = open_tab(language, notifications="denied")
    tab.expect_complaint("401")
    walk = [
        at_the_door(tab, site, alice, root), overview(tab, site, alice, bob), dialogs(tab, alice, root), away(tab, site),
    ]
    assert faults(walk, tab, language, screenshots) == []
