# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench store, which says what is measured: fills the stores, runs the programs, prints the tables."""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from bench import CONNECTIONS, Site
from servers import flushes
from store_peers import Peer, Postgres

OURS = "file store"
SMALL = 10_000  # records in the store that is written to
ACTIVE = 1_000  # owners who are written for
WRITERS = {"1 thread": (1, 1), "8 threads": (8, 1), "64 threads": (64, 1), "4 processes x 16": (16, 4)}
COMPARED = (8, 1)  # threads and processes that write into a small store and into a large one
OPENINGS = 5
OWN_RECORDS = 10  # records of an owner in a large store


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.sizes = sorted({1_000, min(100_000, options.records), options.records})
        programs = pathlib.Path(options.programs)
        self.peers = [
            Peer(OURS, options.store_bench, folder / "files"),
            # Each thread with a connection of its own, and all threads of a process with one.
            Peer("SQLite", programs / "store-sqlite", folder / "sqlite"),
            Peer("SQLite, shared", programs / "store-sqlite-shared", folder / "sqlite-shared"),
            Postgres("PostgreSQL", programs / "store-postgres", folder / "postgres"),
        ]

    @property
    def read_peers(self):
        """One thread reads: there is but one SQLite."""
        return [peer for peer in self.peers if peer.name != "SQLite, shared"]

    def owners(self, records):
        return max(ACTIVE, records // OWN_RECORDS)

    def run(self):
        for peer in self.peers:
            peer.start()
        return {"reading": self.measure_reading(), "writing": self.measure_writing()}

    # Opening and reading

    def measure_reading(self):
        rows = []
        for records in self.sizes:
            names = {}
            for peer in self.read_peers:
                say(f"Filling {peer.name} with {records} records ...")
                names[peer.name] = shuffled(peer.fill(records, self.owners(records)))
            samples = collections.defaultdict(list)
            for number in range(OPENINGS):
                for peer in self.read_peers:
                    calls = peer.read(records, names[peer.name])
                    assert calls.failures == 0, f"{peer.name}: {calls.failures} records were not found"
                    # The first reads bring the files into memory.
                    if number > 0:
                        samples[peer.name].append((calls, *peer.open(records)))
            rows += [reading_row(peer, records, samples) for peer in self.read_peers]
        return rows

    # Writing

    def measure_writing(self):
        large = self.sizes[-1]
        for peer in self.read_peers:
            peer.keep(large)
        samples = collections.defaultdict(list)
        for number in range(self.options.rounds):
            say(f"Round {number + 1} of {self.options.rounds} ...")
            for name, shape in WRITERS.items():
                for peer in self.peers:
                    peer.fill(SMALL, ACTIVE)
                    samples[name, peer.name].append(self.create(peer, SMALL, ACTIVE, shape))
            for peer in self.read_peers:
                for name, owners in (("large", ACTIVE), ("large, all owners", self.owners(large))):
                    peer.restore(large)
                    samples[name, peer.name].append(self.create(peer, large, owners, COMPARED))
                peer.fill(SMALL, ACTIVE)
                samples["small", peer.name].append(self.create(peer, SMALL, ACTIVE, COMPARED))
            for writers in (1, 64):
                samples["flushes", writers].append(flushes(self.folder, writers))
        return samples

    def create(self, peer, records, owners, shape):
        threads, processes = shape
        calls, memory = peer.create(records, owners, threads, processes, self.options.seconds)
        if calls.failures:
            say(f"{peer.name}: {calls.failures} of {calls.failures + len(calls.times)} calls failed")
        return calls, memory

    def measure_site(self):
        """Registrations through nginx, each durable."""
        samples = collections.defaultdict(list)
        with Site(self.options.app_backend, self.options.programs, self.folder / "site") as site:
            site.measure("/", CONNECTIONS[0], 1, site.puts)
            for number in range(self.options.rounds):
                say(f"Round {number + 1} of {self.options.rounds} through nginx ...")
                for connections in CONNECTIONS:
                    process = site["app-backend"]
                    samples[connections].append(
                        site.measure("/", connections, self.options.seconds, site.puts, process))
        return [
            {"connections": connections, **{key: spread([value[key] for value in values]) for key in ("rate", "p50", "p99")},
             "errors": sum(value["errors"] for value in values)}
            for connections, values in samples.items()]

    def stop(self):
        for peer in self.peers:
            peer.stop()


def say(text):
    print(text, file=sys.stderr)


def shuffled(names):
    """In an order that no store has, and the same in every run; an empty line ends them."""
    lines = names.splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    return b"".join(lines)


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def reading_row(peer, records, samples):
    reads, openings, memories = zip(*samples[peer.name])
    return {
        "store": peer.name, "records": records,
        "open ms": spread(openings),
        "resident MB": spread([memory["resident"] for memory in memories]),
        "proportional MB": spread([memory["proportional"] for memory in memories]),
        "p50 us": spread([calls.percentile(50) / 1e3 for calls in reads]),
        "p99 us": spread([calls.percentile(99) / 1e3 for calls in reads]),
    }


def writing_rows(samples, peers):
    rows = []
    for name in WRITERS:
        ours = samples[name, OURS]
        for peer in peers:
            values = samples[name, peer.name]
            rows.append({
                "writers": name, "store": peer.name,
                "rate": spread([calls.rate for calls, _ in values]),
                "p50 ms": spread([calls.percentile(50) / 1e6 for calls, _ in values]),
                "p99 ms": spread([calls.percentile(99) / 1e6 for calls, _ in values]),
                "failures": sum(calls.failures for calls, _ in values),
                "ours to it": spread([one.rate / other.rate for (one, _), (other, _) in zip(ours, values)]),
            })
    return rows


def growth_rows(samples, peers):
    """What it costs to write into a large store."""
    rows = []
    for peer in peers:
        small = samples["small", peer.name]
        for name in ("large", "large, all owners"):
            values = samples[name, peer.name]
            rows.append({
                "store": peer.name, "owners": name.removeprefix("large, ") if "," in name else str(ACTIVE),
                "small": spread([calls.rate for calls, _ in small]),
                "large": spread([calls.rate for calls, _ in values]),
                "large to small": spread([one.rate / other.rate for (one, _), (other, _) in zip(values, small)]),
                "resident MB": spread([memory["resident"] for _, memory in values]),
            })
    return rows


def text(value, digits=0):
    """`median [least..most]`"""
    return f"{value['median']:.{digits}f} [{value['least']:.{digits}f}..{value['most']:.{digits}f}]"


def print_tables(result):
    print(f"Durable creates per second, {SMALL} records of {ACTIVE} owners being there: median [least..most] of the rounds")
    print(f"{'':18}{'':16}{'per second':>26}{'p50 ms':>9}{'p99 ms':>9}{'file store to it':>22}")
    for row in result["writing"]:
        print(
            f"{row['writers']:18}{row['store']:16}{text(row['rate']):>26}{row['p50 ms']['median']:9.2f}"
            f"{row['p99 ms']['median']:9.2f}{text(row['ours to it'], 2):>22}")
    large = result["records"]
    print(f"\nThe same on {COMPARED[0]} threads into {SMALL} records, and into {large}")
    print(f"{'':16}{'owners':>8}{'small':>26}{'large':>26}{'large to small':>20}{'resident MB':>13}")
    for row in result["growth"]:
        print(
            f"{row['store']:16}{row['owners']:>8}{text(row['small']):>26}{text(row['large']):>26}"
            f"{text(row['large to small'], 2):>20}{row['resident MB']['median']:13.1f}")
    print("\nOpening, memory after it, and random reads by one thread")
    print(f"{'':16}{'records':>9}{'open ms':>20}{'resident MB':>13}{'proportional MB':>17}{'p50 µs':>18}{'p99 µs':>20}")
    for row in result["reading"]:
        print(
            f"{row['store']:16}{row['records']:9}{text(row['open ms'], 2):>20}{row['resident MB']['median']:13.1f}"
            f"{row['proportional MB']['median']:17.1f}{text(row['p50 us'], 1):>18}{text(row['p99 us'], 1):>20}")
    server = result["server"]
    print(f"PostgreSQL's server starts in {server['start ms']:.0f} ms and takes {server['proportional MB']:.0f} MB.")
    if "registrations" in result:
        print("\nRegistrations through nginx and app-backend, each durable")
        print(f"{'connections':>12}{'per second':>26}{'p50 ms':>9}{'p99 ms':>9}")
        for row in result["registrations"]:
            print(
                f"{row['connections']:12}{text(row['rate']):>26}{row['p50']['median']:9.2f}{row['p99']['median']:9.2f}")
    if "flushes" in result:
        flush = ", ".join(f"{text(row['rate'])} by {row['writers']}" for row in result["flushes"])
        print(f"\nThe disk's own appends with fdatasync per second: {flush} at once.")


def model_flushes(folder, library, milliseconds):
    """All that is started from now on flushes to a disk that takes so long."""
    state = folder / "disk"
    state.touch(0o666)
    state.chmod(0o666)
    os.environ |= {"LD_PRELOAD": str(library), "FLUSH_US": str(milliseconds * 1000), "FLUSH_STATE": str(state)}


def measure(options, folder):
    bench = Bench(options, folder)
    # Also on SIGTERM, so that nothing stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        samples = bench.run()
        writing = samples["writing"]
        postgres = bench.peers[-1]
        postgres.stop_server()
        server = {"start ms": postgres.start_server(), "proportional MB": postgres.memory()}
        result = {
            "records": options.records,
            "writing": writing_rows(writing, bench.peers), "growth": growth_rows(writing, bench.read_peers),
            "reading": samples["reading"], "server": server,
        }
        postgres.stop_server()
        # Neither knows of the model.
        if not options.flush_ms:
            result["registrations"] = bench.measure_site()
            result["flushes"] = [
                {"writers": key[1], "rate": spread(values)} for key, values in writing.items() if key[0] == "flushes"]
        return result
    finally:
        bench.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--flush-ms", type=int)
    parser.add_argument("--folder")
    parser.add_argument("store_bench")
    parser.add_argument("app_backend")
    parser.add_argument("programs")
    options = parser.parse_args()
    parent = options.folder or ("/dev/shm" if options.flush_ms else options.programs)
    kind = subprocess.run(["stat", "-f", "-c", "%T", parent], check=True, capture_output=True, text=True).stdout.strip()
    if kind in ("tmpfs", "ramfs") and not options.flush_ms:
        sys.exit(f"{parent} is in memory, where a flush costs nothing: name a folder on a disk (--folder)")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="store-bench-", dir=parent)).resolve()
    try:
        # The server of PostgreSQL may be another user.
        folder.chmod(0o711)
        if options.flush_ms:
            model_flushes(folder, pathlib.Path(options.programs).resolve() / "flush.so", options.flush_ms)
        result = measure(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_tables(result)


if __name__ == "__main__":
    main()
