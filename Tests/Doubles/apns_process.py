# SPDX-License-Identifier: Apache-2.0
"""The stand-in for APNs as a process of its own, with a key that it knows."""

import json
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from certificates import Authority
from child import Child
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from deadline import wait_until

KEY_ID, TEAM_ID = "ABC123DEFG", "DEF123GHIJ"
TOPIC = "com.example.app"


class APNsProcess:
    """Runs while the `with` block lasts."""

    def __init__(self, authority: Authority, folder: Path, environment: str = "production", streams: int = 1000):
        """`environment` is that of the key; `streams`, how many pushes at once a trusted connection may carry."""
        key = ec.generate_private_key(ec.SECP256R1())
        self.key = private_pem(key)
        self.key_file = folder / "AuthKey.p8"
        self.key_file.touch(mode=0o600)
        self.key_file.write_text(self.key)
        self.authority = authority
        certificate = authority.issue("apns")
        self.public = public_pem(key)
        self._common = {
            "certificate": str(certificate.chain),
            "privateKey": str(certificate.key),
            "environment": "production",
            "topics": [TOPIC],
            "streams": streams,
        }
        self.environment = environment
        self._settings, self._journal, self._log = (folder / f"apns.{end}" for end in ("json", "journal", "log"))

    def __enter__(self) -> Self:
        """Doing it again, after its end, starts it at another port with the same journal."""
        script = Path(__file__).with_name("apns.py")
        key = {"team": TEAM_ID, "public": self.public, "environment": self.environment}
        self._settings.write_text(json.dumps(self._common | {"keys": {KEY_ID: key}}))
        before = len(self.events("listening"))
        self._child = Child([sys.executable, str(script), str(self._settings), str(self._journal)], self._log)
        self.port: int = wait_until(lambda: self.events("listening")[before:], "the stand-in for APNs listens")[0]["port"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.stop()

    @property
    def group(self) -> dict[str, Any]:
        """Of a configuration."""
        return {
            "keyFile": str(self.key_file),
            "keyId": KEY_ID,
            "teamId": TEAM_ID,
            "topic": TOPIC,
            "endpoint": f"https://localhost:{self.port}",
            "caFile": str(self.authority.file),
        }

    def events(self, kind: str) -> list[dict[str, Any]]:
        if not self._journal.exists():
            return []
        # The last line may be half written.
        whole = self._journal.read_text().rpartition("\n")[0].splitlines()
        return [event for event in map(json.loads, whole) if event["event"] == kind]


def private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )
