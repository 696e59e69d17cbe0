# SPDX-License-Identifier: Apache-2.0
"""An authority of the tests' own, and certificates of this host's by it."""

import base64
import datetime
import hashlib
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# For a test that gives it an address of each version; no resolver knows it otherwise (RFC 6761).
TWO_ADDRESSES = "two-addresses.test"
LIFETIME = datetime.timedelta(days=2)


@dataclass(frozen=True)
class Certificate:
    """The files of one server's certificate."""

    chain: Path
    key: Path
    # The key that Chromium trusts: base64 of the SHA-256 of the public key's DER form.
    fingerprint: str


class Authority:
    """Signs; only a program that is configured to trusts it. Its key never reaches a file."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        # Of all certificates: Chromium is started with the one key that it is to trust.
        self._server_key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("AppBackend tests")
        self._certificate = (
            _builder(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        # What a client is given that is to trust this authority.
        self.file = folder / "authority.pem"
        self.file.write_bytes(_pem(self._certificate))

    def issue(self, label: str) -> Certificate:
        """Makes a certificate for `localhost`, `TWO_ADDRESSES`, 127.0.0.1 and ::1; `label` names its files."""
        names = [
            x509.DNSName("localhost"),
            x509.DNSName(TWO_ADDRESSES),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.IPAddress(ipaddress.ip_address("::1")),
        ]
        return self._issue(label, "localhost", names, ExtendedKeyUsageOID.SERVER_AUTH)

    def issue_to(self, user: str) -> Certificate:
        """Makes the certificate of a client, who is that user."""
        return self._issue(user, user, [x509.DNSName("client.invalid")], ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self, label: str, common: str, names: list[x509.GeneralName], use: x509.ObjectIdentifier
    ) -> Certificate:
        key = self._server_key
        certificate = (
            _builder(_name(common), self._name, key)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        chain, file = self._folder / f"{label}.pem", self._folder / f"{label}.key"
        chain.write_bytes(_pem(certificate) + _pem(self._certificate))
        file.touch(mode=0o600)
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return Certificate(chain, file, _fingerprint(key.public_key()))


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + LIFETIME)
    )


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _fingerprint(key: ec.EllipticCurvePublicKey) -> str:
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()
