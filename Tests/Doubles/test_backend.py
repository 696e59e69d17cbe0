# SPDX-License-Identifier: Apache-2.0
"""The whole way: a responder, asked as a web server asks it, delivers by libcurl to the doubles of three push services."""

import json
import re
from pathlib import Path
from typing import Any

import jwt
from apns_process import KEY_ID, TEAM_ID, APNsProcess
from backend import Backend
from deadline import wait_until
from fcm import FCM
from joserfc import jwt as other_jwt
from joserfc.jwk import ECKey
from wns import TOGETHER, WNS

TEXT = "the launch code is 4711"
PUSH_SECONDS = 120
REFUSED = "APNs refuses the provider token: check key file, key id and team id"
APPLE, GOOGLE = "AB" * 32, "taken:device-1"


def windows(wns: WNS, scenario: str = "taken", name: str = "1") -> str:
    """A channel as Microsoft gives it out; `wns.endpoint` leads to the double."""
    return wns.channel("store", scenario, name).replace(wns.origin, "https://db5p.notify.windows.com")


def test_a_secure_push_reaches_three_platforms_and_carries_neither_sender_nor_text(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, fcm: FCM, wns: WNS
) -> None:
    with Backend(program, tmp_path, groups | {"secure": {"form": "alert"}}) as backend:
        platforms = backend.json("GET", "/api/config")["Platforms"]
        assert [one["Name"] for one in platforms if one["Delivers"]] == ["apns", "fcm", "wns"]
        for platform, handle in (("apns", APPLE), ("fcm", GOOGLE), ("wns", windows(wns))):
            backend.register(platform, handle)
        send = backend.json("POST", "/api/notifications", "to_tag=alice", TEXT, user="bob")
        to_apple = wait_until(lambda: apns.events("push"), "the push to Apple's device")[0]
        to_google = wait_until(lambda: fcm.pushes, "the push to Google's device")[0]
        to_windows = wait_until(lambda: wns.pushes, "the push to Microsoft's device")[0]
        for platform in ("apns", "fcm", "wns"):
            assert backend.outcome(send, platform) == {"Success": 1}
        secret = str(send["Id"])
        everything = json.dumps(to_apple) + json.dumps(to_google.message) + to_windows.body.decode()
        assert TEXT not in everything and not re.search(r"\bbob\b", everything)
        assert to_google.message["data"]["secureId"] == secret and to_windows.body.decode() == secret
        assert backend.json("GET", f"/api/notifications/{secret}")["Payload"] == TEXT


def test_two_verifiers_take_the_token_that_apple_gets(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        backend.register("apns", APPLE)
        backend.json("POST", "/api/notifications", "pns=apns&to_tag=alice", TEXT, user="bob")
        push = wait_until(lambda: apns.events("push"), "the push to Apple's device")[0]
    scheme, _, token = push["token"].partition(" ")
    assert scheme == "bearer" and jwt.get_unverified_header(token) == {"alg": "ES256", "kid": KEY_ID}
    # Both take the signature as RFC 7518 has it, and none in DER.
    claims = jwt.decode(token, apns.public, algorithms=["ES256"])
    assert set(claims) == {"iss", "iat"} and claims["iss"] == TEAM_ID and type(claims["iat"]) is int
    assert other_jwt.decode(token, ECKey.import_key(apns.public), algorithms=["ES256"]).claims == claims


def test_a_device_that_its_service_calls_gone_is_not_tried_again(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        backend.register("fcm", "unregistered:device-2")
        first = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        assert backend.outcome(first, "fcm") == {"ExpiredChannel": 1}
        again = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        assert backend.one(again, "fcm")["State"] == "NoTargetFound"
        assert len(fcm.pushes) == 1


def test_many_pushes_are_at_windows_service_at_once_though_a_connection_carries_one(
    program: Path, tmp_path: Path, groups: dict[str, Any], wns: WNS
) -> None:
    # As long as the double has patience with the last of them, on a machine that is busy.
    groups["wns"]["timeout"] = PUSH_SECONDS
    with Backend(program, tmp_path, groups) as backend:
        for number in range(TOGETHER):
            backend.register("wns", windows(wns, "together", str(number)))
        send = backend.json("POST", "/api/notifications", "pns=wns&to_tag=alice", "hello", user="bob")
        assert backend.outcome(send, "wns") == {"Success": TOGETHER}
        assert [push.status for push in wns.pushes] == [200] * TOGETHER


def test_a_push_whose_token_has_ended_is_sent_once_more_with_a_new_one(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        backend.register("fcm", "expire:device-3")
        send = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        assert backend.outcome(send, "fcm") == {"Success": 1}
        assert [push.status for push in fcm.pushes] == [401, 200]


def test_a_credential_that_is_refused_holds_its_platform_alone_and_is_said(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, wns: WNS
) -> None:
    groups["apns"]["teamId"] = "WRONG12345"
    with Backend(program, tmp_path, groups) as backend:
        backend.register("apns", APPLE)
        backend.register("wns", windows(wns))
        send = backend.json("POST", "/api/notifications", "to_tag=alice", TEXT, user="bob")
        assert backend.outcome(send, "wns") == {"Success": 1}
        wait_until(lambda: f"the service refuses the credential of apns: {REFUSED}" in backend.log, "the log line")
        metrics = backend.call("GET", "/metrics").body.decode()
        assert 'app_backend_push_credential_held{channel="apns"} 1' in metrics
        assert 'app_backend_push_credential_held{channel="wns"} 0' in metrics
        findings = [one["found"] for one in backend.doctor()["push"]["findings"] if one["verdict"] == "wrong"]
        # What the service has met, and what the doctor's own question has.
        assert [REFUSED in found for found in findings] == [True, True]
        assert "the messages of the running service wait" in findings[0]


def test_the_doctor_shows_each_credential_to_its_service_and_reaches_no_device(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        push = backend.doctor()["push"]
        accepted = [finding["found"] for finding in push["findings"] if finding["verdict"] == "ok"]
        assert [text.partition(":")[0] for text in accepted] == ["apns", "fcm", "wns"]
        assert all(push.is_validation for push in fcm.pushes)


def test_each_project_reaches_its_own_devices_while_projects_come_and_go(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM, other_project: FCM
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    first = groups["fcm"]
    files = other_project.tokens.write_files(folder)
    second = first | {"credentialFile": files["credentialFile"], "endpoint": other_project.origin}
    both = {"fcm": [first, second]}
    with Backend(program, tmp_path, {"fcm": first}) as backend:

        def sent(double: FCM) -> list[str]:
            return [push.message["token"] for push in double.pushes if not push.is_validation]

        def send() -> dict[str, int]:
            return backend.outcome(
                backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob"), "fcm"
            )

        backend.register("fcm", "taken:device-1")
        unknown = backend.call("PUT", "/api/register/1-1-1", body={"Platform": "fcm", "Handle": "x", "App": "app-2"})
        assert unknown.status == 400 and json.loads(unknown.body)["field"] == "App"
        backend.reload(both)
        backend.register("fcm", "taken:device-2", App="app-2")
        assert send() == {"Success": 2}
        assert sent(fcm) == ["taken:device-1"] and sent(other_project) == ["taken:device-2"]
        accepted = [finding["found"] for finding in backend.doctor()["push"]["findings"] if finding["verdict"] == "ok"]
        assert [text.partition(":")[0] for text in accepted] == ["fcm app-1", "fcm app-2"]

        backend.reload({"fcm": first})
        assert send() == {"Success": 1, "Skipped": 1}
        assert "push: nothing is sent to devices of fcm of the app app-2, which has no credential here" in backend.log
        backend.reload(both)
        assert send() == {"Success": 2}
        assert sent(fcm) == ["taken:device-1"] * 3 and sent(other_project) == ["taken:device-2"] * 2
        apps = {device.get("App") for device in backend.json("GET", "/api/register")}
        assert apps == {None, "app-2"}
