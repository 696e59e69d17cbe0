# SPDX-License-Identifier: Apache-2.0
"""A key of gpg's, in a key ring of a test's own."""

import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

COMMAND_SECONDS = 180


class SigningKey:
    """Exists while the `with` block lasts. Needs gpg on this machine."""

    def __init__(self, name: str):
        self._name = name

    def __enter__(self) -> Self:
        # The sockets of gpg's agent lie there, and a socket's path has to be short.
        self._ring = tempfile.TemporaryDirectory(prefix="gpg-")
        self.environment = os.environ | {"GNUPGHOME": self._ring.name}
        self.run("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", self._name, "ed25519", "sign", "1d")
        listed = self.run("gpg", "--batch", "--with-colons", "--list-keys", self._name)
        self.fingerprint = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run("gpgconf", "--kill", "all")
        self._ring.cleanup()

    def run(self, *command: str, folder: Path | None = None) -> str:
        """Runs a program that signs or verifies. Raises RuntimeError with its output when it fails."""
        options = {"capture_output": True, "text": True, "timeout": COMMAND_SECONDS, "env": self.environment}
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, cwd=folder, **options)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr
