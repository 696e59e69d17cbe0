# SPDX-License-Identifier: Apache-2.0
"""What the service tells systemd of its life, and what systemd does about it."""

import secrets
from typing import Any

import pytest

from deadline import wait_until
from installed_site import CONFIGURATION, SERVICE, SOCKET, Caller, Site
from load import Load, Worker

REGISTER = "/api/register"
# Seconds. systemd grants a service thirty by default. The service gets a shorter limit than counts: so it may be late by
# some seconds, as on a busy machine it will.
WATCHDOG, TOLD = 10, 5
RELOADS = 5


def realm(site: Site) -> str:
    """What a client is asked with: it is in the configuration, and shows which one counts."""
    challenge = site.call(None, "GET", REGISTER).headers["WWW-Authenticate"] or ""
    return challenge.partition('realm="')[2].partition('"')[0]


def watch(site: Site) -> None:
    """Sets both; what is in `Environment=` counts more than what systemd would tell."""
    site.change_unit(f"WatchdogSec={WATCHDOG}", f"Environment=WATCHDOG_USEC={TOLD * 1_000_000}")


def await_realm(site: Site, wanted: str) -> None:
    """`systemctl reload` may be over a moment before the service is."""
    wait_until(lambda: realm(site) == wanted, "the new configuration counts")


def has_said(site: Site, beginning: str, *arguments: str) -> bool:
    return any(line.startswith(beginning) for line in site.log(*arguments))


def test_a_start_is_over_when_the_service_serves(site: Site) -> None:
    site.system.systemctl("start", SERVICE)
    assert site.system.property(SERVICE, "Type") == "notify"
    assert site.state == "active"
    assert site.system.property(SERVICE, "StatusText").startswith("Serving")


def test_the_status_line_tells_what_is_going_on(site: Site) -> None:
    watch(site)
    alice = site.add_user("alice")
    for _ in range(3):
        assert site.call(alice, "GET", REGISTER).status == 200
    wait_until(lambda: "3 requests answered" in site.system.property(SERVICE, "StatusText"), "three are counted")


def test_a_service_that_stands_still_is_replaced(site: Site) -> None:
    watch(site)
    alice = site.add_user("alice")
    assert site.call(alice, "GET", REGISTER).status == 200
    process = site.process
    site.system.systemctl("kill", "--signal=STOP", SERVICE)
    # Who calls meanwhile waits, and is answered by the next one.
    assert site.call(alice, "GET", REGISTER).status == 200
    assert site.await_process(other_than=process) != process
    assert "Watchdog timeout" in site.system.journal("--unit", SERVICE)


def test_a_service_that_has_nothing_to_do_is_left_alone(site: Site) -> None:
    watch(site)
    site.system.systemctl("start", SERVICE)
    process = site.process

    def has_been_fed() -> bool:
        """Since its start, for longer than it may be silent."""
        fed, started = (
            int(site.system.property(SERVICE, name) or 0)
            for name in ("WatchdogTimestampMonotonic", "ExecMainStartTimestampMonotonic")
        )
        return fed - started > 2 * WATCHDOG * 1_000_000

    wait_until(has_been_fed, "it is fed for longer than it may be silent")
    assert site.process == process


def test_a_reload_takes_the_configuration_that_is_there_now(site: Site) -> None:
    assert realm(site) == "AppBackend"
    process = site.process
    site.configure(auth={"realm": "Somewhere else"})
    site.system.systemctl("reload", SERVICE)
    await_realm(site, "Somewhere else")
    assert site.process == process and site.state == "active"
    # It says so when it is done.
    wait_until(lambda: has_said(site, "reloaded the configuration"), "the service says so")


@pytest.mark.parametrize("mistake", ['{ "auth": { "realm": 7 } }', "{", '{ "no-such-key": true }'])
def test_a_reload_of_a_wrong_configuration_fails_and_changes_nothing(site: Site, mistake: str) -> None:
    site.configure(auth={"realm": "Here"})
    assert realm(site) == "Here"
    process = site.process
    site.system.root.write(CONFIGURATION, mistake)
    assert site.system.systemctl("reload", SERVICE, check=False).returncode != 0
    assert realm(site) == "Here"
    assert site.process == process and site.state == "active"
    # Not looked for by its program's name: of one that has ended by the time the journal looks there is none.
    assert any("configuration: " in line for line in site.log("--priority", "warning"))


def test_reloads_under_load_fail_no_request_and_leave_a_service_that_ends(site: Site) -> None:
    alice = site.add_user("alice")
    handle = secrets.token_hex(32)
    name = site.call(alice, "POST", f"{REGISTER}?handle={handle}").json()
    device = {"Platform": "apns", "Handle": handle, "Tags": []}
    calls = [("GET", REGISTER, None), ("POST", f"{REGISTER}?handle={handle}", None)]
    calls += [("PUT", f"{REGISTER}/{name}", device)]
    with Load([repeating(site.caller(alice), *call) for call in calls]) as load:
        for number in range(RELOADS):
            load.carry_on()
            site.configure(auth={"realm": f"Place {number}"})
            site.system.systemctl("reload", SERVICE)
            await_realm(site, f"Place {number}")
        load.carry_on()
    assert load.failures == []
    site.system.systemctl("stop", SOCKET, SERVICE)
    assert site.system.property(SERVICE, "Result") == "success"


def repeating(caller: Caller, method: str, path: str, body: Any) -> Worker:
    def call() -> None:
        reply = caller.call(method, path, body)
        assert reply.status == 200, f"{reply.status}: {reply.body!r}"

    return Worker(call)
