# SPDX-License-Identifier: Apache-2.0
"""Microsoft's token services: that of the Partner Center's apps, and that of Entra."""

import secrets
import time
from threading import Lock
from urllib.parse import parse_qsl

from serving import Answer


class MicrosoftTokens:
    """Both token services. Any thread may ask."""

    package_sid = "ms-app://s-1-15-2-1004590375-3871893421-2130870303-1004590375-3871893421-2130870303-7"
    client_id = "5d5f3a2c-0000-4000-8000-1234567890ab"
    tenant = "0d4fb1a8-0000-4000-8000-1234567890ab"

    def __init__(self) -> None:
        # With characters that a form must escape.
        self.secret = secrets.token_urlsafe(20) + "+/=&%"
        self.lifetime = 86_400
        self.granted = 0
        # What a grant is answered with in the place of a token.
        self.failure: Answer | None = None
        self._lock = Lock()
        self._tokens: dict[str, tuple[str, float]] = {}

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        """None: the path is of another service."""
        if path == "/accesstoken.srf":
            kind, client, scopes, lifetime = "store", self.package_sid, ("notify.windows.com",), self.lifetime
        elif path == f"/{self.tenant}/oauth2/v2.0/token":
            kind, client, lifetime = "sdk", self.client_id, str(self.lifetime - 1)
            scopes = ("https://wns.windows.com/.default", "https://wns.windows.com/.default/")
        else:
            return None
        if self.failure is not None:
            return self.failure
        form = _form(headers, body)
        if form is None or set(form) != {"grant_type", "client_id", "client_secret", "scope"}:
            return _oauth(
                "invalid_request", "The request body must contain grant_type, client_id, client_secret, scope."
            )
        if form["grant_type"] != "client_credentials":
            return _oauth("unsupported_grant_type", "The provided grant type is not supported.")
        if form["client_id"] != client or not secrets.compare_digest(form["client_secret"], self.secret):
            return _oauth("invalid_client", f"Invalid client secret provided: {form['client_secret']}")
        if form["scope"] not in scopes:
            return _oauth("invalid_scope", "The scope is not valid.")
        token = secrets.token_urlsafe(48)
        with self._lock:
            self.granted += 1
            self._tokens[token] = (kind, time.monotonic() + self.lifetime)
        return json_answer(200, {"token_type": "bearer", "access_token": token, "expires_in": lifetime})

    def kind(self, authorization: str | None) -> str | None:
        """Which channels a token is for; None: it is not good."""
        if authorization is None or not authorization.startswith("Bearer "):
            return None
        with self._lock:
            kind, end = self._tokens.get(authorization.removeprefix("Bearer "), (None, 0.0))
        return kind if time.monotonic() < end else None

    def revoke(self, authorization: str) -> None:
        with self._lock:
            self._tokens.pop(authorization.removeprefix("Bearer "), None)


def _form(headers: dict[str, str], body: bytes) -> dict[str, str] | None:
    if headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        return None
    pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True)
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def _oauth(error: str, description: str) -> Answer:
    return json_answer(400, {"error": error, "error_description": description})


def json_answer(status: int, body: object) -> Answer:
    return Answer(status, body, (("Content-Type", "application/json"),))
