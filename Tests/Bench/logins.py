# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench logins, which says what is measured: starts the program for each round, prints the table."""

import argparse
import base64
import collections
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

import gateway
import users
from servers import ANSWER_SECONDS, Servers, until

PASSWORD = "correct horse battery staple"
CONNECTIONS = 64  # of the one user who has many
ALONE = 20  # log-ins one after the other, for what one hash takes
PAUSE = 0.01  # seconds between two requests of the user who is known already
NETWORK = "198.51.100.7"


def request(user, network=NETWORK):
    """The status, and how long it took in milliseconds."""
    credentials = base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
    begin = time.monotonic()
    status = gateway.ask(path_of_socket, {
        "REQUEST_METHOD": "GET", "REQUEST_URI": "/api/notifications", "REQUEST_SCHEME": "https",
        "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost", "REMOTE_ADDR": network,
        "HTTP_AUTHORIZATION": f"Basic {credentials}"}).status
    return status, (time.monotonic() - begin) * 1000


class Site(Servers):
    """app-backend on a socket, and a store with users who all have one password."""

    def __init__(self, program, folder, count):
        super().__init__(folder)
        self.program, self.count = program, count
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.config = self.folder / "logins.json"
        self.config.write_text(json.dumps({
            "listen": str(self.sockets / "swift"), "store": {"path": str(self.sockets / "store")}}))

    def start(self):
        users.add(
            self.program, self.config, self.folder, "known", [f"user{number}" for number in range(self.count)], PASSWORD)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.sockets, ignore_errors=True)

    def restart(self):
        """A process that remembers no log-in."""
        self.stop()
        self.processes.clear()
        self.spawn("app-backend", [self.program, "serve", "--config", self.config])
        until(lambda: gateway.ask(path_of_socket, {
            "REQUEST_METHOD": "GET", "REQUEST_URI": "/api/config", "HTTP_HOST": "localhost"}), ANSWER_SECONDS)


def at_once(names, network, between=lambda: None):
    """All of them on threads of their own; the answers' statuses and times, and how long it took until the last one."""
    answers = []
    gate = threading.Barrier(len(names) + 1)

    def ask(number, user):
        gate.wait()
        try:
            answers.append(request(user, network(number)))
        except OSError as error:
            answers.append((type(error).__name__, 0))

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(names)]
    for thread in threads:
        thread.start()
    gate.wait()
    begin = time.monotonic()
    while any(thread.is_alive() for thread in threads):
        between()
    return answers, time.monotonic() - begin


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] if times else 0


def describe(name, answers, seconds):
    times = [taken for _, taken in answers]
    statuses = collections.Counter(str(status) for status, _ in answers)
    return {
        "name": name, "statuses": dict(sorted(statuses.items())), "p50": percentile(times, 0.5),
        "p99": percentile(times, 0.99), "worst": max(times, default=0), "seconds": seconds}


def measure(site):
    """One round, in a process of its own each: what a hash takes, many users at once, one user on many connections."""
    site.restart()
    alone = [request(f"user{number}") for number in range(ALONE)]
    hash_time = statistics.median(taken for _, taken in alone)
    rows = [describe("one after another", alone, sum(taken for _, taken in alone) / 1000)]

    site.restart()
    request("known")
    known = []

    def ask_known():
        known.append(request("known"))
        time.sleep(PAUSE)

    names = [f"user{number}" for number in range(site.count)]
    # Each from a household of their own.
    answers, seconds = at_once(names, lambda number: f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", ask_known)
    rows.append(describe("all at once", answers, seconds))
    rows[-1]["to hashes"] = seconds / (hash_time / 1000 * site.count / os.cpu_count())
    rows.append(describe("known meanwhile", known, seconds))

    site.restart()
    answers, seconds = at_once(["user0"] * CONNECTIONS, lambda _: NETWORK)
    rows.append(describe("one user, 64 times", answers, seconds))
    return rows


def print_table(rounds):
    print(f"{'':20}{'p50 ms':>9}{'p99 ms':>9}{'worst ms':>10}{'last s':>8}{'to hashes':>11}  answers")
    for rows in zip(*rounds):
        row = {key: statistics.median(row[key] for row in rows) for key in ("p50", "p99", "worst", "seconds")}
        ratio = statistics.median(row["to hashes"] for row in rows) if "to hashes" in rows[0] else None
        statuses = sum((collections.Counter(row["statuses"]) for row in rows), collections.Counter())
        print(
            f"{rows[0]['name']:20}{row['p50']:9.1f}{row['p99']:9.1f}{row['worst']:10.1f}{row['seconds']:8.2f}"
            f"{'' if ratio is None else f'{ratio:.2f}':>11}  {dict(sorted(statuses.items()))}")


def main():
    global path_of_socket
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("program")
    parser.add_argument("folder")
    options = parser.parse_args()
    with Site(options.program, options.folder, options.users) as site:
        path_of_socket = site.sockets / "swift"
        rounds = []
        for number in range(options.rounds):
            rounds.append(measure(site))
            print(f"Round {number + 1} of {options.rounds} ...", file=sys.stderr)
    if options.json:
        print(json.dumps({"rounds": rounds}, indent=2))
    else:
        print_table(rounds)


if __name__ == "__main__":
    main()
