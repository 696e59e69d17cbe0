# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench files, which says what is measured: runs requests under callgrind and counts the source files
that they enter."""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import delivery
import described
from one_backend import Callgrind

# By what a thread has entered of these it is known whether it took part: others of the process look for work now and then.
REQUEST = ("FastCGI/Server/Worker.swift", "FastCGI/Server/EventLoop.swift")
DELIVERY = ("BuiltInHub/Delivery/", "Curl/")


class Sources:
    """In which file of this project a function is. valgrind does not read Swift's debug information, so it runs a copy
    without, and addr2line(1) reads the original."""

    def __init__(self, program):
        self.program = program
        self.addresses = {}
        for line in subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines():
            parts = line.split()
            if len(parts) == 3 and parts[1] in "tT":
                self.addresses[parts[2]] = parts[0]

    def files(self, functions):
        addresses = "\n".join(self.addresses[name] for name in functions if name in self.addresses)
        lines = subprocess.run(
            ["addr2line", "-e", self.program], input=addresses, check=True, capture_output=True, text=True).stdout
        paths = {line.rsplit(":", 1)[0] for line in lines.splitlines()}
        return {path.split("/Sources/", 1)[1] for path in paths if "/Sources/" in path and "/.build/" not in path}


def entered(dumps, sources, marks=("",)):
    """Source files of this project in which an instruction ran, and the number of all instructions, of the threads that took
    part."""
    parts = [entered_by_thread(dump, sources) for dump in dumps]
    parts = [(files, total) for files, total in parts if any(file.startswith(marks) for file in files)]
    return set().union(*(files for files, _ in parts)), sum(total for _, total in parts)


def entered_by_thread(dump, sources):
    functions, names, current, total = set(), {}, None, 0
    for line in dump.read_text(errors="replace").splitlines():
        match = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
        if match:
            kind, number, name = match.groups()
            if name:
                names[number] = name.split("'")[0]
            if kind == "fn":
                current = names.get(number)
        elif line.startswith(("summary:", "totals:")):
            total = int(line.split()[1])
        elif re.match(r"[+\-*\d]", line) and current:
            functions.add(current)
    return sources.files(functions), total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--names", action="store_true", help="prints the files, too")
    parser.add_argument("--sources", action="store_true", help="counts in the sources only")
    parser.add_argument("program", nargs="?", help="app-backend with debug information")
    options = parser.parse_args()
    if options.sources:
        described.show(options.names, options.json)
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    rows = {}
    try:
        stripped = folder / "app-backend"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, options.program], check=True)
        sources = Sources(options.program)
        backend = Callgrind(stripped, folder, separates_threads=True)
        try:
            for number, (name, prepare) in enumerate(backend.requests().items()):
                backend.measure(f"row{number}", prepare())
                rows[name] = entered(backend.latest_of_threads(), sources, REQUEST)
        finally:
            backend.stop()
        shutil.rmtree(folder / "store")
        for dump in folder.glob("callgrind*"):
            dump.unlink()
        rows["delivery"] = entered(delivery.measure(options.program, stripped, folder), sources, DELIVERY)
        shutil.rmtree(folder / "store")
        for dump in folder.glob("callgrind*"):
            dump.unlink()
        backend = Callgrind(stripped, folder, counts_start=True)
        backend.control("--dump=start")
        rows["start"] = entered([backend.latest()], sources)
        backend.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps({name: {"files": sorted(files), "instructions": total} for name, (files, total) in rows.items()}, indent=2))
        return
    print(f"{'':22}{'files':>6}{'instructions':>14}")
    for name, (files, total) in rows.items():
        print(f"{name:22}{len(files):6}{total:14}")
        if options.names:
            rooms = collections.Counter(file.split("/")[0] for file in files)
            print("    " + ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
            print("    " + " ".join(sorted(files)))


if __name__ == "__main__":
    main()
