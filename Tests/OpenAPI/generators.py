# SPDX-License-Identifier: Apache-2.0
"""Generators of clients, with the commands that compile what they make, and start a program of `clients` that uses it."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from built import ROOT

CLIENTS = Path(__file__).with_name("clients")
SECONDS = 600
# Without what only people read, and without tests.
CODE_ONLY = "--global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
JACKSON = ":".join(f"/usr/share/java/{name}.jar" for name in (
    "jackson-core", "jackson-databind", "jackson-annotations", "jakarta-annotation-api",
))  # fmt: skip


@dataclass(frozen=True)
class Generator:
    """The commands run in an empty folder, in which `clients` and `openapi.json` are."""

    name: str
    commands: tuple[str, ...]
    start: str

    def make(self, folder: Path, document: Path, authority: Path) -> None:
        """Raises AssertionError for a command that fails or warns."""
        (folder / "clients").symlink_to(CLIENTS)
        (folder / "openapi.json").symlink_to(document)
        (folder / "authority.pem").symlink_to(authority)
        for command in self.commands:
            said = call(command, folder, {})
            assert "warning" not in said, f"{command}\n{said}"

    def drive(self, folder: Path, settings: dict[str, str]) -> list[str]:
        """The lines that the program prints."""
        return call(self.start, folder, settings).splitlines()


def call(command: str, folder: Path, settings: dict[str, str]) -> str:
    """Returns what it prints. The programs of the tests' environment come first."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APP_BACKEND_", "PYTEST_"))}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=SECONDS, check=False,
        env=kept | settings | trusting(folder) | {"PATH": path, "GOCACHE": str(ROOT / ".build" / "openapi" / "go")},
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def trusting(folder: Path) -> dict[str, str]:
    """Where Python and Go look for authorities. Java has a file of its own."""
    return dict.fromkeys(("APP_AUTHORITY", "SSL_CERT_FILE"), str(folder / "authority.pem"))


def openapi_generator(language: str, folder: str, properties: str) -> str:
    return (
        f"openapi-generator-cli generate --input-spec openapi.json --generator-name {language} --output {folder}"
        f" {CODE_ONLY} --additional-properties {shlex.quote(properties)}"
    )


GENERATORS = (
    Generator(
        "openapi-python-client",
        (
            "openapi-python-client generate --path openapi.json --meta none --output-path app_backend_client --fail-on-warning",
            # Its own part, the same for each document, does not fit `--strict`.
            "mypy --strict --follow-imports silent --cache-dir mypy clients/drive.py app_backend_client/{api,models}",
        ),
        "PYTHONPATH=. python clients/drive.py",
    ),
    Generator(
        "openapi-generator java",
        (
            openapi_generator(
                "java", "made", "library=native,openApiNullable=false,containerDefaultToNull=true,useJakartaEe=true"
            ),
            "rm made/src/main/java/org/openapitools/client/RFC3339{JavaTimeModule,InstantDeserializer}.java",
            f"javac -Xlint:-options -d classes -cp {JACKSON} $(find made/src/main clients/java -name '*.java')",
            "keytool -importcert -noprompt -alias tests -file authority.pem -keystore trust.jks -storetype JKS"
            " -storepass password",
        ),
        f"java -Djavax.net.ssl.trustStore=trust.jks -cp classes:{JACKSON} Drive",
    ),
    Generator(
        "openapi-generator go",
        (
            openapi_generator("go", "made", "packageName=appbackend,withGoMod=false"),
            "printf 'module example.com/appbackend\\n\\ngo 1.18\\n' > made/go.mod",
            "mkdir made/drive && cp clients/go/main.go made/drive && cd made && go build -o ../drive-go ./drive && go vet .",
        ),
        "./drive-go",
    ),
)
# It trusts the authorities of the system only, so that its program is not started.
SWIFT = Generator(
    "openapi-generator swift6",
    (
        openapi_generator("swift6", "made", "library=urlsession"),
        "swiftc -swift-version 6 -typecheck $(find made/Sources clients/swift -name '*.swift')",
    ),
    "",
)
