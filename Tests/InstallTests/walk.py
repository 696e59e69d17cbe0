# SPDX-License-Identifier: Apache-2.0
"""Types a page's commands, one after the other, as root does in one shell."""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

# Folder, variables and mask go from one command to the next.
PROLOGUE = "cd; [ ! -e ~/.walk ] || . ~/.walk\n"
EPILOGUE = "\n{ export -p; umask -p; printf 'cd %q\\n' \"$PWD\"; } > ~/.walk"


class Host(Protocol):
    def run(self, *command: str, input: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """As root, with a home. Raises RuntimeError with the output when it fails, if `check`."""


@dataclass(frozen=True)
class Step:
    """One command of a page, word by word."""

    command: str
    # What it prints must match, somewhere.
    says: str = ""
    typed: str = ""
    # What is in the page for something of the reader's own.
    places: dict[str, str] = field(default_factory=dict)
    # Not of the page: what the reader has done before, and looks at then.
    before: str = ""
    after: str = ""
    # It asks whether there is one.
    terminal: bool = False
    status: int = 0


def walk(host: Host, steps: Iterable[Step]) -> None:
    """The groups that a step's `says` names are the places of those after it, in capitals."""
    found: dict[str, str] = {}
    for step in steps:
        command = step.command
        for place, meant in step.places.items():
            command = command.replace(place, meant)
        for place, meant in found.items():
            command = re.sub(rf"\b{place}\b", meant, command)
        if step.before:
            _type(host, step.before)
        said = _type(host, _in_terminal(command) if step.terminal else command, step.typed, step.status)
        match = re.search(step.says, said, flags=re.M)
        assert match is not None, f"{command}: {step.says!r} is not in\n{said}"
        found |= {name: text for name, text in match.groupdict().items()}
        if step.after:
            _type(host, step.after)


def _type(host: Host, command: str, typed: str = "", status: int = 0) -> str:
    done = host.run("bash", "-ec", f"{PROLOGUE}{command}{EPILOGUE}", input=typed, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == status, f"{command}: status {done.returncode}\n{said}"
    return said


def _in_terminal(command: str) -> str:
    return f"SYSTEMD_EDITOR=/root/editor script --quiet --return --command '{command}' /dev/null"


def parts(command: str) -> list[str]:
    """Commands that are in one line."""
    return [part.strip() for part in command.split("&&")]
