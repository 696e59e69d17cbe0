# SPDX-License-Identifier: Apache-2.0
"""The stores that script/bench store measures, all driven by programs that are called in the same way (Tests/Bench/StoreBench)."""

import array
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from servers import ANSWER_SECONDS, memory, until

FAILED = 2**64 - 1
FILL_SECONDS = 1800
RUN_SECONDS = 300
FAST_STOP_SECONDS = 120


class Calls:
    """How long calls took, in nanoseconds."""

    def __init__(self, times, seconds=None):
        self.times = sorted(value for value in times if value != FAILED)
        self.failures = len(times) - len(self.times)
        self.rate = len(self.times) / seconds if seconds else None

    def percentile(self, percent):
        return self.times[min(len(self.times) - 1, len(self.times) * percent // 100)] if self.times else float("nan")


class Peer:
    """A store in a folder, and the program that uses it."""

    def __init__(self, name, program, folder):
        self.name, self.program, self.folder = name, program, folder

    def place(self, records):
        return str(self.folder / str(records))

    def prepare(self, records):
        """Leaves an empty place."""
        shutil.rmtree(self.place(records), ignore_errors=True)
        os.makedirs(self.place(records), 0o700)

    def fill(self, records, owners):
        """Makes the store of so many records again; the names of some of them."""
        self.prepare(records)
        command = [self.program, "fill", self.place(records), str(records), str(owners)]
        return subprocess.run(command, check=True, capture_output=True, timeout=FILL_SECONDS).stdout

    def keep(self, records):
        """Puts the store aside as it is, for `restore`."""
        os.rename(self.place(records), self.place(records) + ".kept")

    def restore(self, records):
        """Puts a copy of what was kept in its place, on the disk."""
        shutil.rmtree(self.place(records), ignore_errors=True)
        shutil.copytree(self.place(records) + ".kept", self.place(records))
        os.sync()

    def read(self, records, names):
        with Run([self.program, "read", self.place(records)]) as run:
            run.tell(names + b"\n")
            return Calls(run.times())

    def open(self, records):
        """Milliseconds until it is open, and the memory of the process then."""
        with Run([self.program, "open", self.place(records)]) as run:
            return run.times()[0] / 1e6, memory(run.process.pid)

    def create(self, records, owners, threads, processes, seconds):
        """Creates records on so many threads of so many processes, which begin at once; and what each of them takes then."""
        command = [self.program, "create", self.place(records), str(owners), str(threads), str(seconds)]
        runs = [Run(command) for _ in range(processes)]
        try:
            for run in runs:
                run.wait_until_ready()
            for run in runs:
                run.tell(b"\n")
            times = sum((run.times() for run in runs), array.array("Q"))
            return Calls(times, seconds), memory(runs[0].process.pid)
        finally:
            for run in runs:
                run.stop()

    def start(self):
        pass

    def stop(self):
        pass


class Run:
    """A process that says when it is ready, and stays until its input ends; it is killed when it takes too long."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.deadline = threading.Timer(RUN_SECONDS, self.process.kill)
        self.deadline.daemon = True
        self.deadline.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def wait_until_ready(self):
        if self.process.stdout.readline() != b"ready\n":
            raise self.ended()

    def tell(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def times(self):
        """How many calls there were, and how long each of them took."""
        count = self.numbers(1)[0]
        return self.numbers(count)

    def numbers(self, count):
        raw = self.process.stdout.read(8 * count)
        if len(raw) < 8 * count:
            raise self.ended()
        return array.array("Q", raw)

    def ended(self):
        return RuntimeError(f"{' '.join(self.process.args)}: has ended, or took longer than {RUN_SECONDS} seconds")

    def stop(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.deadline.cancel()


class Postgres(Peer):
    """A private server, its settings Debian's; it listens on a unix socket alone."""

    def __init__(self, name, program, folder):
        super().__init__(name, program, folder)
        self.data = folder / "data"
        # A unix socket's path has 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.server = None
        # The server does not run as root.
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.binaries = binaries[-1]

    def command(self, name, *arguments):
        return [str(self.binaries / name), *map(str, arguments)]

    def as_server(self, command, **options):
        if os.getuid() == 0:
            options |= {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []}
        return {"args": command, "cwd": "/", "stdin": subprocess.DEVNULL, **options}

    def start(self):
        self.data.mkdir(parents=True, mode=0o700)
        if os.getuid() == 0:
            for folder in (self.data, self.sockets):
                shutil.chown(folder, self.user)
        initdb = self.command(
            "initdb", "--pgdata", self.data, "--username", "bench", "--auth", "trust", "--encoding", "UTF8", "--locale",
            "C", "--no-sync")
        subprocess.run(**self.as_server(initdb, check=True, stdout=subprocess.DEVNULL, timeout=FILL_SECONDS))
        self.start_server()

    def start_server(self):
        """Milliseconds until it answers."""
        settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.sockets}"]
        begin = time.monotonic()
        with open(self.folder / "postgres.log", "a", encoding="utf-8") as log:
            command = self.command("postgres", "-D", self.data, *settings)
            self.server = subprocess.Popen(**self.as_server(command, stdout=log, stderr=log))
        until(lambda: self.sql("SELECT 1"), FAST_STOP_SECONDS, pause=0.001)
        return (time.monotonic() - begin) * 1000

    def sql(self, statement):
        connection = ["--host", self.sockets, "--username", "bench", "--dbname", "postgres"]
        command = self.command("psql", "--no-psqlrc", "--quiet", *connection, "--command", statement)
        result = subprocess.run(command, capture_output=True, text=True, timeout=FILL_SECONDS, stdin=subprocess.DEVNULL)
        if result.returncode != 0:
            raise OSError(result.stderr)

    def place(self, records):
        return f"host={self.sockets} user=bench dbname=records_{records}"

    def prepare(self, records):
        self.sql(f"DROP DATABASE IF EXISTS records_{records}")
        self.sql(f"CREATE DATABASE records_{records}")

    def keep(self, records):
        self.sql(f"ALTER DATABASE records_{records} RENAME TO kept_{records}")

    def restore(self, records):
        self.sql(f"DROP DATABASE IF EXISTS records_{records}")
        # Before 15 it had no other, and no word for it.
        strategy = " STRATEGY file_copy" if int(self.binaries.parent.name) >= 15 else ""
        self.sql(f"CREATE DATABASE records_{records} TEMPLATE kept_{records}{strategy}")

    def memory(self):
        """Of all of the server's processes, in MB; what they share is in it once."""
        pid = self.server.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        sizes = []
        for number in [pid, *children]:
            # One that served a connection may just have ended.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                sizes.append(memory(int(number))["proportional"])
        return sum(sizes)

    def stop_server(self):
        if self.server:
            # Connections are closed, and nothing is waited for ("fast shutdown").
            self.server.send_signal(signal.SIGINT)
            self.server.wait(FAST_STOP_SECONDS)
        self.server = None

    def stop(self):
        self.stop_server()
        shutil.rmtree(self.sockets, ignore_errors=True)
