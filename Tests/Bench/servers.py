# SPDX-License-Identifier: Apache-2.0
"""Starts and ends what is measured, and looks at what it takes of this machine."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 10  # how long a server may take to answer for the first time, and to end
FLUSH_SECONDS = 1


class Servers:
    """Processes that end with the measurement; what each of them says is in a log of its name."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.processes = {}

    def __enter__(self):
        # Also on SIGTERM, so that nothing stays behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def __getitem__(self, name):
        return self.processes[name]

    def spawn(self, name, command):
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes[name] = process

    def spawn_nginx(self, socket_path, conf):
        """Lays the shipped nginx files out around the responder's socket, and starts nginx with a site of ours."""
        nginx = self.folder / "nginx"
        script = '. "$1/script/nginx-layout" && lay_out_nginx "$1/nginx" "$2" "$3" none none && nginx_binary'
        arguments = ["bash", "-ec", script, "bash", str(ROOT), str(nginx), str(socket_path)]
        binary = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.strip()
        (nginx / "sites" / "bench.conf").write_text(conf)
        self.spawn("nginx", [binary, "-p", str(nginx), "-c", str(nginx / "nginx.conf")])
        return binary

    @staticmethod
    def empty_nginx(binary, folder):
        """Empties the folder, for an nginx that is a service of ours: with `no-users`, a file of passwords that has none.
        Returns the directives for its temporary files, and whether `http2` is a directive of that nginx's (1.25.1)."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        (folder / "no-users").write_text("")
        version = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stderr
        is_new = tuple(map(int, re.search(r"/(\d+)\.(\d+)\.(\d+)", version).groups())) >= (1, 25, 1)
        names = ("client_body", "fastcgi", "proxy", "scgi", "uwsgi")
        return "".join(f"{name}_temp_path {folder}/tmp/{name};\n" for name in names), is_new

    def stop(self):
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, seconds, pause=0.01):
    """Asks again and again until there is an answer; what has failed until the end is thrown."""
    end = time.monotonic() + seconds
    while True:
        try:
            return what()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(pause)


def family(process):
    """The process and its children: nginx works in one."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [process.pid, *map(int, children)]


def spent_by(command):
    """Runs a command to its end, in silence; returns what it has used of the processor, in seconds."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def processor_seconds(process):
    """What a process and its children have used of the processor so far."""
    if process is None:
        return 0
    ticks = 0
    for pid in family(process):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Resident and proportional memory, and what is the process's own and written to, in MB."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1000 for line in text.splitlines()[1:]}
    return {"resident": sizes["Rss"], "proportional": sizes["Pss"], "anonymous": sizes["Anonymous"]}


def busy_seconds():
    """What all of this machine's processors together have spent on anything so far."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def flushes(folder, writers):
    """Appends of one record, each made durable, per second: what the disk can do at most."""
    counts = [0] * writers
    end = time.monotonic() + FLUSH_SECONDS

    def write(number):
        with tempfile.TemporaryFile(dir=folder) as file:
            while time.monotonic() < end:
                os.write(file.fileno(), b"x" * 300)
                os.fdatasync(file.fileno())
                counts[number] += 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / FLUSH_SECONDS
