# SPDX-License-Identifier: Apache-2.0
"""What axe-core says of both pages in a second engine, on a telephone, as test_looks.py."""

from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

import test_admin_looks as admin
import test_looks as page_looks
import vapid
from account import Account
from firefox import Firefox, FirefoxTab
from installation import Installation
from notify_page import NotifyPage
from push_service import PushService
from subscriber import Subscriber
from tab import Tab
from test_chromium import DELIVERING, subscribed
from test_languages import PREFERRED
from test_looks import BESIDE, PHONE, people, settle, site, violations  # noqa: F401


@pytest.fixture
def open_tab(firefox: Firefox, site: Installation, tabs: list[Tab]) -> Callable[[str], FirefoxTab]:  # noqa: F811
    """Opens a tab of a telephone's size, of whose notifications the person has said that."""

    def open_it(notifications: str) -> FirefoxTab:
        tab = firefox.open_tab(site.origin, notifications=notifications)
        tabs.append(tab)
        tab.on_new_document(PREFERRED.format(languages=["en"]))
        tab.size(*PHONE)
        return tab

    return open_it


def faults(tab: Tab, screenshots: Path, walk: list[Generator[str, None, None]]) -> list[str]:
    """What is wrong in all states of these walks."""
    found = []
    for part in walk:
        # What a walk has taken away comes back.
        with closing(part):
            for state in part:
                settle(tab)
                tab.screenshot(screenshots / f"{state.replace(' ', '-')}-firefox.png")
                found += [f"{state}: {fault}" for fault in [*violations(tab), *tab.evaluate(BESIDE)]]
    return found


def test_axe_finds_nothing_to_say_in_any_state_of_the_page(
    open_tab: Callable[[str], FirefoxTab], site: Installation, people: tuple[Account, Account], push: PushService,  # noqa: F811
    screenshots: Path,
) -> None:
    alice, bob = people
    tab = open_tab("prompt")
    subscribed(tab, Subscriber(push.subscribe(vapid.decode(site.vapid_key))))
    tab.on_new_document(DELIVERING)
    page = NotifyPage[Tab](tab, site.origin)
    walk = [
        page_looks.at_the_door(page, site, alice), page_looks.asked(page, alice), page_looks.reading(page, alice, bob),
        page_looks.writing(page, alice, bob), page_looks.settings(page, site, alice), page_looks.away(page, site, bob),
    ]
    assert faults(tab, screenshots, walk) == []


def test_axe_finds_nothing_to_say_in_any_state_of_the_operators_page(
    open_tab: Callable[[str], FirefoxTab], site: Installation, people: tuple[Account, Account], screenshots: Path,  # noqa: F811
) -> None:
    alice, bob = people
    root = Account(site, site.add_user("root", "--role", "administrator"))
    tab = open_tab("denied")
    walk = [
        admin.at_the_door(tab, site, alice, root), admin.overview(tab, site, alice, bob), admin.dialogs(tab, alice, root),
        admin.away(tab, site),
    ]
    tab.expect_complaint("401")
    assert faults(tab, screenshots, walk) == []
