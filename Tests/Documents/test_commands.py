# SPDX-License-Identifier: Apache-2.0
"""Every command of ours that a page shows is one of the manual, with options that it has there.

Tests/InstallTests holds the manual to the program.
"""

import re
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
EVERYWHERE = {"help", "version"}
Commands = dict[str, set[str]]


def of_manual(text: str) -> Commands:
    """Each command of the synopsis, such as `user add`, and its long options."""
    synopsis = text.split(".Sh SYNOPSIS")[1].split("\n.Sh ")[0]
    found: Commands = {}
    for part in synopsis.split("\n.Nm")[1:]:
        name = re.search(r"\.(?:Op )?Cm ([a-z -]+)", part)
        if name is not None:
            found[name[1].strip()] = set(re.findall(r"(?:Fl|\|) -([a-z-]+)", part)) | EVERYWHERE
    return found


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
        commands = of_manual((ROOT / "docs" / "app-backend.1").read_text())
        self.assertGreater(len(commands), 15)
        # The changelog names commands that were there once.
        pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")} - {ROOT / "CHANGELOG.md"}
        shown = [
            (page.relative_to(ROOT), line, words)
            for page in sorted(pages)
            for line, words in in_page(page.read_text())
        ]
        self.assertGreater(len(shown), 100)
        faults = [f"{page}:{line}: {why}" for page, line, words in shown if (why := fault(words, commands))]
        self.assertEqual(faults, [], "\n" + "\n".join(faults))


class Reading(unittest.TestCase):
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
