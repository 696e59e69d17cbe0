# SPDX-License-Identifier: Apache-2.0
"""What sender and operator learn of a credential that is refused, cannot be had, or ends."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from backend import Backend
from certificates import Authority
from cryptography import x509
from deadline import PATIENCE_SECONDS, wait_until
from fcm import FCM
from serving import Answer
from test_backend import APPLE, GOOGLE, REFUSED


def run(program: Path, backend: Backend, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the operator's, on the responder's configuration."""
    command = [program, *arguments, "--config", backend.file]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_a_message_that_waits_for_a_credential_says_so_to_sender_and_operator(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    groups["apns"]["teamId"] = "WRONG12345"
    with Backend(program, tmp_path, groups) as backend:
        backend.register("apns", APPLE)
        send = backend.json("POST", "/api/notifications", "pns=apns&to_tag=alice", "hello", user="bob")
        name = backend.one(send, "apns")["NotificationId"]
        path = f"/api/notifications/outcomes/{name}"
        wait_until(lambda: backend.json("GET", path, user="bob").get("WaitsFor") == "credential", "the wait")
        assert REFUSED not in json.dumps(backend.json("GET", path, user="bob"))
        told = run(program, backend, "outcome", name)
        assert told.returncode == 4 and f"waits, and is given up after 30 minutes: {REFUSED}" in told.stderr
        # One that came when the credential was refused already.
        told = run(program, backend, "send", "--to", "alice", "--pns", "apns", "--timeout", "10", "--json", "hello")
        assert told.returncode == 4 and "apns: the message waits, and is given up" in told.stderr
        assert json.loads(told.stdout)["Outcomes"][0]["WaitsFor"] == "credential"
        [waiting] = backend.json("GET", "/health")["waiting"]
        assert waiting["channel"] == "apns" and waiting["reason"] == REFUSED and waiting["cause"] == "credential"


def test_a_push_service_and_a_token_service_whose_issuer_is_not_trusted_are_said_with_a_cure(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    ca = groups["apns"].pop("caFile")
    del groups["fcm"]["caFile"]
    untrusted = "is not trusted: its certificate has an issuer that this host does not trust; install ca-certificates"
    with Backend(program, tmp_path, groups) as backend:
        backend.register_all([("apns", APPLE), ("fcm", GOOGLE)])
        sent = {}
        for platform in ("apns", "fcm"):
            send = backend.json("POST", "/api/notifications", f"pns={platform}&to_tag=alice", "hello", user="bob")
            sent[platform] = backend.one(send, platform)["NotificationId"]
        causes = {"apns": ("connection", "the push service"), "fcm": ("token", "the token service")}
        wait_until(lambda: len(backend.json("GET", "/health")["waiting"]) == len(causes), "both wait")
        for waiting in backend.json("GET", "/health")["waiting"]:
            cause, service = causes[waiting["channel"]]
            assert waiting["cause"] == cause and waiting["reason"].startswith(f"{service} {untrusted}")
        for platform, name in sent.items():
            why = f"{causes[platform][1]} {untrusted}"
            wait_until(lambda: why in run(program, backend, "outcome", name).stderr, "the outcome says why")
        findings = [one for one in backend.doctor()["push"]["findings"] if one["verdict"] == "wrong"]
        assert len(findings) == 4 and all(untrusted in one["found"] for one in findings)
        assert not any("restart" in one["fix"] for one in findings)
        assert [name in findings[2 + index]["fix"] for index, name in enumerate(("apns.caFile", "fcm.caFile"))] == [True] * 2
        groups["apns"]["caFile"] = groups["fcm"]["caFile"] = ca
        backend.reload(groups)
        for platform, name in sent.items():
            path = f"/api/notifications/outcomes/{name}"
            wait_until(lambda: backend.json("GET", path, user="bob")["State"] == "Completed", platform)
        assert backend.json("GET", "/health")["waiting"] == []


def test_a_token_service_that_is_out_of_order_is_said_and_its_messages_arrive_later(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    fcm.tokens.failure = Answer(503)
    reason = "the token service is out of order (HTTP 503)"
    with Backend(program, tmp_path, groups) as backend:
        backend.register("fcm", GOOGLE)
        send = backend.json("POST", "/api/notifications", "pns=fcm&to_tag=alice", "hello", user="bob")
        wait_until(lambda: f"no access token for fcm: {reason}" in backend.log, "the log line")
        metrics = backend.call("GET", "/metrics").body.decode()
        assert 'app_backend_push_credential_unavailable{channel="fcm"} 1' in metrics
        assert 'app_backend_push_credential_held{channel="fcm"} 0' in metrics
        findings = [one["found"] for one in backend.doctor()["push"]["findings"] if one["verdict"] == "wrong"]
        assert findings[1:] == [f"fcm: the push service cannot be reached: {reason}"] and reason in findings[0]
        fcm.tokens.failure = None
        assert backend.outcome(send, "fcm") == {"Success": 1}
        wait_until(lambda: "there is an access token for fcm again" in backend.log, "the second log line")
        assert backend.log.count("access token for fcm") == 2
        assert backend.json("GET", "/health")["waiting"] == []


def test_a_certificate_that_ends_soon_and_a_secret_that_has_ended_are_said(
    program: Path, tmp_path: Path, groups: dict[str, Any], authority: Authority
) -> None:
    made = authority.issue("client")
    both = tmp_path / "client.pem"
    both.touch(mode=0o600)
    both.write_text(made.chain.read_text() + made.key.read_text())
    end = x509.load_pem_x509_certificate(both.read_bytes()).not_valid_after_utc
    groups["apns"] = {"certificateFile": str(both), "topic": "com.example.app", "caFile": str(authority.file)}
    groups["wns"]["secretExpires"] = "2020-01-31"
    with Backend(program, tmp_path, groups) as backend:
        metrics = backend.call("GET", "/metrics").body.decode()
        name = "app_backend_push_credential_expiry_timestamp_seconds"
        assert f'{name}{{channel="apns"}} {int(end.timestamp())}' in metrics
        assert f'{name}{{channel="wns"}} 1580428800' in metrics and f'{name}{{channel="fcm"}}' not in metrics
        assert "wns.secret: has ended on 2020-01-31, and must be renewed" in backend.log
        # In the second in which it was issued two whole days are left, later one.
        assert re.search(f"apns.certificateFile: ends on {end:%Y-%m-%d}, in [12] days; renew it", backend.log)
        told = run(program, backend, "check")
        assert told.returncode == 1 and "wns.secret: has ended on 2020-01-31" in told.stderr
