# SPDX-License-Identifier: Apache-2.0
"""A subscriber that is no browser: its own keys, and independent implementations to decrypt and to verify with."""

import os

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02

import vapid
from subscription import Message, Subscription


class Subscriber:
    """Holds what only the receiver of a subscription has (RFC 8291 section 2)."""

    def __init__(self, subscription: Subscription):
        self.subscription = subscription
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = os.urandom(16)

    @property
    def keys(self) -> dict[str, str]:
        """What a browser hands to the page, in the words of the Push API."""
        return {"p256dh": vapid.encode(point(self.key.public_key())), "auth": vapid.encode(self.secret)}

    def decrypt(self, message: Message) -> bytes:
        """Raises http_ece.ECEException when the message is not for this subscriber, or not as it was sent."""
        return http_ece.decrypt(message.body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")


def is_signed(message: Message) -> bool:
    """Whether py_vapid finds the message's authorization to be signed by the key that it names."""
    return bool(Vapid02.verify(message.headers["authorization"]))


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    """The uncompressed form (65 bytes)."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
