# SPDX-License-Identifier: Apache-2.0
"""Serves an ASGI application over TLS, HTTP/2 or HTTP/1.1 as the client wants, in a thread of its own."""

import asyncio
import asyncio.constants
import json
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from certificates import Certificate
from hypercorn.asyncio import serve
from hypercorn.config import Config

# Clients keep connections that they will not use again, and are not waited for until they close them.
asyncio.constants.SSL_SHUTDOWN_TIMEOUT = 0.1

# A double that has not begun by then will not begin.
START_SECONDS = 60
STOP_SECONDS = 10
# More than any service takes; the rest is not kept.
MAXIMUM_BODY_BYTES = 1 << 20


@dataclass(frozen=True)
class Call:
    """One request, whole."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    http_version: str


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()

    def encoded(self) -> bytes:
        """Bytes and texts as they are, anything else as JSON."""
        if self.body is None:
            return b""
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()


class Refusal(Exception):
    """What is wrong with a request, as the service answers it."""

    def __init__(self, answer: Answer):
        super().__init__(answer.body)
        self.answer = answer


class Serving:
    """Answers with `respond` while the `with` block lasts, on a port that was free unless one is named."""

    def __init__(self, certificate: Certificate, respond: Callable[[Call], Answer], port: int = 0):
        self._certificate, self._respond = certificate, respond
        self._socket = socket.create_server(("127.0.0.1", port))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        self.authority = f"localhost:{self.port}"
        self.origin = f"https://{self.authority}"
        self._is_ready = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._serve()), name="double", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._is_ready.wait(START_SECONDS):
            raise RuntimeError("The double did not start.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(STOP_SECONDS)

    async def _serve(self) -> None:
        config = Config()
        config.bind = [f"fd://{self._socket.detach()}"]
        config.certfile, config.keyfile = str(self._certificate.chain), str(self._certificate.key)
        config.accesslog = config.errorlog = None
        config.graceful_timeout = 0
        config.keep_alive_timeout = 600
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        # The socket listens already: a client that comes before hypercorn has begun waits a moment.
        self._is_ready.set()
        await serve(self._application, config, shutdown_trigger=self._end.wait)

    async def _application(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = bytearray()
        while True:
            part = await receive()
            if part["type"] == "http.disconnect":
                # The client has gone in the middle of its request.
                return
            if len(body) <= MAXIMUM_BODY_BYTES:
                body += part.get("body", b"")
            if not part.get("more_body"):
                break
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope.get("raw_path", scope["path"].encode()).decode()
        call = Call(scope["method"], path, scope["query_string"].decode(), headers, bytes(body), scope["http_version"])
        try:
            answer = self._respond(call)
        except Refusal as refusal:
            answer = refusal.answer
        fields = [(name.encode(), value.encode()) for name, value in answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": fields})
        await send({"type": "http.response.body", "body": answer.encoded()})


def announce(**facts: Any) -> None:
    """Tells who started the double, in one line of JSON, where it is; and then waits until that one closes its input."""
    print(json.dumps(facts), flush=True)
    sys.stdin.read()
