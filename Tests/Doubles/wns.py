# SPDX-License-Identifier: Apache-2.0
"""The Windows Push Notification Services on this host: HTTP/1.1 over TLS, with both of Microsoft's token services.

    python wns.py [--port 0]      prints one line of JSON: port, CA file, credentials; ends with its standard input

A channel is `/<kind>/<scenario>/<name>?token=…`: the kind is `store` or `sdk` and says which token it takes, and the
scenario decides what is answered: see SCENARIOS. `together` is answered when so many pushes of the kind are there at once.
Any other word for the scenario is taken.
"""

import argparse
import re
import secrets
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Lock
from types import TracebackType
from typing import Self

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parent.parent / "BrowserTests"))

from certificates import Authority, Certificate
from microsoft_tokens import MicrosoftTokens, json_answer
from serving import Answer, Refusal, announce
from tls_server import TLSServer

MAXIMUM_BODY_BYTES = 5000
TOGETHER = 20
# The longest that one of them waits for the others, which come soon or not at all.
TOGETHER_SECONDS = 110
# Escapes that a client must not touch.
CHANNEL_QUERY = "token=AwYAAAD%2bx%2fq%3d"
TAG = re.compile("[A-Za-z0-9]{1,16}")
KNOWN_HEADERS = {
    "x-wns-type": re.compile("wns/(toast|tile|badge|raw)"),
    "x-wns-cache-policy": re.compile("cache|no-cache"),
    "x-wns-ttl": re.compile("[1-9][0-9]{0,9}"),
    "x-wns-tag": TAG,
    "x-wns-group": TAG,
    "x-wns-requestforstatus": re.compile("true|false"),
    "x-wns-priority": re.compile("[1-4]"),
}


def _described(status: int, description: str, phrase: str = "") -> tuple[Answer, str]:
    return Answer(status, headers=(("X-WNS-Error-Description", description),)), phrase


def _received(status: str, *headers: tuple[str, str]) -> tuple[Answer, str]:
    return Answer(200, headers=(("X-WNS-Status", status), *headers)), ""


UNMAPPED = "Request targets an app that is not in allowed receiving apps list"

# By the scenario of a channel: the answer, and the phrase beside its status where it is not the usual one.
SCENARIOS = {
    "dropped": _received("dropped"),
    "channelthrottled": _received("channelthrottled", ("Retry-After", "60")),
    "disconnected": _received("received", ("X-WNS-DeviceConnectionStatus", "disconnected")),
    "malformed": _described(400, "One or more headers were specified incorrectly"),
    "foreign": _described(403, "The cloud service is not authorized to send a notification to this URI"),
    "unmapped": _described(403, UNMAPPED),
    "unknown": _described(404, "The channel URI is not valid"),
    "throttled": (Answer(406, headers=(("Retry-After", "1"),)), ""),
    "expired": _described(410, "The channel expired"),
    "blocked": _described(410, "Domain Blocked", "Domain Blocked"),
    "failure": (Answer(500), ""),
    "unavailable": (Answer(503, headers=(("Retry-After", "1"),)), ""),
}


@dataclass(frozen=True)
class Push:
    """A notification that came, and the status that it was answered with."""

    channel: str
    headers: dict[str, str]
    body: bytes
    status: int


class WNS:
    """Runs while the `with` block lasts. What comes is kept in `pushes`."""

    def __init__(self, certificate: Certificate, port: int = 0):
        self.tokens = MicrosoftTokens()
        self._lock = Lock()
        self._pushes: list[Push] = []
        self._expired: set[str] = set()
        self._together = Barrier(TOGETHER)
        self._server = TLSServer(certificate, _handler(self._respond), port)
        self.port = self._server.port
        self.authority = f"localhost:{self.port}"
        self.origin = f"https://{self.authority}"

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def channel(self, kind: str, scenario: str = "taken", name: str = "1") -> str:
        """The address at this double; what a device would register has a host of Microsoft's in it."""
        return f"{self.origin}/{kind}/{scenario}/{name}?{CHANNEL_QUERY}"

    @property
    def pushes(self) -> list[Push]:
        with self._lock:
            return list(self._pushes)

    def _respond(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[Answer, str]:
        path, _, query = target.partition("?")
        if method == "POST" and (granted := self.tokens.respond(path, headers, body)) is not None:
            return granted, ""
        if method == "GET" and path == "/pushes":
            told = [{**vars(push), "body": push.body.decode("latin-1")} for push in self.pushes]
            return json_answer(200, told), ""
        try:
            answer, phrase = self._take(method, path, query, headers, body)
        except Refusal as refusal:
            answer, phrase = refusal.answer, ""
        with self._lock:
            self._pushes.append(Push(path, headers, body, answer.status))
        return answer, phrase

    def _take(self, method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> tuple[Answer, str]:
        parts = path.split("/")[1:]
        if len(parts) != 3 or parts[0] not in ("store", "sdk") or query != CHANNEL_QUERY:
            raise Refusal(_described(404, "The channel URI is not valid")[0])
        if method != "POST":
            raise Refusal(Answer(405))
        authorization = headers.get("authorization")
        kind = self.tokens.kind(authorization)
        if kind is None:
            raise Refusal(Answer(401, headers=(("WWW-Authenticate", "Bearer"),)))
        if kind != parts[0]:
            raise Refusal(_described(403, "The token is for channels of another kind")[0])
        with self._lock:
            expires = parts[1] == "expire" and path not in self._expired
            self._expired.add(path)
        if expires and authorization is not None:
            self.tokens.revoke(authorization)
            raise Refusal(Answer(401))
        _check(headers, body)
        if parts[1] == "together":
            try:
                self._together.wait(TOGETHER_SECONDS)
            except BrokenBarrierError:
                raise Refusal(Answer(503)) from None
        return SCENARIOS.get(parts[1]) or _received("received", ("X-WNS-Msg-ID", secrets.token_hex(8)))


def _check(headers: dict[str, str], body: bytes) -> None:
    """Raises Refusal."""
    for name, value in headers.items():
        if name.startswith("x-wns-") and not KNOWN_HEADERS.get(name, TAG).fullmatch(value):
            raise Refusal(_described(400, f"The header {name} is not valid")[0])
    kind = headers.get("x-wns-type")
    if kind is None:
        raise Refusal(_described(400, "X-WNS-Type is missing")[0])
    wanted = "application/octet-stream" if kind == "wns/raw" else "text/xml"
    if headers.get("content-type", "").partition(";")[0] != wanted:
        raise Refusal(_described(400, "Content-Type does not agree with X-WNS-Type")[0])
    if kind == "wns/toast" and "x-wns-cache-policy" in headers:
        raise Refusal(_described(400, "The Cloud Policy specified is invalid")[0])
    if len(body) > MAXIMUM_BODY_BYTES:
        raise Refusal(Answer(413))
    if kind == "wns/raw":
        return
    # WNS itself looks at no body; a device drops what is wrong here, and no sender of a test should send such a thing.
    try:
        root = ET.fromstring(body).tag
    except ET.ParseError as error:
        raise Refusal(_described(400, f"not XML: {error}")[0]) from error
    if "wns/" + root != kind:
        raise Refusal(_described(400, f"the root {root} is not of the type {kind}")[0])


Respond = Callable[[str, str, dict[str, str], bytes], tuple[Answer, str]]


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # Kept-alive connections, one request after the other. Bodies in chunks are not read: WNS refuses them.
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            length = headers.get("content-length", "")
            if "transfer-encoding" in headers or "expect" in headers or not length.isdecimal():
                self.close_connection = True
                return self._send(_described(400, "Content-Length is wanted, and neither chunks nor Expect")[0], "")
            if len(headers) != len(self.headers.items()):
                return self._send(_described(400, "a header is there twice")[0], "")
            self._send(*respond(self.command, self.path, headers, self.rfile.read(int(length))))

        def do_GET(self) -> None:
            self._send(*respond(self.command, self.path, {}, b""))

        do_PUT = do_DELETE = do_POST

        def handle_expect_100(self) -> bool:
            # Not answered with 100: do_POST refuses it.
            return True

        def _send(self, answer: Answer, phrase: str) -> None:
            body = answer.encoded()
            self.send_response(answer.status, phrase or None)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory(prefix="app-backend-wns-") as name:
        authority = Authority(Path(name))
        with WNS(authority.issue("wns"), port) as double:
            announce(
                port=double.port,
                caFile=str(authority.file),
                packageSid=double.tokens.package_sid,
                clientId=double.tokens.client_id,
                tenant=double.tokens.tenant,
                secret=double.tokens.secret,
                storeTokenEndpoint=f"{double.origin}/accesstoken.srf",
                sdkTokenEndpoint=f"{double.origin}/{double.tokens.tenant}/oauth2/v2.0/token",
                channelQuery=CHANNEL_QUERY,
            )


if __name__ == "__main__":
    main()
