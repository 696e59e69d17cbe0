# SPDX-License-Identifier: Apache-2.0
"""The manual page says what the program says of itself, no more and no less."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from product import CHECKOUT

PAGE = CHECKOUT / "docs" / "reference" / "app-backend.1"
COMMAND_SECONDS = 180


@pytest.fixture(scope="session")
def page() -> str:
    return PAGE.read_text()


@pytest.fixture(scope="session")
def commands(program: Path) -> dict[str, set[str]]:
    """The long options of every command that does something, such as `user add`."""
    done = subprocess.run(
        [program, "--experimental-dump-help"], check=True, capture_output=True, timeout=COMMAND_SECONDS
    )
    return dict(walk(json.loads(done.stdout)["command"], []))


def walk(command: dict[str, Any], path: list[str]) -> Iterator[tuple[str, set[str]]]:
    inner = command.get("subcommands", [])
    for other in inner:
        yield from walk(other, [*path, other["commandName"]])
    if not inner:
        names = [name for argument in command.get("arguments", []) for name in argument.get("names") or []]
        yield " ".join(path), {name["name"] for name in names if name["kind"] == "long"}


def described(page: str, command: str) -> str:
    """What the page says of a command, its usage included."""
    usage = re.findall(rf"^\.Nm\n\.(?:Op )?Cm {re.escape(command)}\n(?:\.(?!Nm).*\n)*", page, re.M)
    told = re.findall(rf"^\.It Cm {re.escape(command)}\n(?:(?!\.It Cm ).*\n)*", page, re.M)
    assert len(usage) == 1 and len(told) == 1, f"the page shows {command} {len(usage)} times, tells it {len(told)} times"
    return usage[0] + told[0].split("\n.Pp\nOptions that every command takes:")[0]


def test_every_command_and_option_is_told(page: str, commands: dict[str, set[str]]) -> None:
    for command, options in commands.items():
        told = set(re.findall(r"(?:Fl|\|) -([a-z-]+)", described(page, command)))
        if command != "help":
            assert told == options - {"help", "version"}, command


def test_no_command_is_told_that_does_not_exist(page: str, commands: dict[str, set[str]]) -> None:
    assert set(re.findall(r"^\.It Cm ([a-z-]+(?: [a-z-]+)*)$", page, re.M)) - {"help"} == set(commands) - {"help"}


def test_the_page_is_well_formed() -> None:
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", str(PAGE)], check=False, capture_output=True, text=True, timeout=COMMAND_SECONDS
    )
    assert (done.returncode, done.stdout) == (0, "")
