# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks, on this host and without TLS. It verifies as https://www.standardwebhooks.com describes it."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

# How far the sender's clock may be from ours.
TOLERANCE_SECONDS = 300


@dataclass(frozen=True)
class Event:
    name: str
    path: str
    is_signed: bool
    body: bytes
    timestamp: str
    signature: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """Answers with `status` while the `with` block lasts, and remembers what it was told."""

    def __init__(self, folder: Path, status: int = 200):
        self._key = secrets.token_bytes(32)
        self.status = status
        self.events: list[Event] = []
        self.file = folder / "webhook.secret"
        self.file.touch(mode=0o600)
        self.file.write_text(f"whsec_{base64.b64encode(self._key).decode()}\n")
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name, timestamp, signature = (self.headers[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
                event = Event(name, self.path, receiver.verify(self.headers, body), body, timestamp, signature)
                receiver.events.append(event)
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def group(self, path: str = "/hook?token=s3cret", **members: Any) -> dict[str, Any]:
        return {"url": self.origin + path, "secretFile": str(self.file)} | members

    def verify(self, headers: Any, body: bytes) -> bool:
        sent = headers["webhook-timestamp"]
        if abs(time.time() - int(sent)) > TOLERANCE_SECONDS:
            return False
        content = b".".join([headers["webhook-id"].encode(), sent.encode(), body])
        wanted = "v1," + base64.b64encode(hmac.digest(self._key, content, hashlib.sha256)).decode()
        return any(hmac.compare_digest(one, wanted) for one in headers["webhook-signature"].split(" "))

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, name="receiver", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
