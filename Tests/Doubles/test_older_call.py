# SPDX-License-Identifier: Apache-2.0
"""Devices of the older call: the built-in hub fills in their templates, and the doubles take what comes of it."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from apns_process import APNsProcess
from backend import Backend
from fcm import FCM
from wns import WNS

TEXT = 'the code is "4711" & <secret>'
SECURE = "A secure message is waiting. Open the app to read it."
APPLE, GOOGLE = "AB" * 32, "taken:device-1"


def windows(wns: WNS) -> str:
    return wns.channel("store").replace(wns.origin, "https://db5p.notify.windows.com")


def install(backend: Backend, platform: str, name: str, handle: str) -> None:
    member = "channelUri" if platform == "windows" else "deviceToken"
    body = {"platform": platform, "instId": name, member: handle}
    backend.json("POST", "/api/register", body=body)


def test_a_message_and_a_secure_one_reach_them_on_three_platforms(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, fcm: FCM, wns: WNS
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        install(backend, "ios", "phone", APPLE)
        install(backend, "android", "tablet", GOOGLE)
        install(backend, "windows", "laptop", windows(wns))

        for pns in ("apns", "fcm", "wns"):
            send = backend.json("POST", "/api/notifications", f"pns={pns}&to_tag=alice", TEXT, user="bob")
            assert backend.outcome(send, "template", of=pns) == {"Success": 1}
        shown = f"From bob: {TEXT}"
        to_apple = json.loads(apns.events("push")[0]["body"])
        assert to_apple["aps"]["alert"] == to_apple["inAppMessage"] == shown
        assert fcm.pushes[0].message["data"] == {"message": shown, "secureId": "", "secureToken": ""}
        assert ElementTree.fromstring(wns.pushes[0].body).findtext(".//text") == shown

        secure = backend.json("POST", "/api/notifications", "to_tag=alice", TEXT, user="bob")
        name = str(secure["Id"])
        for pns in ("apns", "fcm", "wns"):
            assert backend.outcome(secure, "template", of=pns) == {"Success": 1}
        # One each, and no native one beside it.
        assert [len(apns.events("push")), len(fcm.pushes), len(wns.pushes)] == [2, 2, 2]
        to_apple, to_google = json.loads(apns.events("push")[1]["body"]), fcm.pushes[1].message["data"]
        assert to_apple["aps"]["alert"] == to_google["message"] == SECURE
        assert to_apple["secureId"] == to_google["secureId"] == name
        toast = ElementTree.fromstring(wns.pushes[1].body)
        assert toast.findtext(".//text") == SECURE and toast.get("launch") == name
        token = to_google["secureToken"]
        assert backend.json("GET", f"/api/notifications/{token}")["Payload"] == TEXT


def test_a_device_of_the_older_call_that_its_service_calls_gone_is_not_tried_again(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        install(backend, "android", "tablet", "unregistered:device-2")
        send = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        assert backend.outcome(send, "template", of="fcm") == {"ExpiredChannel": 1}
        again = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        assert backend.one(again, "fcm")["State"] == "NoTargetFound"
        assert len(fcm.pushes) == 1
