# SPDX-License-Identifier: Apache-2.0
"""What APNs asks of one request: headers, topic and payload.

Stricter than Apple where Apple delays or drops silently.
"""

import json
import re
from dataclasses import dataclass

# Push types, and what follows the bundle id in the topic.
SUFFIXES = {
    "alert": "",
    "background": "",
    "voip": ".voip",
    "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider",
    "location": ".location-query",
    "liveactivity": ".push-type.liveactivity",
    "controls": ".push-type.controls",
    "widgets": ".push-type.widgets",
    "pushtotalk": ".voip-ptt",
    "mdm": "",
}
# Apple's reasons. The number of a row is what device tokens that begin with e0 ask for.
REASONS = [
    (400, "BadCollapseId"),
    (400, "BadDeviceToken"),
    (400, "BadExpirationDate"),
    (400, "BadMessageId"),
    (400, "BadPriority"),
    (400, "BadTopic"),
    (400, "DeviceTokenNotForTopic"),
    (400, "DuplicateHeaders"),
    (400, "IdleTimeout"),
    (400, "InvalidPushType"),
    (400, "MissingDeviceToken"),
    (400, "MissingTopic"),
    (400, "PayloadEmpty"),
    (400, "TopicDisallowed"),
    (403, "BadCertificate"),
    (403, "BadCertificateEnvironment"),
    (403, "ExpiredProviderToken"),
    (403, "Forbidden"),
    (403, "InvalidProviderToken"),
    (403, "MissingProviderToken"),
    (403, "UnrelatedKeyIdInToken"),
    (403, "BadEnvironmentKeyInToken"),
    (404, "BadPath"),
    (405, "MethodNotAllowed"),
    (410, "ExpiredToken"),
    (410, "Unregistered"),
    (413, "PayloadTooLarge"),
    (429, "TooManyProviderTokenUpdates"),
    (429, "TooManyRequests"),
    (500, "InternalServerError"),
    (503, "ServiceUnavailable"),
    (503, "Shutdown"),
]
STATUS = {reason: status for status, reason in REASONS}
# Seconds since 1970 between 2001 and 2100; a duration is less, and milliseconds are more.
EPOCH = range(1_000_000_000, 4_102_444_801)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PATH = re.compile(r"/3/device/(.*)")


class Refusal(Exception):
    """The reason is Apple's word."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason
        self.status = STATUS[reason]


@dataclass(frozen=True)
class Head:
    """The fields of a request, checked."""

    device: str
    topic: str
    type: str
    id: str | None


def read_head(fields: list[tuple[str, str]], topics: list[str]) -> Head:
    """Raises Refusal."""
    names = [name for name, _ in fields]
    values = dict(fields)
    if any(names.count(name) > 1 for name in names if name.startswith("apns-") or name == "authorization"):
        raise Refusal("DuplicateHeaders")
    if values.get(":method") != "POST":
        raise Refusal("MethodNotAllowed")
    found = PATH.fullmatch(values.get(":path", ""))
    if not found:
        raise Refusal("BadPath")
    if not found[1]:
        raise Refusal("MissingDeviceToken")
    if not re.fullmatch(r"([0-9a-fA-F]{2}){16,}", found[1]):
        raise Refusal("BadDeviceToken")
    check_options(values)
    push_type = values.get("apns-push-type")
    if push_type not in SUFFIXES:
        raise Refusal("InvalidPushType")
    topic = values.get("apns-topic")
    if topic is None:
        raise Refusal("MissingTopic")
    suffix = SUFFIXES[push_type]
    others = {other for other in SUFFIXES.values() if other and other != suffix}
    if not topic.endswith(suffix) or topic.endswith(tuple(others)):
        raise Refusal("BadTopic")
    if topic.removesuffix(suffix) not in topics:
        raise Refusal("TopicDisallowed")
    return Head(found[1].lower(), topic, push_type, values.get("apns-id"))


def check_options(values: dict[str, str]) -> None:
    priority = values.get("apns-priority", "10")
    if priority not in ("10", "5", "1"):
        raise Refusal("BadPriority")
    if values.get("apns-push-type") == "background" and priority != "5":
        raise Refusal("BadPriority")
    expiration = values.get("apns-expiration", "0")
    if not re.fullmatch(r"[0-9]{1,12}", expiration) or (int(expiration) and int(expiration) not in EPOCH):
        raise Refusal("BadExpirationDate")
    if not 1 <= len(values.get("apns-collapse-id", "x").encode()) <= 64:
        raise Refusal("BadCollapseId")
    if not UUID.fullmatch(values.get("apns-id", "00000000-0000-0000-0000-000000000000")):
        raise Refusal("BadMessageId")


def check_payload(head: Head, body: bytes) -> None:
    """Raises Refusal."""
    if not body:
        raise Refusal("PayloadEmpty")
    if len(body) > (5120 if head.type == "voip" else 4096):
        raise Refusal("PayloadTooLarge")
    try:
        payload = json.loads(body.decode())
    except ValueError:
        raise Refusal("PayloadEmpty") from None
    if not isinstance(payload, dict) or not isinstance(payload.get("aps", {}), dict):
        raise Refusal("PayloadEmpty")
    aps = payload.get("aps", {})
    if not agrees(head.type, payload, aps):
        raise Refusal("InvalidPushType")


def agrees(push_type: str, payload: dict, aps: dict) -> bool:
    """Whether the payload is one of that type."""
    match push_type:
        case "alert":
            return "aps" in payload and not ("event" in aps and "content-state" in aps)
        case "background":
            return aps.get("content-available") == 1 and not ("alert" in aps or "badge" in aps or aps.get("sound"))
        case "liveactivity":
            return aps.get("event") in ("start", "update", "end") and aps.get("timestamp") in EPOCH
        case "controls" | "widgets":
            return aps.get("content-changed") is True
        case "mdm":
            return isinstance(payload.get("mdm"), str)
        case _:
            return True
