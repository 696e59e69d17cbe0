# SPDX-License-Identifier: Apache-2.0
"""One app-backend under a program that looks into it, asked on one connection."""

import base64
import itertools
import json
import os
import subprocess
import sys
import time

import gateway

SECONDS = 300  # for a start: under callgrind the program runs fifty times slower than by itself
PAUSE = 0.05  # seconds between two looks
USER, PASSWORD = "alice", "correct horse battery staple"
RECIPIENT = "bob"  # has one device


class Backend:
    """With one worker. `under` is the command that starts it, `settings` come besides, and a second one on the same store
    has a name of its own."""

    def __init__(self, program, folder, under=(), settings=None, name="first"):
        self.folder, self.socket = folder, folder / f"{name}.socket"
        config = folder / f"{name}.json"
        config.write_text(json.dumps({
            "listen": str(self.socket), "store": {"path": str(folder / "store")}, "workers": 1,
            "limits": {"sendsPerMinute": 0, "registrationsPerMinute": 0}, **(settings or {}),
        }))
        for user in (USER, RECIPIENT) if name == "first" else ():
            subprocess.run(
                [str(program), "user", "add", user, "--config", str(config)], input=PASSWORD + "\n", text=True, check=True,
                stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [*under, str(program), "serve", "--config", str(config)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = self.connect()
        # The log-in, which hashes the password, is not what is measured.
        self.call("GET", "/api/notifications")

    def connect(self):
        until = time.monotonic() + SECONDS
        while True:
            if self.process.poll() is not None:
                sys.exit(f"app-backend ended with status {self.process.returncode}")
            try:
                return gateway.connect(self.socket)
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE)

    def call(self, method, path, query="", body="", user=USER):
        """One request; returns its answer's body, read as JSON where there is one."""
        content = body.encode()
        variables = gateway.parameters(method, path, query, content)
        variables["HTTP_AUTHORIZATION"] = "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
        # As nginx names each request; app-backend asks the kernel for randomness where there is no name.
        variables["REQUEST_ID"] = os.urandom(16).hex()
        answer = gateway.exchange(self.connection, variables, content, keeps=True)
        if answer.status != 200:
            sys.exit(f"{method} {path}: status {answer.status}: {answer.body.decode()}")
        return json.loads(answer.body) if answer.body else None

    def register(self, number, user=USER):
        """The parts of a call that registers a device of that number, for which an id has been asked."""
        path = f"/api/register/{self.call('POST', '/api/register', user=user)}"
        return "PUT", path, "", json.dumps({"Platform": "apns", "Handle": f"{number:064X}", "Tags": ["news"]})

    def requests(self):
        """What is measured: for each name a function that prepares a call and returns its parts."""
        self.call(*self.register(0, RECIPIENT), user=RECIPIENT)
        # What happens once in a process is not the request's.
        known = self.register(1)
        self.call(*known)
        self.call("POST", "/api/notifications", f"to_tag={RECIPIENT}", '"secret"')
        own = self.call("POST", "/api/notifications", "", '"secret"')["Id"]
        message = json.dumps({"To": RECIPIENT, "Body": "hello", "Platforms": ["apns"]})
        numbers = itertools.count(2)
        return {
            "register, first": lambda: self.register(next(numbers)),
            "register, unchanged": lambda: known,
            "send": lambda: ("POST", "/api/notifications", f"pns=apns&to_tag={RECIPIENT}", '"hello"'),
            "object send": lambda: ("POST", "/api/notifications", "", message),
            "secure send": lambda: ("POST", "/api/notifications", f"to_tag={RECIPIENT}", '"secret"'),
            "secure read": lambda: ("GET", f"/api/notifications/{own}"),
        }

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(SECONDS)


class Callgrind(Backend):
    """Which does not count before it is asked to."""

    def __init__(self, program, folder, counts_start=False, settings=None, separates_threads=False):
        super().__init__(program, folder, [
            "valgrind", "--tool=callgrind", "--demangle=no", f"--instr-atstart={'yes' if counts_start else 'no'}",
            f"--separate-threads={'yes' if separates_threads else 'no'}",
            f"--callgrind-out-file={folder}/callgrind"], settings)

    def control(self, *arguments):
        # valgrind's own child is the process itself.
        subprocess.run(
            ["callgrind_control", *arguments, str(self.process.pid)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def measure(self, name, *calls):
        """These calls; returns the file with what they took together."""
        def make():
            for call in calls:
                self.call(*call)
        return self.measure_during(name, make)

    def measure_during(self, name, action):
        """What the process does meanwhile."""
        self.control("--instr=on")
        self.control("--zero")
        action()
        self.control(f"--dump={name}")
        self.control("--instr=off")
        return self.latest()

    def latest(self):
        """The file that was written last."""
        return max(self.folder.glob("callgrind.*"), key=lambda path: path.stat().st_mtime)

    def latest_of_threads(self):
        """The same where each thread has a file of its own."""
        part = self.latest().name.split("-")[0]
        return list(self.folder.glob(f"{part}-*"))
