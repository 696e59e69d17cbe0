# SPDX-License-Identifier: Apache-2.0
"""House rule 12: a command that confirms something reads what the service reads, as the service's user. The test finds each call
that opens or reads something for a verdict while the command still runs as root."""

import re
import unittest
from dataclasses import dataclass

import rooms

COMMANDS = rooms.ROOT / "Sources" / "Commands"
LOOK = re.compile(
    r"\b(?:Site\.openStore|FileSiteStore\.open|PushService\.state|CredentialProbe\.ask|IssuerProbe\.ask|Listener\.open"
    r"|SiteConfiguration\.load)\("
)
# In the block of the first, root is the service's user. In that of the second, the service looks at itself.
BECOMES = re.compile(r"\basServiceUser\(|\boptions\.running\b")
# The configuration is read as that user unless the service looks at itself, or the service is asked to judge it.
EXEMPT = {("Doctor/DoctorRun.swift", "SiteConfiguration.load("), ("ReloadCommand.swift", "SiteConfiguration.load(")}
FUNCTION = re.compile(r"\b(?:func (\w+)|(init))[<(]")


@dataclass(frozen=True)
class Place:
    file: str
    call: str
    # What stands before the brace of each block around it, the outermost first.
    around: tuple[str, ...]


def places(file: str, text: str, wanted: re.Pattern[str]) -> list[Place]:
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    found, around, since = [], [], 0
    for token in re.finditer(rf"[{{}}]|{wanted.pattern}", text):
        if token[0] == "{":
            around.append(text[since : token.start()])
        elif token[0] == "}":
            around.pop()
        elif not text[: token.start()].endswith("func "):
            found.append(Place(file, token[0], (*around, text[since : token.start()])))
        if token[0] in "{}":
            since = token.end()
    return found


def sources() -> dict[str, str]:
    judging = [COMMANDS / "CheckCommand.swift", COMMANDS / "ReloadCommand.swift", *COMMANDS.glob("Doctor/*.swift")]
    return {str(path.relative_to(COMMANDS)): path.read_text() for path in judging}


def is_as_service(place: Place, files: dict[str, str], seen: frozenset[str] = frozenset()) -> bool:
    """Whether it is in such a block, or in a function that is called in such blocks only."""
    if (place.file, place.call) in EXEMPT or any(BECOMES.search(header) for header in place.around[1:-1]):
        return True
    functions = [match for header in place.around if (match := FUNCTION.search(header))]
    if not functions or functions[-1][1] == "run":
        # A command begins as root.
        return False
    name = functions[-1][1] or place.file.rpartition("/")[2].removesuffix(".swift")
    if name in seen:
        return True
    calls = [call for file, text in files.items() for call in places(file, text, re.compile(rf"\b{name}\("))]
    return bool(calls) and all(is_as_service(call, files, seen | {name}) for call in calls)


class Confirmations(unittest.TestCase):
    def test_what_a_command_confirms_it_has_read_as_the_services_user(self) -> None:
        files = sources()
        looks = [place for file, text in files.items() for place in places(file, text, LOOK)]
        self.assertGreater(len(looks), 6, "the calls that look are found")
        as_root = [(place.file, place.call) for place in looks if not is_as_service(place, files)]
        self.assertEqual(as_root, [], "these look as root")

    def test_a_look_outside_is_found(self) -> None:
        text = (
            "struct A {\n func run() {\n  asServiceUser(of: x) { inside() }\n  outside()\n }\n"
            " func inside() { _ = Listener.open(a) }\n func outside() { _ = Site.openStore(c) }\n}\n"
        )
        found = {place.call: is_as_service(place, {"A.swift": text}) for place in places("A.swift", text, LOOK)}
        self.assertEqual(found, {"Listener.open(": True, "Site.openStore(": False})


if __name__ == "__main__":
    unittest.main()
