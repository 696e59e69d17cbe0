# SPDX-License-Identifier: Apache-2.0
"""What the service needs of a clean system's memory. `script/test-install -k memory -rP` prints the figures."""

import secrets
from pathlib import Path

from deadline import wait_until
from installed_site import SERVICE, Site, expect
from load import Load, Worker

IDLE_SECONDS = 3
CALLS = 20
# Against gross mistakes alone. kB.
MOST_PROPORTIONAL = 20_000
SHOWN = ("Rss", "Pss", "Pss_Anon", "Pss_File", "Pss_Shmem", "Anonymous")


def test_an_idle_service_is_small_in_memory_before_and_after_calls(site: Site) -> None:
    alice = site.add_user("alice")
    site.system.systemctl("start", SERVICE)
    wait_until(lambda: seconds_served(site) > IDLE_SECONDS, "the service has had nothing to do for a while")
    show("before the first call", kilobytes(site))
    # It reads in what a start leaves out: a password is hashed, a device registered, a message kept.
    caller = site.caller(alice)

    def call() -> None:
        expect(caller.call("POST", f"/api/register?handle={secrets.token_hex(32)}"))
        expect(caller.call("POST", "/api/notifications", "The code is 7"))

    # Looked at while the calls go on, for as soon as they end it may give back what they have read in.
    with Load([Worker(call)]) as load:
        load.carry_on(CALLS)
        busy = kilobytes(site)
    assert load.failures == []
    show(f"after {2 * load.answered} calls", busy)
    wait_until(lambda: kilobytes(site)["Rss"] < 3 * busy["Rss"] / 4, "code that is not needed is given back")
    show("after the last call", kilobytes(site))


def show(when: str, memory: dict[str, int]) -> None:
    print(f"{when}: " + ", ".join(f"{name} {memory[name]} kB" for name in SHOWN))
    assert 0 < memory["Pss"] < MOST_PROPORTIONAL


def seconds_served(site: Site) -> float:
    ready = int(site.system.property(SERVICE, "ActiveEnterTimestampMonotonic")) / 1_000_000
    return float(Path("/proc/uptime").read_text().split()[0]) - ready


def kilobytes(site: Site) -> dict[str, int]:
    """The members of proc(5), `/proc/PID/smaps_rollup`."""
    lines = site.system.run("cat", f"/proc/{site.process}/smaps_rollup").stdout.splitlines()[1:]
    fields = [line.split() for line in lines]
    return {name.rstrip(":"): int(number) for name, number, _ in fields}
