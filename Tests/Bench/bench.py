# SPDX-License-Identifier: Apache-2.0
"""Started by script/bench, which says what is measured: starts the servers, runs wrk, prints the table."""

import argparse
import base64
import contextlib
import http.client
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import request_peers
from servers import ANSWER_SECONDS, ROOT, Servers, flushes, free_port, processor_seconds, until

CONNECTIONS = (16, 64, 256)
USER, PASSWORD = "alice", "correct horse battery staple"
# Has one device.
RECIPIENT = "bob"
MESSAGE = "The quick brown fox jumps over the lazy dog, and the code is 1234567."
# As many as can be in flight, so that hardly ever two calls change one registration; a user may have 100.
REGISTRATIONS = 96
MESSAGES = 10
# Rows whose processor time is compared, each with the one that it is compared to.
COMPARED = {"object send": "string send", "bearer read": "secure read", "inbox": "secure read"}
# Who makes tokens, and the user of one.
ISSUER, PREFIX, AUDIENCE = "https://id.example", "id", "bench"


def basic(user):
    return "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()


def openssl(*arguments, input=None):
    command = ["openssl", *map(str, arguments)]
    return subprocess.run(command, input=input, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Site(Servers):
    """nginx, the responder in C and app-backend, with a store on this checkout's disk unless another place is named."""

    def __init__(self, program, folder, store=None, has_peers=False):
        super().__init__(folder)
        self.program, self.has_peers = program, has_peers
        self.store = store or self.folder / "store"
        # A unix socket's path has 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        # The bucket that has the message, under a name that nginx can be told before there is one.
        self.bucket_link = self.sockets / "bucket"
        self.port = free_port()
        self.credentials = f"{USER}:{PASSWORD}"
        self.authorization = basic(USER)
        self.bearer = self.write_issuer()

    def start(self):
        shutil.rmtree(self.store, ignore_errors=True)
        config = self.folder / "app-backend.json"
        config.write_text(json.dumps({
            "listen": str(self.sockets / "swift"), "store": {"path": str(self.store)},
            # One user does what thousands do.
            "auth": {"issuers": {"issuer": ISSUER, "prefix": PREFIX, "audience": [AUDIENCE], "jwksFile": str(self.keys)}},
            "limits": {"sendsPerMinute": 0, "registrationsPerMinute": 0, "listsPerMinute": 0, "bytesUnderWay": 0}}))
        for user in (USER, RECIPIENT):
            command = [self.program, "user", "add", user, "--config", str(config)]
            subprocess.run(command, input=PASSWORD + "\n", text=True, check=True, stdout=subprocess.DEVNULL)
        self.spawn("app-backend", [self.program, "serve", "--config", str(config)])
        self.start_nginx()
        until(lambda: self.ask("GET", "/health"), ANSWER_SECONDS)
        self.id = self.leave_messages()
        self.puts = self.write_puts()
        self.register(REGISTRATIONS, basic(RECIPIENT))
        message = json.dumps({"To": RECIPIENT, "Body": MESSAGE, "Platforms": ["apns"]})
        self.strings = self.write("strings", f"/api/notifications?pns=apns&to_tag={RECIPIENT} {json.dumps(MESSAGE)}\n")
        self.objects = self.write("objects", f"/api/notifications {message}\n")
        bucket = next(file for file in self.store.glob("notifications/**/*.jsonl") if MESSAGE in file.read_text())
        # libfcgi's own loop gives each kept connection a thread, so there are more threads than connections.
        threads = str(2 * max(CONNECTIONS))
        self.bucket_link.symlink_to(bucket)
        self.spawn("c", [str(self.folder / "responder"), str(self.sockets / "c"), threads, self.credentials, str(bucket)])
        if self.has_peers:
            request_peers.start(self)
        for name in ("c-reading", *(("go", "php") if self.has_peers else ())):
            until(lambda: self.ask("GET", f"/{name}/{self.id}"), ANSWER_SECONDS)
        self.own_id = self.leave_messages(self.bearer)
        self.inbox_tag = self.ask_for_inbox()
        assert self.ask_for_inbox(self.inbox_tag) is None

    def start_nginx(self):
        call = """
            fastcgi_pass_request_headers off;
            fastcgi_param HTTP_AUTHORIZATION $http_authorization if_not_empty;
            fastcgi_param HTTP_IF_NONE_MATCH $http_if_none_match if_not_empty;
            include snippets/app-backend-params.conf;"""
        upstreams, locations = request_peers.locations(self, call) if self.has_peers else ("", "")
        body = json.dumps({"Id": 1234567890, "Payload": MESSAGE, "Read": True}, separators=(",", ":"))
        self.spawn_nginx(self.sockets / "swift", f"""
            upstream c {{ server unix:{self.sockets}/c; keepalive 128; keepalive_timeout 60s; }}{upstreams}
            server {{
                listen 127.0.0.1:{self.port};
                access_log off;
                location = /nginx {{ default_type application/json; return 200 '{body}'; }}
                location ^~ /c {{ {call} fastcgi_pass c; }}{locations}
                location / {{ {call} fastcgi_pass $app_backend_upstream; }}
            }}""")

    def write_issuer(self):
        """Writes the key of an issuer; returns a token of it, as `Authorization` has it."""
        private = self.folder / "issuer.pem"
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", private)
        modulus = openssl("rsa", "-in", private, "-noout", "-modulus").decode().strip().partition("=")[2]
        key = {"kty": "RSA", "kid": "1", "alg": "RS256", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}
        self.keys = self.write("keys.json", json.dumps({"keys": [key]}))
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": USER, "iat": now, "exp": now + 86_400}
        head = {"alg": "RS256", "kid": "1"}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (head, claims))
        signature = openssl("dgst", "-sha256", "-sign", private, input=signed.encode())
        return f"Bearer {signed}.{base64url(signature)}"

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def ask(self, method, path, body=None, authorization=None):
        url = f"http://127.0.0.1:{self.port}{path}"
        headers = {"Authorization": authorization or self.authorization, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def ask_for_inbox(self, tag=None):
        """Returns the inbox's tag; None: it is still this one."""
        fields = {"Authorization": self.authorization, **({"If-None-Match": tag} if tag else {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/api/inbox", headers=fields)
            answer = connection.getresponse()
            assert answer.status in (200, 304), answer.status
            return answer.headers["ETag"] if answer.status == 200 else None

    def leave_messages(self, authorization=None):
        """Some secure messages to oneself, the first of which is read; returns its id."""
        ids = [self.ask("POST", "/api/notifications", MESSAGE, authorization)["Id"] for _ in range(MESSAGES)]
        for _ in range(2):
            answer = self.ask("GET", f"/api/notifications/{ids[0]}", None, authorization)
        assert answer.items() >= {"Id": ids[0], "Payload": MESSAGE, "Read": True}.items()
        return ids[0]

    def register(self, number, authorization=None):
        path = "/api/register/" + self.ask("POST", "/api/register", None, authorization)
        body = {"Platform": "apns", "Handle": f"{number:064X}", "Tags": ["news"]}
        self.ask("PUT", path, body, authorization)
        return path, body

    def write_puts(self):
        lines = []
        for number in range(REGISTRATIONS):
            path, body = self.register(number)
            lines.append(f"{path} {json.dumps(body)}\n")
        return self.write("puts", "".join(lines))

    def stop(self):
        super().stop()
        shutil.rmtree(self.sockets, ignore_errors=True)
        shutil.rmtree(self.store, ignore_errors=True)

    def measure(self, path, connections, seconds, puts=None, process=None, method="PUT", authorization=None, *fields):
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-H"]
        command += [f"Authorization: {authorization or self.authorization}"]
        command += [part for field in fields for part in ("-H", field)] + ["-s", str(ROOT / "Tests/Bench/wrk.lua")]
        command += [f"http://127.0.0.1:{self.port}{path}"] + (["--", str(puts), method] if puts else [])
        before = processor_seconds(process)
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        spent = processor_seconds(process) - before
        line = next(line for line in output.splitlines() if line.startswith("numbers "))
        requests, microseconds, median, late, errors = map(int, line.split()[1:])
        if errors > 0:
            print(f"{path}: {errors} of {requests} calls failed", file=sys.stderr)
        return {"rate": requests * 1e6 / microseconds, "p50": median / 1000, "p99": late / 1000, "cpu": spent * 1e6 / requests,
                "requests": requests, "errors": errors}


def measure_all(site, rounds, seconds):
    c, swift = site.processes["c"], site.processes["app-backend"]
    targets = {
        "nginx": ("/nginx", None, None),
        "c": (f"/c/{site.id}", None, c),
        "c, reading": (f"/c-reading/{site.id}", None, c),
        "secure read": (f"/api/notifications/{site.id}", None, swift),
        "register": ("/", site.puts, swift),
        "bearer read": (f"/api/notifications/{site.own_id}", None, swift, "GET", site.bearer),
        "inbox": ("/api/inbox", None, swift, "GET", site.authorization, f"If-None-Match: {site.inbox_tag}"),
        "string send": ("/", site.strings, swift, "POST"),
        "object send": ("/", site.objects, swift, "POST"),
    }
    if site.has_peers:
        for name, process in (("go, reading", "go"), ("php-fpm, reading", "php")):
            targets[name] = (f"/{process}/{site.id}", None, site.processes[process])
    samples = {(name, connections): [] for connections in CONNECTIONS for name in targets}
    disk = {writers: [] for writers in (1, *CONNECTIONS)}
    for path, puts, *rest in targets.values():
        site.measure(path, CONNECTIONS[0], 1, puts, *rest)
    for number in range(rounds):
        print(f"Round {number + 1} of {rounds} ...", file=sys.stderr)
        for writers in disk:
            disk[writers].append(flushes(site.folder, writers))
        # To and fro: the files of the store grow, and are rewritten, while all of this goes on.
        for name, connections in list(samples)[::1 if number % 2 == 0 else -1]:
            path, puts, *rest = targets[name]
            samples[name, connections].append(site.measure(path, connections, seconds, puts, *rest))
    return samples, {writers: statistics.median(values) for writers, values in disk.items()}


def summary(samples, disk):
    rows = []
    for (name, connections), values in samples.items():
        row = {"name": name, "connections": connections}
        for key in ("rate", "p50", "p99", "cpu"):
            row[key] = round(statistics.median(value[key] for value in values), 2)
        row["errors"] = sum(value["errors"] for value in values)
        for other in ("c", "c, reading", "nginx"):
            row["to " + other] = round(
                statistics.median(
                    value["rate"] / base["rate"] for value, base in zip(values, samples[other, connections])), 3)
        rows.append(row)
    ratios = [
        {"name": name, "to": other, "connections": connections,
         "cpu": round(cpu(samples[name, connections]) / cpu(samples[other, connections]), 2)}
        for name, other in COMPARED.items() for connections in CONNECTIONS]
    return {"rows": rows, "ratios": ratios, "flushes": [{"writers": key, "rate": round(value)} for key, value in disk.items()]}


def cpu(values):
    """Of one request, in microseconds, on the mean of all: what a rewritten file costs is in some rounds, and not in others."""
    return sum(value["cpu"] * value["requests"] for value in values) / sum(value["requests"] for value in values)


def print_table(result):
    print(f"{'':18}{'conns':>6}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'cpu µs':>8}{'to c':>8}{'to c, reading':>15}{'to nginx':>10}")
    for row in result["rows"]:
        print(
            f"{row['name']:18}{row['connections']:6}{row['rate']:9.0f}{row['p50']:9.2f}{row['p99']:9.2f}{row['cpu']:8.0f}"
            f"{row['to c']:8.2f}{row['to c, reading']:15.2f}{row['to nginx']:10.2f}")
    for name, other in COMPARED.items():
        ratios = ", ".join(f"{row['cpu']:.2f} at {row['connections']}" for row in result["ratios"] if row["name"] == name)
        print(f"{name}, its processor time to that of {other}: {ratios} connections.")
    flush = ", ".join(f"{row['rate']} by {row['writers']}" for row in result["flushes"])
    print(f"The disk's own appends with fdatasync per second: {flush} at once.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("program")
    parser.add_argument("folder")
    options = parser.parse_args()
    if options.peers:
        request_peers.build(pathlib.Path(options.folder).resolve())
    with Site(options.program, options.folder, has_peers=options.peers) as site:
        if options.busy:
            site.spawn("busy", [sys.executable, "-c", "while True: pass"])
        result = summary(*measure_all(site, options.rounds, options.seconds))
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
