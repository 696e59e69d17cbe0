# SPDX-License-Identifier: Apache-2.0
"""The product as an administrator installs it: nginx with the shipped files, and the responder behind it."""

import base64
import http.client
import json
import os
import secrets
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from certificates import Authority
from child import Child
from deadline import PATIENCE_SECONDS, wait_until
from nginx_files import lay_out

# The address of a unix socket has 108 bytes, the last one a zero.
MAXIMUM_SOCKET_PATH = 107
# The most that may be configured: a push service may stand still with its machine, and counts as not reached when its answer
# is late.
PUSH_SECONDS = 120
CONTACT = "mailto:ops@example.com"
# Debian keeps nginx where an ordinary user's PATH does not look.
ADMINISTRATORS_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin"


@dataclass(frozen=True)
class User:
    name: str
    password: str


@dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Installation:
    """Runs while the `with` block lasts, and leaves neither process nor folder behind."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        authority: Authority,
        push_authority: str,
        push_seconds: int = PUSH_SECONDS,
        groups: dict[str, Any] | None = None,
    ):
        """`push_authority` is the host and port of the one push service that may have a private address.

        `groups`: what the configuration has besides.
        """
        self._program, self._folder, self._authority = program, folder, authority
        self.certificate = authority.issue(folder.name)
        self._socket, self.config = folder / "app-backend.sock", folder / "app-backend.json"
        self._access_log = folder / "nginx" / "log" / "app-backend.log"
        self._tls = ssl.create_default_context(cafile=str(authority.file))
        # No other process gets the port, also while no web server is at it.
        self._reserved = _reserving_socket()
        self.port = int(self._reserved.getsockname()[1])
        self._children: list[Child] = []
        self._names: dict[str, int] = {}
        # What must be in no log.
        self._secrets: set[str] = set()
        store = folder / "store"
        store.mkdir(mode=0o700)
        self._configure(store, push_authority, push_seconds, groups or {})

    def __enter__(self) -> Self:
        if len(str(self._socket)) > MAXIMUM_SOCKET_PATH:
            raise RuntimeError(f"Unix sockets cannot have so long a path; set TMPDIR: {self._socket}")
        try:
            self.vapid_key = self.run("keys", "vapid").strip().splitlines()[-1]
            self._start_responder()
            lay_out(self._folder / "nginx", self.port, self._socket, self.certificate)
            self._start_nginx()
        except BaseException:
            self._stop()
            raise
        self.origin = f"https://localhost:{self.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if kind is None:
            self._expect_silence()

    def add_user(self, role: str, *options: str) -> User:
        """Adds one, as an operator does, whom no other test has. The options are those of `user add`."""
        self._names[role] = self._names.get(role, 0) + 1
        user = User(f"{role}{self._names[role]}", self.secret("password:with:colons-"))
        self.run("user", "add", user.name, *options, input=user.password + "\n")
        return user

    def change_key(self, *options: str) -> str:
        """Runs `keys vapid` with these options and lets the service read what there is then. Returns the public key."""
        self.vapid_key = self.run("keys", "vapid", *options).strip().splitlines()[-1]
        self.reload()
        assert self.call("GET", "/api/config").json()["VapidPublicKey"] == self.vapid_key
        return self.vapid_key

    def reload(self) -> None:
        """Lets the service read its configuration again."""
        reloaded = "reloaded the configuration"
        before = self._responder.output.count(reloaded)
        self._responder.send(signal.SIGHUP)
        wait_until(lambda: self._responder.output.count(reloaded) > before, "the configuration is read again")

    def secret(self, text: str = "") -> str:
        """Makes a text that was never used and that no log may contain."""
        made = text + secrets.token_hex(6)
        self.keep_secret(made)
        return made

    def keep_secret(self, text: str) -> None:
        self._secrets.add(text)

    def run(self, *arguments: str, input: str = "") -> str:
        """Runs a command of the product, and returns what it printed."""
        command = [str(self._program), *arguments, "--config", str(self.config)]
        done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"app-backend {' '.join(arguments)}: {done.stderr or done.stdout}")
        return done.stdout

    def call(self, method: str, path: str, user: User | None = None, json_body: Any = None, **headers: str) -> Reply:
        """As any HTTP client makes it. Header fields are named with underscores. A body that is bytes goes as it is."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        body = json_body if json_body is None or isinstance(json_body, bytes) else json.dumps(json_body).encode()
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        if user is not None:
            fields["Authorization"] = http_basic(user)
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE_SECONDS, context=self._tls)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    @contextmanager
    def without_service(self) -> Iterator[None]:
        """While the `with` block lasts nginx answers alone, as when the service is down or restarts."""
        self._responder.stop()
        self._children.remove(self._responder)
        try:
            yield
        finally:
            self._start_responder()

    @contextmanager
    def without_web_server(self) -> Iterator[None]:
        """While the `with` block lasts no connection to this site is accepted, as without a network."""
        self._nginx.stop()
        self._children.remove(self._nginx)
        try:
            yield
        finally:
            self._start_nginx()

    @property
    def log_size(self) -> int:
        """Where the access log ends now."""
        return self._access_log.stat().st_size

    def await_status(self, position: int, method: str, path: str) -> int:
        """What the first such call was answered that was logged behind the position. Raises TimeoutError."""

        def found() -> int | None:
            with self._access_log.open() as log:
                log.seek(position)
                lines = [json.loads(line) for line in log if line.endswith("\n")]
            return next((int(one["status"]) for one in lines if (one["method"], one["path"]) == (method, path)), None)

        return wait_until(found, f"a line of {method} {path} in the access log")

    def _configure(self, store: Path, push_authority: str, push_seconds: int, groups: dict[str, Any]) -> None:
        keys = {
            "listen": str(self._socket),
            "store": {"path": str(store)},
            "log": {"level": "debug"},
            "webPush": {
                # A name that leads to this host, and is not the one that may.
                "hosts": ["localhost"],
                "privateHosts": [push_authority],
                "caFile": str(self._authority.file),
                "subject": CONTACT,
                "timeout": push_seconds,
            },
        }
        self.config.touch(mode=0o600)
        self.config.write_text(json.dumps(keys | groups))

    def _start_responder(self) -> None:
        command = [str(self._program), "serve", "--config", str(self.config)]
        self._responder = child = Child(command, self._folder / "app-backend.log")
        self._children.append(child)
        wait_until(lambda: child.exit_status is not None or _answers(self._socket), "the responder listens")
        _expect_running("app-backend", child, child.log)

    def _start_nginx(self) -> None:
        folder = self._folder / "nginx"
        command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "log" / "error.log")]
        environment = os.environ | {"PATH": ADMINISTRATORS_PATH}
        # Its workers are its own to end.
        self._nginx = child = Child(command, folder / "log" / "start.log", environment, orphaned="TERM")
        self._children.append(child)
        wait_until(lambda: child.exit_status is not None or self._is_healthy(), "nginx answers")
        _expect_running("nginx", child, folder / "log" / "error.log")

    def _is_healthy(self) -> bool:
        try:
            return self.call("GET", "/health").status == 200
        except OSError:
            return False

    def _stop(self) -> None:
        for child in reversed(self._children):
            child.stop()
        self._children.clear()
        self._reserved.close()

    def _expect_silence(self) -> None:
        """Raises AssertionError, naming the file only, when a log holds what must stay out of logs."""
        logs = [self._folder / "app-backend.log", *(self._folder / "nginx" / "log").iterdir()]
        for log in logs:
            text = log.read_text(errors="replace")
            assert not any(secret in text for secret in self._secrets), f"{log.name} holds a secret"


def http_basic(user: User) -> str:
    return "Basic " + base64.b64encode(f"{user.name}:{user.password}".encode()).decode()


def _reserving_socket() -> socket.socket:
    """Bound, and not listening: the kernel gives the port to no process that asks for any. nginx, which is given the number,
    binds to it as well, since both set SO_REUSEADDR (socket(7))."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def _expect_running(name: str, child: Child, log: Path) -> None:
    if child.exit_status is not None:
        said = (log.read_text(errors="replace") if log.exists() else "") or child.output
        raise RuntimeError(f"{name} ended with status {child.exit_status}: {said[-2000:]}")
