# SPDX-License-Identifier: Apache-2.0
"""The rooms of Package.swift and what each needs, as a picture.

`python3 -B Tests/Documents/rooms.py` writes docs/maintain/rooms.svg.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import layers

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "maintain" / "rooms.svg"
# Pixels. A box is higher by a line where the libraries of C stand in it that the room opens.
BOX_HEIGHT, LINE_HEIGHT, BOX_GAP, LAYER_GAP, MARGIN, PADDING = 30, 15, 16, 46, 20, 14
LETTER, SMALL_LETTER = 7.8, 6.6
STYLE = """
text { font: 13px ui-monospace, monospace; text-anchor: middle; fill: #1f2328 }
text.library { font-size: 11px; fill: #57606a }
rect.paper { fill: #ffffff }
rect.room { fill: #ddf4ff; stroke: #0969da }
rect.program { fill: #dafbe1; stroke: #1a7f37 }
path { fill: none; stroke: #57606a; stroke-opacity: 0.65 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } text.library { fill: #9da7b1 } rect.paper { fill: #0d1117 }
rect.room { fill: #0c2d6b } rect.program { fill: #0f5323 } path { stroke: #9da7b1 }
}
"""


@dataclass(frozen=True)
class Room:
    name: str
    # room, library (of C) or program
    kind: str
    needs: frozenset[str]


def rooms(manifest: str) -> dict[str, Room]:
    """The targets whose sources are in Sources, by name; of what they need only such targets."""
    manifest = re.sub(r"^\s*//.*$", "", manifest, flags=re.M)
    kinds = {"target": "room", "executableTarget": "program", "systemLibrary": "library"}
    found = {}
    for match in re.finditer(r"\.(target|executableTarget|systemLibrary)\(\s*name: \"([^\"]+)\"", manifest):
        arguments = manifest[match.end() : _closing(manifest, match.end())]
        if "path:" not in arguments:
            needs = re.search(r"dependencies: \[(.*?)\]", re.sub(r"\.product\([^()]*\)", "", arguments), re.S)
            listed = re.findall(r'"([^"]+)"', needs[1]) if needs else []
            found[match[2]] = Room(match[2], kinds[match[1]], frozenset(listed))
    return found


def _closing(text: str, at: int) -> int:
    """Where the parenthesis that is open at `at` is closed."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def reachable(all_of_them: dict[str, Room], name: str) -> set[str]:
    """What a room needs, directly or through another."""
    found: set[str] = set()
    for need in all_of_them[name].needs:
        found |= {need} | reachable(all_of_them, need)
    return found


def drawn_needs(all_of_them: dict[str, Room], name: str) -> list[str]:
    """Those that no other need of the room brings along: with all of them the picture would be one of lines."""
    needs = all_of_them[name].needs
    return sorted(one for one in needs if not any(one in reachable(all_of_them, other) for other in needs))


def libraries(all_of_them: dict[str, Room], name: str) -> list[str]:
    """Of C, those that the room itself opens: they stand in its box."""
    return [one for one in drawn_needs(all_of_them, name) if all_of_them[one].kind == "library"]


def heights(all_of_them: dict[str, Room]) -> dict[str, int]:
    """Each room above all that it needs, and as low as that allows; C libraries at the bottom, 0."""
    found: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in found:
            room = all_of_them[name]
            lowest = 0 if room.kind == "library" else 1
            found[name] = max([lowest, *(height(need) + 1 for need in room.needs)])
        return found[name]

    return {name: height(name) for name in sorted(all_of_them)}


Lines = dict[tuple[str, str], list[str]]


def lines(all_of_them: dict[str, Room], high: dict[str, int]) -> Lines:
    """Of each room to each that is drawn: both boxes and, in the rows between, the points that its line crosses."""
    return {
        (name, need): [name, *(f"{name}>{need}@{row}" for row in range(high[name] - 1, high[need], -1)), need]
        for name in sorted(all_of_them)
        for need in drawn_needs(all_of_them, name)
        if all_of_them[need].kind != "library"
    }


def picture(all_of_them: dict[str, Room]) -> str:
    """The SVG. Each box is below the boxes whose lines lead down to it."""
    high = {name: row for name, row in heights(all_of_them).items() if row > 0}
    paths = list(lines(all_of_them, high).values())
    rows: layers.Rows = [[] for _ in range(max(high.values()))]
    for name, row in high.items():
        rows[-row].append(name)
    for path in paths:
        for at, point in enumerate(path[1:-1], start=1):
            rows[-high[path[0]] + at].append(point)
    layers.order(rows, paths)
    inside = {name: " ".join(libraries(all_of_them, name)) for name in high}
    width = {name: round(max(len(name) * LETTER, len(inside[name]) * SMALL_LETTER) + 2 * PADDING) for name in high}
    middle = layers.place(rows, paths, width, BOX_GAP)
    tops, y = {}, MARGIN
    tall = {name: BOX_HEIGHT + LINE_HEIGHT * bool(inside[name]) for name in high}
    for row in rows:
        tops |= {name: y for name in row}
        highest = max(tall.get(name, 0) for name in row)
        # A line that passes a row is upright beside its boxes.
        tall |= {name: highest for name in row if name not in high}
        y += highest + LAYER_GAP
    total = round(max(middle[name] + width[name] / 2 for name in high)) + 2 * MARGIN
    along = zip(paths, layers.along(paths, middle, width))
    return _svg(total, y - LAYER_GAP + MARGIN, [
        *(_path([(round(x) + MARGIN, tops[name], tops[name] + tall[name]) for name, x in zip(path, xs)]) for path, xs in along),
        *(_box(name, all_of_them[name].kind, inside[name], round(middle[name]) + MARGIN, tops[name], width[name], tall[name])
          for name in sorted(high)),
    ])


def _svg(width: int, height: int, drawn: list[str]) -> str:
    size = f'width="{width}" height="{height}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" {size}>',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<title>The rooms of the source: each needs those to which its lines lead down</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" {size}/>',
        *drawn, "</svg>", "",
    ])


def _box(name: str, kind: str, inside: str, x: int, y: int, width: int, height: int) -> str:
    box = f'<rect class="{kind}" x="{x - width // 2}" y="{y}" width="{width}" height="{height}" rx="6"/>'
    box += f'<text x="{x}" y="{y + 20}">{name}</text>'
    return box + (f'<text class="library" x="{x}" y="{y + 20 + LINE_HEIGHT}">{inside}</text>' if inside else "")


def _path(points: list[tuple[int, int, int]]) -> str:
    """From below the first box to above the last one, and upright through the rows between; each `(x, top, bottom)`."""
    x, _, y = points[0]
    path = f"M{x} {y}"
    for to_x, top, bottom in points[1:]:
        bend = (y + top) // 2
        path += f"C{x} {bend} {to_x} {bend} {to_x} {top}V{bottom}"
        x, y = to_x, bottom
    return f'<path d="{path.rpartition("V")[0]}"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(rooms((ROOT / "Package.swift").read_text())))
