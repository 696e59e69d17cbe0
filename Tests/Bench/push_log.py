# SPDX-License-Identifier: Apache-2.0
"""What a push service has written down of the pushes that have come."""

import collections
import time

PAUSE = 0.05  # seconds between two looks into the log


class Arrival(collections.namedtuple("Arrival", "end connection seconds bytes protocol status path")):
    """One push. `end` is the moment of the answer, in seconds since 1970 and to the millisecond; `seconds`, how long the
    service had it; `path` tells the device: what it came to, or where the service tells devices by the body, that."""

    @property
    def start(self):
        return self.end - self.seconds


class ArrivalLog:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.rest = b""

    def read(self):
        """The arrivals since the last time."""
        *lines, self.rest = (self.rest + self.file.read()).split(b"\n")
        return [self.parse(line.decode()) for line in lines]

    @staticmethod
    def parse(line):
        msec, connection, _, seconds, sizes, protocol, status, path = line.split(" ", 7)
        return Arrival(
            float(msec), int(connection), float(seconds), int(sizes.partition("/")[2]), protocol, int(status), path)

    def wait(self, count, patience):
        """The next arrivals, so many at least.

        patience: for so many seconds nothing may come."""
        arrivals, deadline = [], time.monotonic() + patience
        while len(arrivals) < count:
            new = self.read()
            arrivals += new
            if new:
                deadline = time.monotonic() + patience
            elif time.monotonic() > deadline:
                raise TimeoutError(f"{len(arrivals)} of {count} pushes came")
            time.sleep(PAUSE)
        return arrivals


def rate(arrivals):
    """Per second, from the first to the last."""
    ends = [arrival.end for arrival in arrivals]
    return (len(ends) - 1) / max(max(ends) - min(ends), 0.001)


def depth(arrivals):
    """How many pushes the service had at once on one connection, at most and on average over the time that it had any."""
    deepest, busy, spent = 0, 0.0, 0.0
    by_connection = collections.defaultdict(list)
    for arrival in arrivals:
        by_connection[arrival.connection] += [(arrival.start, 1), (arrival.end, -1)]
        spent += arrival.seconds
    for changes in by_connection.values():
        # Ends before beginnings, where both are in one millisecond.
        now, since = 0, 0.0
        for moment, change in sorted(changes):
            if now == 0 and change > 0:
                since = moment
            now += change
            deepest = max(deepest, now)
            if now == 0:
                busy += moment - since
    return deepest, spent / busy if busy > 0 else 0


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]
