# SPDX-License-Identifier: Apache-2.0
"""Compares JSON with Google's own description of FCM, which its Python client brings along."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

DURATION = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]{1,9})?s")
TARGETS = ("fid", "token", "topic", "condition")


class Fault(Exception):
    """Where a value is not what Google describes, and why."""

    def __init__(self, path: str, reason: str):
        super().__init__(f"{path}: {reason}")
        self.path = path


@cache
def document() -> dict[str, Any]:
    """The discovery document, read where it is installed."""
    folder = files("googleapiclient") / "discovery_cache" / "documents"
    read: dict[str, Any] = json.loads((folder / "fcm.v1.json").read_text())
    return read


def check_send(request: Any) -> dict[str, Any]:
    """Returns the message of the body of `messages:send`. Raises Fault."""
    _check(request, {"$ref": "SendMessageRequest"}, "")
    message = request.get("message") or {}
    targets = [name for name in TARGETS if name in message]
    if len(targets) != 1:
        raise Fault("message", f"has the targets {targets}")
    if "name" in message:
        raise Fault("message.name", "is for answers")
    if "android" in message and ("androidV2" in message or "android_v2" in message):
        raise Fault("message.android", "beside androidV2")
    return dict(message)


def _check(value: Any, schema: dict[str, Any], path: str) -> None:
    if "$ref" in schema:
        schema = document()["schemas"][schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "any":
        return
    if not _is(value, kind):
        raise Fault(path, f"is not of the type {kind}")
    if kind == "object":
        _check_object(value, schema, path)
    elif kind == "array":
        for index, element in enumerate(value):
            _check(element, schema["items"], f"{path}[{index}]")
    elif "enum" in schema and value.upper() not in schema["enum"]:
        raise Fault(path, "is not one of the values that there are")
    elif schema.get("format") == "google-duration" and not DURATION.fullmatch(value):
        raise Fault(path, "is not a duration")


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool}[kind])


def _check_object(value: dict[str, Any], schema: dict[str, Any], path: str) -> None:
    properties = schema.get("properties", {})
    seen = set()
    for name, member in value.items():
        inner = f"{path}.{name}".lstrip(".")
        # Both spellings of a name mean the same.
        known = name if name in properties else re.sub("_([a-z])", lambda letter: letter[1].upper(), name)
        if known in seen:
            raise Fault(inner, "is there in both spellings")
        seen.add(known)
        if known in properties:
            _check(member, properties[known], inner)
        elif "additionalProperties" in schema:
            _check(member, schema["additionalProperties"], inner)
        else:
            raise Fault(inner, "is unknown")
