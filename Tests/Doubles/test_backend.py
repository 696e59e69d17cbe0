# SPDX-License-Identifier: Apache-2.0
"""The whole way: a responder, asked as a web server asks it, delivers by libcurl to the doubles of three push services."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import gateway
import pytest
from certificates import Authority
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fcm import FCM
from wns import WNS

# For what comes within a second on a quiet machine.
PATIENCE_SECONDS = 90
LOOK_SECONDS = 0.05
TOPIC = "com.example.app"
KEY_ID, TEAM_ID = "ABC123DEFG", "DEF123GHIJ"
TEXT = "the launch code is 4711"
REFUSED = "APNs refuses the provider token: check key file, key id and team id"

Found = TypeVar("Found")


def wait_for(look: Callable[[], Found | None], what: str) -> Found:
    """The first of what `look` returns that is not empty."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < end, f"{what} did not come in {PATIENCE_SECONDS} s"
        time.sleep(LOOK_SECONDS)
    return found


class APNs:
    """The double of APNs, a process of its own, while the `with` block lasts."""

    def __init__(self, authority: Authority, folder: Path, python: str):
        key = ec.generate_private_key(ec.SECP256R1())
        self.key_file = folder / "AuthKey.p8"
        self.key_file.touch(mode=0o600)
        self.key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        certificate = authority.issue("apns")
        settings = {
            "certificate": str(certificate.chain), "privateKey": str(certificate.key), "environment": "production",
            "topics": [TOPIC], "keys": {KEY_ID: {"team": TEAM_ID, "public": public.decode(), "environment": "production"}},
        }
        self._settings, self._journal = folder / "apns.json", folder / "apns.journal"
        self._settings.write_text(json.dumps(settings))
        self._python = python

    def __enter__(self) -> Self:
        script = Path(__file__).with_name("apns.py")
        self._process = subprocess.Popen([self._python, script, self._settings, self._journal])
        event = wait_for(lambda: self.events("listening"), "APNs' double")[0]
        self.origin = f"https://localhost:{event['port']}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()

    def events(self, kind: str) -> list[dict[str, Any]]:
        if not self._journal.exists():
            return []
        # The last line may be half written.
        whole = self._journal.read_text().rpartition("\n")[0].splitlines()
        return [event for event in map(json.loads, whole) if event["event"] == kind]


class Backend:
    """A responder with the built-in hub, while the `with` block lasts."""

    def __init__(self, program: Path, folder: Path, configuration: dict[str, Any]):
        self._program, self._socket = program, folder / "socket"
        self.file, self._log = folder / "app-backend.json", folder / "log"
        self.file.touch(mode=0o600)
        own = {"store": {"path": str(folder / "store")}, "listen": str(self._socket), "auth": {"method": "test"}}
        self.file.write_text(json.dumps(own | configuration))

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            command = [self._program, "serve", "--config", self.file]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        wait_for(self._is_there, "the responder")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text()

    def _is_there(self) -> bool:
        assert self._process.poll() is None, self.log
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

        details = wait_for(ended, f"the end of the notification to {platform}")
        return next(one["Counts"] for one in details["Outcomes"] if one["Platform"] == platform)

    def doctor(self) -> dict[str, Any]:
        command = [self._program, "doctor", "--json", "--socket", self._socket, "--config", self.file]
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        return {step["step"]: step for step in json.loads(told.stdout)["steps"]}


@pytest.fixture(scope="session")
def program(oracle_program: Path) -> Path:
    return oracle_program.with_name("app-backend")


@pytest.fixture
def apns(authority: Authority, tmp_path: Path) -> Iterator[APNs]:
    with APNs(authority, tmp_path, sys.executable) as double:
        yield double


@pytest.fixture
def groups(apns: APNs, fcm: FCM, wns: WNS, authority: Authority, tmp_path: Path) -> dict[str, Any]:
    """The three groups of a configuration."""
    files = fcm.tokens.write_files(tmp_path)
    ca = str(authority.file)
    return {
        "apns": {
            "keyFile": str(apns.key_file), "keyId": KEY_ID, "teamId": TEAM_ID, "topic": TOPIC, "endpoint": apns.origin,
            "caFile": ca,
        },
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
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNs, fcm: FCM, wns: WNS
) -> None:
    with Backend(program, tmp_path, groups | {"secure": {"form": "alert"}}) as backend:
        platforms = backend.json("GET", "/api/config")["Platforms"]
        assert [one["Name"] for one in platforms if one["Delivers"]] == ["apns", "fcm", "wns"]
        for platform, handle in (("apns", APPLE), ("fcm", GOOGLE), ("wns", windows(wns))):
            backend.register(platform, handle)
        send = backend.json("POST", "/api/notifications", "to_tag=alice", TEXT, user="bob")
        to_apple = wait_for(lambda: apns.events("push"), "the push to Apple's device")[0]
        to_google = wait_for(lambda: fcm.pushes, "the push to Google's device")[0]
        to_windows = wait_for(lambda: wns.pushes, "the push to Microsoft's device")[0]
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
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNs, wns: WNS
) -> None:
    groups["apns"]["teamId"] = "WRONG12345"
    with Backend(program, tmp_path, groups) as backend:
        backend.register("apns", APPLE)
        backend.register("wns", windows(wns))
        send = backend.json("POST", "/api/notifications", "to_tag=alice", TEXT, user="bob")
        assert backend.outcome(send, "wns") == {"Success": 1}
        wait_for(lambda: f"the service refuses the credential of apns: {REFUSED}" in backend.log, "the log line")
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
