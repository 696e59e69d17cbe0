# SPDX-License-Identifier: Apache-2.0
"""The whole way: a running responder sends users' messages for later to a push service when their time has come."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from backend import Backend
from deadline import wait_until
from fcm import FCM

DEVICE = "taken:device-1"
TEXT = "the launch code is 4711"


def at(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def schedule(backend: Backend, time: str, **members: Any) -> str:
    message = {"To": "alice", "Body": TEXT, "Platforms": ["fcm"], "SendAt": time} | members
    name: str = backend.json("POST", "/api/notifications", body=message, user="bob")["MessageId"]
    return name


def state(backend: Backend, name: str) -> str | None:
    """Of the message's one platform; None before its time."""
    answer = backend.call("GET", f"/api/notifications/{name}/timeline", user="bob")
    if answer.status == 404:
        return None
    (outcome,) = backend.json("GET", f"/api/notifications/{name}/timeline", user="bob")["Outcomes"]
    return str(outcome["State"])


def test_a_message_reaches_the_device_at_its_time_and_not_before(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups | {"inbox": {"plainDays": 1}}) as backend:
        backend.register("fcm", DEVICE)
        time = at(10)
        name, other = schedule(backend, time), schedule(backend, at(3600))
        wait_until(lambda: state(backend, name) == "Completed", "the push")
        assert at(0) >= time
        (entry,) = backend.json("GET", "/api/inbox")["Messages"]
        assert entry["SentAt"] >= time and entry["Body"] == TEXT
        assert [one["MessageId"] for one in backend.json("GET", "/api/notifications/scheduled", user="bob")] == [other]
        assert backend.call("DELETE", f"/api/notifications/scheduled/{other}", user="bob").status == 200
        assert len(fcm.pushes) == 1
    assert TEXT not in backend.log


def test_what_waits_outlives_a_kill_and_a_reload_and_is_sent_once(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    configuration = groups | {"inbox": {"plainDays": 1}}
    with Backend(program, tmp_path, configuration) as backend:
        backend.register("fcm", DEVICE)
        late, early = schedule(backend, at(14), Secure=True), schedule(backend, at(12))
        backend.kill()
        backend.await_end()
    with Backend(program, tmp_path, configuration) as backend:
        backend.reload(configuration)
        wait_until(lambda: state(backend, early) == state(backend, late) == "Completed", "both pushes")
        assert len(backend.json("GET", "/api/inbox")["Messages"]) == 2 and len(fcm.pushes) == 2
        # No text of a secure message has left.
        assert sum(TEXT in str(push.message) for push in fcm.pushes) == 1
    assert TEXT not in backend.log
