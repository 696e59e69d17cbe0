# SPDX-License-Identifier: Apache-2.0
"""Another key for browsers, while they have subscriptions for the former one."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import vapid
from account import Account
from certificates import Authority
from firefox import Firefox
from installation import Installation
from notify_page import NotifyPage
from push_service import PushService
from subscriber import Subscriber
from tab import Tab


@pytest.fixture
def site(program: Path, folder: Path, authority: Authority, push: PushService) -> Iterator[Installation]:
    """Of the test's own, for others have keys of their own to keep."""
    own = Path(tempfile.mkdtemp(prefix="rotating-", dir=folder))
    with Installation(program, own, authority, push.authority) as running:
        yield running


def people(site: Installation) -> tuple[Account, Account]:
    return Account(site, site.add_user("alice")), Account(site, site.add_user("bob"))


def test_subscriptions_of_every_key_are_reached_until_the_former_ones_are_dropped(
    site: Installation, push: PushService
) -> None:
    alice, bob = people(site)
    first = Subscriber(push.subscribe(vapid.decode(site.vapid_key)))
    bob.register(first)
    second = Subscriber(push.subscribe(vapid.decode(site.change_key("--rotate"))))
    bob.register(second)
    site.change_key("--rotate")
    for _ in range(2):
        assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 2})
    # The key that fits is found once, and remembered.
    assert [message.status for message in first.subscription.messages] == [403, 403, 201, 201]
    assert [message.status for message in second.subscription.messages] == [403, 201, 201]
    numbers = site.call("GET", "/metrics").body.decode()
    assert "app_backend_web_push_former_key_total 4" in numbers
    site.change_key("--drop-former")
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"InvalidCredentials": 2})


def test_a_page_learns_the_new_key_and_subscribes_again(
    site: Installation, push: PushService, firefox: Firefox, tabs: list[Tab]
) -> None:
    alice, _ = people(site)
    tab = firefox.open_tab(site.origin)
    tabs.append(tab)
    page = NotifyPage(tab, site.origin).open()
    page.await_state("token")
    page.log_in(alice)
    former = page.endpoint
    site.keep_secret(push.subscription(former).token)
    key = vapid.decode(site.change_key("--rotate"))
    # The browser has not heard of it, and is reached.
    [result] = page.send(alice, site.secret("before "))
    assert (result.label, result.kind) == ("browser", "Completed")
    page.open()
    page.await_state("registered")
    assert page.endpoint != former
    renewed = push.subscription(page.endpoint)
    site.keep_secret(renewed.token)
    assert renewed.key == key
    site.change_key("--drop-former")
    text = site.secret("after ")
    [result] = page.send(alice, text)
    assert (result.label, result.kind) == ("browser", "Completed")
    assert page.await_received(text).kind == "message"
