# SPDX-License-Identifier: Apache-2.0
"""The whole way: a responder, asked as a web server asks it, delivers by libcurl to the doubles of three push services."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import gateway
import pytest
from apns_process import APNsProcess
from certificates import Authority
from child import Child
from deadline import PATIENCE_SECONDS, wait_until
from fcm import FCM
from wns import WNS

TEXT = "the launch code is 4711"
REFUSED = "APNs refuses the provider token: check key file, key id and team id"


class Backend:
    """A responder with the built-in hub, while the `with` block lasts."""

    def __init__(self, program: Path, folder: Path, configuration: dict[str, Any]):
        self._program, self._socket = program, folder / "socket"
        self.file, self._log = folder / "app-backend.json", folder / "log"
        self.file.touch(mode=0o600)
        own = {"store": {"path": str(folder / "store")}, "listen": str(self._socket), "auth": {"method": "test"}}
        self.file.write_text(json.dumps(own | configuration))

    def __enter__(self) -> Self:
        self._child = Child([str(self._program), "serve", "--config", str(self.file)], self._log)
        wait_until(self._is_there, "the responder answers")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.stop()

    @property
    def log(self) -> str:
        return self._child.output

    def _is_there(self) -> bool:
        assert self._child.exit_status is None, self.log
        try:
            return self.call("GET", "/api/config").status == 200
        except OSError:
            return False

    def call(self, method: str, path: str, query: str = "", body: object = None, user: str = "alice") -> gateway.Answer:
        content = b"" if body is None else json.dumps(body).encode()
        return gateway.ask(
            self._socket,
            {
                "REQUEST_METHOD": method, "REQUEST_URI": path + (f"?{query}" if query else ""), "QUERY_STRING": query,
                "REQUEST_SCHEME": "https", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost",
                "REMOTE_ADDR": "127.0.0.1", "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(content)),
                "HTTP_AUTHORIZATION": "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode(),
            },
            content,
        )

    def json(self, method: str, path: str, query: str = "", body: object = None, user: str = "alice") -> Any:
        answer = self.call(method, path, query, body, user)
        assert answer.status == 200, (method, path, answer)
        return json.loads(answer.body or b"null")

    def register(self, platform: str, handle: str, user: str = "alice") -> None:
        name = self.json("POST", "/api/register", user=user)
        self.json("PUT", f"/api/register/{name}", body={"Platform": platform, "Handle": handle, "Tags": []}, user=user)

    @staticmethod
    def one(send: dict[str, Any], platform: str) -> dict[str, Any]:
        return next(one for one in send["Outcomes"] if one["Platform"] == platform)

    def outcome(self, send: dict[str, Any], platform: str) -> dict[str, int]:
        """How many devices of the platform had which outcome, when nothing more is to come."""
        name = self.one(send, platform)["NotificationId"]

        def ended() -> dict[str, Any] | None:
            details = self.json("GET", f"/api/notifications/outcomes/{name}", user="bob")
            return details if details["State"] == "Completed" else None

        details = wait_until(ended, f"the end of the notification to {platform}")
        return next(one["Counts"] for one in details["Outcomes"] if one["Platform"] == platform)

    def doctor(self) -> dict[str, Any]:
        command = [self._program, "doctor", "--json", "--socket", self._socket, "--config", self.file]
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        return {step["step"]: step for step in json.loads(told.stdout)["steps"]}


@pytest.fixture(scope="session")
def program(oracle_program: Path) -> Path:
    return oracle_program.with_name("app-backend")


@pytest.fixture
def apns(authority: Authority, tmp_path: Path) -> Iterator[APNsProcess]:
    with APNsProcess(authority, tmp_path) as double:
        yield double


@pytest.fixture
def groups(apns: APNsProcess, fcm: FCM, wns: WNS, authority: Authority, tmp_path: Path) -> dict[str, Any]:
    """The three groups of a configuration."""
    files = fcm.tokens.write_files(tmp_path)
    ca = str(authority.file)
    return {
        "apns": apns.group,
        "fcm": {"credentialFile": files["credentialFile"], "endpoint": fcm.origin, "caFile": ca},
        "wns": {
            "packageSid": wns.tokens.package_sid, "secret": wns.tokens.secret,
            "tokenEndpoint": f"{wns.origin}/accesstoken.srf", "endpoint": wns.origin, "caFile": ca,
        },
    }


APPLE, GOOGLE = "AB" * 32, "taken:device-1"


def windows(wns: WNS) -> str:
    """A channel as Microsoft gives it out; `wns.endpoint` leads to the double."""
    return wns.channel("store").replace(wns.origin, "https://db5p.notify.windows.com")


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
        assert TEXT not in everything and "bob" not in everything
        assert to_google.message["data"]["secureId"] == secret and to_windows.body.decode() == secret
        assert backend.json("GET", f"/api/notifications/{secret}")["Payload"] == TEXT


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
        push = backend.doctor()["push"]
        assert any(
            finding["verdict"] == "wrong" and REFUSED in finding["found"] for finding in push["findings"]
        )


def test_the_doctor_shows_each_credential_to_its_service_and_reaches_no_device(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        push = backend.doctor()["push"]
        accepted = [finding["found"] for finding in push["findings"] if finding["verdict"] == "ok"]
        assert [text.partition(":")[0] for text in accepted] == ["apns", "fcm", "wns"]
        assert all(push.is_validation for push in fcm.pushes)
