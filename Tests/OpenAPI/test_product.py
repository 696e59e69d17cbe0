# SPDX-License-Identifier: Apache-2.0
"""Schemathesis drives the product from the document: what it makes of the schemas, the product answers as they say."""

import json
import os
import re
import sys
from collections.abc import Set
from datetime import UTC, datetime, timedelta
from pathlib import Path

from certificates import Authority
from child import Child
from contract import Contract, Operation
from deadline import wait_until
from sites import NO_LIMITS, NO_PUSH_SERVICE, ROLES
from whole import whole

from installation import Installation, User

OPTIONS = Path(__file__).with_name("schemathesis.toml")
# Against waiting without end: alone on two cores it takes half a minute, beside builds ten times that.
PATIENCE_SECONDS = 1_200
# What only a conversation has: a cookie, or the id of what was sent before. test_answers.py has those for certain.
NEED_MORE = {
    "readSession", "readPlatformDelivery", "readSecureMessage", "deleteSecureMessage", "markAsRead", "deleteFromInbox", "revokeToken",
    "endSession", "readDeliveryStatus", "markAsOpened", "cancelScheduledMessage",
}  # fmt: skip
# What users.toml leaves out. test_answers.py and test_bad_input.py have it.
LEFT_OUT = {"changePassword"}
# They need no credentials, and look at no parameter.
ALWAYS_ANSWERED = {"readConfiguration", "readHealth", "readMetrics"}
# Only a log-in at the page reaches these.
ADMINISTRATION = "Administration"
# As many users, devices, sessions and messages as a run may remove.
MANY = 12


def test_the_product_answers_as_the_document_says(
    installation: Installation, contract: Contract, folder: Path
) -> None:
    user = installation.add_user("alice")
    installation.add_user("recipient")  # users.toml names recipient1.
    environment = {"API_USER": user.name, "API_PASSWORD": user.password}
    options = OPTIONS.with_name("users.toml").read_text()
    report = drive(installation, contract, folder, options, environment, "--exclude-tag", ADMINISTRATION)
    expect_reach(contract.untagged(ADMINISTRATION), report, NEED_MORE)


def test_the_product_answers_an_administrator_as_the_document_says(
    program: Path, contract: Contract, tmp_path: Path
) -> None:
    with Installation(program, tmp_path, Authority(tmp_path), NO_PUSH_SERVICE, groups=NO_LIMITS | ROLES) as site:
        root = site.add_user("root", "--role", "administrator")
        cookie = log_in(site, root)
        options = fill(OPTIONS.with_name("administration.toml").read_text(), site, root)
        environment = {"API_COOKIE": cookie.partition("=")[2]}
        report = drive(site, contract, tmp_path, options, environment, "--include-tag", ADMINISTRATION)
        expect_reach(contract.tagged(ADMINISTRATION), report)


def fill(options: str, site: Installation, root: User) -> str:
    """With names of users, ids of devices, sessions and messages in place of the words that stand for them."""
    users = [site.add_user("guest") for _ in range(MANY)]
    owner = site.add_user("owner")
    for number in range(MANY):
        id = site.call("POST", "/api/register", owner).json()
        device = {"Platform": "apns", "Handle": f"{number:02x}" * 32}
        assert site.call("PUT", f"/api/register/{id}", owner, device).status == 200
        log_in(site, owner)
    message = {"To": owner.name, "Body": "Hi"}
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = [site.call("POST", "/api/notifications", root, message | {"SendAt": tomorrow}).json() for _ in range(MANY)]
    values = {
        "USERS": [user.name for user in users],
        "OWNER": owner.name,
        "DEVICES": [one["RegistrationId"] for one in site.call("GET", "/api/register", owner).json()],
        "SESSIONS": [one["Id"] for one in site.call("GET", "/api/sessions", owner).json()],
        "MESSAGES": [site.call("POST", "/api/notifications", root, message).json()["MessageId"]],
        "LATER": [one["MessageId"] for one in later],
        "PASSWORD": root.password,
    }
    for word, value in values.items():
        options = re.sub(rf"\b{word}\b", value if isinstance(value, str) else json.dumps(value), options)
    return options


def log_in(site: Installation, user: User) -> str:
    body = {"UserName": user.name, "Password": user.password}
    return str(site.call("POST", "/api/session", json_body=body).headers["Set-Cookie"].partition(";")[0])


def drive(
    site: Installation, contract: Contract, folder: Path, options: str, environment: dict[str, str], *choice: str
) -> Path:
    """Runs it with these options behind the common ones, at the chosen operations. Returns the calls and their answers."""
    document, log, report = folder / "openapi.json", folder / "schemathesis.log", folder / "schemathesis.har"
    document.write_text(json.dumps(whole(contract.closed())))
    (folder / OPTIONS.name).write_text(OPTIONS.read_text() + options)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(folder / OPTIONS.name), "run", str(document)]
    command += ["--url", site.origin, "--tls-verify", str(folder / "authority.pem"), "--no-color", *choice]
    command += ["--report-har-path", str(report)]
    own = {"API_ORIGIN": site.origin, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    child = Child(command, log, os.environ | own | environment)
    try:
        wait_until(lambda: child.exit_status is not None, "schemathesis ends", PATIENCE_SECONDS)
    finally:
        child.stop()
    assert child.exit_status == 0, child.output
    print(child.output)
    return report


def expect_reach(operations: dict[str, Operation], report: Path, without_success: Set[str] = frozenset()) -> None:
    """A run that is refused everywhere would say nothing: every operation has succeeded once, and failed once."""
    seen: dict[str, set[int]] = {id: set() for id in operations if id not in LEFT_OUT}
    for entry in json.loads(report.read_text())["log"]["entries"]:
        method, path = entry["request"]["method"], re.sub(r"^https://[^/]*|\?.*$", "", entry["request"]["url"])
        for id in seen:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operations[id].path))
            if operations[id].method == method and re.fullmatch(pattern, path):
                seen[id].add(entry["response"]["status"])
    print({id: sorted(statuses) for id, statuses in seen.items()})
    assert {id for id, statuses in seen.items() if 200 not in statuses} <= without_success
    assert {id for id, statuses in seen.items() if max(statuses) < 400} <= ALWAYS_ANSWERED
