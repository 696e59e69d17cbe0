# SPDX-License-Identifier: Apache-2.0
"""Voluntary application server identification as a push service checks it (RFC 8292)."""

import base64
import binascii
import json
import re
import time
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

# Section 2: "MUST NOT be more than 24 hours from the time of the request".
MAXIMUM_LIFETIME_SECONDS = 24 * 60 * 60
# ES256 signatures are r and s, not DER (RFC 7518 section 3.4).
SIGNATURE_BYTES = 64
BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
CONTACT = re.compile(r"mailto:[^@\s]+@[^@\s]+|https://\S+")


class Refusal(Exception):
    """Why a push service does not take a message, with the status it answers."""

    def __init__(self, status: int, reason: str):
        super().__init__(f"{status} {reason}")
        self.status = status
        self.reason = reason


def decode(text: str) -> bytes:
    """Base64url without padding (RFC 7515 section 2); ValueError for anything else."""
    if not BASE64URL.fullmatch(text):
        raise ValueError("not base64url without padding")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def verify(authorization: str | None, origin: str, key: bytes | None) -> dict[str, Any]:
    """Checks a message's `Authorization` and returns the token's claims.

    `origin` is the push service's, `key` the one that the subscription was made for; None where it was made for none.
    Raises Refusal: 401 when there is no such authorization, 403 when it is not valid (section 4.2).
    """
    if authorization is None:
        raise Refusal(401, "no authorization")
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() != "vapid":
        raise Refusal(401, "another scheme than vapid")
    try:
        token, public = _parameters(rest)
        claims = _signed_claims(token, public)
    except (ValueError, InvalidSignature, binascii.Error) as error:
        raise Refusal(403, f"the token is not valid: {type(error).__name__} {error}") from error
    _check(claims, origin)
    if key is not None and public != key:
        raise Refusal(403, "the subscription was made for another key")
    return claims


def _parameters(text: str) -> tuple[str, bytes]:
    pairs = [parameter.strip().partition("=") for parameter in text.split(",")]
    values = {name: value for name, _, value in pairs}
    if len(pairs) != len(values) or not {"t", "k"} <= values.keys():
        raise ValueError("t and k are needed, once each")
    return values["t"], decode(values["k"])


def _signed_claims(token: str, public: bytes) -> dict[str, Any]:
    header, claims, signature = token.split(".")
    if json.loads(decode(header)).get("alg") != "ES256":
        raise ValueError("alg is not ES256")
    raw = decode(signature)
    if len(raw) != SIGNATURE_BYTES:
        raise ValueError(f"the signature has {len(raw)} bytes")
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
    numbers = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    key.verify(utils.encode_dss_signature(*numbers), f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    found = json.loads(decode(claims))
    if not isinstance(found, dict):
        raise ValueError("the claims are no object")
    return found


def _check(claims: dict[str, Any], origin: str) -> None:
    if claims.get("aud") != origin:
        raise Refusal(403, f"aud is not {origin}")
    expiry, now = claims.get("exp"), time.time()
    if not isinstance(expiry, int | float) or not now < expiry <= now + MAXIMUM_LIFETIME_SECONDS:
        raise Refusal(403, "exp is not within the next 24 hours")
    contact = claims.get("sub")
    if not isinstance(contact, str) or not CONTACT.fullmatch(contact):
        raise Refusal(403, "sub is no mailto: or https: URI")
