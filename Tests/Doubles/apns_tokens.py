# SPDX-License-Identifier: Apache-2.0
"""What APNs asks of the provider tokens of one connection."""

import time
from dataclasses import dataclass

import jwt
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.utils import base64url_decode

from apns_rules import Refusal

# Seconds.
MAXIMUM_AGE = 3600
MINIMUM_CHANGE = 20 * 60
# How far a clock may be ahead.
TOLERANCE = 60


@dataclass(frozen=True)
class Key:
    """A key that Apple has given out."""

    team: str
    # PEM, of the public key.
    public: str
    environment: str


class ConnectionTokens:
    """Belongs to one connection: a token that one connection refuses another may take."""

    def __init__(self, keys: dict[str, Key], environment: str):
        self._keys = keys
        self._environment = environment
        self._key_id: str | None = None
        self._token: str | None = None
        self._changed = 0.0
        self._is_wedged = False

    @property
    def token(self) -> str | None:
        """The last that was accepted."""
        return self._token

    def wedge(self) -> None:
        """No token helps this connection any more."""
        self._is_wedged = True

    def check(self, authorization: str | None) -> None:
        """Raises Refusal."""
        if self._is_wedged:
            raise Refusal("ExpiredProviderToken")
        if authorization is None:
            raise Refusal("MissingProviderToken")
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Refusal("MissingProviderToken")
        if token == self._token:
            return
        key_id = self._verify(token)
        if self._key_id not in (None, key_id):
            raise Refusal("UnrelatedKeyIdInToken")
        if self._token is not None and time.monotonic() - self._changed < MINIMUM_CHANGE:
            raise Refusal("TooManyProviderTokenUpdates")
        self._key_id, self._token, self._changed = key_id, token, time.monotonic()

    def _verify(self, token: str) -> str:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError:
            raise Refusal("InvalidProviderToken") from None
        key = self._keys.get(header.get("kid", ""))
        if key is None or header.get("alg") != "ES256":
            raise Refusal("InvalidProviderToken")
        claims = _claims(token, key)
        issued = claims.get("iat")
        if claims.get("iss") != key.team or type(issued) is not int:
            raise Refusal("InvalidProviderToken")
        if issued > time.time() + TOLERANCE:
            raise Refusal("InvalidProviderToken")
        if issued < time.time() - MAXIMUM_AGE:
            self.wedge()
            raise Refusal("ExpiredProviderToken")
        if key.environment not in ("both", self._environment):
            raise Refusal("BadEnvironmentKeyInToken")
        return header["kid"]


def _claims(token: str, key: Key) -> dict:
    """Apple takes the signature as two numbers (RFC 7518) and as DER, which its own sample token has."""
    # The time is checked by the caller, whose reasons differ.
    options = {"verify_iat": False, "verify_aud": False}
    try:
        return jwt.decode(token, key.public, algorithms=["ES256"], options=options)
    except jwt.InvalidTokenError:
        pass
    try:
        signed, _, signature = token.rpartition(".")
        public = serialization.load_pem_public_key(key.public.encode())
        assert isinstance(public, ec.EllipticCurvePublicKey)
        public.verify(base64url_decode(signature), signed.encode(), ec.ECDSA(hashes.SHA256()))
        return jwt.decode(token, options={"verify_signature": False})
    except (InvalidSignature, jwt.InvalidTokenError, ValueError):
        raise Refusal("InvalidProviderToken") from None
