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
import sys
import tempfile
import time

import gateway

SECONDS = 300  # for a start: the program runs fifty times slower than by itself
PAUSE = 0.05  # seconds between two looks
USER = "alice"  # auth.method test, as a password hash would drown what is measured: the password is the name
TOKEN = "0123456789ABCDEF" * 4


class Backend:
    """app-backend under callgrind, which does not count before it is asked to."""

    def __init__(self, program, sources, folder, counts_start=False):
        self.sources, self.folder, self.socket = sources, folder, folder / "socket"
        config = folder / "config.json"
        config.write_text(json.dumps({
            "listen": str(self.socket), "store": {"path": str(folder / "store")}, "auth": {"method": "test"}, "workers": 1,
        }))
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--demangle=no", f"--instr-atstart={'yes' if counts_start else 'no'}",
             f"--callgrind-out-file={folder}/callgrind", str(program), "serve", "--config", str(config)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.call("GET", "/api/config")

    def call(self, method, path, query="", body=""):
        """One request and its answer's status and body."""
        content = body.encode()
        variables = gateway.parameters(method, path, query, content, USER)
        until = time.monotonic() + SECONDS
        while True:
            if self.process.poll() is not None:
                sys.exit(f"app-backend ended with status {self.process.returncode}")
            try:
                answer = gateway.ask(self.socket, variables, content)
                return answer.status, answer.body.decode()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE)

    def control(self, *arguments):
        subprocess.run(
            ["callgrind_control", *arguments, str(self.process.pid)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def measure(self, name, *request):
        """The files that one request enters, and the instructions that it takes."""
        self.control("--instr=on")
        self.control("--zero")
        status, body = self.call(*request)
        self.control(f"--dump={name}")
        self.control("--instr=off")
        if status != 200:
            sys.exit(f"{name}: status {status}: {body}")
        return body, self.latest()

    def latest(self):
        dumps = sorted(self.folder.glob("callgrind.*"), key=lambda path: path.stat().st_mtime)
        return entered(dumps[-1], self.sources)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)


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


def entered(dump, sources):
    """Source files of this project in which an instruction ran, and the number of all instructions."""
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
    parser.add_argument("program", help="app-backend with debug information")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    rows = {}
    try:
        stripped = folder / "app-backend"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, options.program], check=True)
        sources = Sources(options.program)
        backend = Backend(stripped, sources, folder)
        try:

            def new():
                return json.loads(backend.call("POST", "/api/register")[1])

            device = json.dumps({"Platform": "apns", "Handle": TOKEN, "Tags": ["news"]})
            # What happens once in a process is not the request's.
            backend.call("PUT", f"/api/register/{new()}", "", json.dumps({"Platform": "apns", "Handle": TOKEN[::-1]}))
            backend.call("POST", "/api/notifications", f"to_tag={USER}", '"secret"')
            identifier = new()
            _, rows["register, first"] = backend.measure("first", "PUT", f"/api/register/{identifier}", "", device)
            _, rows["register, unchanged"] = backend.measure("again", "PUT", f"/api/register/{identifier}", "", device)
            _, rows["send"] = backend.measure("send", "POST", "/api/notifications", f"pns=apns&to_tag={USER}", '"hello"')
            body, rows["secure send"] = backend.measure("secure", "POST", "/api/notifications", f"to_tag={USER}", '"secret"')
            _, rows["secure read"] = backend.measure("read", "GET", f"/api/notifications/{json.loads(body)['Id']}")
        finally:
            backend.stop()
        shutil.rmtree(folder / "store")
        for dump in folder.glob("callgrind*"):
            dump.unlink()
        backend = Backend(stripped, sources, folder, counts_start=True)
        backend.control("--dump=start")
        rows["start"] = backend.latest()
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
