# SPDX-License-Identifier: Apache-2.0
"""What the backend makes of a push service's answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import vapid
from account import FINAL_STATES, Account
from certificates import Authority
from installation import Installation
from push_service import PushService
from subscriber import Subscriber
from subscription import SILENCE, Answer


@pytest.mark.parametrize(("status", "outcome"), [(410, "ExpiredChannel"), (404, "BadChannel")])
def test_a_subscription_that_is_no_more_is_forgotten(
    alice: Account, bob: Account, subscriber: Subscriber, status: int, outcome: str
) -> None:
    bob.register(subscriber)
    subscriber.subscription.script.append(Answer(status))
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {outcome: 1})
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("NoTargetFound", {})
    assert len(subscriber.subscription.messages) == 1
    # The browser may come back.
    bob.register(subscriber)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})


@pytest.mark.parametrize(
    "answer", [Answer(429, {"retry-after": "1"}), Answer(500), Answer(503)], ids=["429", "500", "503"]
)
def test_a_service_in_trouble_is_asked_again_and_the_message_arrives_once(
    alice: Account, bob: Account, subscriber: Subscriber, answer: Answer
) -> None:
    bob.register(subscriber)
    subscriber.subscription.script.append(answer)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})
    assert [message.status for message in subscriber.subscription.messages] == [answer.status, 201]


def test_a_redirection_is_not_followed(
    push: PushService, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    other = push.subscribe(subscriber.subscription.key)
    bob.register(subscriber)
    subscriber.subscription.script.append(Answer(307, {"location": other.endpoint}))
    state, counts = alice.await_outcome(alice.send(bob, "Hello"))
    assert (state, "Success" in counts) == ("Completed", False)
    assert other.messages == []


def test_a_subscription_for_another_key_stays_registered_because_the_key_may_be_ours_to_mend(
    push: PushService, alice: Account, bob: Account
) -> None:
    stranger = Subscriber(push.subscribe(b"\x04" + bytes(64)))
    bob.register(stranger)
    for _ in range(2):
        assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"InvalidCredentials": 1})
    assert [message.status for message in stranger.subscription.messages] == [403, 403]


def test_a_service_that_never_answers_keeps_nobody_elses_message_waiting(
    push: PushService, installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    silent = Subscriber(push.subscribe(subscriber.subscription.key))
    silent.subscription.script.append(SILENCE)
    alice.register(silent)
    bob.register(subscriber)
    unheard = bob.send(alice, "Hello")
    silent.subscription.await_message(None)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})
    assert bob.outcome(unheard).json()["State"] not in FINAL_STATES
    push.break_silence()
    assert bob.await_outcome(unheard)[0] == "Completed"


@pytest.fixture
def impatient(program: Path, folder: Path, authority: Authority, push: PushService) -> Iterator[Installation]:
    """Soon gives a push service up."""
    own = folder / "impatient"
    own.mkdir()
    with Installation(program, own, authority, push.authority, push_seconds=1) as running:
        yield running


def test_a_service_that_never_answers_is_given_up(push: PushService, impatient: Installation) -> None:
    alice, bob = (Account(impatient, impatient.add_user(role)) for role in ("alice", "bob"))
    silent = Subscriber(push.subscribe(vapid.decode(impatient.vapid_key)))
    silent.subscription.script.append(SILENCE)
    alice.register(silent)
    state, counts = bob.await_outcome(bob.send(alice, "Hello"))
    assert (state, sum(counts.values())) == ("Completed", 1)


def test_a_device_of_no_push_service_that_may_be_sent_to_is_never_called(
    push: PushService, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    # The same host by another name, and not the one that the configuration allows.
    subscriber.subscription.endpoint = subscriber.subscription.endpoint.replace("localhost", "127.0.0.1")
    reply = bob.put(bob.ask_for_id(), subscriber)
    if reply.status == 200:
        state, counts = alice.await_outcome(alice.send(bob, "Hello"))
        assert (state, counts) == ("Abandoned", {"WrongChannel": 1})
    else:
        assert reply.status == 400
    assert subscriber.subscription.messages == []


def test_a_name_that_may_be_sent_to_is_not_called_where_it_leads_to_this_host(
    alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    # The list of hosts has the name. Were its address not looked at, the connection would be refused and tried again.
    subscriber.subscription.endpoint = "https://localhost/push"
    bob.register(subscriber)
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("Abandoned", {"WrongChannel": 1})
