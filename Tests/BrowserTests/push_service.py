# SPDX-License-Identifier: Apache-2.0
"""A push service on this host, for application servers and for Firefox."""

import asyncio
import socket
import uuid
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Self

from hypercorn.asyncio import serve as serve_http
from hypercorn.config import Config
from websockets import Subprotocol
from websockets.asyncio.server import serve as serve_websocket

from autopush import Agent, Autopush
from certificates import Certificate
from deadline import PATIENCE_SECONDS
from push_resources import PushResources
from subscription import Message, Subscription

STOP_SECONDS = 5


class PushService:
    """Runs in a thread of its own while the `with` block lasts, on ports that were free.

    Everything that arrives is kept with its subscription, for tests to look at.
    """

    def __init__(self, certificate: Certificate):
        self._certificate = certificate
        self._changed = Condition()
        self._subscriptions: dict[str, Subscription] = {}
        self._messages: dict[str, Message] = {}
        # Requests that belong to no subscription: the path and the status.
        self.strays: list[tuple[str, int | None]] = []
        self._http, self._websocket = _listener(), _listener()
        self.authority = f"localhost:{self._http.getsockname()[1]}"
        self.origin = f"https://{self.authority}"
        self.websocket_url = f"ws://127.0.0.1:{self._websocket.getsockname()[1]}/"
        self._loop = asyncio.new_event_loop()
        self.end, self.silence = asyncio.Event(), asyncio.Event()
        self._is_ready = Event()
        self._thread = Thread(target=self._run, name="push service", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._is_ready.wait(PATIENCE_SECONDS):
            raise RuntimeError("The push service did not start.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.break_silence()
        self._loop.call_soon_threadsafe(self.end.set)
        self._thread.join(2 * STOP_SECONDS)

    def subscribe(self, key: bytes | None = None) -> Subscription:
        """Makes a subscription without a browser; `key` is the application server's."""
        return self.add(None, "", key)

    def subscription(self, endpoint: str) -> Subscription:
        """The one with this endpoint. Raises KeyError."""
        return self._subscriptions[endpoint.removeprefix(f"{self.origin}/push/")]

    def break_silence(self) -> None:
        """Answers 500 to all that it has kept silent to."""

        def end() -> None:
            former, self.silence = self.silence, asyncio.Event()
            former.set()

        self._loop.call_soon_threadsafe(end)

    # What the browser's half asks

    def add(self, agent: Agent | None, channel: str, key: bytes | None) -> Subscription:
        token = uuid.uuid4().hex
        made = Subscription(token, f"{self.origin}/push/{token}", key, self._changed, agent, channel)
        with self._changed:
            self._subscriptions[token] = made
        return made

    def remove(self, agent: Agent, channel: str) -> None:
        with self._changed:
            for subscription in self._subscriptions.values():
                if subscription.agent is agent and subscription.channel == channel:
                    subscription.is_gone = True
            self._changed.notify_all()

    def acknowledge(self, message: str, code: int) -> None:
        with self._changed:
            if message in self._messages:
                self._messages[message].ack = code
            self._changed.notify_all()

    # What the application server's half asks

    def find(self, path: str) -> Subscription | None:
        return self._subscriptions.get(path.removeprefix("/push/"))

    def keep(self, path: str, message: Message) -> None:
        subscription = self.find(path)
        with self._changed:
            self._messages[message.id] = message
            if subscription is None:
                self.strays.append((path, message.status))
            else:
                subscription.messages.append(message)
            self._changed.notify_all()

    # The thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        autopush = Autopush(self)
        # Without pings: a browser that stands still for a while has not gone.
        async with serve_websocket(
            autopush.serve,
            sock=self._websocket,
            subprotocols=[Subprotocol("push-notification")],
            open_timeout=PATIENCE_SECONDS,
            ping_interval=None,
            close_timeout=1,
        ):
            door = asyncio.create_task(serve_http(PushResources(self), self._config(), shutdown_trigger=self.end.wait))
            self._is_ready.set()
            await self.end.wait()
            await asyncio.wait({door}, timeout=STOP_SECONDS)

    def _config(self) -> Config:
        config = Config()
        config.bind = [f"fd://{self._http.detach()}"]
        config.certfile, config.keyfile = str(self._certificate.chain), str(self._certificate.key)
        config.accesslog = config.errorlog = None
        config.graceful_timeout = 0
        # A service that closes connections while a test thinks would only be another test.
        config.keep_alive_timeout = 600
        return config


def _listener() -> socket.socket:
    """Listens already: who connects before the loop runs waits a moment instead of being refused."""
    made = socket.create_server(("127.0.0.1", 0))
    made.setblocking(False)
    return made
