# SPDX-License-Identifier: Apache-2.0
"""The service under a real systemd: how it starts, who owns its state, what it says, and how it comes back."""

import json
import secrets

from installed_site import SERVICE, SOCKET, Site

REGISTER = "/api/register"
KEY = secrets.token_urlsafe(32)
CONNECTION = f"Endpoint=sb://localhost:9/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey={KEY}"
CREDENTIAL = "/etc/app-backend/hub.connectionString"
# Twice what systemd grants within ten seconds where a unit does not say otherwise.
CRASHES = 10


def test_the_first_request_starts_the_service(site: Site) -> None:
    assert site.system.property(SOCKET, "ActiveState") == "active"
    assert site.state == "inactive"
    assert site.call(None, "GET", REGISTER).status == 401
    assert site.state == "active"
    standard_input = site.system.run("readlink", f"/proc/{site.process}/fd/0").stdout
    assert standard_input.startswith("socket:")


def test_an_administrator_adds_users_before_and_after_the_first_start(site: Site) -> None:
    alice = site.add_user("alice")
    assert site.state == "inactive"
    assert site.call(alice, "GET", REGISTER).status == 200
    bob = site.add_user("bob")
    assert site.call(bob, "GET", REGISTER).status == 200
    names = site.system.run("app-backend", "user", "list").stdout.split()
    assert {"alice", "bob"} <= set(names)


def test_the_state_survives_restarts_and_a_boot_of_the_machine(site: Site) -> None:
    alice = site.add_user("alice")
    sent = site.call(alice, "POST", "/api/notifications", "The code is 7").json()
    owner = site.system.run("stat", "--format=%u %a", "/var/lib/app-backend/.").stdout
    for _ in range(2):
        site.system.systemctl("restart", SERVICE)
        read = site.call(alice, "GET", f"/api/notifications/{sent['Id']}").json()
        assert read["Payload"] == "The code is 7"
    site.system.reboot()
    assert site.state == "inactive"
    read = site.call(alice, "GET", f"/api/notifications/{sent['Id']}").json()
    assert read["Payload"] == "The code is 7" and read["Read"]
    # A user of systemd's making, which keeps its number.
    assert owner == site.system.run("stat", "--format=%u %a", "/var/lib/app-backend/.").stdout
    assert not owner.startswith("0 ") and owner.endswith(" 700\n")


def test_crashes_in_a_row_close_neither_the_service_nor_its_socket(site: Site) -> None:
    alice = site.add_user("alice")
    process = 0
    for _ in range(CRASHES):
        # The signal of the turn before may have met what systemd had begun again: then that start ends, and the next one counts.
        site.system.systemctl("start", SERVICE, check=False)
        process = site.await_process(other_than=process)
        site.system.systemctl("kill", "--signal=KILL", SERVICE)
    assert site.call(alice, "GET", REGISTER).status == 200
    assert site.system.property(SOCKET, "ActiveState") == "active"
    assert int(site.system.property(SERVICE, "NRestarts")) > 0


def test_the_journal_has_each_line_with_its_priority(site: Site) -> None:
    site.configure(auth={"method": "test"})
    site.system.systemctl("start", SERVICE)
    lines = [json.loads(line) for line in site.log("--output", "json", "_COMM=app-backend")]
    priorities = {line["MESSAGE"].split()[0]: int(line["PRIORITY"]) for line in lines}
    assert priorities["auth.method"] == 4 and priorities["app-backend"] == 5
    assert not any("<" in line["MESSAGE"] for line in lines)
    warnings = site.log("--priority", "warning", "_COMM=app-backend")
    assert len(warnings) == 1 and warnings[0].startswith("auth.method is test")


def test_the_hubs_connection_string_reaches_the_service_alone(site: Site) -> None:
    site.system.root.write(CREDENTIAL, CONNECTION + "\n", mode=0o600)
    unit = site.system.root.file("/etc/systemd/system/app-backend.service")
    text = unit.read_text().replace("#LoadCredential=hub.", "LoadCredential=hub.")
    assert f"\nLoadCredential=hub.connectionString:{CREDENTIAL}\n" in text
    unit.write_text(text)
    site.system.systemctl("daemon-reload")
    alice = site.add_user("alice")
    for order in ("start", "reload", "restart"):
        site.system.systemctl(order, SERVICE)
        # That hub does not answer; the built-in one would.
        assert site.call(alice, "POST", REGISTER).status == 503
    process = site.process
    told = [site.system.systemctl("show", SERVICE).stdout, site.system.journal(), "\n".join(site.log())]
    told += [site.system.run("cat", f"/proc/{process}/{file}").stdout for file in ("environ", "cmdline")]
    assert all(told) and not any(KEY in text for text in told)
