# SPDX-License-Identifier: Apache-2.0
"""What APNs asks of requests that manage broadcast channels, and of notifications to them."""

import base64
import json
import re
import secrets
from dataclasses import dataclass, field

from apns_rules import EPOCH, UUID, agrees

PATH = re.compile(r"/(1/apps|4/broadcasts/apps)/([^/]+)(?:/(channels|all-channels))?")
# Of an app; Apple's is 10,000.
MAXIMUM_CHANNELS = 3
MAXIMUM_PAYLOAD = 5120


class ChannelRefusal(Exception):
    """The reason is Apple's word."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass
class Broadcasts:
    """The channels of all apps, with what each of them stores: 0 nothing, 1 the newest notification."""

    topics: list[str]
    channels: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def takes(path: str) -> bool:
        return path.startswith(("/1/apps/", "/4/broadcasts/"))

    def answer(self, fields: list[tuple[str, str]], body: bytes) -> tuple[int, dict[str, str], object | None]:
        """Status, fields and body. Raises ChannelRefusal."""
        values = dict(fields)
        found = PATH.fullmatch(values[":path"])
        if not found:
            raise ChannelRefusal(404, "BadPath")
        kind, bundle, resource = found.groups()
        if bundle not in self.topics:
            raise ChannelRefusal(400, "TopicDisallowed")
        if kind == "4/broadcasts/apps" and resource is None:
            return self._broadcast(values, body)
        if not UUID.fullmatch(values.get("apns-request-id", "00000000-0000-0000-0000-000000000000")):
            raise ChannelRefusal(400, "BadMessageId")
        match kind, values[":method"], resource:
            case "1/apps", "POST", "channels":
                return self._create(values, body)
            case "1/apps", "GET", "channels":
                storage = self.channels[self._channel(values)]
                return 200, {}, {"message-storage-policy": storage, "push-type": "LiveActivity"}
            case "1/apps", "DELETE", "channels":
                del self.channels[self._channel(values)]
                return 204, {}, None
            case "1/apps", "GET", "all-channels":
                return 200, {}, {"channels": list(self.channels)}
        raise ChannelRefusal(405, "MethodNotAllowed")

    def _create(self, values: dict[str, str], body: bytes) -> tuple[int, dict[str, str], object | None]:
        wanted = _json(body)
        if set(wanted) != {"message-storage-policy", "push-type"} or "apns-channel-id" in values:
            raise ChannelRefusal(400, "BadRequestParams")
        if wanted["push-type"] != "LiveActivity" or wanted["message-storage-policy"] not in (0, 1):
            raise ChannelRefusal(400, "BadRequestPayload")
        if len(self.channels) >= MAXIMUM_CHANNELS:
            raise ChannelRefusal(400, "CannotCreateChannelConfig")
        name = base64.b64encode(secrets.token_bytes(16)).decode()
        self.channels[name] = wanted["message-storage-policy"]
        return 201, {"apns-channel-id": name}, None

    def _channel(self, values: dict[str, str]) -> str:
        name = values.get("apns-channel-id")
        if name is None:
            raise ChannelRefusal(400, "MissingChannelId")
        if not re.fullmatch(r"[A-Za-z0-9+/=]+", name):
            raise ChannelRefusal(400, "BadChannelId")
        if name not in self.channels:
            raise ChannelRefusal(400, "ChannelNotRegistered")
        return name

    def _broadcast(self, values: dict[str, str], body: bytes) -> tuple[int, dict[str, str], object | None]:
        if values[":method"] != "POST":
            raise ChannelRefusal(405, "MethodNotAllowed")
        storage = self.channels[self._channel(values)]
        if "apns-topic" in values:
            raise ChannelRefusal(400, "TopicDisallowed")
        if "apns-push-type" not in values:
            raise ChannelRefusal(400, "MissingPushType")
        payload = _json(body)
        if values["apns-push-type"] != "liveactivity" or not agrees("liveactivity", payload, payload.get("aps", {})):
            raise ChannelRefusal(400, "InvalidPushType")
        if values.get("apns-priority", "10") not in ("10", "5", "1"):
            raise ChannelRefusal(400, "BadPriority")
        expiration = values.get("apns-expiration", "0")
        if not expiration.isdigit() or (int(expiration) and (storage == 0 or int(expiration) not in EPOCH)):
            raise ChannelRefusal(400, "BadExpirationDate")
        return 200, {}, None


def _json(body: bytes) -> dict:
    """Raises ChannelRefusal."""
    if not body:
        raise ChannelRefusal(400, "PayloadEmpty")
    if len(body) > MAXIMUM_PAYLOAD:
        raise ChannelRefusal(413, "PayloadTooLarge")
    try:
        document = json.loads(body.decode())
    except ValueError:
        raise ChannelRefusal(400, "BadRequestPayload") from None
    if not isinstance(document, dict) or not isinstance(document.get("aps", {}), dict):
        raise ChannelRefusal(400, "BadRequestPayload")
    return document
