# SPDX-License-Identifier: Apache-2.0
"""An issuer of tokens: OpenID Connect's documents over TLS, keys and signatures by joserfc."""

import json
import time
from threading import Lock
from types import TracebackType
from typing import Any, Self

from certificates import Certificate
from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey
from serving import Answer, Call, Serving

AUDIENCE = "backend"
PARTY = "app"
Key = RSAKey | ECKey | OKPKey


class TokenIssuer:
    """Answers while the `with` block lasts. A path whose answer is replaced in `answers` is answered so."""

    def __init__(self, certificate: Certificate):
        self._serving, self._lock = Serving(certificate, self._respond), Lock()
        self.issuer = self._serving.origin
        self.keys: dict[str, Key] = {
            "RS256": RSAKey.generate_key(2048, {"kid": "r"}),
            "ES256": ECKey.generate_key("P-256", {"kid": "p"}),
            "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "e"}),
        }
        self.answers: dict[str, Answer] = {}
        self.calls: list[str] = []

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._serving.__exit__(kind, error, trace)

    def _respond(self, call: Call) -> Answer:
        with self._lock:
            self.calls.append(call.path)
        if call.path in self.answers:
            return self.answers[call.path]
        if call.path == "/.well-known/openid-configuration":
            return Answer(200, {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"})
        if call.path == "/keys":
            return Answer(200, self.key_set())
        return Answer(404)

    def key_set(self) -> dict[str, Any]:
        return {"keys": [key.as_dict(private=False) for key in self.keys.values()]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The usual ones; a change to None takes a claim away."""
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": AUDIENCE, "sub": "alice", "iat": now - 10, "exp": now + 3600}
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def token(
        self, algorithm: str = "ES256", header: dict[str, Any] | None = None, key: Key | None = None, **claims: Any
    ) -> str:
        """A token that is right but for what is changed; a change to None takes a member away."""
        return self.signed(json.dumps(self.claims(**claims)), algorithm, header, key)

    def signed(
        self, payload: str, algorithm: str = "ES256", header: dict[str, Any] | None = None, key: Key | None = None
    ) -> str:
        signer = key or self.keys[algorithm]
        protected = {"alg": algorithm, "typ": "JWT", "kid": signer.kid} | (header or {})
        protected = {name: value for name, value in protected.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        return jws.serialize_compact(protected, payload, signer, registry=registry)
