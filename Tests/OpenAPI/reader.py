# SPDX-License-Identifier: Apache-2.0
"""A reader of a page, who does what it says: each command in its order, on this host."""

import json
import subprocess
from pathlib import Path
from typing import Any

from examples import SITE, Example, Story

from deadline import PATIENCE_SECONDS
from installation import Installation, User

# The word of the shell that stands for a token, on all pages.
TOKEN, KEY = "$TOKEN", "$KEY"
# What an answer is written behind its status by.
STATUS = "\n%{http_code}"


class Reader:
    def __init__(self, installation: Installation, authority: Path, folder: Path, users: dict[str, User]):
        """`users`: by their names on the page. What curl writes, such as cookies, is in the folder."""
        self.installation, self._authority, self._folder = installation, authority, folder
        self.story = Story({SITE: installation.origin} | {role: user.name for role, user in users.items()})
        self._passwords = {user.name: user.password for user in users.values()}

    def read(self, example: Example, is_whole: bool = False) -> Any:
        """Raises AssertionError where something else is answered than the page shows. Returns the answer.

        `is_whole`: where the page shows no answer there is none.
        """
        words = [self.story.here(one) for one in example.words[1:]]
        if example.program == "app-backend":
            return self._command(words)
        if example.words == ["systemctl", "reload", "app-backend"]:
            return self.installation.reload()
        if example.program != "curl":
            raise ValueError(f"{example.place}: a reader does not do this here: {example.program}")
        expected = json.loads(example.answer) if example.answer else None
        status, body = self.ask(words)
        assert status == wanted_status(example, expected), f"{example.place}: {status} {body}"
        answered = json.loads(body) if body[:1] in ("{", "[", '"') else body
        if expected is not None:
            assert self.story.differences(expected, answered) == [], example.place
        else:
            assert not is_whole or body == "", f"{example.place} answers something, which the page does not show"
        if "Token" in answered:
            self.story.names[TOKEN] = answered["Token"]
        return answered

    def ask(self, words: list[str]) -> tuple[int, str]:
        """Runs curl with the password that it would ask for. Returns the status and the body."""
        known = [f"{one}:{self._passwords[one]}" if before == "-u" else one for before, one in zip(["", *words], words)]
        options = ["--silent", "--show-error", "--cacert", str(self._authority), "--write-out", STATUS]
        done = subprocess.run(
            ["curl", *options, *known], cwd=self._folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        # 22: it was told to fail where the answer does.
        assert done.returncode in (0, 22), done.stderr
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def _command(self, words: list[str]) -> str:
        added = words[2] if words[:2] == ["user", "add"] else ""
        if added:
            self._passwords[added] = self.installation.secret("password-")
        printed = self.installation.run(*words, input=self._passwords.get(added, "") + "\n")
        if words[:3] == ["user", "token", "add"]:
            self.story.names[KEY] = printed.splitlines()[-1]
        return printed


def wanted_status(example: Example, expected: Any) -> int:
    """That of the problem that the page shows, and else of success."""
    if isinstance(expected, dict) and "title" in expected:
        return int(expected["status"])
    return 204 if example.request[0] == "OPTIONS" else 200
