# SPDX-License-Identifier: Apache-2.0
"""Firebase Cloud Messaging on this host: HTTP v1 over TLS, HTTP/2 or HTTP/1.1, with Google's token services.

    python fcm.py [--port 0]      prints one line of JSON: port, CA file, credential files; ends with its standard input

What a device's handle begins with, up to a colon, decides what is answered: see SCENARIOS. Handles without one are taken.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from types import TracebackType
from typing import Any, Self

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parent.parent / "BrowserTests"))

import discovery
from certificates import Authority, Certificate
from google_tokens import GoogleTokens, google_error
from serving import Answer, Call, Refusal, Serving, announce

# Bytes of keys and values.
MAXIMUM_DATA_BYTES = 4096
RESERVED = re.compile(r"from|message_type|google\..*|gcm\.notification\..*", re.DOTALL)
TYPES = "type.googleapis.com/google."


def _code(name: str) -> dict[str, Any]:
    return {"@type": TYPES + "firebase.fcm.v1.FcmError", "errorCode": name}


def _violation(subject: str, description: str) -> dict[str, Any]:
    return {"@type": TYPES + "rpc.QuotaFailure", "violations": [{"subject": subject, "description": description}]}


def _retry(delay: str) -> dict[str, Any]:
    return {"@type": TYPES + "rpc.RetryInfo", "retryDelay": delay}


NOT_A_TOKEN = "The registration token is not a valid FCM registration token"

# By the beginning of a handle.
SCENARIOS = {
    "unregistered": google_error(404, "NOT_FOUND", "Requested entity was not found.", _code("UNREGISTERED")),
    "mismatch": google_error(403, "PERMISSION_DENIED", "SenderId mismatch", _code("SENDER_ID_MISMATCH")),
    "invalid": google_error(400, "INVALID_ARGUMENT", NOT_A_TOKEN, _code("INVALID_ARGUMENT")),
    "third-party": google_error(
        401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", _code("THIRD_PARTY_AUTH_ERROR")
    ),
    "quota": google_error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded.", _code("QUOTA_EXCEEDED"), _violation("project", "per minute")
    ),
    "device-quota": google_error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded.", _code("QUOTA_EXCEEDED"), _violation("DeviceMessageRate", "x")
    ),
    "unavailable": google_error(
        503, "UNAVAILABLE", "The service is currently unavailable.", _code("UNAVAILABLE"), _retry("1s")
    ),
    "internal": google_error(500, "INTERNAL", "Internal error encountered.", _code("INTERNAL")),
    "denied": google_error(
        403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource '//x/projects/app-1'"
    ),
    "gateway": Answer(502, "<html><title>502</title></html>", (("content-type", "text/html"),)),
}


@dataclass(frozen=True)
class Push:
    """A message that came, and the status that it was answered with."""

    message: dict[str, Any]
    is_validation: bool
    status: int
    http_version: str
    authorization: str


class FCM:
    """Runs while the `with` block lasts. What comes is kept in `pushes`."""

    def __init__(self, certificate: Certificate, port: int = 0):
        self._serving = Serving(certificate, self._respond, port)
        self.origin, self.authority, self.port = self._serving.origin, self._serving.authority, self._serving.port
        self.tokens = GoogleTokens(self.origin)
        self._changed = Condition()
        self._pushes: list[Push] = []
        # Called with the number of each push before it is answered; no other push is looked at meanwhile.
        self.on_push: Callable[[int], None] = lambda number: None

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._serving.__exit__(kind, error, trace)

    @property
    def pushes(self) -> list[Push]:
        with self._changed:
            return list(self._pushes)

    def _respond(self, call: Call) -> Answer:
        answer = self.tokens.respond(call)
        if answer is not None:
            return answer
        if call.method == "GET" and call.path == "/pushes":
            return Answer(200, [vars(push) for push in self.pushes])
        if call.method != "POST" or not re.fullmatch("/v1/projects/[^/]+/messages:send", call.path):
            return Answer(404, "<html>", (("content-type", "text/html"),))
        authorization = call.headers.get("authorization")
        if not self.tokens.is_good(authorization):
            info = {"@type": TYPES + "rpc.ErrorInfo", "reason": "ACCESS_TOKEN_EXPIRED", "domain": "googleapis.com"}
            text = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            return google_error(401, "UNAUTHENTICATED", text, info)
        if call.path.split("/")[3] not in (self.tokens.project, "1"):
            return google_error(404, "NOT_FOUND", "Requested entity was not found.")
        try:
            request = _checked(call)
        except Refusal as refusal:
            self._keep(Push({}, False, refusal.answer.status, call.http_version, authorization or ""))
            raise
        return self._send(request, call, authorization or "")

    def _send(self, request: dict[str, Any], call: Call, authorization: str) -> Answer:
        message = request["message"]
        is_validation = bool(request.get("validateOnly", request.get("validate_only", False)))
        scenario = str(message.get("token", "")).partition(":")[0]
        if scenario == "expire":
            # Once: the next token is good.
            message = {**message, "token": "expired:" + message["token"].partition(":")[2]}
            if not any(push.message == message for push in self.pushes):
                self.tokens.revoke(authorization)
                self._keep(Push(message, is_validation, 401, call.http_version, authorization))
                return google_error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        name = f"projects/{self.tokens.project}/messages/{'fake' if is_validation else len(self._pushes)}"
        headers = (("content-type", "application/json; charset=UTF-8"),)
        answer = SCENARIOS.get(scenario) or Answer(200, {"name": name}, headers)
        self._keep(Push(message, is_validation, answer.status, call.http_version, authorization))
        return answer

    def _keep(self, push: Push) -> None:
        with self._changed:
            self._pushes.append(push)
            self._changed.notify_all()
            number = len(self._pushes)
        self.on_push(number)


def _checked(call: Call) -> dict[str, Any]:
    """The body. Raises Refusal for what is not as Google's description has it."""
    if call.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refusal(google_error(400, "INVALID_ARGUMENT", "The content type is not that of JSON."))
    try:
        request: dict[str, Any] = json.loads(call.body, object_pairs_hook=_once)
        message = discovery.check_send(request)
    except discovery.Fault as fault:
        violation = {
            "@type": TYPES + "rpc.BadRequest",
            "fieldViolations": [{"field": fault.path, "description": str(fault)}],
        }
        raise Refusal(
            google_error(400, "INVALID_ARGUMENT", f"Invalid JSON payload received. {fault}", violation)
        ) from fault
    except ValueError as error:
        raise Refusal(google_error(400, "INVALID_ARGUMENT", f"Invalid JSON payload received. {error}")) from error
    data = message.get("data", {})
    if any(RESERVED.fullmatch(key) for key in data):
        raise Refusal(google_error(400, "INVALID_ARGUMENT", "Invalid data payload key", _code("INVALID_ARGUMENT")))
    if sum(len((key + value).encode()) for key, value in data.items()) > MAXIMUM_DATA_BYTES:
        raise Refusal(google_error(400, "INVALID_ARGUMENT", "Android message is too big", _code("INVALID_ARGUMENT")))
    return request


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory(prefix="app-backend-fcm-") as name:
        folder = Path(name)
        authority = Authority(folder)
        with FCM(authority.issue("fcm"), port) as double:
            announce(
                port=double.port,
                endpoint=double.origin,
                project=double.tokens.project,
                caFile=str(authority.file),
                **double.tokens.write_files(folder),
            )


if __name__ == "__main__":
    main()
