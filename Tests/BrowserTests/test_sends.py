# SPDX-License-Identifier: Apache-2.0
"""What the backend sends, read by implementations that are not ours, in the place of a browser."""

import json
import time

import pytest

import vapid
from account import Account
from installation import CONTACT, Installation
from push_resources import MAXIMUM_BODY_BYTES
from push_service import PushService
from subscriber import Subscriber, is_signed

# RFC 8291 section 4: a body of 4096 bytes without header, delimiter and tag.
MAXIMUM_PAYLOAD_BYTES = MAXIMUM_BODY_BYTES - 103
DAY = 24 * 60 * 60


def said(subscriber: Subscriber, number: int = 1) -> dict[str, str]:
    message = subscriber.subscription.await_messages(number)[number - 1]
    assert message.status == 201, message.reason
    text = json.loads(subscriber.decrypt(message))
    assert isinstance(text, dict)
    return text


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "é 漢字 🎉 \u202e right to left",
        'quotes " and \\ and </script> and "},{"title":"forged"',
        "line\nbreak\ttab \u0000 \u001f \u2028 controls",
        " ",
    ],
    ids=["plain", "unicode", "markup", "controls", "blank"],
)
def test_a_message_is_decrypted_to_what_was_sent(
    alice: Account, bob: Account, subscriber: Subscriber, text: str
) -> None:
    bob.register(subscriber)
    sent = alice.send(bob, text)
    assert said(subscriber) == {"title": f"From {alice.name}", "body": text}
    assert alice.await_outcome(sent) == ("Completed", {"Success": 1})


def test_what_the_page_is_told_it_may_send_arrives_whole(
    installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    limit = installation.call("GET", "/api/config").json()["MaximumMessageBytes"]
    text = "é" * (limit // 2) + "x" * (limit % 2)
    alice.send(bob, text)
    assert said(subscriber)["body"] == text


def test_the_largest_payload_of_all_arrives_and_one_byte_more_is_refused(
    alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    frame = len(json.dumps({"title": f"From {alice.name}", "body": ""}, separators=(",", ":")))
    text = "x" * (MAXIMUM_PAYLOAD_BYTES - frame)
    assert alice.await_outcome(alice.send(bob, text)) == ("Completed", {"Success": 1})
    assert len(subscriber.subscription.messages[0].body) == MAXIMUM_BODY_BYTES
    assert said(subscriber)["body"] == text
    assert alice.try_to_send(bob, text + "x").status == 413
    assert len(subscriber.subscription.messages) == 1


def test_the_sender_proves_who_it_is(
    installation: Installation, push: PushService, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    alice.send(bob, "Hello")
    message = subscriber.subscription.await_message()
    assert is_signed(message)
    assert f"k={installation.vapid_key}" in message.headers["authorization"]
    assert (message.claims["aud"], message.claims["sub"]) == (push.origin, CONTACT)
    assert 0 < message.claims["exp"] - time.time() <= DAY


def test_a_message_travels_as_the_rfcs_say(alice: Account, bob: Account, subscriber: Subscriber) -> None:
    bob.register(subscriber)
    alice.send(bob, "Hello")
    message = subscriber.subscription.await_message()
    assert message.http_version == "2"
    assert message.headers["ttl"] == str(DAY)
    assert message.headers["content-encoding"] == "aes128gcm"
    assert message.headers["content-type"] == "application/octet-stream"
    # What it is about can be told neither from its text nor from its fields.
    assert b"Hello" not in message.body
    assert not {"cookie", "referer", "x-forwarded-for"} & message.headers.keys()


def test_messages_share_a_connection(alice: Account, bob: Account, subscriber: Subscriber) -> None:
    bob.register(subscriber)
    for _ in range(3):
        assert alice.await_outcome(alice.send(bob, "Hello")) == ("Completed", {"Success": 1})
    assert len({message.connection for message in subscriber.subscription.messages}) == 1


def test_two_messages_share_no_salt_and_no_key(alice: Account, bob: Account, subscriber: Subscriber) -> None:
    bob.register(subscriber)
    for _ in range(2):
        alice.send(bob, "Hello")
    first, second = subscriber.subscription.await_messages(2)
    assert first.body[:16] != second.body[:16]
    assert first.body[21:86] != second.body[21:86]
    assert first.body != second.body


def test_every_browser_of_a_user_gets_the_message_and_nobody_elses_does(
    push: PushService, installation: Installation, alice: Account, bob: Account
) -> None:
    key = vapid.decode(installation.vapid_key)
    first, second, other = (Subscriber(push.subscribe(key)) for _ in range(3))
    bob.register(first)
    bob.register(second)
    alice.register(other)
    sent = alice.send(bob, "Hello")
    assert alice.await_outcome(sent) == ("Completed", {"Success": 2})
    assert said(first) == said(second)
    assert other.subscription.messages == []


def test_only_the_number_of_a_secret_travels(
    installation: Installation, alice: Account, bob: Account, subscriber: Subscriber
) -> None:
    bob.register(subscriber)
    text = installation.secret("the secret is ")
    reply = alice.send_secret(bob, text)
    pushed = said(subscriber)
    assert pushed["secureId"] == str(reply.json()["Id"])
    assert text not in json.dumps(pushed)
    installation.keep_secret(pushed["secureToken"])
    for name in (pushed["secureToken"], pushed["secureId"]):
        assert bob.read_secret(name).json()["Payload"] == text
        assert alice.read_secret(name).status == 404


def test_only_the_sender_is_told_what_became_of_a_message(alice: Account, bob: Account, subscriber: Subscriber) -> None:
    bob.register(subscriber)
    sent = alice.send(bob, "Hello")
    reply = alice.outcome(sent)
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "no-store")
    assert bob.outcome(sent).status == 404
    assert alice.outcome("0123456789").status == 404


def test_a_message_to_nobody_finds_no_target(alice: Account, bob: Account) -> None:
    assert alice.await_outcome(alice.send(bob, "Hello")) == ("NoTargetFound", {})
