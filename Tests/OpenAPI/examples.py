# SPDX-License-Identifier: Apache-2.0
"""The requests and answers of docs/http-api.md: a command of curl, and the JSON that it prints, if it prints any."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADING = "A request and an answer for each route"
SITE = "https://push.example.com"


@dataclass(frozen=True)
class Example:
    line: int
    command: str
    # The text of the JSON block; empty where the page shows no answer.
    answer: str

    @property
    def arguments(self) -> list[str]:
        """Those of curl. Raises ValueError for another command."""
        program, *arguments = shlex.split(self.command)
        if program != "curl":
            raise ValueError(f"line {self.line} is no command of curl: {program}")
        return arguments

    @property
    def request(self) -> tuple[str, str]:
        """Method and path, without the query, as curl will make them."""
        given = self.arguments
        method = "HEAD" if "--head" in given else "POST" if "--json" in given else "GET"
        if "-X" in given:
            method = given[given.index("-X") + 1]
        (url,) = [one for one in given if one.startswith(SITE)]
        return method, url.removeprefix(SITE).partition("?")[0]


def examples(page: Path) -> list[Example]:
    """In their order. Raises ValueError when the page has no section of that name."""
    text = page.read_text()
    found = re.search(rf"^## {HEADING}\n(.*?)^## ", text, re.M | re.S)
    if found is None:
        raise ValueError(f"{page.name} has no section '{HEADING}'")
    blocks = re.finditer(r"^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?", found[1], re.M | re.S)
    begins = text[: found.start(1)].count("\n") + 1
    return [Example(begins + found[1][: one.start()].count("\n"), one[1], one[2] or "") for one in blocks]


class Story:
    """Plays the examples one after the other. What the page has made up (ids, times) means what is answered here."""

    # Members whose values differ from run to run, and a whole answer that is one text, an id.
    MADE_UP = {
        "", "Id", "RegistrationId", "NotificationId", "MessageId", "SentAt", "CreatedAt", "ExpiresAt", "Token", "VapidPublicKey",
        "LastLogInAt", "DisabledAt", "StartedAt", "Version", "version", "busy", "total",
    }  # fmt: skip
    # What a send has come to by now, and at which services, depends on the site and the moment.
    STATES = {"Enqueued", "Processing", "Completed", "Abandoned"}

    def __init__(self, names: dict[str, str]):
        """`names`: what stands for something else from the beginning, such as the users."""
        self.names = dict(names)

    def here(self, text: str) -> str:
        """The text with what its words stand for."""
        known = sorted(self.names, key=len, reverse=True)
        pattern = "|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in known)
        return re.sub(pattern, lambda match: self.names[match[0]], text)

    def differences(self, expected: Any, answered: Any, member: str = "") -> list[str]:
        """Where the answer has another shape or value than the page says. Remembers what was made up."""
        if isinstance(expected, dict) and isinstance(answered, dict):
            if expected.keys() != answered.keys():
                return [f"{member}: {sorted(expected)} on the page, {sorted(answered)} answered"]
            return [one for name in expected for one in self._of_member(name, expected[name], answered[name], expected)]
        if isinstance(expected, list) and isinstance(answered, list) and len(expected) == len(answered):
            pairs = zip(expected, answered)
            return [one for left, right in pairs for one in self.differences(left, right, member or "[]")]
        if isinstance(expected, str | int) and type(expected) is type(answered) and member in self.MADE_UP:
            wanted = self.names.setdefault(str(expected), str(answered))
            return [] if wanted == str(answered) else [f"{member}: {answered}, and {wanted} before"]
        wanted = self.here(expected) if isinstance(expected, str) else expected
        is_same = wanted == answered or wanted == "…" and isinstance(answered, str)
        return [] if is_same else [f"{member}: {wanted!r} on the page, {answered!r} answered"]

    def _of_member(self, name: str, expected: Any, answered: Any, parent: dict[str, Any]) -> list[str]:
        if name in ("WorkersBusy", "Workers", "Queue"):
            return [] if isinstance(answered, int) else [f"{name}: {answered!r}"]
        if name in ("Sends", "Pushes", "History"):
            is_shaped = all(one.keys() == expected[0].keys() for one in answered)
            return [] if is_shaped else [f"{name}: {answered!r}"]
        if name == "Counts":
            is_count = isinstance(answered, dict) and all(isinstance(one, int) for one in answered.values())
            return [] if is_count else [f"Counts: {answered!r}"]
        # What a device got is named as in the counts, and no push service is there.
        if name == "Outcome" and "RegistrationId" in parent:
            return [] if isinstance(answered, str) else [f"Outcome: {answered!r}"]
        if name == "State" and ("Outcomes" in parent or "Counts" in parent):
            return [] if answered in self.STATES else [f"State: {answered!r}"]
        return self.differences(expected, answered, name)


def parsed(answer: str) -> Any:
    return json.loads(answer) if answer else None
