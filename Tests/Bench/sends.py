# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench sends, which says what is measured: app-backend before a hub that is late, prints the table."""

import argparse
import base64
import http.client
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import users
from servers import ANSWER_SECONDS, ROOT, Servers, free_port, memory, processor_seconds, until

SENDER, PASSWORD = "alice", "correct horse battery staple"
HUB_MILLISECONDS = 50  # what the hub takes to answer
RECIPIENTS = 500  # of whom each takes 500 messages from one sender
CONNECTIONS = 1000
ALONE = 20  # sends one after the other


class Site(Servers):
    """wrk, nginx, app-backend, and an nginx that speaks HTTP/2 for the hub."""

    def __init__(self, program, folder):
        super().__init__(folder)
        self.program = program
        # A unix socket's path has 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.front, self.hub = free_port(), free_port()
        self.authorization = "Basic " + base64.b64encode(f"{SENDER}:{PASSWORD}".encode()).decode()

    def start(self):
        script = '. "$1/script/nginx-layout" && make_certificate "$2"'
        subprocess.run(["bash", "-ec", script, "bash", str(ROOT), str(self.folder)], check=True)
        config = self.folder / "sends.json"
        config.write_text(json.dumps({
            "listen": str(self.sockets / "swift"), "store": {"path": str(self.sockets / "store")},
            "hub": {
                "name": "bench", "caFile": str(self.folder / "cert.pem"),
                "connectionString": f"Endpoint=sb://127.0.0.1:{self.hub}/;SharedAccessKeyName=bench;SharedAccessKey=bench"},
            # One user does what thousands do.
            "limits": {"sendsPerMinute": 0, "bytesUnderWay": 0}}))
        config.chmod(0o600)
        names = [f"user{number}" for number in range(RECIPIENTS)]
        users.add(self.program, config, self.folder, SENDER, names, PASSWORD)
        self.lines = {}
        for kind, query in (("secure", ""), ("native", "pns=apns&")):
            self.lines[kind] = self.folder / f"{kind}-sends"
            self.lines[kind].write_text("".join(f'/api/notifications?{query}to_tag={name} "Hello"\n' for name in names))
        self.spawn("app-backend", [self.program, "serve", "--config", config])
        binary = self.spawn_nginx(self.sockets / "swift", f"""
            server {{
                listen 127.0.0.1:{self.front};
                access_log off;
                keepalive_requests 100000000;
                location / {{
                    fastcgi_pass_request_headers off;
                    fastcgi_param HTTP_AUTHORIZATION $http_authorization if_not_empty;
                    include snippets/app-backend-params.conf;
                    fastcgi_pass $app_backend_upstream;
                }}
            }}""")
        self.start_hub(binary)
        until(lambda: self.send("secure", 0), ANSWER_SECONDS)

    def start_hub(self, nginx):
        """It takes what it has read whole, and is late because it refuses who has no password, which nginx can delay."""
        folder = self.folder / "hub"
        temporary, is_new = self.empty_nginx(nginx, folder)
        (folder / "nginx.conf").write_text(f"""
            daemon off;
            worker_processes 1;
            pid {folder}/nginx.pid;
            error_log /dev/null emerg;
            events {{ worker_connections 1024; }}
            http {{
                {temporary}
                access_log off;
                keepalive_requests 100000000;
                recursive_error_pages on;
                server {{
                    listen 127.0.0.1:{self.hub} {"ssl" if is_new else "ssl http2"};
                    {"http2 on;" if is_new else ""}
                    ssl_certificate {self.folder}/cert.pem;
                    ssl_certificate_key {self.folder}/key.pem;
                    location / {{
                        auth_delay {HUB_MILLISECONDS}ms;
                        auth_basic hub;
                        auth_basic_user_file {folder}/no-users;
                        error_page 401 =201 @taken;
                    }}
                    location @taken {{ mirror /none; empty_gif; error_page 405 =201 @created; }}
                    location = /none {{ internal; return 204; }}
                    location @created {{
                        add_header Location https://127.0.0.1/bench/messages/$request_id always;
                        return 201;
                    }}
                }}
            }}""")
        self.spawn("hub", [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")])

    def send(self, kind, number):
        """Milliseconds until its answer."""
        path, body = self.lines[kind].read_text().splitlines()[number].split(" ", 1)
        connection = http.client.HTTPConnection("127.0.0.1", self.front, timeout=ANSWER_SECONDS)
        begin = time.monotonic()
        connection.request(
            "POST", path, body, {"Authorization": self.authorization, "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        taken = (time.monotonic() - begin) * 1000
        connection.close()
        # A server that is not there yet.
        if answer.status != 200:
            raise OSError(f"{answer.status} {text[:200]}")
        return taken

    def load(self, kind, seconds):
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-H"]
        command += [f"Authorization: {self.authorization}", "-s", str(ROOT / "Tests/Bench/wrk.lua")]
        command += [f"http://127.0.0.1:{self.front}/", "--", str(self.lines[kind]), "POST"]
        before = processor_seconds(self["app-backend"])
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        spent = processor_seconds(self["app-backend"]) - before
        line = next(line for line in output.splitlines() if line.startswith("numbers "))
        requests, microseconds, median, late, errors = map(int, line.split()[1:])
        if errors > 0:
            print(f"{kind}: {errors} of {requests} sends failed", file=sys.stderr)
        return {
            "rate": requests * 1e6 / microseconds, "p50": median / 1000, "p99": late / 1000, "cpu": spent * 1e6 / requests,
            "memory": memory(self["app-backend"].pid)["resident"], "errors": errors}

    def stop(self):
        super().stop()
        shutil.rmtree(self.sockets, ignore_errors=True)


def measure(site, rounds, seconds):
    rows = []
    for kind in ("secure", "native"):
        alone = [site.send(kind, number) for number in range(ALONE)]
        rows.append({"name": f"{kind}, alone", "p50": statistics.median(alone), "p99": max(alone)})
        values = [site.load(kind, seconds) for _ in range(rounds)]
        rows.append({"name": kind, **{key: statistics.median(value[key] for value in values) for key in values[0]}})
    return rows


def print_table(rows):
    print(f"{'':16}{'sends/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'cpu µs':>8}{'MB':>6}")
    for row in rows:
        rate, cpu, resident = (f"{row[key]:.0f}" if key in row else "" for key in ("rate", "cpu", "memory"))
        print(f"{row['name']:16}{rate:>9}{row['p50']:9.1f}{row['p99']:9.1f}{cpu:>8}{resident:>6}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("program")
    parser.add_argument("folder")
    options = parser.parse_args()
    with Site(options.program, options.folder) as site:
        rows = measure(site, options.rounds, options.seconds)
    if options.json:
        print(json.dumps({"rows": rows}, indent=2))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
