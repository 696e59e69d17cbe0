# SPDX-License-Identifier: Apache-2.0
"""A user as an app of their own sees the backend: the HTTP API with their name and password."""

from typing import Any
from urllib.parse import urlencode

from deadline import PATIENCE_SECONDS, wait_until
from installation import Installation, Reply, User
from subscriber import Subscriber

# After which nothing more happens to a message.
FINAL_STATES = ("Completed", "Abandoned", "NoTargetFound", "Cancelled")


class Account:
    def __init__(self, installation: Installation, user: User):
        self._installation = installation
        self.user = user

    @property
    def name(self) -> str:
        return self.user.name

    def register(self, subscriber: Subscriber) -> str:
        """Registers a browser under an id that it asks for, and returns the id."""
        id = self.ask_for_id()
        reply = self.put(id, subscriber)
        assert reply.status == 200, reply
        return id

    def ask_for_id(self) -> str:
        reply = self.call("POST", "/api/register")
        assert reply.status == 200, reply
        id = reply.json()
        assert isinstance(id, str)
        return id

    def put(self, id: str, subscriber: Subscriber) -> Reply:
        endpoint = subscriber.subscription.endpoint
        self._installation.keep_secret(subscriber.subscription.token)
        device = {"Platform": "browser", "Handle": endpoint, "Keys": subscriber.keys}
        return self.call("PUT", f"/api/register/{id}", device)

    def send(self, recipient: "Account", message: str) -> str:
        """Sends to a user's browsers, and returns the notification's id."""
        reply = self.try_to_send(recipient, message)
        assert reply.status == 200, reply
        return notification_id(reply)

    def try_to_send(self, recipient: "Account", message: str) -> Reply:
        query = urlencode({"pns": "browser", "to_tag": recipient.name})
        return self.call("POST", f"/api/notifications?{query}", message)

    def send_secret(self, recipient: "Account", message: str) -> Reply:
        reply = self.call("POST", f"/api/notifications?{urlencode({'to_tag': recipient.name})}", message)
        assert reply.status == 200, reply
        return reply

    def read_secret(self, id: str | int) -> Reply:
        return self.call("GET", f"/api/notifications/{id}")

    def outcome(self, notification: str) -> Reply:
        return self.call("GET", f"/api/notifications/outcomes/{notification}")

    def await_outcome(self, notification: str, seconds: float = PATIENCE_SECONDS) -> tuple[str, dict[str, int]]:
        """The final state, and how many browsers had which fate. Raises TimeoutError."""

        def ended() -> dict[str, Any] | None:
            reply = self.outcome(notification)
            assert reply.status == 200, reply
            found = reply.json()
            return found if found["State"] in FINAL_STATES else None

        found = wait_until(ended, "the message's final state", seconds)
        counts = {outcome["Platform"]: outcome["Counts"] for outcome in found["Outcomes"]}
        return found["State"], counts.get("browser", {})

    def call(self, method: str, path: str, json_body: Any = None, **headers: str) -> Reply:
        return self._installation.call(method, path, self.user, json_body, **headers)


def notification_id(reply: Reply) -> str:
    """Of the browsers' part of a send."""
    return next(outcome["NotificationId"] for outcome in reply.json()["Outcomes"] if outcome["Platform"] == "browser")
