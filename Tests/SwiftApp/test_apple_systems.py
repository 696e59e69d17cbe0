# SPDX-License-Identifier: Apache-2.0
"""What an app imports is there on the oldest of Apple's systems that Package.swift promises, and does what it should."""

import concurrent.futures
import re
import tempfile
import unittest
from pathlib import Path

import toolchain

# What is newer than the oldest system, one name from each corner, so that a check that finds nothing is noticed.
NEWER = {
    "Swift": 'let parts = "a://b".split(separator: "://")',
    "Concurrency": "func wait() async throws { try await Task.sleep(for: .seconds(1)) }",
    "Clock": "let now = ContinuousClock.now",
    "Foundation": "import Synchronization",
}


PAGE = toolchain.ROOT / "docs" / "build" / "receive-ios.md"


def page_files(into: Path) -> list[Path]:
    """The page's code, each block that imports something as a file."""
    blocks = re.findall(r"^```swift\n(import .*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) > 4, "the page has no code"
    files = [into / f"Page{number}.swift" for number in range(len(blocks))]
    for file, block in zip(files, blocks, strict=True):
        file.write_text(block)
    return files


@unittest.skipUnless(toolchain.has_interfaces(), "this toolchain has no textual interfaces of Swift's library")
class AppleSystems(unittest.TestCase):
    def test_the_client_needs_nothing_newer_than_the_oldest_systems(self) -> None:
        targets = toolchain.oldest_systems()
        self.assertEqual(set(targets), {"ios", "macosx"})
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = dict(zip(targets, pool.map(self.faults, targets.items()), strict=True))
        for name, said in found.items():
            with self.subTest(target=targets[name]):
                self.assertEqual(said, "", said)

    @staticmethod
    def faults(system: tuple[str, str]) -> str:
        """What the compiler says of the client's rooms there; empty when they can be used."""
        with tempfile.TemporaryDirectory() as scratch:
            apple, into = toolchain.AppleSystem(*system), Path(scratch)
            try:
                for name in ("Darwin", "Foundation", "Security", "UserNotifications"):
                    apple.module(name, [toolchain.STAND_INS / f"{name}.swift"], into)
                files, flags = toolchain.http_types()
                apple.module("HTTPTypes", files, into, *flags)
                for room in toolchain.ROOMS:
                    apple.module(room, toolchain.sources(room), into)
                apple.module("Page", page_files(into), into)
                for corner, code in NEWER.items():
                    file = into / "Newer.swift"
                    file.write_text(code)
                    try:
                        apple.module("Newer", [file], into)
                    except toolchain.Refused as refusal:
                        if "or newer" in str(refusal) or "no such module" in str(refusal):
                            continue
                        raise
                    return f"{corner}: not noticed that it is newer: {code}"
            except toolchain.Refused as refusal:
                return str(refusal)
        return ""

    def test_keychain_and_extension_do_what_they_should_with_the_stand_ins(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            lines = toolchain.run(toolchain.linux_program(Path(scratch))).splitlines()
        self.assertGreater(len(lines), 15)
        for line in lines:
            with self.subTest(line=line):
                self.assertTrue(line.startswith("✔ "), line)


if __name__ == "__main__":
    unittest.main()
