# SPDX-License-Identifier: Apache-2.0
"""The commands of a page of docs, and the JSON that each of them prints, where the page shows it."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from built import ROOT

DOCS = ROOT / "docs"
SITE = "https://push.example.com"
# That of script/run.
TRIAL_SITE = "https://localhost:8443"
# Begins a command in a block: what belongs to the one before is indented, or closes it.
COMMAND = re.compile(r"^(?=[A-Za-z])", re.M)
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```\n", re.M | re.S)


@dataclass(frozen=True)
class Example:
    page: str
    line: int
    # The headings above it, of the second level and below.
    headings: tuple[str, ...]
    command: str
    # The text of the JSON block below it, or of the comment behind it; empty where the page shows no answer.
    answer: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def program(self) -> str:
        return self.command.partition(" ")[0].strip()

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command.replace("\\\n", " "), comments=True)

    @property
    def request(self) -> tuple[str, str]:
        """Method and path, without the query, as curl will make them."""
        given = self.words
        method = "HEAD" if "--head" in given else "POST" if "--json" in given else "GET"
        if "-X" in given:
            method = given[given.index("-X") + 1]
        (url,) = [one for one in given if one.startswith("https://")]
        return method, urlsplit(url).path


def examples(page: Path) -> list[Example]:
    """Those in its blocks of the shell's language, or of none, in their order."""
    text, found = page.read_text(), []
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None]):
        if block["language"] not in ("", "sh"):
            continue
        is_answered = following is not None and following["language"] == "json" and text[block.end() : following.start()] == "\n"
        plain = re.sub(f"^{block['indent']}", "", block["text"], flags=re.M)
        begins = text[: block.start("text")].count("\n") + 1
        starts = [one.start() for one in COMMAND.finditer(plain)]
        for start, end in zip(starts, [*starts[1:], len(plain)]):
            command = plain[start:end]
            answer = following["text"] if is_answered and end == len(plain) else _comment(command)
            line = begins + plain[:start].count("\n")
            found.append(Example(page.name, line, _headings(text[: block.start()]), command, answer))
    return found


def of(page: str, *programs: str) -> list[Example]:
    """Those of a page of the documentation that are of these programs; without any, of curl."""
    folder = ROOT if page == "README.md" else DOCS
    return [one for one in examples(folder / page) if one.program in (programs or ("curl",))]


def _headings(before: str) -> tuple[str, ...]:
    found: dict[int, str] = {}
    for marks, words in re.findall(r"^(##+) (.+)$", before, re.M):
        found = {level: one for level, one in found.items() if level < len(marks)} | {len(marks): words}
    return tuple(found.values())


def _comment(command: str) -> str:
    """What follows a command, where that is JSON: `curl …    # []`."""
    found = re.search(r"\s# ([\[{].*)$", command.rstrip())
    return found[1] if found else ""


class Story:
    """Compares answers with those of a page. What the page has made up (ids, times) means what is answered here."""

    # Members whose values differ from run to run, and a whole answer that is one text, an id.
    MADE_UP = {
        "", "Id", "RegistrationId", "NotificationId", "MessageId", "SentAt", "CreatedAt", "ExpiresAt", "Token", "VapidPublicKey",
        "LastSeenAt", "DisabledAt", "StartedAt", "Version", "version", "Ids",
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
            if {self.here(name) for name in expected} != answered.keys():
                return [f"{member}: {sorted(expected)} on the page, {sorted(answered)} answered"]
            pairs = [(name, value, answered[self.here(name)]) for name, value in expected.items()]
            inner = member if member == "Ids" else ""
            return [one for name, left, right in pairs for one in self._of_member(inner or name, left, right, expected)]
        if isinstance(expected, list) and isinstance(answered, list) and len(expected) == len(answered):
            pairs = zip(expected, answered)
            return [one for left, right in pairs for one in self.differences(left, right, member or "[]")]
        if expected == "…" and isinstance(answered, str):
            return []
        if isinstance(expected, str | int) and type(expected) is type(answered) and member in self.MADE_UP:
            wanted = self.names.setdefault(str(expected), str(answered))
            return [] if wanted == str(answered) else [f"{member}: {answered}, and {wanted} before"]
        wanted = self.here(expected) if isinstance(expected, str) else expected
        return [] if wanted == answered else [f"{member}: {wanted!r} on the page, {answered!r} answered"]

    def _of_member(self, name: str, expected: Any, answered: Any, parent: dict[str, Any]) -> list[str]:
        if name in ("WorkersBusy", "Workers", "Queue", "busy", "total"):
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
        # How far a delivery has come is a matter of time, but not that a send has been queued.
        if name == "State" and ("Outcomes" in parent or "Counts" in parent or expected == "Completed"):
            return [] if answered == expected or answered in self.STATES else [f"State: {answered!r}"]
        return self.differences(expected, answered, name)


def settings(page: Path, heading: str) -> dict[str, Any]:
    """The configuration that a page shows first below a heading."""
    found = re.search(rf"^##+ {heading}\n.*?^```json\n(\{{.*?)^```", page.read_text(), re.M | re.S)
    if found is None:
        raise ValueError(f"{page.name} shows no configuration below {heading}")
    return dict(json.loads(found[1]))
