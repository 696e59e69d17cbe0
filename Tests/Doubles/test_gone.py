# SPDX-License-Identifier: Apache-2.0
"""What the hub or a push service removes, the user's list knows: through the whole responder, and its commands."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backend import Backend
from deadline import wait_until
from test_trouble import send

GONE = "unregistered:device-1"
LIVE = "taken:device-2"


@pytest.fixture
def backend(program: Path, tmp_path: Path, groups: dict[str, Any]) -> Iterator[Backend]:
    with Backend(program, tmp_path, groups) as running:
        running.command("user", "add", "alice", text="alice-secret\n")
        yield running


def devices(backend: Backend) -> dict[str, dict[str, Any]]:
    return {one["RegistrationId"]: one for one in backend.json("GET", "/api/register")}


def test_a_device_that_its_push_service_calls_gone_is_gone_in_every_list(backend: Backend) -> None:
    backend.register("fcm", GONE)
    (gone,) = devices(backend)
    backend.register("fcm", LIVE)
    assert backend.outcome(send(backend, "fcm"), "fcm") == {"ExpiredChannel": 1, "Success": 1}
    wait_until(lambda: "Gone" in devices(backend)[gone], "the mark")

    told = devices(backend)[gone]["Gone"]
    assert told["Reason"] == "ExpiredChannel" and told["At"].endswith("Z")
    assert [name for name, one in devices(backend).items() if "Gone" in one] == [gone]
    listed = {one["id"]: one.get("gone") for one in json.loads(backend.command("device", "list", "alice", "--json"))}
    expected = dict.fromkeys(listed) | {gone: {"at": told["At"], "reason": "ExpiredChannel"}}
    assert listed == expected and len(listed) == 2
    words = f"(gone since {told['At']}: ExpiredChannel)"
    assert backend.command("device", "list", "alice").count(words) == 1
    shown = backend.command("user", "show", "alice")
    assert "devices: 1, and 1 gone\n" in shown and shown.count(words) == 1

    # The app comes again, with an id that it is given for its handle.
    assert backend.json("POST", "/api/register", f"handle={GONE}") == gone
    backend.json("PUT", f"/api/register/{gone}", body={"Platform": "fcm", "Handle": GONE, "Tags": []})
    assert len(devices(backend)) == 2 and all("Gone" not in one for one in devices(backend).values())


def test_the_last_message_that_a_device_did_not_get_is_named_at_the_device(backend: Backend) -> None:
    backend.register("fcm", LIVE)
    (live,) = devices(backend)
    backend.register("fcm", "mismatch:device-3")
    (other,) = devices(backend).keys() - {live}
    message = {"To": "alice", "Body": "hello", "Platforms": ["fcm"]}
    sent = backend.json("POST", "/api/notifications", body=message, user="bob")
    counts = backend.outcome(sent, "fcm")
    (outcome,) = counts.keys() - {"Success"}
    assert counts == {"Success": 1, outcome: 1}
    (told,) = json.loads(backend.command("message", "list", "--with", "alice", "--json"))
    failure = {"at": told["sentAt"], "outcome": outcome}
    listed = {one["id"]: one.get("lastFailure") for one in json.loads(backend.command("device", "list", "alice", "--json"))}
    assert listed == {live: None, other: failure}
    assert f"(last failure at {told['sentAt']}: {outcome})" in backend.command("user", "show", "alice")
