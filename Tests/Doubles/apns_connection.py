# SPDX-License-Identifier: Apache-2.0
"""One connection to the stand-in for APNs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    PingReceived,
    RequestReceived,
    SettingsAcknowledged,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

from apns_broadcast import Broadcasts, ChannelRefusal
from apns_rules import REASONS, Head, Refusal, check_payload, read_head
from apns_tokens import ConnectionTokens

if TYPE_CHECKING:
    from apns import Site


@dataclass
class Push:
    """A request that is not answered yet."""

    fields: list[tuple[str, str]]
    body: bytearray = field(default_factory=bytearray)
    head: Head | None = None


class Connection(asyncio.Protocol):
    """Trusted with many streams after its first accepted push, and with one after each rejected push."""

    _count = 0

    def __init__(self, site: Site):
        Connection._count += 1
        self.id = Connection._count
        self._site = site
        self._tokens = ConnectionTokens(site.keys, site.environment)
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._pushes: dict[int, Push] = {}
        self._held: list[int] = []
        self._gathered: list[int] = []
        self._limit = 1
        self._was_trusted = False
        self._unacknowledged = 0
        self._last_stream: int | None = None
        self._is_silent = False
        self._has_certificate = False

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        tls = transport.get_extra_info("ssl_object")
        if tls.selected_alpn_protocol() != "h2":
            self._site.note("no h2", connection=self.id)
            transport.abort()
            return
        self._has_certificate = bool(tls.getpeercert())
        self._site.connections.append(self)
        self._site.note("connection", connection=self.id, certificate=self._has_certificate)
        self._h2.initiate_connection()
        self._unacknowledged += 1
        self._announce(1)
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except ProtocolError as error:
            self._site.note("protocol error", connection=self.id, error=repr(error))
            self._flush()
            self._transport.close()
            return
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        if self in self._site.connections:
            self._site.connections.remove(self)
        self._site.note("closed", connection=self.id, unanswered=len(self._pushes))

    def abort(self) -> None:
        self._transport.abort()

    # HTTP/2

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived():
                self._begin(event.stream_id, event.headers)
            case DataReceived():
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if push := self._pushes.get(event.stream_id):
                    push.body += event.data
            case StreamEnded():
                self._end(event.stream_id)
            case StreamReset():
                if self._pushes.pop(event.stream_id, None):
                    self._site.note("reset", connection=self.id, stream=event.stream_id)
            case SettingsAcknowledged():
                self._unacknowledged -= 1
            case PingReceived():
                self._site.note("ping", connection=self.id)

    def _announce(self, limit: int) -> None:
        """How many streams at once; the library enforces it when the client has acknowledged it."""
        self._limit = limit
        self._unacknowledged += 1
        self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: limit})
        self._site.note("limit", connection=self.id, streams=limit)

    def _flush(self) -> None:
        if (data := self._h2.data_to_send()) and not self._transport.is_closing():
            self._transport.write(data)

    # Pushes

    def _begin(self, stream: int, fields: list[tuple[str, str]]) -> None:
        if self._last_stream is not None and stream > self._last_stream:
            return
        if self._unacknowledged and not self._was_trusted and self._pushes:
            # Not a connection error: the client may not have read yet that it has one stream.
            self._site.note("above limit", connection=self.id, stream=stream)
            self._h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return
        self._pushes[stream] = push = Push(fields)
        device = dict(fields).get(":path", "").removeprefix("/3/device/").lower()
        if device.startswith("c004"):
            self._judge(stream, push)

    def _end(self, stream: int) -> None:
        push = self._pushes.get(stream)
        if push is None or self._is_silent:
            return
        if Broadcasts.takes(dict(push.fields).get(":path", "")):
            self._answer_broadcast(stream, push)
            return
        device = dict(push.fields).get(":path", "").removeprefix("/3/device/").lower()
        self._site.note(
            "push",
            connection=self.id,
            stream=stream,
            device=device,
            token=dict(push.fields).get("authorization"),
            body=push.body.decode(errors="replace"),
        )
        if device.startswith("c001"):
            return
        if device.startswith("c006") or (device.startswith("c002") and device not in self._site.refused_once):
            self._site.refused_once.add(device)
            del self._pushes[stream]
            self._h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)
            return
        if device.startswith("c003"):
            self._is_silent = True
            return
        if device.startswith("c005") and self._site.go_away_at:
            self._gather(stream)
            return
        if device.startswith("d0"):
            self._held.append(stream)
            return
        self._judge(stream, push)
        if device.startswith(("df", "de")):
            self._site.release()

    def release(self) -> None:
        held, self._held = self._held, []
        for stream in held:
            if push := self._pushes.get(stream):
                self._judge(stream, push)
        self._flush()

    def _gather(self, stream: int) -> None:
        """With the last of them GOAWAY; from then on such pushes are like others."""
        self._gathered.append(stream)
        if len(self._gathered) < self._site.go_away_at:
            return
        self._site.go_away_at = 0
        streams = sorted(self._gathered)
        answered = streams[: self._site.go_away_answered]
        self._last_stream = answered[-1] if answered else streams[0] - 2
        reason = json.dumps({"reason": "Shutdown"}).encode()
        # The library calls a connection closed that has sent GOAWAY, and would answer nothing more.
        frame = GoAwayFrame(0, last_stream_id=self._last_stream, error_code=0, additional_data=reason)
        self._flush()
        self._transport.write(frame.serialize())
        self._site.note("goaway", connection=self.id, last=self._last_stream)
        for number in streams:
            if number <= self._last_stream:
                self._judge(number, self._pushes[number])
            else:
                del self._pushes[number]
        self._flush()

    def _judge(self, stream: int, push: Push) -> None:
        del self._pushes[stream]
        try:
            push.head = read_head(push.fields, self._site.topics)
            if not self._has_certificate:
                self._tokens.check(dict(push.fields).get("authorization"))
            if not push.head.device.startswith("c004"):
                check_payload(push.head, bytes(push.body))
            status, reason = self._wanted(push.head.device)
            if reason == "ExpiredProviderToken":
                self._tokens.wedge()
            self._answer(stream, push, status, reason)
        except Refusal as refusal:
            self._answer(stream, push, refusal.status, refusal.reason)

    def _answer_broadcast(self, stream: int, push: Push) -> None:
        del self._pushes[stream]
        values = dict(push.fields)
        body: object | None
        try:
            if not self._has_certificate:
                self._tokens.check(values.get("authorization"))
            status, fields, body = self._site.broadcasts.answer(push.fields, bytes(push.body))
        except (Refusal, ChannelRefusal) as refusal:
            status, fields, body = refusal.status, {}, {"reason": refusal.reason}
        self._h2.send_headers(stream, [(":status", str(status)), *fields.items()], end_stream=body is None)
        if body is not None:
            self._h2.send_data(stream, json.dumps(body).encode(), end_stream=True)
        self._site.note(
            "broadcast", path=values[":path"], method=values[":method"], status=status,
            channel=values.get("apns-channel-id"), body=bytes(push.body).decode(errors="replace"),
        )
        self._trust(200 if status < 300 else status)

    @staticmethod
    def _wanted(device: str) -> tuple[int, str | None]:
        if device.startswith("e0"):
            return REASONS[int(device[2:4])]
        if device.startswith("e1"):
            return int(device[2:5]), None
        if device.startswith("de"):
            return 400, "BadDeviceToken"
        if device.startswith("f0"):
            return 410, "Unregistered"
        return 200, None

    def _answer(self, stream: int, push: Push, status: int, reason: str | None) -> None:
        given = dict(push.fields).get("apns-id")
        date = formatdate(self._site.now(), usegmt=True)
        headers = [(":status", str(status)), ("apns-id", given or self._site.new_id()), ("date", date)]
        if status == 200 and self._site.environment == "sandbox":
            headers.append(("apns-unique-id", self._site.new_id().lower()))
        answer: dict[str, object] = {} if reason is None else {"reason": reason}
        if reason is not None and status == 410:
            ago = 3600 if push.head and push.head.device.startswith("f0") else 0
            answer["timestamp"] = int((self._site.now() - ago) * 1000)
        self._h2.send_headers(stream, headers, end_stream=not answer)
        if answer:
            self._h2.send_data(stream, json.dumps(answer).encode(), end_stream=True)
        device = push.head.device if push.head else None
        self._site.note("answer", connection=self.id, stream=stream, device=device, status=status, reason=reason)
        self._trust(status)

    def _trust(self, status: int) -> None:
        """410 is no rejection: it is not the sender's mistake."""
        if status == 200 and self._limit < self._site.streams:
            self._was_trusted = True
            self._announce(self._site.streams)
        elif 400 <= status < 500 and status != 410 and self._limit > 1:
            self._announce(1)
