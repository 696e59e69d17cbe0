# SPDX-License-Identifier: Apache-2.0
"""A stand-in for APNs on this host, at least as strict as Apple's service.

    apns.py SITE.json JOURNAL

SITE.json: {"certificate", "privateKey": files; "clientAuthority": a file, or absent; "environment"; "topics":
[bundle ids]; "keys": {id: {"team", "public", "environment"}}; "streams": how many at once when a connection is
trusted; "goAwayAt", "goAwayAnswered": below}.
JOURNAL gets one JSON object per line: {"event": "listening", "port": …} first, then connections and pushes.

How a push is answered, its device token says. It begins with
  e0NN  the reason of that decimal number in apns_rules.REASONS
  e1NNN that status, without a body
  c001  never; c002 REFUSED_STREAM, once for each device token; c003 never, and nothing else on that connection either
  c006  REFUSED_STREAM, always
  c004  at once, before its body was read
  c005  as others; but the first `goAwayAt` pushes of this kind are held, then GOAWAY is sent, those on the lowest
        `goAwayAnswered` streams are answered, and the others are not looked at
  d0    when a push has come that begins with df or de
  de    BadDeviceToken
  f0    Unregistered, an hour ago
  else  200
Broadcast channels are managed, and sent to, on the same port: apns_broadcast.py.
"""

import asyncio
import json
import signal
import ssl
import sys
import time
import uuid
from pathlib import Path

from apns_broadcast import Broadcasts
from apns_connection import Connection
from apns_tokens import Key


class Site:
    """What all connections share."""

    def __init__(self, settings: dict, journal: Path):
        self.topics: list[str] = settings["topics"]
        self.environment: str = settings["environment"]
        self.streams: int = settings.get("streams", 1000)
        self.go_away_at: int = settings.get("goAwayAt", 0)
        self.go_away_answered: int = settings.get("goAwayAnswered", 0)
        self.keys = {name: Key(**key) for name, key in settings["keys"].items()}
        self.broadcasts = Broadcasts(self.topics)
        self.refused_once: set[str] = set()
        self.connections: list[Connection] = []
        self._journal = journal.open("a", buffering=1)

    def note(self, event: str, **members: object) -> None:
        self._journal.write(json.dumps({"event": event, **members}) + "\n")

    def release(self) -> None:
        """Answers what is held on all connections."""
        for connection in self.connections:
            connection.release()

    @staticmethod
    def new_id() -> str:
        return str(uuid.uuid4()).upper()

    @staticmethod
    def now() -> float:
        return time.time()


def context(settings: dict) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["h2"])
    made.load_cert_chain(settings["certificate"], settings["privateKey"])
    if authority := settings.get("clientAuthority"):
        made.load_verify_locations(authority)
        made.verify_mode = ssl.CERT_OPTIONAL
    return made


async def serve(settings: dict, journal: Path) -> None:
    site = Site(settings, journal)
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    server = await loop.create_server(lambda: Connection(site), "127.0.0.1", 0, ssl=context(settings), backlog=512)
    site.note("listening", port=server.sockets[0].getsockname()[1])
    await end.wait()
    server.close()
    for connection in site.connections:
        connection.abort()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])))
