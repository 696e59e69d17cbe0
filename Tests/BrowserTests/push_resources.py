# SPDX-License-Identifier: Apache-2.0
"""The application server's half of a push service (RFC 8030), strict about what it is sent (RFC 8188, 8291, 8292)."""

import asyncio
import re
import uuid
from typing import Any, Protocol

import vapid
from subscription import CORRUPTION, Answer, Message, Subscription
from vapid import Refusal

# RFC 8030 section 7.2: a push service must take so many bytes. Those of the field take no more.
MAXIMUM_BODY_BYTES = 4096
# Salt, record size, a 65-byte key and its length (RFC 8188 section 2.1), a delimiter, and the tag of an empty record.
MINIMUM_BODY_BYTES = 16 + 4 + 1 + 65 + 1 + 16
KEY_LENGTH_OFFSET = 20
MAXIMUM_TTL_SECONDS = 28 * 24 * 60 * 60
URGENCIES = ("very-low", "low", "normal", "high")
TOPIC = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Service(Protocol):
    """What is asked of the service that this is a half of."""

    origin: str
    # Set when those who were not answered hear something after all.
    silence: asyncio.Event

    def find(self, path: str) -> Subscription | None: ...
    def keep(self, path: str, message: Message) -> None: ...


class PushResources:
    """An ASGI application."""

    def __init__(self, service: Service):
        self._service = service

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Reads a request wholly, keeps it, and answers it."""
        if scope["type"] != "http":
            return
        body = await _body(receive)
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        message = Message(uuid.uuid4().hex, headers, body, scope["http_version"], tuple(scope["client"]))
        answer = await self._answer(scope["method"], scope["path"], message)
        if answer.status is None:
            await self._service.silence.wait()
            answer = Answer(500)
        fields = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": fields})
        await send({"type": "http.response.body", "body": message.reason.encode()})

    async def _answer(self, method: str, path: str, message: Message) -> Answer:
        subscription = self._service.find(path)
        try:
            subscription = self._checked(method, subscription, message)
        except Refusal as refusal:
            message.reason = refusal.reason
            return self._keep(path, message, Answer(refusal.status))
        wanted = subscription.script.popleft() if subscription.script else None
        if wanted is not None and wanted is not CORRUPTION:
            return self._keep(path, message, wanted)
        location = f"{self._service.origin}/message/{message.id}"
        answer = self._keep(path, message, Answer(201, {"location": location, "ttl": _ttl(message)}))
        if subscription.agent is not None:
            body = message.body if wanted is None else _flipped(message.body)
            await subscription.agent.deliver(subscription.channel, message.id, body)
        return answer

    def _keep(self, path: str, message: Message, answer: Answer) -> Answer:
        message.status = answer.status
        self._service.keep(path, message)
        return answer

    def _checked(self, method: str, subscription: Subscription | None, message: Message) -> Subscription:
        """Returns the subscription that may have the message, and leaves the token's claims in it. Raises Refusal."""
        if subscription is None:
            raise Refusal(404, "there is no such subscription")
        if method != "POST":
            raise Refusal(405, "only POST")
        if subscription.is_gone:
            raise Refusal(410, "the subscription has ended")
        authorization = message.headers.get("authorization")
        message.claims = vapid.verify(authorization, self._service.origin, subscription.key)
        _check_headers(message.headers)
        _check_body(message)
        return subscription


async def _body(receive: Any) -> bytes:
    body = bytearray()
    while True:
        part = await receive()
        # A client that sends without end would fill the memory; what is above the limit is only noticed.
        if len(body) <= MAXIMUM_BODY_BYTES:
            body += part.get("body", b"")
        if not part.get("more_body"):
            return bytes(body)


def _check_headers(headers: dict[str, str]) -> None:
    if not headers.get("ttl", "").isdecimal():
        raise Refusal(400, "TTL is needed, in seconds")
    if headers.get("urgency", "normal") not in URGENCIES:
        raise Refusal(400, "there is no such urgency")
    topic = headers.get("topic")
    # Apple decodes it: a length of 1 modulo 4 is BadWebPushTopic.
    if topic is not None and (not TOPIC.fullmatch(topic) or len(topic) % 4 == 1):
        raise Refusal(400, "a topic has at most 32 characters of base64url, in a length that can be decoded")


def _check_body(message: Message) -> None:
    body = message.body
    if not body:
        return  # A message without a payload has no encoding.
    if len(body) > MAXIMUM_BODY_BYTES:
        raise Refusal(413, f"more than {MAXIMUM_BODY_BYTES} bytes")
    if message.headers.get("content-encoding") != "aes128gcm":
        raise Refusal(400, "Content-Encoding is not aes128gcm")
    if len(body) < MINIMUM_BODY_BYTES or body[KEY_LENGTH_OFFSET : KEY_LENGTH_OFFSET + 2] != b"\x41\x04":
        raise Refusal(400, "the body does not begin with a salt, a record size and an uncompressed key")


def _ttl(message: Message) -> str:
    return str(min(int(message.headers["ttl"]), MAXIMUM_TTL_SECONDS))


def _flipped(body: bytes) -> bytes:
    return body[:-1] + bytes([body[-1] ^ 1])
