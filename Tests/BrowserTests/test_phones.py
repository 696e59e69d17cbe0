# SPDX-License-Identifier: Apache-2.0
"""A site with credentials for all platforms: what is sent from the page reaches a browser and three other devices."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from account import Account
from certificates import Authority
from firefox import FirefoxTab
from installation import Installation
from notify_page import PLATFORMS, Line, NotifyPage
from phone_services import PhoneServices
from push_service import PushService

Page = NotifyPage[FirefoxTab]
Site = Callable[..., Installation]
Open = Callable[[Account, Installation], Page]


@pytest.fixture
def services(authority: Authority, tmp_path: Path) -> Iterator[PhoneServices]:
    with PhoneServices(authority, tmp_path) as running:
        yield running


@pytest.fixture
def site(
    program: Path,
    tmp_path_factory: pytest.TempPathFactory,
    authority: Authority,
    push: PushService,
    services: PhoneServices,
) -> Iterator[Site]:
    """Starts the product with credentials for the services, and with these groups."""
    with ExitStack() as running:

        def start(**groups: Any) -> Installation:
            folder = tmp_path_factory.mktemp("phones")
            more = services.groups | groups
            return running.enter_context(Installation(program, folder, authority, push.authority, groups=more))

        yield start


@pytest.fixture
def open_page(firefox: Any, tabs: list[Any]) -> Open:
    """Opens the page in a browser of the account's own, which receives, and logs in."""

    def open_it(account: Account, installation: Installation) -> Page:
        tab = firefox.open_tab(installation.origin)
        tabs.append(tab)
        page = Page(tab, installation.origin).open()
        page.await_state("token")
        page.log_in(account)
        return page

    return open_it


def account(installation: Installation, role: str) -> Account:
    return Account(installation, installation.add_user(role))


def register_phones(owner: Account, services: PhoneServices) -> None:
    for platform, handle in services.devices.items():
        device = {"Platform": platform, "Handle": handle}
        reply = owner.call("PUT", f"/api/register/{owner.ask_for_id()}", device)
        assert reply.status == 200, reply


def test_a_message_and_a_secret_reach_a_device_of_each_of_four_platforms(
    site: Site, services: PhoneServices, open_page: Open
) -> None:
    installation = site(secure={"form": "alert"})
    alice, bob = account(installation, "alice"), account(installation, "bob")
    register_phones(bob, services)
    alices, bobs = open_page(alice, installation), open_page(bob, installation)
    # The server tells where it delivers.
    alices.unfold()
    assert [alices.text(f"{platform}Note") for platform in PLATFORMS] == [""] * 4

    text = installation.secret("Hello é 漢字 ")
    assert_delivered(alices.send(bob, text, platforms=PLATFORMS))
    bobs.await_received(text)
    for platform, pushes in services.await_pushes(1).items():
        assert [text in push for push in map(decoded, pushes)] == [True], platform

    secret = installation.secret("only for bob ")
    assert_delivered(alices.send(bob, secret, secure=True))
    assert bobs.await_received(secret).kind == "secret"
    for platform, pushes in services.await_pushes(2).items():
        assert len(pushes) == 2, platform
        assert secret not in decoded(pushes[1]) and alice.name not in decoded(pushes[1]), platform


def assert_delivered(lines: list[Line]) -> None:
    assert sorted((line.label, line.kind) for line in lines) == sorted((name, "Completed") for name in PLATFORMS)
    assert all("taken by the push service for 1 device" in line.text for line in lines), lines


def decoded(push: str) -> str:
    """WNS' double tells bytes as characters of Latin-1."""
    try:
        return push.encode("latin-1").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return push


def test_where_all_is_secret_the_page_sends_one_secret_for_all_platforms(
    site: Site, services: PhoneServices, open_page: Open
) -> None:
    installation = site(policy={"secureOnly": True})
    alice, bob = account(installation, "alice"), account(installation, "bob")
    register_phones(bob, services)
    page = open_page(alice, installation)
    page.unfold()
    assert page.tab.evaluate('document.getElementById("secure").checked')
    assert not page.is_enabled("secure")
    assert "every message as a secret" in page.text("secureNote")
    text = installation.secret("the text ")
    page.send(bob, text, secure=True)
    assert [one["Read"] for one in bob.call("GET", "/api/notifications").json()] == [False]
    assert all(text not in decoded(push) for pushes in services.await_pushes(1).values() for push in pushes)
