# SPDX-License-Identifier: Apache-2.0
"""Calls and events over a WebSocket, as WebDriver BiDi and the Chrome DevTools Protocol both have them."""

import itertools
import json
from collections import deque
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from deadline import PATIENCE_SECONDS

# Older ones are forgotten.
MAXIMUM_EVENTS = 10_000


class Refused(Exception):
    """The browser answered a call with an error."""


@dataclass(frozen=True)
class Event:
    method: str
    params: dict[str, Any]
    # DevTools' name of the tab; None in BiDi, which says it in `params`.
    session: str | None


class Connection:
    """One conversation with a browser. Its methods may be called by any thread."""

    def __init__(self, url: str):
        self._resources = ExitStack()
        options = {"max_size": None, "compression": None, "ping_interval": None, "proxy": None}
        opened = connect(url, open_timeout=PATIENCE_SECONDS, **options)
        self._socket = self._resources.enter_context(opened)
        self._numbers = itertools.count(1)
        self._calls: dict[int, Future[dict[str, Any]]] = {}
        self._events: deque[Event] = deque(maxlen=MAXIMUM_EVENTS)
        self._lock = Lock()
        self._reader = Thread(target=self._read, name="browser", daemon=True)
        self._reader.start()

    def call(self, method: str, params: dict[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
        """Raises Refused, TimeoutError, or ConnectionError when the browser has gone."""
        return self.call_all([(method, params or {})], session)[0]

    def call_all(self, calls: list[tuple[str, dict[str, Any]]], session: str | None = None) -> list[dict[str, Any]]:
        """Several, which the browser takes one after the other, while none waits for the answer to the one before."""
        whose = {"sessionId": session} if session else {}
        under_way = [(next(self._numbers), method, Future[dict[str, Any]]()) for method, _ in calls]
        self._calls |= {number: answer for number, _, answer in under_way}
        try:
            for (number, method, _), (_, params) in zip(under_way, calls, strict=True):
                self._socket.send(json.dumps({"id": number, "method": method, "params": params} | whose))
            return [_result(method, answer) for _, method, answer in under_way]
        except ConnectionClosed as error:
            raise ConnectionError(f"{calls[0][0]}: the browser has gone") from error
        finally:
            for number, _, _ in under_way:
                self._calls.pop(number, None)

    def events(self, *methods: str) -> list[Event]:
        """Those that came, oldest first."""
        with self._lock:
            return [event for event in self._events if event.method in methods]

    def forget(self, session: str) -> None:
        """What a tab has said that is closed now."""
        with self._lock:
            self._events = deque((event for event in self._events if event.session != session), MAXIMUM_EVENTS)

    def close(self) -> None:
        self._resources.close()
        self._reader.join(PATIENCE_SECONDS)

    def _read(self) -> None:
        try:
            # A browser that is ended does not say goodbye.
            with suppress(ConnectionClosed):
                for text in self._socket:
                    self._take(json.loads(text))
        finally:
            for answer in list(self._calls.values()):
                answer.set_exception(ConnectionError("the browser has gone"))

    def _take(self, message: dict[str, Any]) -> None:
        if (answer := self._calls.get(message.get("id", 0))) is not None:
            answer.set_result(message)
        elif "method" in message:
            with self._lock:
                self._events.append(Event(message["method"], message["params"], message.get("sessionId")))


def _result(method: str, answer: Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        reply = answer.result(PATIENCE_SECONDS)
    except TimeoutError as error:
        raise TimeoutError(f"{method}: no answer within {PATIENCE_SECONDS} s") from error
    if "error" in reply:
        raise Refused(f"{method}: {reply['error']} {reply.get('message', '')}")
    result: dict[str, Any] = reply["result"]
    return result
