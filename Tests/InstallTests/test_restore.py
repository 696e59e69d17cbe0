# SPDX-License-Identifier: Apache-2.0
"""A backup of the running service, and its restoration, by the very commands of docs/operate/backup-and-restore.md."""

import json
import re

from installed_site import SERVICE, Site, User, expect
from product import CHECKOUT

PAGE = CHECKOUT / "docs" / "operate" / "backup-and-restore.md"
NOTIFICATIONS = "/api/notifications"
NOTICE = 5


def test_a_backup_of_the_running_service_is_tested_and_restored_as_the_page_says(site: Site) -> None:
    alice = site.add_user("alice")
    kept = send(site, alice, "The code is 7")
    back_up(site)
    lost = send(site, alice, "The code is 8")
    assert "The store is whole" in follow(site, "Test a backup")
    # Its last command is `store verify`.
    assert re.search(r"^The store is whole: \d+ lines\.\n\Z", follow(site, "Restore"), re.M)
    assert expect(site.call(alice, "GET", f"{NOTIFICATIONS}/{kept}")).json()["Payload"] == "The code is 7"
    assert site.call(alice, "GET", f"{NOTIFICATIONS}/{lost}").status == 404
    credentials = {"UserName": alice.name, "Password": alice.password}
    assert expect(site.call(None, "POST", "/api/session", credentials)).json()["User"] == "alice"
    assert site.system.systemctl("is-active", "app-backend.socket", SERVICE).stdout == "active\nactive\n"
    # The service can write what root unpacked.
    send(site, alice, "The code is 9")
    assert "The store is whole" in site.system.run("app-backend", "store", "verify").stdout


def test_a_first_start_and_one_with_a_restored_store_say_nothing_unknown(site: Site) -> None:
    alice = site.add_user("alice")
    send(site, alice, "The code is 7")
    first = invocation(site)
    back_up(site)
    follow(site, "Restore")
    send(site, alice, "The code is 8")
    assert first != invocation(site)
    version = site.system.run("app-backend", "--version").stdout.strip()
    hub = "no hub.connectionString: the built-in hub is used, for no browsers: "
    start = [
        (NOTICE, hub + "there is no key; `app-backend keys vapid` makes one"),
        (NOTICE, f"app-backend {version} listens on standard input"),
    ]
    assert said(site, invocation(site)) == start
    assert said(site, first) == [*start, (NOTICE, "stopping on signal 15"), (NOTICE, "stopped")]


def send(site: Site, user: User, text: str) -> int:
    number: int = expect(site.call(user, "POST", NOTIFICATIONS, text)).json()["Id"]
    return number


def back_up(site: Site) -> None:
    """With the first of the ways that the page shows; the others are after it."""
    command, _, _ = block("Back up the store, while it runs").partition("#")
    assert command.rstrip().endswith("app-backend store backup > store.tar")
    run(site, command)


def follow(site: Site, heading: str) -> str:
    """Does what is there, and returns what was said."""
    return run(site, block(heading))


def block(heading: str) -> str:
    """The first commands below a heading of the page."""
    found = re.search(rf"^## {re.escape(heading)}$(?:(?!^## ).)*?^```\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
    assert found is not None, heading
    return found[1]


def run(site: Site, script: str) -> str:
    """As root types it, in root's folder."""
    return site.system.run("sh", "-ec", f"cd /root\n{script}").stdout


def invocation(site: Site) -> str:
    return site.system.property(SERVICE, "InvocationID")


def said(site: Site, invocation: str) -> list[tuple[int, str]]:
    """Priorities and messages of all that one start of the service wrote until its end, oldest first."""
    lines = site.system.journal(f"_SYSTEMD_INVOCATION_ID={invocation}", "--output", "json").splitlines()
    # What systemd says itself, as it prepares the process, names its source.
    entries = [entry for entry in map(json.loads, lines) if "CODE_FILE" not in entry]
    return [(int(entry["PRIORITY"]), entry["MESSAGE"]) for entry in entries]
