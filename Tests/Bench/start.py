# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench start, which says what is measured: starts the programs again and again, prints the table."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import gateway
from servers import ANSWER_SECONDS, memory

REQUEST = gateway.parameters("GET", "/api/config")
PAUSE = 0.0002  # seconds between two tries to connect
SETTLED = 4  # seconds after the first answer, when what a start needs once has been given back


def ask(path, until):
    """Asks as soon as a process listens, and returns the answer's status."""
    while True:
        try:
            return gateway.ask(path, REQUEST).status
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE)


class Program:
    def __init__(self, name, executable, command, socket_path):
        self.name, self.executable, self.command, self.socket = name, executable, command, socket_path

    def start(self, is_settled):
        """Starts it once; how long the first answer took in milliseconds, and where it is wanted its memory."""
        self.socket.unlink(missing_ok=True)
        begin = time.monotonic()
        process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert ask(self.socket, begin + ANSWER_SECONDS), self.name
            taken = (time.monotonic() - begin) * 1000
            if not is_settled:
                return taken, None
            time.sleep(SETTLED)
            return taken, memory(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(ANSWER_SECONDS)


def stripped_size(executable, folder):
    copy = folder / "stripped"
    subprocess.run(["strip", "-s", "-o", copy, executable], check=True)
    return copy.stat().st_size / 1e6


def measure(programs, rounds, folder):
    times = {program.name: [] for program in programs}
    rows = {}
    for number in range(rounds):
        for program in programs:
            taken, sizes = program.start(is_settled=number == 0)
            # The first start reads the file from the disk and makes the store; it is not counted.
            if number == 0:
                rows[program.name] = {"name": program.name, "file": stripped_size(program.executable, folder), **sizes}
            else:
                times[program.name].append(taken)
        print(f"Round {number + 1} of {rounds} ...", file=sys.stderr)
    for name, row in rows.items():
        row["start"] = statistics.median(times[name])
        row["latest"] = max(times[name])
    base = rows["c"]
    for row in rows.values():
        row["to c"] = row["start"] / base["start"]
    return list(rows.values())


def print_table(rows):
    print(f"{'':14}{'file MB':>9}{'start ms':>10}{'worst ms':>10}{'to c':>7}{'resident MB':>13}{'proportional MB':>17}{'anonymous MB':>14}")
    for row in rows:
        print(
            f"{row['name']:14}{row['file']:9.2f}{row['start']:10.1f}{row['latest']:10.1f}{row['to c']:7.2f}"
            f"{row['resident']:13.1f}{row['proportional']:17.1f}{row['anonymous']:14.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("program")
    parser.add_argument("folder")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder).resolve()
    sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        config = folder / "start.json"
        config.write_text(json.dumps({"listen": str(sockets / "swift"), "store": {"path": str(sockets / "store")}}))
        programs = [
            Program(
                "c", folder / "responder", [folder / "responder", sockets / "c", "64", "a:b", os.devnull], sockets / "c"),
            Program(
                "app-backend", options.program, [options.program, "serve", "--config", config], sockets / "swift"),
        ]
        rows = measure(programs, options.rounds + 1, folder)
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
    if options.json:
        print(json.dumps({"rows": rows}, indent=2))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
