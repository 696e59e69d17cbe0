# SPDX-License-Identifier: Apache-2.0
"""FCM: the double against Google's own client and description, and our driver against both."""

import json
import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import discovery
import firebase_admin
import pytest
from certificates import Authority
from driver_oracle import DriverOracle
from fcm import FCM
from firebase_admin import credentials, exceptions, messaging

OTHER_PROJECT = "the service account's project app-1 is not the one that the app was built with"
# As Swift shows a text.
SHOWN_PROJECT = OTHER_PROJECT.replace("'", r"\'")
HANDLE = "cAbCdEfGhIj:APA91bXyz"
PATIENCE_SECONDS = 60


@pytest.fixture
def app(fcm: FCM, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[firebase_admin.App]:
    """Google's client, which believes that the double is Google."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.file))
    url = fcm.origin + "/v1/projects/{0}/messages:send"
    monkeypatch.setattr(messaging._MessagingService, "FCM_URL", url)
    made = firebase_admin.initialize_app(credentials.Certificate(fcm.tokens.service_account()), name="referee")
    yield made
    firebase_admin.delete_app(made)


@pytest.fixture
def token(oracle: DriverOracle, fcm: FCM) -> str:
    told = oracle.ask(do="token", google=json.dumps(fcm.tokens.service_account()), trusted=fcm.authority)
    return str(told["token"])


def push(oracle: DriverOracle, fcm: FCM, token: str, body: Any, handle: str = HANDLE, **more: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    command = {"format": "fcmv1", "body": text, "handle": handle, "endpoint": fcm.origin, "token": token, **more}
    return oracle.push(service="fcm", **command)


# Google's client


def test_googles_client_sends(app: firebase_admin.App, fcm: FCM) -> None:
    message = messaging.Message(
        token="abc:def",
        data={"id": "7"},
        notification=messaging.Notification("title", "body"),
        android=messaging.AndroidConfig(priority="high", ttl=60, collapse_key="k"),
        apns=messaging.APNSConfig(payload=messaging.APNSPayload(messaging.Aps(badge=1))),
    )
    assert messaging.send(message, app=app).startswith("projects/app-1/messages/")
    assert messaging.send(message, dry_run=True, app=app).endswith("/fake")
    assert [(taken.status, taken.is_validation) for taken in fcm.pushes] == [(200, False), (200, True)]
    assert fcm.pushes[0].message["data"] == {"id": "7"}


@pytest.mark.parametrize(
    ("scenario", "error"),
    [
        ("unregistered", messaging.UnregisteredError),
        ("mismatch", messaging.SenderIdMismatchError),
        ("third-party", messaging.ThirdPartyAuthError),
        ("quota", messaging.QuotaExceededError),
        ("invalid", exceptions.InvalidArgumentError),
        ("denied", exceptions.PermissionDeniedError),
    ],
)
def test_googles_client_understands_each_error(app: firebase_admin.App, scenario: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        messaging.send(messaging.Message(token=f"{scenario}:x"), app=app)


# Google's description


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"token": "x", "colour": "red"}, "message.colour"),
        ({"token": "x", "data": {"a": 1}}, "message.data.a"),
        ({"token": "x", "android": {"ttl": 60}}, "message.android.ttl"),
        ({"token": "x", "android": {"ttl": "60"}}, "message.android.ttl"),
        ({"token": "x", "android": {"priority": "urgent"}}, "message.android.priority"),
        (
            {"token": "x", "android": {"notification": {"body_loc_args": "x"}}},
            "message.android.notification.body_loc_args",
        ),
        ({"token": "x", "android": {"collapseKey": "a", "collapse_key": "b"}}, "message.android.collapse_key"),
        ({"token": "x", "android": {}, "androidV2": {}}, "message.android"),
        ({"token": "x", "apns": {"headers": {"apns-priority": 5}}}, "message.apns.headers.apns-priority"),
        ({"token": "x", "notification": "x"}, "message.notification"),
        ({"token": "x", "topic": "y"}, "message"),
        ({}, "message"),
        ({"token": "x", "name": "y"}, "message.name"),
    ],
)
def test_a_fault_is_found_where_it_is(message: dict[str, Any], path: str) -> None:
    with pytest.raises(discovery.Fault) as found:
        discovery.check_send({"message": message})
    assert found.value.path == path


def test_googles_description_knows_installation_ids() -> None:
    assert discovery.check_send({"message": {"fid": "x"}, "validateOnly": True}) == {"fid": "x"}


# The wire


def test_the_double_speaks_http_2(fcm: FCM, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=str(authority.file))
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection(("127.0.0.1", fcm.port), PATIENCE_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        assert secure.selected_alpn_protocol() == "h2"


# Ours


def camel(value: Any) -> Any:
    """The same message in one spelling. Keys of maps stay as they are."""
    if isinstance(value, list):
        return [camel(element) for element in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for name, member in value.items():
        spelled = re.sub("_([a-z])", lambda letter: letter[1].upper(), name)
        made[spelled] = member if name in ("data", "headers", "payload") else camel(member)
    if isinstance(made.get("priority"), str):
        made["priority"] = made["priority"].upper()
    return made


LEGACY = [
    (
        {"data": {"message": "Hallo, „Welt“ \U0001d11e"}},
        messaging.Message(token=HANDLE, data={"message": "Hallo, „Welt“ \U0001d11e"}),
    ),
    (
        {"notification": {"title": "t", "body": "b", "icon": "i", "click_action": "c", "android_channel_id": "d"}},
        messaging.Message(
            token=HANDLE,
            notification=messaging.Notification("t", "b"),
            android=messaging.AndroidConfig(
                notification=messaging.AndroidNotification(icon="i", click_action="c", channel_id="d")
            ),
        ),
    ),
    (
        {
            "priority": "high",
            "time_to_live": 60,
            "collapse_key": "k",
            "restricted_package_name": "p",
            "notification": {
                "title_loc_key": "k",
                "title_loc_args": ["a"],
                "tag": "t",
                "color": "#112233",
                "sound": "s",
            },
        },
        messaging.Message(
            token=HANDLE,
            android=messaging.AndroidConfig(
                priority="high",
                ttl=60,
                collapse_key="k",
                restricted_package_name="p",
                notification=messaging.AndroidNotification(
                    title_loc_key="k", title_loc_args=["a"], tag="t", color="#112233", sound="s"
                ),
            ),
        ),
    ),
    (
        {"content_available": True, "data": {"a": "b"}},
        messaging.Message(
            token=HANDLE,
            data={"a": "b"},
            apns=messaging.APNSConfig(
                headers={"apns-priority": "5"}, payload=messaging.APNSPayload(messaging.Aps(content_available=True))
            ),
        ),
    ),
]


@pytest.mark.parametrize(("legacy", "message"), LEGACY)
def test_a_legacy_body_becomes_what_googles_client_would_write(
    oracle: DriverOracle, legacy: dict[str, Any], message: messaging.Message
) -> None:
    told = oracle.ask(do="push", service="fcm", format="gcm", body=json.dumps(legacy), handle=HANDLE)
    sent = json.loads(told["request"]["body"])
    discovery.check_send(sent)
    assert camel(sent["message"]) == camel(messaging._MessagingService.encode_message(message))


@pytest.mark.parametrize(("handle", "target"), [(HANDLE, "token"), ("cAbCdEfGhIjKlMnOpQrStU", "fid")])
def test_ours_is_taken(oracle: DriverOracle, fcm: FCM, token: str, handle: str, target: str) -> None:
    body = {"message": {"data": {"id": "7"}, "android": {"collapse_key": "k", "ttl": "3.5s"}}}
    assert push(oracle, fcm, token, body, handle)["outcome"] == "Success"
    assert fcm.pushes[0].message == {target: handle, **body["message"]}


def test_ours_can_be_checked_without_a_device(oracle: DriverOracle, fcm: FCM, token: str) -> None:
    request = oracle.ask(do="validate", service="fcm", endpoint=fcm.origin)["request"]
    request["fields"]["Authorization"] = f"Bearer {token}"
    told = oracle.ask(do="judge", service="fcm", **oracle.carry(request))
    assert told["outcome"] == "Success"
    assert [taken.is_validation for taken in fcm.pushes] == [True]


@pytest.mark.parametrize(
    ("scenario", "outcome", "action"),
    [
        ("unregistered", "ExpiredChannel", "removeRegistration(goneSince: nil)"),
        ("mismatch", "WrongToken", f'doubtRegistration(reason: "{SHOWN_PROJECT}")'),
        ("invalid", "BadChannel", "removeRegistration(goneSince: nil)"),
        ("third-party", "InvalidCredentials", "settle"),
        ("quota", "Throttled", "retry(afterSeconds: Optional(60))"),
        ("device-quota", "ChannelThrottled", "retryDevice(afterSeconds: Optional(60))"),
        ("unavailable", "PnsUnavailable", "retry(afterSeconds: Optional(1))"),
        ("internal", "PnsServerError", "retry(afterSeconds: Optional(10))"),
        ("gateway", "PnsServerError", "settle"),
        ("expire", "InvalidCredentials", "renewCredential"),
    ],
)
def test_ours_understands_each_answer(
    oracle: DriverOracle, fcm: FCM, token: str, scenario: str, outcome: str, action: str
) -> None:
    told = push(oracle, fcm, token, {"message": {}}, f"{scenario}:x")
    assert (told["outcome"], told["action"]) == (outcome, action)


def test_ours_holds_what_no_device_is_to_blame_for(oracle: DriverOracle, fcm: FCM, token: str) -> None:
    denied = push(oracle, fcm, token, {"message": {}}, "denied:x")
    assert denied["action"].startswith('holdCredential(reason: "FCM does not let the credential send: Permission ')
    unknown = push(oracle, fcm, token, {"message": {}}, project="app-2")
    assert unknown["action"].startswith('holdCredential(reason: "FCM does not know the project: Requested entity')
    assert push(oracle, fcm, "wrong", {"message": {}})["action"] == "renewCredential"


@pytest.mark.parametrize(
    "body",
    [
        {"message": {"data": {"a": "x" * 4096}}},
        {"message": {"data": {"google.x": "y"}}},
        {"message": {"data": {"a": 5}}},
        {"message": {"token": "x"}},
        {"message": {"android": {}, "androidV2": {}}},
        {"message": []},
        "{",
    ],
)
def test_ours_refuses_what_the_double_would_refuse(oracle: DriverOracle, fcm: FCM, token: str, body: Any) -> None:
    assert push(oracle, fcm, token, body)["refusal"].startswith("InvalidNotification")
    assert fcm.pushes == []
