# SPDX-License-Identifier: Apache-2.0
"""The product in a booted system, and those who call it."""

import base64
import http.client
import json
import secrets
import ssl
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from booted import BootedSystem
from deadline import wait_until
from roots import run

SERVICE = "app-backend.service"
SOCKET = "app-backend.socket"
CONFIGURATION = "/etc/app-backend/app-backend.json"
CALL_SECONDS = 180


@dataclass(frozen=True)
class User:
    name: str
    password: str


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: http.client.HTTPMessage = field(default_factory=http.client.HTTPMessage)

    def json(self) -> Any:
        return json.loads(self.body)


def expect(reply: Reply) -> Reply:
    assert reply.status == 200, f"{reply.status}: {reply.body!r}"
    return reply


class Caller(http.client.HTTPSConnection):
    """One client with one connection, which it keeps."""

    def __init__(self, system: BootedSystem, authority: Path, user: User | None):
        self._trusted = ssl.create_default_context(cafile=str(authority / "cert.pem"))
        super().__init__("localhost", timeout=CALL_SECONDS, context=self._trusted)
        self._system, self._user = system, user

    def connect(self) -> None:
        plain = self._system.network.socket()
        plain.settimeout(CALL_SECONDS)
        plain.connect(("127.0.0.1", self.port))
        self.sock = self._trusted.wrap_socket(plain, server_hostname=self.host)

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        fields = {}
        if self._user is not None:
            credentials = f"{self._user.name}:{self._user.password}".encode()
            fields["Authorization"] = "Basic " + base64.b64encode(credentials).decode()
        text = None if body is None else json.dumps(body)
        self.request(method, path, text, fields | ({} if text is None else {"Content-Type": "application/json"}))
        answer = self.getresponse()
        return Reply(answer.status, answer.read(), answer.headers)


class Site:
    """What is installed, and who administers it."""

    def __init__(self, system: BootedSystem, authority: Path):
        self.system, self._authority = system, authority
        self._callers: list[Caller] = []

    def close(self) -> None:
        for caller in self._callers:
            caller.close()

    def add_user(self, name: str) -> User:
        """As an administrator does, with a password that no other user has."""
        user = User(name, secrets.token_hex(8))
        self.system.run("app-backend", "user", "add", name, input=user.password + "\n")
        return user

    def import_user(self, name: str) -> User:
        """With a hash that takes little to check: where all users log in again at once, and that is not what is tried."""
        user = User(name, secrets.token_hex(8))
        command = ["openssl", "passwd", "-6", "-stdin", "-salt", f"rounds=1000${secrets.token_hex(8)}"]
        made = run(command, input=user.password + "\n", check=True).stdout
        self.system.run("app-backend", "user", "import-htpasswd", "-", input=f"{name}:{made}")
        return user

    def caller(self, user: User | None) -> Caller:
        """Whose connection is closed with the site."""
        made = Caller(self.system, self._authority, user)
        self._callers.append(made)
        return made

    def call(self, user: User | None, method: str, path: str, body: Any = None) -> Reply:
        """With a connection of its own."""
        with closing(Caller(self.system, self._authority, user)) as caller:
            return caller.call(method, path, body)

    @property
    def state(self) -> str:
        """Such as `active`, `inactive`, `failed`."""
        return self.system.property(SERVICE, "ActiveState")

    @property
    def process(self) -> int:
        """The service's, as the system numbers it; 0 when there is none."""
        return int(self.system.property(SERVICE, "MainPID"))

    def await_process(self, other_than: int) -> int:
        """Another one than that. Raises TimeoutError."""

        def find() -> int | None:
            found = self.process
            return found if found not in (0, other_than) else None

        return wait_until(find, "another process")

    def change_unit(self, *lines: str) -> None:
        """As `systemctl edit` does: lines for its section [Service]."""
        text = "\n".join(["[Service]", *lines, ""])
        self.system.root.write(f"/etc/systemd/system/{SERVICE}.d/test.conf", text)
        self.system.systemctl("daemon-reload")

    def configure(self, **sections: Any) -> None:
        """Replaces these members of the configuration file."""
        file = self.system.root.file(CONFIGURATION)
        file.write_text(json.dumps(json.loads(file.read_text()) | sections))

    def log(self, *arguments: str) -> list[str]:
        """The lines of the service in the journal, oldest first."""
        return self.system.journal("--unit", SERVICE, "--output", "cat", *arguments).splitlines()
