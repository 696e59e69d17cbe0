# SPDX-License-Identifier: Apache-2.0
"""What a site has around it, on this host: a push service, a receiver of webhooks, and a private PostgreSQL server."""

import json
import os
import pwd
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from waiting import wait_until

START_SECONDS = 60


class Arrivals:
    """When what came, by its name; over TLS where there is a certificate. It answers 201 to everything."""

    def __init__(self, certificate: tuple[Path, Path] | None = None):
        self._changed = threading.Condition()
        self._times: dict[str, list[float]] = {}
        arrivals = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                arrivals._note(self.path if certificate else json.loads(body)["data"].get("MessageId", ""))
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False)

    def _note(self, name: str) -> None:
        with self._changed:
            self._times.setdefault(name, []).append(time.monotonic())
            self._changed.notify_all()

    def count(self, name: str) -> int:
        with self._changed:
            return len(self._times.get(name, []))

    def wait(self, name: str, number: int, seconds: float) -> float | None:
        """When so many had come; None when that takes too long."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._times.get(name, [])) >= number, seconds)
            times = self._times.get(name, [])
            return times[number - 1] if len(times) >= number else None

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """For localhost; it vouches for itself."""
    chain, key = folder / "chain.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(chain)],
        check=True, capture_output=True)
    return chain, key


def browser_key() -> bytes:
    """A point of P-256, as a browser's subscription has it."""
    made = subprocess.run(
        ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"], check=True, capture_output=True).stdout
    public = subprocess.run(
        ["openssl", "ec", "-pubout", "-outform", "DER"], input=made, check=True, capture_output=True).stdout
    return public[-65:]


class Database:
    """A server of its own, which listens on a unix socket alone and keeps nothing for longer than it runs."""

    BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    USER = "torture"

    def __init__(self) -> None:
        # As root it runs as the user of the system's server, who must get in.
        self._folder = Path(tempfile.mkdtemp(prefix="torture-database-"))
        self._owner = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.url = f"postgresql://{self.USER}@/postgres?host={self._folder}"
        self._server: subprocess.Popen[bytes] | None = None

    def _run(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        become: dict[str, Any] = {}
        if os.geteuid() == 0:
            become = {"user": self._owner, "group": pwd.getpwnam(self._owner).pw_gid, "extra_groups": []}
        command = [str(self.BINARIES[-1] / name), *arguments]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd="/", **quiet, **become)

    def __enter__(self) -> Self:
        if os.geteuid() == 0:
            shutil.chown(self._folder, self._owner)
        data = str(self._folder / "data")
        made = self._run(
            "initdb", "--pgdata", data, "--username", self.USER, "--auth", "trust", "--encoding", "UTF8", "--no-sync")
        if made.wait(START_SECONDS) != 0:
            raise OSError("initdb has failed")
        self._server = self._run(
            "postgres", "-D", data, "-c", "listen_addresses=", "-c", f"unix_socket_directories={self._folder}")
        ready = [str(self.BINARIES[-1] / "pg_isready"), "--quiet", "--host", str(self._folder)]
        wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL answers", START_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server:
            self._server.terminate()
            try:
                self._server.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
