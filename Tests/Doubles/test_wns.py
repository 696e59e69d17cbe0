# SPDX-License-Identifier: Apache-2.0
"""WNS: the double against a client that is not ours, and our driver against the double."""

import http.client
import ssl
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from certificates import Authority
from driver_oracle import DriverOracle
from serving import Answer
from wns import WNS

TOAST = "<toast><visual><binding template='ToastText01'><text id='1'>é</text></binding></visual></toast>"
PATIENCE_SECONDS = 60


@pytest.fixture
def client(wns: WNS, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """django-push-notifications, which believes that the double is Microsoft."""
    from django.conf import settings

    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    if not settings.configured:
        settings.configure()
    from push_notifications import wns as module
    from push_notifications.settings import PUSH_NOTIFICATIONS_SETTINGS

    monkeypatch.setitem(PUSH_NOTIFICATIONS_SETTINGS, "WNS_ACCESS_URL", f"{wns.origin}/accesstoken.srf")
    monkeypatch.setitem(PUSH_NOTIFICATIONS_SETTINGS, "WNS_PACKAGE_SECURITY_ID", wns.tokens.package_sid)
    monkeypatch.setitem(PUSH_NOTIFICATIONS_SETTINGS, "WNS_SECRET_KEY", wns.tokens.secret)
    yield module


def sign_in(oracle: DriverOracle, wns: WNS, kind: str, **changes: Any) -> dict[str, Any]:
    if kind == "store":
        parts = {"packageSid": wns.tokens.package_sid, "endpoint": f"{wns.origin}/accesstoken.srf"}
    else:
        endpoint = f"{wns.origin}/{wns.tokens.tenant}/oauth2/v2.0/token"
        parts = {"clientId": wns.tokens.client_id, "tenant": wns.tokens.tenant, "endpoint": endpoint}
    return oracle.ask(do="token", **{"secret": wns.tokens.secret, **parts, **changes})


def push(
    oracle: DriverOracle, wns: WNS, scenario: str = "taken", kind: str = "store", **changes: Any
) -> dict[str, Any]:
    command = {
        "format": "windows",
        "body": TOAST,
        "handle": wns.channel(kind, scenario).replace(wns.origin, "https://db5p.notify.windows.com"),
        "endpoint": wns.origin,
        "token": changes.pop("token", None) or sign_in(oracle, wns, kind)["token"],
        **changes,
    }
    return oracle.push(service="wns", **command)


# The client that is not ours


def test_the_other_client_sends(client: ModuleType, wns: WNS) -> None:
    client.wns_send_message(uri=wns.channel("store"), message="Hello")
    client.wns_send_message(uri=wns.channel("store"), raw_data="anything")
    tile = {"tile": {"children": {"visual": {"attrs": {"version": "2"}, "children": {}}}}}
    client.wns_send_message(uri=wns.channel("store"), xml_data=tile)
    assert [(taken.status, taken.headers["x-wns-type"]) for taken in wns.pushes] == [
        (200, "wns/toast"),
        (200, "wns/raw"),
        (200, "wns/tile"),
    ]


@pytest.mark.parametrize(
    ("scenario", "status"),
    [
        ("malformed", 400),
        ("foreign", 403),
        ("unknown", 404),
        ("throttled", 406),
        ("expired", 410),
        ("unavailable", 503),
    ],
)
def test_the_other_client_understands_each_error(client: ModuleType, wns: WNS, scenario: str, status: int) -> None:
    with pytest.raises(client.WNSNotificationResponseError, match=f"HTTP {status}"):
        client.wns_send_message(uri=wns.channel("store", scenario), message="Hello")


def test_the_other_client_is_refused_with_a_wrong_secret(
    client: ModuleType, wns: WNS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wns.tokens, "secret", "another")
    with pytest.raises(client.WNSAuthenticationError):
        client.wns_send_message(uri=wns.channel("store"), message="Hello")


# What the double refuses


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, b"<toast/>", 200),
        ({"X-WNS-Type": "wns/tile"}, b"<toast/>", 400),
        ({"X-WNS-Type": "toast"}, b"<toast/>", 400),
        ({"X-WNS-Type": "wns/raw"}, b"x", 400),
        ({"X-WNS-Type": "wns/raw", "Content-Type": "application/octet-stream"}, b"x" * 5001, 413),
        ({"X-WNS-Cache-Policy": "cache"}, b"<toast/>", 400),
        ({"X-WNS-Tag": "with blank"}, b"<toast/>", 400),
        ({"Expect": "100-continue"}, b"<toast/>", 400),
        ({"Transfer-Encoding": "chunked"}, b"8\r\n<toast/>\r\n0\r\n\r\n", 400),
        ({"Authorization": "Bearer wrong"}, b"<toast/>", 401),
        ({}, b"<toast>", 400),
    ],
)
def test_the_double_refuses_what_is_not_of_wns(
    oracle: DriverOracle, wns: WNS, authority: Authority, headers: dict[str, str], body: bytes, status: int
) -> None:
    token = sign_in(oracle, wns, "store")["token"]
    usual = {"Content-Type": "text/xml", "X-WNS-Type": "wns/toast", "Authorization": f"Bearer {token}"}
    context = ssl.create_default_context(cafile=str(authority.file))
    connection = http.client.HTTPSConnection("localhost", wns.port, timeout=PATIENCE_SECONDS, context=context)
    try:
        connection.request("POST", wns.channel("store").removeprefix(wns.origin), body, {**usual, **headers})
        assert connection.getresponse().status == status
    finally:
        connection.close()


# Ours


@pytest.mark.parametrize(("kind", "lifetime"), [("store", 86_400), ("sdk", 86_399)])
def test_ours_signs_in_and_sends(oracle: DriverOracle, wns: WNS, kind: str, lifetime: int) -> None:
    told = sign_in(oracle, wns, kind)
    assert told["lifetime"] == lifetime
    assert push(oracle, wns, kind=kind, token=told["token"])["outcome"] == "Success"
    assert wns.pushes[0].body.decode() == TOAST


def test_a_token_of_one_kind_is_refused_by_channels_of_the_other(oracle: DriverOracle, wns: WNS) -> None:
    token = sign_in(oracle, wns, "sdk")["token"]
    assert push(oracle, wns, kind="store", token=token)["outcome"] == "WrongChannel"


def test_ours_says_why_it_is_refused_and_never_the_secret(oracle: DriverOracle, wns: WNS) -> None:
    for kind in ("store", "sdk"):
        told = sign_in(oracle, wns, kind, secret="a-wrong-secret")
        assert told["error"] == "the token service refuses the credential: invalid_client"
    wns.tokens.failure = Answer(503)
    assert sign_in(oracle, wns, "store")["error"] == "the token service is out of order (HTTP 503)"


@pytest.mark.parametrize(
    ("scenario", "outcome", "action"),
    [
        ("dropped", "Dropped", "settle"),
        ("channelthrottled", "ChannelThrottled", "retryDevice(afterSeconds: Optional(60))"),
        ("disconnected", "Success", "settle"),
        ("malformed", "PnsInterfaceError", "settle"),
        ("foreign", "WrongChannel", "settle"),
        ("unmapped", "WrongChannel", "settle"),
        ("unknown", "BadChannel", "removeRegistration(goneSince: nil)"),
        ("throttled", "Throttled", "retry(afterSeconds: Optional(1))"),
        ("expired", "ExpiredChannel", "removeRegistration(goneSince: nil)"),
        ("blocked", "InvalidCredentials", 'holdCredential(reason: "WNS has blocked this sender: Domain Blocked")'),
        ("failure", "PnsServerError", "retry(afterSeconds: nil)"),
        ("unavailable", "PnsUnavailable", "retry(afterSeconds: Optional(1))"),
        ("expire", "InvalidCredentials", "renewCredential"),
    ],
)
def test_ours_understands_each_answer(oracle: DriverOracle, wns: WNS, scenario: str, outcome: str, action: str) -> None:
    told = push(oracle, wns, scenario)
    assert (told["outcome"], told["action"]) == (outcome, action)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ("<toast>", {}),
        ("<tile/>", {"X-WNS-Type": "wns/toast"}),
        ("<toast/>", {"X-WNS-Cache-Policy": "cache"}),
        ("<toast/>", {"X-WNS-Tag": "with blank"}),
        ("<toast>" + "x" * 5000 + "</toast>", {}),
    ],
)
def test_ours_refuses_what_the_double_would_refuse(
    oracle: DriverOracle, wns: WNS, body: str, headers: dict[str, str]
) -> None:
    assert push(oracle, wns, body=body, headers=headers)["refusal"].startswith("InvalidNotification")
    assert wns.pushes == []
