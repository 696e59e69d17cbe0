# SPDX-License-Identifier: Apache-2.0
"""docs/http-api.md shows a request and an answer for each route, and the product answers so."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import routes
from examples import SITE, Example, Story, examples, parsed

from deadline import PATIENCE_SECONDS
from installation import ROOT, Installation

PAGE = ROOT / "docs" / "http-api.md"


def test_every_route_of_the_page_has_an_example() -> None:
    shown = [one.request for one in examples(PAGE)]
    missing = []
    for route in sorted(routes.of_page(PAGE)):
        if not any(fits(asked, route) for asked in shown):
            missing.append(" ".join(route))
    assert missing == []


@pytest.mark.parametrize("page", ["http-api.md", "messages.md", "configuration.md", "oidc.md", "maui.md"])
def test_every_command_of_a_page_asks_for_a_route_that_there_is(page: str) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", (PAGE.parent / page).read_text(), re.M | re.S)
    lines = [one for kind, block in blocks if kind in ("", "sh") for one in re.split(r"^(?=[a-z])", block, flags=re.M)]
    commands = [one for one in lines if one.startswith("curl ")]
    assert commands != []
    for command in commands:
        method, path = Example(0, command, "").request
        # A browser asks so about a route of any method.
        methods = {one for one, _ in routes.of_page(PAGE)} if method == "OPTIONS" else {method}
        assert any(fits((one, path), route) for one in methods for route in routes.of_page(PAGE)), command


def fits(asked: tuple[str, str], route: tuple[str, str]) -> bool:
    """Whether a request is one of the route: method and path."""
    pattern = re.sub(r"\\\{[^}]*\}", "[^/]+", re.escape(route[1]))
    return asked[0] == route[0] and re.fullmatch(pattern, asked[1]) is not None


def test_the_product_answers_as_the_page_shows(installation: Installation, folder: Path, tmp_path: Path) -> None:
    users = {role: installation.add_user(role) for role in ("alice", "bob")}
    users["root"] = installation.add_user("root", "--role", "administrator")
    names = {role: user.name for role, user in users.items()}
    own = {"PASSWORD": users["alice"].password, "ROOTS-PASSWORD": users["root"].password}
    tomorrow = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    own["2026-11-30T08:00:00Z"] = tomorrow.strftime("%Y-%m-%dT%H:%M:%SZ")
    story = Story(names | own | {SITE: installation.origin})
    passwords = {role: f"{user.name}:{user.password}" for role, user in users.items()}
    found = examples(PAGE)
    assert len(found) > 15
    for one in found:
        arguments = [
            passwords[word] if before == "-u" else story.here(word)
            for before, word in zip(["", *one.arguments], one.arguments)
        ]
        status, body = run_curl(arguments, folder / "authority.pem", tmp_path)
        expected = parsed(one.answer)
        wanted_status = expected["status"] if isinstance(expected, dict) and "title" in expected else 200
        place = f"{PAGE.name}:{one.line}"
        assert status == wanted_status, f"{place}: {status} {body}"
        if expected is not None:
            assert story.differences(expected, json.loads(body)) == [], place
        elif one.request not in {("GET", "/metrics"), ("HEAD", "/api/config")}:
            assert body == "", f"{place} answers something, which the page does not show"


def test_the_calls_that_an_app_of_the_tutorial_for_maui_makes_work_as_its_page_shows(
    installation: Installation, folder: Path
) -> None:
    user = installation.add_user("pushdemo")
    made = installation.call("POST", "/api/tokens", user, {"Scopes": ["register", "send"]})
    shown = re.search(r"^```sh\n(.*?)^```", (ROOT / "docs" / "maui.md").read_text(), re.M | re.S)
    assert shown is not None
    commands = shown[1].replace(SITE, installation.origin)
    environment = {"KEY": made.json()["Token"], "CURL_CA_BUNDLE": str(folder / "authority.pem")}
    done = subprocess.run(
        ["bash", "-e", "-c", commands], env=os.environ | environment, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert (done.returncode, list(json.loads(done.stdout))) == (0, ["MessageId", "Outcomes"]), done.stderr


def run_curl(arguments: list[str], authority: Path, folder: Path) -> tuple[int, str]:
    """The status and the body of the answer."""
    options = ["--silent", "--show-error", "--cacert", str(authority), "--write-out", "\n%{http_code}"]
    done = subprocess.run(
        ["curl", *options, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


@pytest.mark.parametrize(
    ("expected", "answered", "count"),
    [
        ({"Id": 7, "Read": False}, {"Id": 9, "Read": False}, 0),
        ({"Id": 7}, {"Id": 9, "Read": False}, 1),
        ([{"Id": 7}, {"Id": 7}], [{"Id": 9}, {"Id": 8}], 1),
        ({"From": "bob"}, {"From": "bob1"}, 0),
        ({"From": "bob"}, {"From": "alice"}, 1),
        ({"State": "Completed", "Outcomes": []}, {"State": "Unheard", "Outcomes": []}, 1),
        ({"RegistrationId": "1", "Outcome": "Success"}, {"RegistrationId": "2", "Outcome": "Skipped"}, 0),
        ({"RegistrationId": "1", "Outcome": "Success"}, {"RegistrationId": "2", "Outcome": 1}, 1),
        ({"Outcome": "Success"}, {"Outcome": "Skipped"}, 1),
        ([1], [], 1),
        ({"detail": "…"}, {"detail": "Which platform?"}, 0),
    ],
)
def test_answers_are_compared_but_for_what_the_page_made_up(expected: object, answered: object, count: int) -> None:
    assert len(Story({"bob": "bob1"}).differences(expected, answered)) == count


def test_a_command_tells_its_request() -> None:
    one = Example(1, f"curl -u alice -X PUT '{SITE}/api/register/7?a=b' --json '{{}}'\n", "")
    assert one.request == ("PUT", "/api/register/7")
