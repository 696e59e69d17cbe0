# SPDX-License-Identifier: Apache-2.0
"""`app-backend apns channel`: broadcast channels of APNs' double are made, listed, sent to and deleted."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apns_process import TOPIC, APNsProcess
from deadline import PATIENCE_SECONDS

UPDATE = {"aps": {"event": "update", "timestamp": 1_800_000_000, "content-state": {"score": 2}}}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def app(apns: APNsProcess) -> dict[str, Any]:
    """The group of the configuration."""
    return dict(apns.group)


@pytest.fixture
def run(program: Path, tmp_path: Path, app: dict[str, Any]) -> Run:
    """Runs the command with what `app` says then."""
    file = tmp_path / "app-backend.json"
    file.touch(mode=0o600)

    def run_it(
        command: str, *arguments: str, text: str = "", endpoint: str = app["endpoint"]
    ) -> subprocess.CompletedProcess[str]:
        file.write_text(json.dumps({"store": {"path": str(tmp_path / "store")}, "apns": app}))
        words = [program, "apns", "channel", command, "--config", file, "--endpoint", endpoint, *arguments]
        return subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )

    return run_it


def create(run: Run, *arguments: str) -> str:
    made = run("create", *arguments)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def test_a_channel_is_made_listed_and_deleted(run: Run) -> None:
    assert run("list").stdout == ""
    names = [create(run), create(run, "--keep-newest")]
    assert run("list").stdout.split() == names
    assert run("delete", names[0]).returncode == 0
    assert run("list").stdout.split() == names[1:]


def test_a_notification_goes_to_the_channel_under_the_rules_of_what_it_stores(run: Run, apns: APNsProcess) -> None:
    keeping, passing = create(run, "--keep-newest"), create(run)
    text = json.dumps(UPDATE)
    sent = run("send", "--priority", "5", "--expiration", "1900000000", keeping, "-", text=text)
    assert sent.returncode == 0, sent.stderr
    # What is stored nowhere has no end.
    late = run("send", "--expiration", "1900000000", passing, "-", text=text)
    assert late.returncode == 1 and "apns-expiration: must be 0 for a channel that stores nothing" in late.stderr
    assert run("send", passing, "-", text=text).returncode == 0
    sends = [event for event in apns.events("broadcast") if event["path"].startswith("/4/")]
    assert [(send["channel"], send["status"]) for send in sends] == [(keeping, 200), (passing, 200)]
    assert [json.loads(send["body"]) for send in sends] == [UPDATE, UPDATE]
    assert not apns.events("push")


def test_what_apns_refuses_is_said_by_its_word_and_never_with_the_token(run: Run, app: dict[str, Any]) -> None:
    unknown = run("delete", "bm8tc3VjaC1jaGFubmVs")
    assert unknown.returncode == 1 and "it answers 400, ChannelNotRegistered" in unknown.stderr
    malformed = run("send", "not base64", "-", text=json.dumps(UPDATE))
    assert malformed.returncode == 1 and "a channel id is base64" in malformed.stderr
    alert = run("send", create(run), "-", text='{"aps":{"alert":"hello"}}')
    assert alert.returncode == 1 and "apns-push-type: a broadcast is a Live Activity's" in alert.stderr
    for _ in range(2):
        create(run)
    assert "CannotCreateChannelConfig" in run("create").stderr
    app["teamId"] = "WRONG12345"
    refused = run("list")
    assert refused.returncode == 1 and "InvalidProviderToken" in refused.stderr and "eyJ" not in refused.stderr


def test_an_app_is_chosen_where_several_are_configured(run: Run) -> None:
    assert "No such app is configured under apns." in run("list", "--topic", "com.example.other").stderr
    assert run("list", "--topic", TOPIC, "--environment", "production").returncode == 0
    assert "--endpoint must be https://" in run("list", endpoint="http://localhost").stderr
