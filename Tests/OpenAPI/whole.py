# SPDX-License-Identifier: Apache-2.0
"""The document, with schemas for what it says only in words, because generators would make poor clients of these."""

from typing import Any

# Browsers set them, and other clients leave them out.
FIELDS = [{"name": name, "in": "header", "schema": {"type": "string"}} for name in ("Sec-Fetch-Site", "Origin")]
# It marks a message as read, so these fields count there too, although its method is GET.
READS = "readSecureMessage"
# The program refuses `null` here, because a token without the list may send to more users.
NOT_NULL = {("AppTokenWish", "To")}
# Schemas of requests. Their optional members may be `null`, and so may a list.
ASKED = (
    "PasswordChange", "AppTokenWish", "DeviceRegistration", "PushRequest", "MessageObject", "InstallationTags", "RequestTags",
)  # fmt: skip


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """The same document, with header fields of browsers, members that may be null, and requests of two kinds.

    There is no name of an app: the site of the tests has none, so that each is refused.
    """
    for path, item in document["paths"].items():
        for method in ("get", "put", "post", "delete"):
            if method in item and (method != "get" or path.startswith("/api/admin/") or item[method]["operationId"] == READS):
                item[method].setdefault("parameters", []).extend(FIELDS)
    schemas = document["components"]["schemas"]
    for name in ("DeviceRegistration", "Installation"):
        for app in ("App", "app"):
            schemas[name]["properties"].pop(app, None)
    for name in ASKED:
        schema = schemas[name]
        optional = [one for key, one in schema.get("properties", {}).items() if may_be_null(name, key, schema)]
        for one in optional or [schema]:
            one["type"] = [one["type"], "null"]
    device = schemas["DeviceRegistration"]
    phones = [one for one in device["properties"]["Platform"]["enum"] if one != "browser"]
    schemas["DeviceRegistration"] = {
        "oneOf": [of_kind(device, "Platform", ["browser"], needed="Keys"), of_kind(device, "Platform", phones, ignored="Keys")]
    }
    app = schemas["Installation"]
    schemas["Installation"] = {
        "oneOf": [
            of_kind(app, "platform", ["ios", "android"], needed="deviceToken", ignored="channelUri"),
            of_kind(app, "platform", ["windows"], needed="channelUri", ignored="deviceToken"),
        ]
    }
    older = document["paths"]["/api/register/"]["post"]
    body, answer = (one["content"]["application/json"] for one in (older["requestBody"], older["responses"]["200"]))
    older["requestBody"]["required"] = False
    body["schema"] = {"oneOf": [body["schema"], {"type": "null"}]}
    answer["schema"] = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("RegistrationId", "Registration")]}
    return document


def of_kind(schema: dict[str, Any], member: str, kinds: list[str], needed: str = "", ignored: str = "") -> dict[str, Any]:
    """The schema for these values of `member`: it requires `needed`, and allows any value in `ignored`."""
    properties = schema["properties"] | {member: {"enum": kinds}} | ({ignored: {}} if ignored else {})
    return schema | {"properties": properties, "required": schema["required"] + ([needed] if needed else [])}


def may_be_null(name: str, key: str, schema: dict[str, Any]) -> bool:
    is_optional = key not in schema.get("required", [])
    return is_optional and "type" in schema["properties"][key] and (name, key) not in NOT_NULL
