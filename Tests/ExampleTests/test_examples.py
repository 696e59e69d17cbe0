# SPDX-License-Identifier: Apache-2.0
"""Each example, by the command of its page: what it does with the product, and what it shows when it cannot."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from built import ROOT
from deadline import wait_until
from examples import BLOCK
from fcm import FCM
from languages import EXAMPLES, PAGE, Language, Workshop, languages
from webhook_receiver import Event, Receiver

from installation import Installation, User

LONGEST, LONGEST_PAGE = 100, 60
LANGUAGES = languages()
RIGHT = "the signature is right"
WRONG = "the signature is wrong"
LATE = "the signature is right, and the time is more than five minutes off"
each_language = pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.device)


def settings(site: Installation, user: User) -> dict[str, str]:
    return {"APP_BACKEND_URL": site.origin, "APP_BACKEND_USER": user.name, "APP_BACKEND_PASSWORD": user.password}


def vector() -> dict[str, str]:
    """The one that docs/build/webhooks.md shows."""
    section = (ROOT / "docs" / "build" / "webhooks.md").read_text().partition("\n## Test vector\n")[2]
    (block,) = [one["text"] for one in BLOCK.finditer(section.partition("\n## ")[0]) if one["language"] == "json"]
    shown: dict[str, str] = json.loads(block)
    return shown


def verify(workshop: Workshop, language: Language, secret: str, event: dict[str, str]) -> tuple[int, str]:
    """The exit status, and the one line that is printed."""
    arguments = [event[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
    done = workshop.run(language, "verify", *arguments, given=event["body"].encode(), APP_BACKEND_WEBHOOK_SECRET=secret)
    return done.status, (done.errors if done.status else done.output).removesuffix("\n")


@each_language
def test_an_example_registers_sends_reads_and_asks(
    workshop: Workshop, site: Installation, fcm: FCM, receiver: Receiver, language: Language
) -> None:
    user = site.add_user(language.device)
    done = workshop.run(language, **settings(site, user))
    texts = {f"{user.name}: {text}" for text in ("Lunch, At noon", "The code is 4711")}
    lines = texts | {"fcm: Completed, Success 1", "browser: NoTargetFound"}
    assert (done.status, done.errors, set(done.output.splitlines())) == (0, "", lines)

    (device,) = site.call("GET", "/api/register", user).json()
    assert device["Platform"] == "fcm"
    assert site.call("DELETE", f"/api/register/{language.device}", user).status == 200
    assert site.call("GET", "/api/register", user).json() == []
    assert site.call("GET", "/api/tokens", user).json() == []
    (secure,) = site.call("GET", "/api/notifications", user).json()
    assert secure["Read"]
    data = [push.message["data"] for push in fcm.pushes if push.message["token"] == language.handle]
    assert any("secureId" in one for one in data) and "4711" not in json.dumps(data)
    event = wait_until(lambda: completed(receiver, user), "the event of the message")
    signed = {"webhook-id": event.name, "webhook-timestamp": event.timestamp, "webhook-signature": event.signature}
    secret = receiver.file.read_text().strip()
    assert verify(workshop, language, secret, signed | {"body": event.body.decode()}) == (0, RIGHT)


def completed(receiver: Receiver, user: User) -> Event | None:
    return next((event for event in receiver.events if event.json["data"].get("Sender") == user.name), None)


@each_language
def test_an_example_verifies_the_documented_vector_and_refuses_what_differs_from_it(
    workshop: Workshop, language: Language
) -> None:
    shown = vector()
    right = shown["webhook-signature"]
    other = "v1," + "A" * (len(right) - len("v1,=")) + "="
    for change, words in (
        ({}, LATE),
        ({"webhook-signature": f"{other} {right}"}, LATE),
        ({"webhook-signature": other}, WRONG),
        ({"webhook-signature": ""}, WRONG),
        ({"webhook-signature": right[:-2]}, WRONG),
        ({"webhook-id": shown["webhook-id"] + "A"}, WRONG),
        ({"body": shown["body"] + "\n"}, WRONG),
    ):
        assert verify(workshop, language, shown["secret"], shown | change) == (1, words), change


@each_language
def test_an_example_shows_a_refusal_in_words(
    workshop: Workshop, site: Installation, closed_port: int, language: Language
) -> None:
    user = site.add_user(language.device)
    right = settings(site, user)
    rows: list[tuple[dict[str, str | None], str]] = [
        ({"APP_BACKEND_PASSWORD": "wrong"}, r"401: User name or password is missing or wrong\."),
        # An answer that is no problem: of nginx itself.
        ({"APP_BACKEND_URL": site.origin + "/nosuch"}, r"40[345]: \w.*"),
        ({"APP_BACKEND_URL": f"https://localhost:{closed_port}"}, ".*"),
        ({"APP_BACKEND_USER": None}, ".*APP_BACKEND_USER.*"),
        # So its first call names an unknown platform.
        ({"APP_BACKEND_URL": site.origin + "/api/notifications?pns=pigeon&x="}, r"400: pns must be .* \(pns\)"),
    ]
    for change, words in rows:
        done = workshop.run(language, **{name: value for name, value in (right | change).items() if value is not None})
        assert (done.status, done.output) == (1, ""), change
        assert re.fullmatch(words + "\n", done.errors), (change, done.errors)


def test_every_file_is_short_and_has_its_licence() -> None:
    for file in files():
        text = file.read_text()
        assert len(text.splitlines()) <= (LONGEST_PAGE if file == PAGE else LONGEST), file
        assert file == PAGE or "SPDX-License-Identifier: Apache-2.0" in text, file


def test_the_page_lists_every_example_and_no_package_that_is_not_installed() -> None:
    assert {file.relative_to(EXAMPLES).parts[0] for file in files()} - {PAGE.name} == {one.code for one in LANGUAGES}
    script = '. script/packages; printf "%s\\n" "${packages_examples[@]}"'
    listed = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {name for one in LANGUAGES for name in one.packages} - {"bash"} == set(listed)


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "examples"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.split("\0") if name]
