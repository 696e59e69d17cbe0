# SPDX-License-Identifier: Apache-2.0
"""Our drivers without their network: what they would send, which the tests carry, and what they make of the answers."""

import json
import ssl
import subprocess
from http.client import HTTPSConnection
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

STOP_SECONDS = 10
# Of one request to a double.
PATIENCE_SECONDS = 60


class DriverOracle:
    """The executable of Tests/DriverOracle, while the `with` block lasts."""

    def __init__(self, program: Path, ca_file: Path):
        self._program = program
        self._context = ssl.create_default_context(cafile=str(ca_file))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def ask(self, **command: Any) -> dict[str, Any]:
        """The oracle's answer. Requests that it makes before it has one are carried out."""
        reply = self._exchange(command)
        while "send" in reply:
            reply = self._exchange(self.carry(reply["send"]))
        return reply

    def push(self, **command: Any) -> dict[str, Any]:
        """Sends a notification, with a token, and returns what the driver makes of the answer, or why it sent nothing."""
        token = command.pop("token")
        reply = self._exchange({"do": "push", **command})
        if "request" not in reply:
            return reply
        request = reply["request"]
        request["fields"]["Authorization"] = f"Bearer {token}"
        return self._exchange({"do": "judge", "service": command["service"], **self.carry(request)})

    def carry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Sends it byte for byte: other clients write the escapes of an address in their own way."""
        url = urlsplit(request["url"])
        assert url.hostname is not None
        connection = HTTPSConnection(url.hostname, url.port, timeout=PATIENCE_SECONDS, context=self._context)
        try:
            target = url.path + (f"?{url.query}" if url.query else "")
            connection.request(request["method"], target, request["body"].encode(), request["fields"])
            response = connection.getresponse()
            return {"status": response.status, "fields": dict(response.getheaders()), "body": response.read().decode()}
        finally:
            connection.close()

    def _exchange(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The oracle ended with {self._process.wait(STOP_SECONDS)}.")
        read: dict[str, Any] = json.loads(answer)
        if "fault" in read:
            raise RuntimeError(read["fault"])
        return read
