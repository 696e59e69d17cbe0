# SPDX-License-Identifier: Apache-2.0
"""The rooms of Package.swift and what each needs, as a picture.

`python3 -B Tests/Documents/rooms.py` writes docs/rooms.svg.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "rooms.svg"
# Pixels.
BOX_HEIGHT, BOX_GAP, LAYER_GAP, MARGIN, LETTER, PADDING = 30, 14, 60, 20, 7.6, 12
STYLE = """
text { font: 13px ui-monospace, monospace; text-anchor: middle; fill: #1f2328 }
rect.paper { fill: #ffffff }
rect.room { fill: #ddf4ff; stroke: #0969da }
rect.library { fill: #eaeef2; stroke: #6e7781 }
rect.program { fill: #dafbe1; stroke: #1a7f37 }
path { fill: none; stroke: #6e7781; stroke-opacity: 0.55 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect.paper { fill: #0d1117 } rect.room { fill: #0c2d6b }
rect.library { fill: #21262d } rect.program { fill: #0f5323 }
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
    }


def rows(high: dict[str, int], drawn: Lines) -> list[list[str]]:
    """From the top, boxes and points, each where its neighbours are: ordered a few times down and up."""
    made: list[list[str]] = [[] for _ in range(1 + max(high.values()))]
    for name, row in high.items():
        made[-1 - row].append(name)
    neighbours: dict[str, list[str]] = {name: [] for name in high}
    for (name, _), through in drawn.items():
        for at, (above, below) in enumerate(zip(through, through[1:])):
            neighbours.setdefault(above, []).append(below)
            neighbours.setdefault(below, []).append(above)
            if below not in high:
                made[-high[name] + at].append(below)
    for row in [*made, *reversed(made)] * 12:
        place = {name: (at + 0.5) / len(one) for one in made for at, name in enumerate(one)}
        mean = {name: sum(place[one] for one in neighbours[name]) / max(1, len(neighbours[name])) for name in row}
        row.sort(key=lambda name: (round(mean[name], 6), name))
    return made


def picture(all_of_them: dict[str, Room]) -> str:
    """The SVG. Each box is below the boxes whose lines lead down to it."""
    drawn = lines(all_of_them, heights(all_of_them))
    ordered = rows(heights(all_of_them), drawn)
    width = {name: round(len(name) * LETTER + 2 * PADDING) for name in all_of_them}
    lengths = [sum(width.get(name, 0) + BOX_GAP for name in row) - BOX_GAP for row in ordered]
    total = max(lengths) + 2 * MARGIN
    # The middle of each box and point, from the left, and its upper end.
    places: dict[str, tuple[int, int]] = {}
    for number, (row, length) in enumerate(zip(ordered, lengths)):
        # What a short row has left goes between its boxes.
        spare = min(60, (total - 2 * MARGIN - length) // len(row))
        x = (total - length - spare * (len(row) - 1)) // 2
        for name in row:
            places[name] = (x + width.get(name, 0) // 2, MARGIN + number * (BOX_HEIGHT + LAYER_GAP))
            x += width.get(name, 0) + BOX_GAP + spare
    bottom = MARGIN + len(ordered) * (BOX_HEIGHT + LAYER_GAP) - LAYER_GAP + MARGIN
    size = f'width="{total}" height="{bottom}"'
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {total} {bottom}" {size}>',
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<title>The rooms of the source: each needs those to which its lines lead down</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" {size}/>',
        *(_path([places[name] for name in through]) for through in drawn.values()),
    ]
    for name, room in sorted(all_of_them.items()):
        x, y = places[name]
        left = x - width[name] // 2
        box = f'x="{left}" y="{y}" width="{width[name]}" height="{BOX_HEIGHT}"'
        text.append(f'<rect class="{room.kind}" {box} rx="6"/>')
        text.append(f'<text x="{x}" y="{y + 20}">{name}</text>')
    return "\n".join([*text, "</svg>", ""])


def _path(points: list[tuple[int, int]]) -> str:
    """From below the first box to above the last one, and upright through the rows between."""
    x, y = points[0]
    path = f"M{x} {y + BOX_HEIGHT}"
    for to_x, to_y in points[1:]:
        path += f"C{x} {to_y - LAYER_GAP // 2} {to_x} {to_y - LAYER_GAP // 2} {to_x} {to_y}V{to_y + BOX_HEIGHT}"
        x = to_x
    return f'<path d="{path.rpartition("V")[0]}"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(rooms((ROOT / "Package.swift").read_text())))
