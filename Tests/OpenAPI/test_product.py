# SPDX-License-Identifier: Apache-2.0
"""Schemathesis drives the product from the document: what it makes of the schemas, the product answers as they say."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from child import Child
from contract import Contract
from deadline import wait_until

from installation import Installation

OPTIONS = Path(__file__).with_name("schemathesis.toml")
# Against waiting for ever: alone on two cores it takes half a minute, beside builds ten times that.
PATIENCE_SECONDS = 1_200
# What only a conversation has: a cookie, or the id of what was sent before. test_answers.py has those for certain.
NEED_MORE = {
    "readSession", "readOutcome", "readSecureMessage", "deleteSecureMessage", "markAsRead", "deleteFromInbox", "revokeToken",
    "endSession", "readTimeline", "noteOpening", "cancelScheduled",
}  # fmt: skip
# What schemathesis.toml leaves out. test_answers.py and test_bad_input.py have it.
LEFT_OUT = {"changePassword"}
# Only a log-in at the page reaches these.
ADMINISTRATION = "Administration"


def test_the_product_answers_as_the_document_says(
    installation: Installation, contract: Contract, folder: Path
) -> None:
    user = installation.add_user("alice")
    installation.add_user("recipient")  # schemathesis.toml names recipient1.
    document, log, report = folder / "openapi.json", folder / "schemathesis.log", folder / "schemathesis.har"
    document.write_text(json.dumps(without_apps(contract.closed())))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(OPTIONS), "run", str(document)]
    command += ["--url", installation.origin, "--tls-verify", str(folder / "authority.pem"), "--no-color"]
    command += ["--report-har-path", str(report)]
    environment = {"API_USER": user.name, "API_PASSWORD": user.password, "API_ORIGIN": installation.origin}
    environment |= {"HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    child = Child(command, log, os.environ | environment)
    try:
        wait_until(lambda: child.exit_status is not None, "schemathesis ends", PATIENCE_SECONDS)
    finally:
        child.stop()
    assert child.exit_status == 0, child.output
    print(child.output)
    expect_reach(contract, report)


def without_apps(document: dict[str, Any]) -> dict[str, Any]:
    """The site of the tests has no apps, so that each name of one is refused."""
    schemas = document["components"]["schemas"]
    devices = [schemas[name] for name in ("AppleDevice", "GoogleDevice", "WindowsDevice")]
    for device in devices + schemas["Installation"]["oneOf"]:
        for name in ("App", "app"):
            device["properties"].pop(name, None)
    return document


def expect_reach(contract: Contract, report: Path) -> None:
    """A run that is refused everywhere would say nothing: every operation has succeeded once, and failed once."""
    seen: dict[str, set[int]] = {id: set() for id in contract.operations if id not in LEFT_OUT}
    for entry in json.loads(report.read_text())["log"]["entries"]:
        method, path = entry["request"]["method"], re.sub(r"^https://[^/]*|\?.*$", "", entry["request"]["url"])
        for id, operation in contract.operations.items():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operation.path))
            if id in seen and operation.method == method and re.fullmatch(pattern, path):
                seen[id].add(entry["response"]["status"])
    print({id: sorted(statuses) for id, statuses in seen.items()})
    at_the_page = {id for id, one in contract.operations.items() if ADMINISTRATION in one.definition["tags"]}
    assert {id for id, statuses in seen.items() if 200 not in statuses} <= NEED_MORE | at_the_page
    assert {id for id, statuses in seen.items() if max(statuses) < 400} <= {"readHealth", "readMetrics"}
