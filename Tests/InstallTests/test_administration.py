# SPDX-License-Identifier: Apache-2.0
"""What root does on an installed site whose store belongs to a user of systemd's making."""

import json
from typing import Any

import pytest

from debian import TRIXIE
from installed_site import SERVICE, SOCKET, Site, expect
from product import CERTIFICATES

NOTIFICATIONS = "/api/notifications"
DOCTOR = ("app-backend", "doctor", "--json", "--url", "https://localhost", "--timeout", "60")
AUTHORITY = f"{CERTIFICATES}/fullchain.pem"


def test_root_sends_what_comes_through_a_pipe(site: Site) -> None:
    alice = site.add_user("alice")
    site.system.systemctl("start", SERVICE)
    # The pipe is root's, and the program becomes the owner of the store.
    sending = "echo The code is 7 | app-backend send --to alice --secure -"
    done = site.system.run("sh", "-ec", sending, check=False)
    # It is kept for her, who has no device that could be told.
    assert done.returncode == 3 and "No device of alice was reached." in done.stderr, done.stderr
    sent = expect(site.call(alice, "GET", NOTIFICATIONS)).json()
    assert len(sent) == 1
    read = expect(site.call(alice, "GET", f"{NOTIFICATIONS}/{sent[0]['Id']}")).json()
    # echo ends the line.
    assert read["Payload"].rstrip("\n") == "The code is 7"


@pytest.mark.parametrize("release", [TRIXIE], indirect=True, ids=["trixie"])
def test_doctor_finds_nothing_wrong_until_something_is_stopped(site: Site) -> None:
    site.add_user("alice")
    site.system.systemctl("start", SERVICE)
    status, steps = examine(site)
    assert status == 0 and wrong(steps) == []
    assert all(steps[name]["verdict"] == "ok" for name in ("configuration", "nginx", "socket", "store", "hub"))
    site.system.systemctl("stop", SOCKET, SERVICE)
    status, steps = examine(site)
    assert status == 1 and wrong(steps) == ["nginx", "socket"]
    assert [finding["found"] for finding in steps["nginx"]["findings"]] == ["nginx does not reach the service's socket"]
    (finding,) = steps["socket"]["findings"]
    assert finding["found"] == "/run/app-backend/app-backend.sock: nothing listens"
    assert f"systemctl restart {SOCKET}" in finding["fix"]
    # What it says helps.
    site.system.systemctl("restart", SOCKET)
    status, steps = examine(site)
    assert status == 0 and wrong(steps) == []


def examine(site: Site) -> tuple[int, dict[str, Any]]:
    """The exit status of `doctor`, and what it says of each step."""
    done = site.system.run(*DOCTOR, "--ca-file", AUTHORITY, check=False)
    return done.returncode, {step["step"]: step for step in json.loads(done.stdout)["steps"]}


def wrong(steps: dict[str, Any]) -> list[str]:
    return [name for name, step in steps.items() if step["verdict"] == "wrong"]
