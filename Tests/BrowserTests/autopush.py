# SPDX-License-Identifier: Apache-2.0
"""The browser's half of a push service as Firefox speaks it: JSON over a WebSocket (Mozilla's autopush)."""

import json
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed, ConnectionClosedError

import vapid

if TYPE_CHECKING:
    from subscription import Subscription

# Messages that wait for a browser which is away.
MAXIMUM_PENDING = 100


class Agent:
    """A browser, which comes back under the same name after it has been away."""

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self._connection: ServerConnection | None = None
        self._pending: deque[dict[str, Any]] = deque(maxlen=MAXIMUM_PENDING)

    async def greet(self, connection: ServerConnection) -> None:
        self._connection = connection
        hello = {"messageType": "hello", "status": 200, "uaid": self.id, "use_webpush": True, "broadcasts": {}}
        await connection.send(json.dumps(hello))
        while self._pending:
            await self._send(self._pending.popleft())

    def leave(self, connection: ServerConnection) -> None:
        if self._connection is connection:
            self._connection = None

    async def deliver(self, channel: str, message: str, body: bytes) -> None:
        """Hands a message over by its id, at once or when the browser is back."""
        note: dict[str, Any] = {"messageType": "notification", "channelID": channel, "version": message}
        if body:
            note |= {"data": vapid.encode(body), "headers": {"encoding": "aes128gcm"}}
        await self._send(note)

    async def _send(self, note: dict[str, Any]) -> None:
        if self._connection is None:
            self._pending.append(note)
            return
        try:
            await self._connection.send(json.dumps(note))
        except ConnectionClosed:
            self._pending.append(note)


class Subscriptions(Protocol):
    """What the browser's half asks of the service."""

    def add(self, agent: Agent | None, channel: str, key: bytes | None) -> "Subscription": ...
    def remove(self, agent: Agent, channel: str) -> None: ...
    def acknowledge(self, message: str, code: int) -> None: ...


class Autopush:
    """Serves browsers' connections."""

    def __init__(self, subscriptions: Subscriptions):
        self._subscriptions = subscriptions
        self._agents: dict[str, Agent] = {}

    async def serve(self, connection: ServerConnection) -> None:
        """Reads one browser's messages until it leaves."""
        agent: Agent | None = None
        try:
            async for text in connection:
                message = json.loads(text)
                if message.get("messageType") == "hello":
                    agent = self._agent(message)
                    await agent.greet(connection)
                elif (reply := self._reply(agent, message)) is not None:
                    await connection.send(json.dumps(reply))
        except ConnectionClosedError:
            pass  # A browser that is ended does not say goodbye.
        finally:
            if agent is not None:
                agent.leave(connection)

    def _agent(self, hello: dict[str, Any]) -> Agent:
        agent = self._agents.get(hello.get("uaid", "")) or Agent()
        self._agents[agent.id] = agent
        return agent

    def _reply(self, agent: Agent | None, message: dict[str, Any]) -> dict[str, Any] | None:
        """What a message is answered; None when that is nothing. An empty one is a ping, and is its own answer."""
        match message.get("messageType", "ping"):
            case "ping":
                return message
            case "register" if agent:
                return self._register(agent, message["channelID"], message.get("key"))
            case "unregister" if agent:
                self._subscriptions.remove(agent, message["channelID"])
                return {"messageType": "unregister", "channelID": message["channelID"], "status": 200}
            case "ack":
                for update in message.get("updates", []):
                    self._subscriptions.acknowledge(update["version"], update.get("code", 0))
        return None

    def _register(self, agent: Agent, channel: str, key: str | None) -> dict[str, Any]:
        made = self._subscriptions.add(agent, channel, vapid.decode(key.rstrip("=")) if key else None)
        return {"messageType": "register", "channelID": channel, "status": 200, "pushEndpoint": made.endpoint}
