# SPDX-License-Identifier: Apache-2.0
"""The stand-in for APNs satisfies a client that is not ours, and is as strict as it says."""

import asyncio
import json
import ssl
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from aioapns import APNs, NotificationRequest, PushType
from aioapns.common import NotificationResult
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from apns_process import KEY_ID, TEAM_ID, TOPIC, APNsProcess, public_pem
from apns_rules import REASONS, Refusal
from apns_tokens import ConnectionTokens, Key
from certificates import Authority
from deadline import INTERVAL_SECONDS, PATIENCE_SECONDS

DEVICE = "00" * 32


@pytest.fixture
def double(tmp_path: Path) -> Iterator[APNsProcess]:
    with APNsProcess(Authority(tmp_path), tmp_path, environment="both", streams=500) as running:
        yield running


def client(double: APNsProcess) -> APNs:
    """Of aioapns, which sends `host` in the place of `:authority` and has no setting for the service's address."""
    context = ssl.create_default_context(cafile=str(double.authority.file))
    context.set_alpn_protocols(["h2"])
    made = APNs(key=double.key, key_id=KEY_ID, team_id=TEAM_ID, topic=TOPIC, max_connections=1, ssl_context=context)
    address = {"APNS_SERVER": "localhost", "APNS_PORT": double.port}
    made.pool.protocol_class = type("Local", (made.pool.protocol_class,), address)
    return made


def request(
    device: str = DEVICE, push_type: PushType | None = PushType.ALERT, **options: object
) -> NotificationRequest:
    message = options.pop("message", {"aps": {"alert": "x"}})
    return NotificationRequest(
        device_token=device, message=message, notification_id=str(uuid.uuid4()), push_type=push_type, **options
    )


def send(double: APNsProcess, *requests: NotificationRequest) -> list[NotificationResult]:
    """The first alone, the others at once."""

    async def run() -> list[NotificationResult]:
        sender = client(double)
        first = await sender.send_notification(requests[0])
        others = await asyncio.gather(*map(sender.send_notification, requests[1:]))
        sender.pool.close()
        # It says nothing of when its connections are closed.
        while sender.pool.connections:
            await asyncio.sleep(INTERVAL_SECONDS)
        return [first, *others]

    return asyncio.run(asyncio.wait_for(run(), PATIENCE_SECONDS))


def test_a_client_that_is_not_ours_sends_many_at_once(double: APNsProcess) -> None:
    results = send(double, *(request() for _ in range(200)))
    assert {result.status for result in results} == {"200"}
    assert len(double.events("connection")) == 1
    assert len({push["token"] for push in double.events("push")}) == 1
    assert [limit["streams"] for limit in double.events("limit")] == [1, 500]
    assert double.events("protocol error") == double.events("above limit") == []


@pytest.mark.parametrize("row", range(len(REASONS)))
def test_it_gives_every_reason_of_apple(double: APNsProcess, row: int) -> None:
    status, reason = REASONS[row]
    [_, result] = send(double, request(), request(f"e0{row:02}" + "0" * 60))
    assert (result.status, result.description) == (str(status), reason)
    assert bool(result.timestamp) == (status == 410)


def test_it_trusts_a_connection_with_one_stream_after_a_rejection(double: APNsProcess) -> None:
    bad = "e001" + "0" * 60
    send(double, request(), request(bad), request(), request("e024" + "0" * 60))
    limits = [limit["streams"] for limit in double.events("limit")]
    assert limits[:3] == [1, 500, 1] and limits[-1] == 500


@pytest.mark.parametrize(
    ("reason", "wrong"),
    [
        ("BadDeviceToken", {"device": "xy" * 32}),
        ("MissingDeviceToken", {"device": ""}),
        ("TopicDisallowed", {"apns_topic": "com.example.other"}),
        ("BadTopic", {"apns_topic": TOPIC + ".voip"}),
        ("BadPriority", {"priority": 7}),
        (
            "BadPriority",
            {"push_type": PushType.BACKGROUND, "message": {"aps": {"content-available": 1}}, "priority": 10},
        ),
        ("BadExpirationDate", {"time_to_live": 300 - int(time.time())}),
        ("BadCollapseId", {"collapse_key": "x" * 65}),
        ("InvalidPushType", {"push_type": None}),
        ("InvalidPushType", {"push_type": PushType.BACKGROUND, "priority": 5}),
        ("PayloadEmpty", {"message": {"aps": []}}),
        ("PayloadTooLarge", {"message": {"aps": {"alert": "x" * 4080}}}),
    ],
)
def test_it_refuses_what_apple_refuses(double: APNsProcess, reason: str, wrong: dict) -> None:
    [result] = send(double, request(**wrong))
    assert result.description == reason


# Provider tokens

KEY = ec.generate_private_key(ec.SECP256R1())
KEYS = {
    KEY_ID: Key(TEAM_ID, public_pem(KEY), "both"),
    "SANDBOX123": Key(TEAM_ID, public_pem(KEY), "sandbox"),
}


def token(iat: object = None, kid: str = KEY_ID, iss: str = TEAM_ID, key: ec.EllipticCurvePrivateKey = KEY) -> str:
    # PyJWT refuses to write a date that is a text, and Apple to read one.
    claims = jwt.utils.base64url_encode(json.dumps({"iss": iss, "iat": iat or int(time.time())}).encode()).decode()
    header = jwt.utils.base64url_encode(json.dumps({"alg": "ES256", "kid": kid}).encode()).decode()
    text = f"{header}.{claims}"
    return f"bearer {text}.{jwt.utils.base64url_encode(signature(key, text, is_raw=True)).decode()}"


def signature(key: ec.EllipticCurvePrivateKey, text: str, is_raw: bool) -> bytes:
    der = key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
    return jwt.utils.der_to_raw_signature(der, ec.SECP256R1()) if is_raw else der


@pytest.mark.parametrize(
    ("reason", "wrong"),
    [
        ("MissingProviderToken", None),
        ("InvalidProviderToken", "bearer x"),
        ("MissingProviderToken", "basic x"),
        ("InvalidProviderToken", token(kid="OTHER12345")),
        ("InvalidProviderToken", token(iss="OTHER12345")),
        ("InvalidProviderToken", token(iat=str(int(time.time())))),
        ("InvalidProviderToken", token(iat=int(time.time()) + 3600)),
        ("InvalidProviderToken", token(key=ec.generate_private_key(ec.SECP256R1()))),
        ("ExpiredProviderToken", token(iat=int(time.time()) - 3700)),
        ("BadEnvironmentKeyInToken", token(kid="SANDBOX123")),
    ],
)
def test_it_refuses_a_token_that_apple_refuses(reason: str, wrong: str | None) -> None:
    with pytest.raises(Refusal, match=reason):
        ConnectionTokens(KEYS, "production").check(wrong)


def test_a_connection_has_one_token_and_takes_none_after_an_expired_one() -> None:
    tokens = ConnectionTokens(KEYS, "sandbox")
    first = token()
    tokens.check(first)
    tokens.check(first)
    with pytest.raises(Refusal, match="TooManyProviderTokenUpdates"):
        tokens.check(token())
    with pytest.raises(Refusal, match="UnrelatedKeyIdInToken"):
        tokens.check(token(kid="SANDBOX123"))
    with pytest.raises(Refusal, match="ExpiredProviderToken"):
        tokens.check(token(iat=int(time.time()) - 3700))
    with pytest.raises(Refusal, match="ExpiredProviderToken"):
        tokens.check(first)


def test_it_takes_a_signature_in_both_forms() -> None:
    text = token().removeprefix("bearer ").rpartition(".")[0]
    der = jwt.utils.base64url_encode(signature(KEY, text, is_raw=False)).decode()
    ConnectionTokens(KEYS, "production").check(f"bearer {text}.{der}")
