# SPDX-License-Identifier: Apache-2.0
"""What the push service knows: subscriptions, the messages that arrived for them, and what a test wants to happen."""

from collections import deque
from dataclasses import dataclass, field
from threading import Condition
from typing import TYPE_CHECKING, Any

from deadline import PATIENCE_SECONDS

if TYPE_CHECKING:
    from autopush import Agent


@dataclass(frozen=True)
class Answer:
    """What is to happen to a message instead of the usual. A message that is not valid is still refused."""

    # None: it is never answered.
    status: int | None
    headers: dict[str, str] = field(default_factory=dict)


# Never to answer, as a service that hangs.
SILENCE = Answer(None)
# To take it, and to hand it to the browser with one bit of it flipped.
CORRUPTION = Answer(201)


@dataclass
class Message:
    """A request for delivery, and what became of it."""

    id: str
    # Names in lower case.
    headers: dict[str, str]
    # As it came: encrypted.
    body: bytes
    # "2" or "1.1".
    http_version: str
    # The client's address and port: the same for requests over one connection.
    connection: tuple[str, int]
    # What it was answered; None when it was not.
    status: int | None = None
    reason: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    # What the browser said of it: 100 delivered, 101 could not be decrypted, 102 other error; None: nothing yet.
    ack: int | None = None


@dataclass
class Subscription:
    """A push resource (RFC 8030 section 4)."""

    token: str
    endpoint: str
    # The application server's; None where none was named.
    key: bytes | None
    changed: Condition
    # The browser's half; without one the messages are only kept.
    agent: "Agent | None" = None
    channel: str = ""
    is_gone: bool = False
    messages: list[Message] = field(default_factory=list)
    # For the next messages, one each.
    script: deque[Answer] = field(default_factory=deque)

    def await_messages(self, count: int, seconds: float = PATIENCE_SECONDS) -> list[Message]:
        """Those that arrived, as soon as there are so many that have been answered. Raises TimeoutError."""
        self._await(lambda: len(self.answered) >= count, f"{count} messages", seconds)
        return self.answered

    def await_message(self, status: int | None = 201, seconds: float = PATIENCE_SECONDS) -> Message:
        """The first that was answered so. Raises TimeoutError."""
        self._await(lambda: self._with(status), f"a message answered {status}", seconds)
        return self._with(status)[0]

    def await_ack(self, message: Message, seconds: float = PATIENCE_SECONDS) -> int:
        """What the browser says of it. Raises TimeoutError."""
        self._await(lambda: message.ack is not None, "the browser's acknowledgement", seconds)
        assert message.ack is not None
        return message.ack

    def await_end(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Returns when the browser has given it up. Raises TimeoutError."""
        self._await(lambda: self.is_gone, "the end of the subscription", seconds)

    @property
    def answered(self) -> list[Message]:
        return [message for message in self.messages if message.status is not None]

    def _with(self, status: int | None) -> list[Message]:
        return [message for message in self.messages if message.status == status]

    def _await(self, condition: Any, what: str, seconds: float) -> None:
        with self.changed:
            if not self.changed.wait_for(condition, seconds):
                found = [(message.status, message.reason, message.ack) for message in self.messages]
                raise TimeoutError(f"Waited {seconds:g} s without success for {what}. There are {found}.")
