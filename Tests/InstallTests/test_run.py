# SPDX-License-Identifier: Apache-2.0
"""script/run for the local network: what a telephone meets, and what it does not."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installed_site import expect
from product import CHECKOUT
from trial import ADDRESS, Trial

COMMAND_SECONDS = 180


@pytest.fixture(scope="module")
def trial(program: Path, folder: Path) -> Iterator[Trial]:
    with Trial(program, folder / "trial-lan", "--lan") as running:
        yield running


@pytest.fixture(scope="module")
def authority(trial: Trial) -> str:
    """What a telephone downloads before it trusts any certificate of this host."""
    reply = expect(trial.call("GET", "/", None))
    assert reply.headers["Content-Type"] == "application/x-x509-ca-cert"
    return reply.body.decode()


def test_a_telephone_that_trusts_the_authority_logs_in_and_reads_a_secret(trial: Trial, authority: str) -> None:
    alice = ("alice", trial.password)
    assert f"https://{ADDRESS}:" in trial.output
    assert b"<html" in expect(trial.call("GET", "/", authority)).body
    expect(trial.call("GET", "/sw.js", authority))
    bob = ("bob", trial.password)
    sent = expect(trial.call("POST", "/api/notifications?to_tag=alice", authority, bob, "The code is 7"))
    number = sent.json()["Id"]
    assert expect(trial.call("GET", f"/api/notifications/{number}", authority, alice)).json()["Payload"] == "The code is 7"


def test_no_user_has_their_name_for_a_password(trial: Trial, authority: str) -> None:
    assert trial.call("GET", "/api/register", authority, ("alice", "alice")).status == 401


def test_a_password_that_is_sent_in_the_clear_gets_nothing(trial: Trial, authority: str) -> None:
    reply = trial.call("GET", "/api/register", None, ("alice", trial.password))
    assert reply.body.decode() == authority


def test_the_authority_vouches_for_private_networks_alone(trial: Trial) -> None:
    script = '. script/lan; if issue "$0" "$1"; then echo issued; fi'

    def issue(names: str) -> str:
        command = ["bash", "-c", script, str(trial.folder / "lan"), names]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS, cwd=CHECKOUT).stdout

    assert issue("DNS:localhost,IP:10.1.2.3") == "issued\n"
    assert issue("DNS:www.example.com") == ""
    assert issue("IP:192.0.2.1") == ""


def test_what_telephones_trust_stays_when_it_starts_again(program: Path, folder: Path) -> None:
    place = folder / "trial-again"
    with Trial(program, place, "--lan") as first:
        authority = expect(first.call("GET", "/", None)).body
    with Trial(program, place, "--lan", "--address", ADDRESS, "--address", "localhost") as second:
        assert expect(second.call("GET", "/", None)).body == authority
        expect(second.call("GET", "/", authority.decode()))


def test_without_lan_the_network_gets_no_answer(program: Path, folder: Path) -> None:
    with Trial(program, folder / "trial-local") as local, pytest.raises(ConnectionRefusedError):
        local.call("GET", "/", None)
