# SPDX-License-Identifier: Apache-2.0
"""The picture of the rooms, and the map in words, are those of Package.swift and of the folders."""

import re
import unittest

import rooms

MANIFEST = """
        // .target(name: "Gone", dependencies: []),
        .systemLibrary(name: "CPlatform", providers: [.apt(["libcrypt-dev"])]),
        .target(name: "System", dependencies: ["CPlatform"], swiftSettings: strict),
        .target(
            name: "Store",
            dependencies: [
                "CPlatform", "System", crypto, .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict),
        .executableTarget(name: "program", dependencies: ["Store"], swiftSettings: strict),
        .target(name: "Support", dependencies: ["Store"], path: "Tests/Support", swiftSettings: strict),
        .testTarget(name: "StoreTests", dependencies: ["Store"], swiftSettings: strict),
"""


class Picture(unittest.TestCase):
    def setUp(self) -> None:
        self.rooms = rooms.rooms((rooms.ROOT / "Package.swift").read_text())

    def test_it_is_drawn_from_the_package(self) -> None:
        is_same = rooms.PICTURE.read_text() == rooms.picture(self.rooms)
        self.assertTrue(is_same, "docs/maintain/rooms.svg is of another Package.swift: run python3 -B Tests/Documents/rooms.py")

    def test_every_folder_of_the_source_is_a_room(self) -> None:
        folders = {path.name for path in (rooms.ROOT / "Sources").iterdir() if path.is_dir()}
        self.assertEqual(set(self.rooms), folders)

    def test_the_map_names_every_room(self) -> None:
        text = (rooms.ROOT / "docs" / "maintain" / "architecture.md").read_text()
        rows = re.findall(r"^\| `Sources/(.*?) \|", text, flags=re.M)
        named = {name for row in rows for name in re.findall(r"[\w-]+", row)}
        self.assertEqual(named, set(self.rooms))

    def test_every_line_leads_down_and_all_that_is_needed_can_be_reached(self) -> None:
        high = rooms.heights(self.rooms)
        for name, room in self.rooms.items():
            with self.subTest(room=name):
                drawn = rooms.drawn_needs(self.rooms, name)
                self.assertEqual([one for one in drawn if high[one] >= high[name]], [])
                below = set(drawn).union(*(rooms.reachable(self.rooms, one) for one in drawn))
                self.assertEqual(room.needs - below, set())

    def test_every_room_is_in_the_picture_and_no_two_boxes_overlap(self) -> None:
        drawn = rooms.picture(self.rooms)
        self.assertEqual({one for text in re.findall(r"<text[^>]*>(.*?)</text>", drawn) for one in text.split()}, set(self.rooms))
        boxes = re.findall(r'<rect class="[rp][^"]*m" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', drawn)
        places = [tuple(map(int, box)) for box in boxes]
        self.assertGreater(len(places), 20)
        for x, y, width, height in places:
            with self.subTest(x=x, y=y):
                touched = [(ax, ay) for ax, ay, w, h in places if x <= ax + w and ax <= x + width and y <= ay + h and ay <= y + height]
                self.assertEqual(touched, [(x, y)])

    def test_the_store_bench_needs_no_library_of_tests(self) -> None:
        """It is built for release, where Swift's Testing is no module that is found."""
        for folder in ("Support", "Bench/StoreBench"):
            for file in (rooms.ROOT / "Tests" / folder).rglob("*.swift"):
                with self.subTest(file=file.name):
                    self.assertNotRegex(file.read_text(), r"(?m)^import Testing$")


class Reading(unittest.TestCase):
    def test_targets_are_read_without_those_of_tests_and_packages(self) -> None:
        found = rooms.rooms(MANIFEST)
        self.assertEqual(
            {name: (room.kind, set(room.needs)) for name, room in found.items()},
            {
                "CPlatform": ("library", set()),
                "System": ("room", {"CPlatform"}),
                "Store": ("room", {"CPlatform", "System"}),
                "program": ("program", {"Store"}),
            },
        )
        self.assertEqual(rooms.drawn_needs(found, "Store"), ["System"])

    def test_a_line_over_several_rows_leads_between_the_boxes(self) -> None:
        found = rooms.rooms(MANIFEST.replace('["Store"], swift', '["Other", "Store"], swift'))
        found["Other"] = rooms.Room("Other", "room", frozenset())
        drawn = rooms.lines(found, rooms.heights(found))
        self.assertEqual(drawn["program", "Other"], ["program", "program>Other@2", "Other"])


if __name__ == "__main__":
    unittest.main()
