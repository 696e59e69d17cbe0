# SPDX-License-Identifier: Apache-2.0
"""script/run in a network of its own, in which this host has an address, and those who call it."""

import base64
import http.client
import json
import re
import ssl
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from child import Child
from installed_site import Reply
from network import Network
from product import CHECKOUT
from running import Running, await_word, started

ADDRESS = "192.168.77.1"
PORT = 8443
CALL_SECONDS = 180
# A pair of interfaces whose other end leads nowhere.
INTERFACES = f"""
    ip link set lo up
    ip link add lan0 type veth peer name lan1
    ip addr add {ADDRESS}/24 dev lan0
    ip link set lan0 up
    ip link set lan1 up
    exec "$@"
"""


class Trial(Running):
    """Runs while the `with` block lasts."""

    def __init__(self, program: Path, folder: Path, *options: str):
        """What it keeps is in `folder`."""
        super().__init__()
        self.folder = folder
        self._command = ["script/run", "--program", str(program), "--folder", str(folder), *options]

    def _start(self, running: ExitStack) -> None:
        log = self.folder.with_suffix(".log")
        log.unlink(missing_ok=True)
        changed = f"cd {CHECKOUT}\n{INTERFACES}"
        command = ["unshare", "--net", "sh", "-ec", changed, "trial", *self._command]
        self._child = started(running, Child(command, log, orphaned="TERM"))
        await_word(self._child, lambda: "AppBackend answers" in self.output, "script/run says that it answers")
        self._network = running.enter_context(closing(Network(self._child.id)))

    @property
    def output(self) -> str:
        return self._child.output

    @property
    def password(self) -> str:
        """As it is printed for the person who tries it."""
        (found,) = set(re.findall(r"Added the user \w+, password (\S+)\.$", self.output, flags=re.M))
        return str(found)

    def call(
        self, method: str, path: str, authority: str | None, user: tuple[str, str] | None = None, body: Any = None
    ) -> Reply:
        """A call to `ADDRESS`: see `call_over_tls`."""
        return call_over_tls(self._network, method, path, authority, user, body, ADDRESS)


def call_over_tls(
    network: Network,
    method: str,
    path: str,
    authority: str | None,
    user: tuple[str, str] | None = None,
    body: Any = None,
    address: str = "127.0.0.1",
) -> Reply:
    """In that network, over TLS that trusts this authority (PEM), or in the clear without one. `user` has a password."""
    with closing(http.client.HTTPConnection(address, PORT, timeout=CALL_SECONDS)) as connection:
        connection.sock = network.socket()
        connection.sock.settimeout(CALL_SECONDS)
        connection.sock.connect((address, PORT))
        if authority is not None:
            trusted = ssl.create_default_context(cadata=authority)
            connection.sock = trusted.wrap_socket(connection.sock, server_hostname=address)
        fields = {"Content-Type": "application/json"} if body is not None else {}
        if user is not None:
            fields["Authorization"] = "Basic " + base64.b64encode(":".join(user).encode()).decode()
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read(), answer.headers)
