# SPDX-License-Identifier: Apache-2.0
"""Where the boxes of a picture in rows stand, so that its lines are short, upright, and cross each other seldom."""

from collections.abc import Callable

ROUNDS = 24
# How much more a point of a line through a row counts than a box: long lines are to be upright.
UPRIGHT = 4
# Pixels between the ends of two lines at a box.
LARGEST_STEP = 12

Rows = list[list[str]]
# Of each line all that it touches: a box, a point in each row between, a box.
Paths = list[list[str]]


def neighbours(paths: Paths, distance: int) -> dict[str, list[str]]:
    """What the lines lead to from each: in the row above (-1) or below (1)."""
    found: dict[str, list[str]] = {name: [] for path in paths for name in path}
    for path in paths:
        for above, below in zip(path, path[1:]):
            found[below if distance < 0 else above].append(above if distance < 0 else below)
    return found


def order(rows: Rows, paths: Paths) -> None:
    """Sorts each row by where its neighbours are, and then puts each box and point where the fewest lines cross."""
    up, down = neighbours(paths, -1), neighbours(paths, 1)
    for row in [*rows, *reversed(rows)] * ROUNDS:
        at = {name: (place + 0.5) / len(one) for one in rows for place, name in enumerate(one)}
        near = {name: [at[one] for one in up.get(name, []) + down.get(name, [])] for name in row}
        row.sort(key=lambda name: (round(sum(near[name]) / max(1, len(near[name])), 6), name))
    for row in [*rows, *reversed(rows)] * ROUNDS:
        at = {name: float(place) for one in rows for place, name in enumerate(one)}
        for name in list(row):
            _sift(row, name, lambda left, right: sum(_crossings(way.get(left, []), way.get(right, []), at) for way in (up, down)))


def _sift(row: list[str], name: str, crossings: Callable[[str, str], int]) -> None:
    """Puts it where the fewest lines cross, and leaves it where it is when no place is better."""
    here = row.index(name)
    row.remove(name)
    # From the left end: passing another one changes the crossings of those two alone.
    costs = [0]
    for other in row:
        costs.append(costs[-1] - crossings(name, other))
    row.insert(min(range(len(costs)), key=lambda place: (costs[place], abs(place - here))), name)


def _crossings(left: list[str], right: list[str], at: dict[str, float]) -> int:
    """How many more lines of two that stand side by side cross each other than if they changed places."""
    return sum((at[one] > at[other]) - (at[one] < at[other]) for one in left for other in right)


def place(rows: Rows, paths: Paths, widths: dict[str, int], gap: int) -> dict[str, float]:
    """The middle of each, from the left: as near to its neighbours' as the order and the widths allow."""
    up, down = neighbours(paths, -1), neighbours(paths, 1)
    at: dict[str, float] = {}
    for row in rows:
        at |= _apart(row, {}, widths, gap)
    for row in [*rows, *reversed(rows)] * ROUNDS:
        wanted = {}
        for name in row:
            near = [at[one] for one in up.get(name, []) + down.get(name, [])]
            wanted[name] = sum(near) / len(near) if near else at[name]
        at |= _apart(row, wanted, widths, gap)
    least = min(at[name] - widths.get(name, 0) / 2 for row in rows for name in row)
    return {name: x - least for name, x in at.items()}


def _apart(row: list[str], wanted: dict[str, float], widths: dict[str, int], gap: int) -> dict[str, float]:
    """The places that differ least from those that are wanted and do not overlap (by pooling of neighbours)."""
    offset, offsets = 0.0, []
    for place, name in enumerate(row):
        offset += (widths.get(row[place - 1], 0) + widths.get(name, 0)) / 2 + gap if place else 0
        offsets.append(offset)
    pools: list[list[float]] = []  # mean, weight, how many
    for name, own in zip(row, offsets):
        pools.append([wanted.get(name, 0) - own, 1 if name in widths else UPRIGHT, 1])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            mean, weight, count = pools.pop()
            total = pools[-1][1] + weight
            pools[-1] = [(pools[-1][0] * pools[-1][1] + mean * weight) / total, total, pools[-1][2] + count]
    means = [mean for mean, _, count in pools for _ in range(int(count))]
    return {name: mean + own for name, mean, own in zip(row, means, offsets)}


def along(paths: Paths, middle: dict[str, float], widths: dict[str, int]) -> list[list[float]]:
    """Where each line touches what it touches, from the left: at a box each has a place of its own, in the order of where
    it leads to."""
    xs = [[middle[name] for name in path] for path in paths]
    for end, other in ((0, 1), (-1, -2)):
        for name in {path[end] for path in paths}:
            own = [at for at, path in enumerate(paths) if path[end] == name]
            own.sort(key=lambda at: (middle[paths[at][other]], paths[at]))
            for place, at in enumerate(own):
                xs[at][end] += (place - (len(own) - 1) / 2) * min(LARGEST_STEP, 0.8 * widths[name] / len(own))
    return xs
