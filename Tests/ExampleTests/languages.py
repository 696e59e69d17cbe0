# SPDX-License-Identifier: Apache-2.0
"""The examples, by the table of their page: its commands are run as they are written there."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from built import ROOT

EXAMPLES = ROOT / "examples"
PAGE = EXAMPLES / "README.md"
BUILD_SECONDS = 300
RUN_SECONDS = 120
SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Language:
    """A row of the table."""

    name: str
    code: str
    packages: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def device(self) -> str:
        """The id of the device that it registers. Its handle is made of it."""
        return "example-" + {"C#": "csharp", "JavaScript": "node"}.get(self.name, self.name.lower())

    @property
    def handle(self) -> str:
        return "token-of-" + self.device


def languages() -> list[Language]:
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return [
        Language(
            re.split("[ ,]", name)[0], re.findall(r"\]\(([^)]+)\)", code)[0],
            tuple(" ".join(SPAN.findall(packages)).split()), tuple(SPAN.findall(commands)),
        )
        for name, code, packages, commands in rows if SPAN.search(commands)
    ]  # fmt: skip


@dataclass(frozen=True)
class Done:
    status: int
    output: str
    errors: str


class Workshop:
    """A copy of the examples, with what their builds make. It trusts the authority of the tests."""

    def __init__(self, folder: Path, authority: Path):
        self._folder = folder / "examples"
        shutil.copytree(EXAMPLES, self._folder)
        self._java_trust = folder / "trust.jks"
        trusted = str(authority)
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("APP_BACKEND_")} | {
            "CURL_CA_BUNDLE": trusted, "SSL_CERT_FILE": trusted, "NODE_EXTRA_CA_CERTS": trusted,
            # Where Mono keeps what it trusts, and Go what it has compiled.
            "XDG_CONFIG_HOME": str(folder / "config"), "GOCACHE": str(ROOT / ".build" / "examples" / "go"),
        }  # fmt: skip
        self._call(f"cert-sync --user {trusted}")
        self._call(
            f"keytool -importcert -noprompt -alias tests -file {trusted} -keystore {self._java_trust}"
            " -storetype JKS -storepass password"
        )
        self._built: set[str] = set()

    def run(self, language: Language, *arguments: str, given: bytes = b"", **settings: str) -> Done:
        """Runs the example, which is built before its first run. Settings are the variables that it reads."""
        *builds, command = [self._placed(one) for one in language.commands]
        if language.name not in self._built:
            for build in builds:
                self._call(build)
            self._built.add(language.name)
        done = subprocess.run(
            ["bash", "-c", f'exec {command} "$@"', "-", *arguments], cwd=self._folder, env=self._environment | settings,
            input=given, capture_output=True, timeout=RUN_SECONDS, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def _placed(self, command: str) -> str:
        """Java learns whom to trust."""
        return command.replace("java -cp", f"java -Djavax.net.ssl.trustStore={self._java_trust} -cp")

    def _call(self, command: str) -> None:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=BUILD_SECONDS, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == 0 and not re.search(r"(?<!VM) warning: |warning CS", said), f"{command}\n{said}"
