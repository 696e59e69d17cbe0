# SPDX-License-Identifier: Apache-2.0
"""What the service needs of a clean system's memory. `script/test-install -k memory -rP` prints the figures."""

from pathlib import Path

from deadline import wait_until
from installed_site import SERVICE, Site

IDLE_SECONDS = 3
# Against gross mistakes alone: it is less than half of that. kB.
MOST_PROPORTIONAL = 20_000
SHOWN = ("Rss", "Pss", "Pss_Anon", "Pss_File", "Pss_Shmem", "Anonymous")


def test_an_idle_service_is_small_in_memory(site: Site) -> None:
    site.add_user("alice")
    site.system.systemctl("start", SERVICE)
    wait_until(lambda: seconds_served(site) > IDLE_SECONDS, "the service has had nothing to do for a while")
    memory = kilobytes(site)
    print(", ".join(f"{name} {memory[name]} kB" for name in SHOWN))
    assert 0 < memory["Pss"] < MOST_PROPORTIONAL


def seconds_served(site: Site) -> float:
    ready = int(site.system.property(SERVICE, "ActiveEnterTimestampMonotonic")) / 1_000_000
    return float(Path("/proc/uptime").read_text().split()[0]) - ready


def kilobytes(site: Site) -> dict[str, int]:
    """The members of proc(5), `/proc/PID/smaps_rollup`."""
    lines = site.system.run("cat", f"/proc/{site.process}/smaps_rollup").stdout.splitlines()[1:]
    fields = [line.split() for line in lines]
    return {name.rstrip(":"): int(number) for name, number, _ in fields}
