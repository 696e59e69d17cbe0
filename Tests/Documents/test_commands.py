# SPDX-License-Identifier: Apache-2.0
"""Every command of ours that a page shows is one of the manual, with options that it has there. What a command prints as JSON
is in the manual too.

Tests/InstallTests holds the manual to the program.
"""

import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "script" / "reference.d"))

from commands import usages  # noqa: E402

EVERYWHERE = {"help", "version"}
Commands = dict[str, set[str]]
SOURCES = ROOT / "Sources" / "Commands"
# Which file writes what a command prints with --json. Two print what the HTTP API answers, `message show` and `outcome`.
JSON_WRITERS = {
    "config show": "ConfigCommand",
    "device list": "Device/DeviceCommand",
    "doctor": "Doctor/DoctorReport",
    "import": "Import/ImportSummary",
    "message list": "Message/MessageCommand",
    "send": "SendReport",
    "session list": "Session/SessionCommand",
    "store import": "Store/StoreImportCommand",
    "store migrate": "Store/StoreMigrateCommand",
    "store verify": "Store/StoreVerifyCommand",
    "user list": "User/UserListCommand",
    "user show": "User/UserShowCommand",
}


def of_manual(text: str) -> Commands:
    """Each command of the synopsis, and its long options."""
    return {name: set(re.findall(r"(?:Fl|\|) -([a-z-]+)", lines)) | EVERYWHERE for name, lines in usages(text)}


def members_of_manual(text: str, command: str) -> set[str]:
    """What the command prints with --json, as the manual says: each word that it marks."""
    told = text.split(f"\n.It Cm {command}\n")[1].split("\n.It Cm ")[0]
    shown = re.split(r"\n\.(?:It|El)\b", told.split("\n.It Fl -json\n")[1])[0]
    marked = {name.strip() for line in re.findall(r"^\.Cm (.*)", shown, re.M) for name in re.split(" [,;.:]", line)}
    # `device list`, whose members these are too.
    return {name for name in marked if name and " " not in name}


def in_page(text: str) -> Iterator[tuple[int, list[str]]]:
    """Their lines, and the words behind `app-backend` in blocks and spans of code, where they begin as a command does."""
    for block in re.finditer(r"^ *```\w*\n.*?^ *```|``.+?``|`[^`\n]+`", text, re.M | re.S):
        for match in re.finditer(r"(?<![\w./=-])app-backend (?=([a-z][^`|;&#'\"\n()>]*))", block[0]):
            words = match[1].split()
            before = block[0][: match.start()].rpartition("\n")[2]
            # A unit's name, and a container's.
            if "systemctl" not in before and words[0] != "app-backend":
                yield text.count("\n", 0, block.start() + match.start()) + 1, words


def fault(words: list[str], commands: Commands) -> str:
    """What the manual does not have; empty when it has all. A group alone, such as `store`, is enough of a name."""
    names = [" ".join(words[:count]) for count in range(1, len(words) + 1)]
    known = [name for name in names if any(one == name or one.startswith(name + " ") for one in commands)]
    if not known:
        return f"no command {words[0]}"
    if known[-1] not in commands:
        rest = words[len(known) :]
        return f"no command {known[-1]} {rest[0]}" if rest and re.fullmatch("[a-z-]+", rest[0]) else ""
    given = {word[2:].partition("=")[0] for word in words if re.match("--[a-z]", word)}
    return ", ".join(f"{known[-1]} has no --{option}" for option in sorted(given - commands[known[-1]]))


class Pages(unittest.TestCase):
    def test_every_command_is_one_of_the_manual(self) -> None:
        commands = of_manual((ROOT / "docs" / "reference" / "app-backend.1").read_text())
        self.assertGreater(len(commands), 15)
        # The changelog names commands that were there once.
        pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"}
        shown = [
            (page.relative_to(ROOT), line, words)
            for page in sorted(pages)
            for line, words in in_page(page.read_text())
        ]
        self.assertGreater(len(shown), 100)
        faults = [f"{page}:{line}: {why}" for page, line, words in shown if (why := fault(words, commands))]
        self.assertEqual(faults, [], "\n" + "\n".join(faults))


class Members(unittest.TestCase):
    def test_the_manual_has_the_members_that_a_command_prints(self) -> None:
        manual = (ROOT / "docs" / "reference" / "app-backend.1").read_text()
        for command, name in JSON_WRITERS.items():
            told, source = members_of_manual(manual, command), (SOURCES / f"{name}.swift").read_text()
            with self.subTest(command=command):
                self.assertEqual(set(re.findall(r'\b(?:member|name)\("(\w+)"', source)) - told, set(), "not in the manual")
                self.assertEqual({one for one in told if f'"{one}"' not in source}, set(), "not in the source")

    def test_every_file_that_prints_members_is_compared(self) -> None:
        found = {str(path.relative_to(SOURCES))[:-6] for path in SOURCES.rglob("*.swift") if '.member("' in path.read_text()}
        self.assertEqual(found, set(JSON_WRITERS.values()))


class Reading(unittest.TestCase):
    def test_members_are_read_from_the_manual(self) -> None:
        manual = "\n.It Cm send\n.Cm other\n.It Fl -json\nAs:\n.Cm Id , To ;\n.Cm Ids\n.Cm device list\n.El\n.It Cm x\n.Cm y\n"
        self.assertEqual(members_of_manual(manual, "send"), {"Id", "To", "Ids"})

    def test_a_command_that_is_not_there_is_found(self) -> None:
        manual = ".Sh SYNOPSIS\n.Nm\n.Op Cm serve\n.Nm\n.Cm user add\n.Op Fl -tag Ar x | -no-tag\n.Ar name\n.Sh OTHER\n"
        commands = of_manual(manual)
        self.assertEqual(commands, {"serve": EVERYWHERE, "user add": EVERYWHERE | {"tag", "no-tag"}})
        for text, wanted in {
            "`app-backend user add --tag=a alice`": "",
            "`app-backend user`, `systemctl stop app-backend nginx`": "",
            "`app-backend user drop alice`": "no command user drop",
            "`app-backend users`": "no command users",
            "```\npodman exec app-backend app-backend user add --tags a\n```": "user add has no --tags",
        }.items():
            with self.subTest(text=text):
                self.assertEqual("".join(fault(words, commands) for _, words in in_page(text)), wanted)


if __name__ == "__main__":
    unittest.main()
