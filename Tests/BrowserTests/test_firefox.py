# SPDX-License-Identifier: Apache-2.0
"""The whole way, with a browser that really subscribes, really decrypts and really shows."""

import json
from collections.abc import Callable

import pytest

from account import Account
from firefox import FirefoxTab
from installation import Installation
from notify_page import NotifyPage
from push_service import PushService
from subscriber import Subscriber
from subscription import CORRUPTION, Subscription

Page = NotifyPage[FirefoxTab]

# What Firefox says to its push service of a message.
DELIVERED, NOT_DECRYPTED = 100, 101

Open = Callable[..., Page]


@pytest.fixture
def open_page(firefox_tab: Callable[..., FirefoxTab], installation: Installation) -> Open:
    """Opens the page, each time as another person's browser."""

    def open_it(**options: str) -> Page:
        return NotifyPage(firefox_tab(**options), installation.origin).open()

    return open_it


@pytest.fixture
def registered(open_page: Open) -> Callable[[Account], Page]:
    """Opens the page for a user who may be shown notifications, and logs in."""

    def register(account: Account) -> Page:
        page = open_page()
        page.await_state("token")
        page.log_in(account)
        return page

    return register


def registrations(account: Account) -> list[str]:
    return [one["RegistrationId"] for one in account.call("GET", "/api/register").json()]


def subscription_of(page: Page, push: PushService, installation: Installation) -> Subscription:
    found = push.subscription(page.endpoint)
    installation.keep_secret(found.token)
    return found


def test_what_somebody_sends_to_himself_is_decrypted_and_shown(
    installation: Installation,
    push: PushService,
    alice: Account,
    registered: Callable[[Account], Page],
) -> None:
    page = registered(alice)
    subscription = subscription_of(page, push, installation)
    text = installation.secret("Hello é 漢字 ")
    [result] = page.send(alice, text)
    assert (result.label, result.kind) == ("browser", "Completed")
    assert subscription.await_ack(subscription.await_message()) == DELIVERED
    assert page.await_received(text).kind == "message"
    assert (f"From {alice.name}", text) in page.shown
    assert text not in page.endpoint


def test_the_text_of_a_secure_push_is_fetched_by_the_worker(
    installation: Installation,
    push: PushService,
    alice: Account,
    registered: Callable[[Account], Page],
) -> None:
    page = registered(alice)
    subscription = subscription_of(page, push, installation)
    text = installation.secret("the secret ")
    results = page.send(alice, text, secure=True)
    assert ("browser", "Completed") in [(result.label, result.kind) for result in results]
    assert subscription.await_ack(subscription.await_message()) == DELIVERED
    assert page.await_received(text).kind == "secret"
    assert [body for _, body in page.shown] == [text]


def test_what_somebody_sends_to_a_role_of_theirs_arrives_at_their_other_devices(
    installation: Installation, subscriber: Subscriber, registered: Callable[[Account], Page]
) -> None:
    member = Account(installation, installation.add_user("member", "--role", "team"))
    page = registered(member)
    [own] = registrations(member)
    member.register(subscriber)
    texts = [installation.secret("for the team "), installation.secret("to myself "), installation.secret("gone ")]
    for count, (recipient, text) in enumerate(zip(("role:team", member.name, "role:team"), texts, strict=True), 1):
        if count == 3:
            # A browser that the server has forgotten is no reason not to send.
            page.await_received(texts[1])
            assert member.call("DELETE", f"/api/register/{own}").status == 200
        page.write(recipient, text)
        page.await_enabled("send")
        page.tab.click("send")
        assert text in subscriber.decrypt(subscriber.subscription.await_messages(count)[-1]).decode()
    assert [body for _, body in page.shown] == [texts[1]]


def test_a_message_with_one_bit_flipped_is_refused_and_nothing_is_shown(
    installation: Installation,
    push: PushService,
    alice: Account,
    registered: Callable[[Account], Page],
) -> None:
    page = registered(alice)
    subscription = subscription_of(page, push, installation)
    subscription.script.append(CORRUPTION)
    page.send(alice, "flipped")
    assert subscription.await_ack(subscription.await_message()) == NOT_DECRYPTED
    # One that comes behind it is shown, so the first never will be.
    page.send(alice, "whole")
    page.await_received("whole")
    assert len(page.received) == 1
    assert [body for _, body in page.shown] == ["whole"]


def test_a_browser_that_unsubscribed_is_forgotten_and_comes_back(
    installation: Installation, push: PushService, alice: Account, registered: Callable[[Account], Page]
) -> None:
    page = registered(alice)
    subscription = subscription_of(page, push, installation)
    page.unsubscribe()
    subscription.await_end()
    assert "gone" in page.send(alice, "Anybody there?")[0].text
    assert [message.status for message in subscription.messages] == [410]
    assert page.send(alice, "Anybody there?")[0].kind == "NoTargetFound"
    page.open().await_state("registered")
    assert page.endpoint != subscription.endpoint
    page.send(alice, "There again")
    page.await_received("There again")
    assert len(registrations(alice)) == 1


def test_a_page_whose_id_is_no_more_asks_for_another_one(alice: Account, registered: Callable[[Account], Page]) -> None:
    page = registered(alice)
    [before] = registrations(alice)
    assert alice.call("DELETE", f"/api/register/{before}").status == 200
    assert page.send(alice, "Anybody there?")[0].kind == "NoTargetFound"
    # The page comes back with the id that it has kept, and hears 410.
    page.open().await_state("registered")
    [after] = registrations(alice)
    assert after != before
    page.send(alice, "There again")
    page.await_received("There again")


def test_a_subscription_for_a_key_that_is_not_the_servers_any_more_is_made_anew(
    alice: Account, registered: Callable[[Account], Page]
) -> None:
    page = registered(alice)
    page.unsubscribe()
    before = page.subscribe_for_another_key()
    assert page.endpoint == before
    page.open().await_state("registered")
    assert page.endpoint != before
    assert len(registrations(alice)) == 1
    page.send(alice, "For the new key")
    page.await_received("For the new key")


def test_two_users_each_get_only_their_own(
    installation: Installation,
    push: PushService,
    alice: Account,
    bob: Account,
    registered: Callable[[Account], Page],
) -> None:
    alices, bobs = registered(alice), registered(bob)
    alices.send(bob, "to bob")
    bobs.send(alice, "to alice")
    secret = installation.secret("only for bob ")
    alices.send(bob, secret, secure=True)
    bobs.await_received(secret)
    bobs.await_received("to bob")
    alices.await_received("to alice")
    assert [line.kind for line in alices.received] == ["message"]
    assert sorted(line.kind for line in bobs.received) == ["message", "secret"]
    for page, account in ((alices, alice), (bobs, bob)):
        subscription = subscription_of(page, push, installation)
        assert {subscription.await_ack(message) for message in subscription.messages} == {DELIVERED}
        assert len(registrations(account)) == 1


def test_what_comes_while_the_page_is_closed_stands_in_its_list_later(
    installation: Installation,
    push: PushService,
    alice: Account,
    bob: Account,
    registered: Callable[[Account], Page],
) -> None:
    page = registered(alice)
    subscription = subscription_of(page, push, installation)
    page.tab.navigate("about:blank")
    bob.send(alice, "while you were away")
    assert subscription.await_ack(subscription.await_message()) == DELIVERED
    page.open().await_state("registered")
    page.await_received("while you were away")


def test_who_logs_out_is_not_sent_to_any_more_and_who_logs_in_next_gets_only_his_own(
    alice: Account, bob: Account, registered: Callable[[Account], Page]
) -> None:
    page = registered(alice)
    hers = page.endpoint
    bob.send(alice, "for alice alone")
    page.await_received("for alice alone")
    page.log_out()
    page.tab.wait_until('document.querySelectorAll("#received li").length === 0')
    assert bob.await_outcome(bob.send(alice, "too late")) == ("NoTargetFound", {})
    page.log_in(bob)
    page.send(bob, "for bob")
    page.await_received("for bob")
    assert len(page.received) == 1
    # What the push service still held for her reaches no user.
    assert page.endpoint != hers


def test_who_logs_in_after_one_whose_session_has_ended_has_a_token_of_his_own(
    alice: Account, bob: Account, registered: Callable[[Account], Page]
) -> None:
    page = registered(alice)
    hers = page.endpoint
    assert page.tab.evaluate('fetch("api/session", { method: "DELETE" }).then(answer => answer.status)') == 200
    page.open().await_state("token")
    page.log_in(bob)
    page.tab.wait_until(
        "navigator.serviceWorker.ready.then(one => one.pushManager.getSubscription())"
        f".then(one => one !== null && one.endpoint !== {json.dumps(hers)})"
    )
    page.await_state("registered")
    page.send(bob, "for bob")
    page.await_received("for bob")
    assert bob.await_outcome(bob.send(alice, "too late")) == ("NoTargetFound", {})


def test_a_wrong_password_is_said_and_a_right_one_then_works(alice: Account, open_page: Open) -> None:
    page = open_page()
    page.await_state("token")
    assert not page.is_enabled("send")
    page.fail_to_log_in(alice)
    assert page.text("passwordError") == "User name and password do not match."
    assert page.state == "token"
    assert not page.is_enabled("send")
    page.log_in(alice)
    page.unfold()
    page.await_enabled("send")


def test_the_device_is_enabled_by_its_button_once_its_person_agrees(open_page: Open, alice: Account) -> None:
    page = open_page(notifications="prompt")
    page.await_state("idle")
    # The question comes after the log-in, which waits for no answer.
    assert page.tab.evaluate('document.getElementById("enable").checkVisibility()') is False
    page.log_in(alice, state="loggedin")
    page.tab.wait_until('document.getElementById("enable").checkVisibility()')
    page.tab.click("enable")
    page.tab.decide("granted")
    page.await_state("registered")
    assert page.tab.evaluate('document.getElementById("banner").hidden')


def test_the_question_about_notifications_can_be_put_off(open_page: Open, alice: Account) -> None:
    page = open_page(notifications="prompt")
    page.log_in(alice, state="loggedin")
    page.tab.wait_until('document.getElementById("later").checkVisibility()')
    page.tab.click("later")
    assert page.tab.evaluate("document.activeElement.id") == "receivedHeading"
    page.open()
    page.await_state("loggedin")
    assert page.tab.evaluate('document.getElementById("banner").hidden')
    page.open_settings()
    page.tab.wait_until('document.getElementById("enableHere").checkVisibility()')
    page.tab.click("enableHere")
    page.tab.decide("granted")
    page.await_state("registered")


def test_who_blocks_notifications_can_still_log_in_and_send(
    alice: Account, bob: Account, open_page: Open, registered: Callable[[Account], Page]
) -> None:
    # Before Bob's, because Firefox ends the subscriptions of all contexts when an origin is blocked in one.
    page = open_page(notifications="denied")
    page.await_state("blocked")
    bobs = registered(bob)
    page.log_in(alice, state="loggedin")
    assert page.send(bob, "Hello, Bob")[0].kind == "Completed"
    bobs.await_received("Hello, Bob")
    assert page.received == []
