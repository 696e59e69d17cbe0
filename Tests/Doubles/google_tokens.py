# SPDX-License-Identifier: Apache-2.0
"""Google's token services: for service accounts, for workload identity federation, and for impersonation."""

import datetime
import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc import jwt as other_jwt
from joserfc.jwk import RSAKey
from serving import Answer, Call, Refusal

SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
CLOUD_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
IAM_SCOPE = "https://www.googleapis.com/auth/iam"
# What google-auth makes its assertions out to, whatever the credential file says.
TOKEN_ENDPOINT = "https://oauth2.googleapis.com/token"
ASSERTION_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token"
SUBJECT_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:jwt"
# How long an assertion may be good, and how far its clock may be away, in seconds.
MAXIMUM_LIFETIME = 3600
CLOCK_TOLERANCE = 300


class GoogleTokens:
    """Makes a project's credentials, and gives tokens for them. Any thread may ask."""

    project = "app-1"
    email = "push@app-1.iam.gserviceaccount.com"
    audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"

    def __init__(self, origin: str, now: Callable[[], float] = time.time):
        self.origin, self._now = origin, now
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._public = self._key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.key_id = secrets.token_hex(20)
        self.subject_token = secrets.token_urlsafe(32)
        # Seconds that a token is good.
        self.lifetime = 3600
        # What a grant is answered with in the place of a token; None: with one.
        self.failure: Answer | None = None
        self.granted = 0
        self._lock = Lock()
        self._tokens: dict[str, tuple[str, float]] = {}

    @property
    def impersonation_path(self) -> str:
        return f"/v1/projects/-/serviceAccounts/{self.email}:generateAccessToken"

    def service_account(self) -> dict[str, str]:
        """The content of the credential file of an account with a key."""
        pem = self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "project_id": self.project,
            "private_key_id": self.key_id,
            "private_key": pem.decode(),
            "client_email": self.email,
            "client_id": "1",
            "token_uri": f"{self.origin}/token",
            "universe_domain": "googleapis.com",
        }

    def external_account(self, source: dict[str, Any], impersonates: bool = False) -> dict[str, Any]:
        """The content of the credential file of workload identity federation."""
        file: dict[str, Any] = {
            "type": "external_account",
            # Not Google's member but ours: the file says nothing of the project otherwise.
            "project_id": self.project,
            "audience": self.audience,
            "subject_token_type": SUBJECT_TOKEN_TYPE,
            "token_url": f"{self.origin}/v1/token",
            "credential_source": source,
            "universe_domain": "googleapis.com",
        }
        if impersonates:
            file["service_account_impersonation_url"] = self.origin + self.impersonation_path
            file["service_account_impersonation"] = {"token_lifetime_seconds": 1800}
        return file

    def url_source(self) -> dict[str, Any]:
        """A source of subject tokens that must be asked with a header, and answers JSON."""
        return {
            "url": f"{self.origin}/subject-token?api-version=1",
            "headers": {"Metadata": "True"},
            "format": {"type": "json", "subject_token_field_name": "access_token"},
        }

    def write_files(self, folder: Path) -> dict[str, str]:
        """The credential files, and their paths by what is in them."""
        subject = folder / "subject-token"
        subject.write_text(self.subject_token + "\n")
        contents = {
            "credentialFile": self.service_account(),
            "externalAccountFile": self.external_account({"file": str(subject)}),
            "impersonatingFile": self.external_account(self.url_source(), impersonates=True),
        }
        paths = {"subjectTokenFile": str(subject)}
        for name, content in contents.items():
            path = folder / f"{name}.json"
            path.touch(mode=0o600)
            path.write_text(json.dumps(content))
            paths[name] = str(path)
        return paths

    def is_good(self, authorization: str | None) -> bool:
        """Whether a request with this field may send messages."""
        return self._has_scope(authorization, (SCOPE, CLOUD_SCOPE))

    def revoke(self, authorization: str | None = None) -> None:
        """Ends one token, or all."""
        with self._lock:
            if authorization is None:
                self._tokens.clear()
            else:
                self._tokens.pop(authorization.removeprefix("Bearer "), None)

    def respond(self, call: Call) -> Answer | None:
        """None: the path is of another service. Raises Refusal."""
        route = {
            ("POST", "/token"): self._grant_for_assertion,
            ("POST", "/v1/token"): self._exchange,
            ("POST", self.impersonation_path): self._impersonate,
            ("GET", "/subject-token"): self._give_subject_token,
        }.get((call.method, call.path.replace("%40", "@")))
        if route is None:
            return None
        return self.failure if self.failure is not None else route(call)

    # The services

    def _grant_for_assertion(self, call: Call) -> Answer:
        form = _form(call, {"grant_type", "assertion"})
        if form["grant_type"] != ASSERTION_GRANT:
            raise _oauth(400, "unsupported_grant_type", f"Invalid grant_type: {form['grant_type']}")
        return self._token(self._checked_scope(form["assertion"]))

    def _checked_scope(self, assertion: str) -> str:
        """What the token is to be good for. Two libraries look at the assertion, and must agree."""
        try:
            header = jwt.get_unverified_header(assertion)
            claims = jwt.decode(
                assertion,
                self._public,
                algorithms=["RS256"],
                audience=[f"{self.origin}/token", TOKEN_ENDPOINT],
                issuer=self.email,
                leeway=CLOCK_TOLERANCE,
                options={"require": ["iss", "aud", "iat", "exp"]},
            )
            again = other_jwt.decode(assertion, RSAKey.import_key(self._public), algorithms=["RS256"]).claims
        except Exception as error:
            raise _oauth(400, "invalid_grant", f"Invalid JWT Signature. ({type(error).__name__})") from error
        if again != claims or header.get("kid") != self.key_id or header.get("typ", "JWT") != "JWT":
            raise _oauth(400, "invalid_grant", "Invalid JWT: the key's id, or what is signed, is not the same to all.")
        times = (claims["iat"], claims["exp"])
        is_short = all(type(time) is int for time in times) and 0 < times[1] - times[0] <= MAXIMUM_LIFETIME
        if not is_short or abs(self._now() - times[0]) > CLOCK_TOLERANCE:
            raise _oauth(
                400,
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
            )
        for scope in (CLOUD_SCOPE, SCOPE):
            if scope in str(claims.get("scope")).split():
                return scope
        raise _oauth(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.")

    def _exchange(self, call: Call) -> Answer:
        names = {"grant_type", "audience", "scope", "requested_token_type", "subject_token", "subject_token_type"}
        form = _form(call, names)
        wanted = {
            "grant_type": EXCHANGE_GRANT,
            "audience": self.audience,
            "requested_token_type": ACCESS_TOKEN_TYPE,
            "subject_token_type": SUBJECT_TOKEN_TYPE,
        }
        for name, value in wanted.items():
            if form[name] != value:
                raise _oauth(400, "invalid_request", f"Invalid value for {name}.")
        if form["subject_token"].strip() != self.subject_token:
            raise _oauth(400, "invalid_grant", f"The subject token is not good: {form['subject_token']}")
        if form["scope"] not in (SCOPE, CLOUD_SCOPE, IAM_SCOPE):
            raise _oauth(400, "invalid_scope", "The scope is unknown.")
        answer = self._token(form["scope"])
        answer.body["issued_token_type"] = ACCESS_TOKEN_TYPE
        return answer

    def _impersonate(self, call: Call) -> Answer:
        if not self._has_scope(call.headers.get("authorization"), (IAM_SCOPE, CLOUD_SCOPE)):
            raise Refusal(
                google_error(403, "PERMISSION_DENIED", "Permission 'iam.serviceAccounts.getAccessToken' denied")
            )
        if not call.headers.get("content-type", "").startswith("application/json"):
            raise Refusal(google_error(400, "INVALID_ARGUMENT", "The body is not JSON."))
        asked = json.loads(call.body)
        lifetime = asked.get("lifetime", "3600s")
        is_known = set(asked) <= {"scope", "lifetime", "delegates"} and asked.get("scope") in ([SCOPE], [CLOUD_SCOPE])
        if not is_known or not lifetime.endswith("s") or not 0 < int(lifetime[:-1]) <= 43_200:
            raise Refusal(google_error(400, "INVALID_ARGUMENT", "Request contains an invalid argument."))
        seconds = min(int(lifetime[:-1]), self.lifetime)
        token = self._new(asked["scope"][0], seconds)
        end = datetime.datetime.fromtimestamp(int(self._now()) + seconds, datetime.UTC)
        return _json(200, {"accessToken": token, "expireTime": end.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def _give_subject_token(self, call: Call) -> Answer:
        if call.headers.get("metadata") != "True" or call.query != "api-version=1":
            raise Refusal(Answer(400, "the header Metadata is missing"))
        return _json(200, {"access_token": self.subject_token, "expires_on": "0"})

    def _token(self, scope: str) -> Answer:
        token = self._new(scope, self.lifetime)
        return _json(200, {"access_token": token, "expires_in": self.lifetime - 1, "token_type": "Bearer"})

    def _new(self, scope: str, seconds: int) -> str:
        token = "ya29." + secrets.token_urlsafe(96)
        with self._lock:
            self.granted += 1
            self._tokens[token] = (scope, self._now() + seconds)
        return token

    def _has_scope(self, authorization: str | None, scopes: tuple[str, ...]) -> bool:
        if authorization is None or not authorization.startswith("Bearer "):
            return False
        with self._lock:
            scope, end = self._tokens.get(authorization.removeprefix("Bearer "), ("", 0.0))
        return scope in scopes and self._now() < end


def _form(call: Call, names: set[str]) -> dict[str, str]:
    """The form's values. Raises Refusal for anything but these names, each once."""
    if call.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise _oauth(400, "invalid_request", "The content type is not that of a form.")
    pairs = parse_qsl(call.body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
    if len(pairs) != len(names) or {name for name, _ in pairs} != names:
        raise _oauth(400, "invalid_request", f"Wanted {sorted(names)}, each once.")
    return dict(pairs)


def _oauth(status: int, error: str, description: str) -> Refusal:
    return Refusal(_json(status, {"error": error, "error_description": description}))


def google_error(status: int, name: str, message: str, *details: dict[str, Any]) -> Answer:
    """An error as Google's APIs answer it."""
    error: dict[str, Any] = {"code": status, "message": message, "status": name}
    if details:
        error["details"] = list(details)
    return _json(status, {"error": error})


def _json(status: int, body: Any) -> Answer:
    return Answer(status, body, (("content-type", "application/json; charset=UTF-8"),))
