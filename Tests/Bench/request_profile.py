# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench profile, which says what is measured: the same requests under callgrind and under strace."""

import argparse
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from one_backend import PAUSE, SECONDS, Backend, Callgrind

# Requests of a kind, of which the mean is taken. A device that registers for the first time is another one each time.
CALLS = 20
ALLOCATIONS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}
FLUSHES = {"fsync", "fdatasync", "sync_file_range", "syncfs"}
# A thread that waits has nothing to do with how many requests there are.
WAITS = {"restart_syscall"}


def counted(dump):
    """Instructions, and calls of functions that allocate."""
    names, total, allocations, callee = {}, 0, 0, None
    for line in dump.read_text(errors="replace").splitlines():
        if match := re.match(r"(?:c?fn)=\((\d+)\)(?: (.*))?", line):
            number, name = match.groups()
            if name:
                names[number] = name.split("'")[0]
            if line.startswith("c"):
                callee = names.get(number)
        elif line.startswith("calls="):
            if callee in ALLOCATIONS:
                allocations += int(line[len("calls="):].split()[0])
        elif line.startswith(("summary:", "totals:")):
            total = int(line.split()[1])
    return total, allocations


def instructions(program, folder):
    backend = Callgrind(program, folder)
    rows = {}
    try:
        for number, (name, prepare) in enumerate(backend.requests().items()):
            parts = [counted(backend.measure(f"row{number}-{turn}", prepare())) for turn in range(CALLS)]
            # The first ones meet caches that are empty.
            rows[name] = {
                "instructions": sorted(part[0] for part in parts)[CALLS // 2],
                "allocations": sorted(part[1] for part in parts)[CALLS // 2]}
    finally:
        backend.stop()
    return rows


class Trace:
    """Counts system calls of a process from now on, in all its threads."""

    def __init__(self, pid, file):
        self.file = file
        self.process = subprocess.Popen(
            ["strace", "--follow-forks", "--summary-only", "--summary-columns=calls,name", f"--attach={pid}", f"--output={file}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + SECONDS
        while not all(self.is_traced(task) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
            if time.monotonic() > until:
                raise TimeoutError("strace has not begun")
            time.sleep(PAUSE)

    @staticmethod
    def is_traced(task):
        return "TracerPid:\t0\n" not in (task / "status").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(SECONDS)
        lines = (line.split() for line in self.file.read_text().splitlines())
        counts = {parts[1]: int(parts[0]) for parts in lines if len(parts) == 2 and parts[0].isdigit()}
        counts.pop("total", None)
        return counts


def system_calls(program, folder):
    backend = Backend(program, folder)
    rows = {}
    try:
        for name, prepare in backend.requests().items():
            # Once before it counts: what is read for the first time is another row's.
            backend.call(*prepare())
            prepared = [prepare() for _ in range(CALLS)]
            trace = Trace(backend.process.pid, folder / "trace")
            for call in prepared:
                backend.call(*call)
            counts = trace.stop()
            rows[name] = {
                "system calls": sum(number for call, number in counts.items() if call not in WAITS) / CALLS,
                "flushes": sum(counts.get(call, 0) for call in FLUSHES) / CALLS}
    finally:
        backend.stop()
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("program", help="app-backend as it is shipped")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        rows = instructions(options.program, folder)
        shutil.rmtree(folder / "store")
        for name, more in system_calls(options.program, folder).items():
            rows[name].update(more)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'':22}{'instructions':>14}{'allocations':>13}{'system calls':>14}{'flushes':>9}")
    for name, row in rows.items():
        print(f"{name:22}{row['instructions']:14}{row['allocations']:13}{row['system calls']:14.1f}{row['flushes']:9.1f}")


if __name__ == "__main__":
    main()
