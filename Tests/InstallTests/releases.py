# SPDX-License-Identifier: Apache-2.0
"""A checkout of a test's own, of which script/release makes releases."""

import re
import shutil
import subprocess
from pathlib import Path

from keys import SigningKey
from product import CHECKOUT

# Packages may have to be installed first.
COMMAND_SECONDS = 600
VERSION_FILE = "Sources/Server/Process/Version.swift"
PARTS = (
    ".dockerignore", ".gitignore", "CHANGELOG.md", "Containerfile", "LICENSE", "README.md", "SECURITY.md", VERSION_FILE, "debian",
    "docs", "hosting", "nginx", "script", "systemd",
)  # fmt: skip
AUTHOR = {f"GIT_{role}_NAME": "Tests" for role in ("AUTHOR", "COMMITTER")}
AUTHOR |= {f"GIT_{role}_EMAIL": "tests@example.com" for role in ("AUTHOR", "COMMITTER")}
COMMANDS = re.compile(r"^```\n(apt install nginx.*?)^```$", flags=re.M | re.S)


class Checkout:
    """What a release is made of, as the working tree has it, with one commit, whose changelog names the version."""

    def __init__(self, folder: Path, key: SigningKey):
        self.folder, self.key = folder, key
        for part in PARTS:
            source, target = CHECKOUT / part, folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*", "__pycache__", "app-backend", "*.debhelper*"))
            else:
                shutil.copy(source, target)
        (match,) = re.findall(r'package static let text = "(.*)"', (folder / VERSION_FILE).read_text())
        self.version: str = match
        changes = folder / "CHANGELOG.md"
        text, count = re.subn("^## Unreleased$", f"## {match} - 2026-01-01", changes.read_text(), count=1, flags=re.M)
        assert count == 1, "CHANGELOG.md has no heading for what is unreleased"
        changes.write_text(text)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments: str) -> str:
        return self._run("git", *arguments).stdout.strip()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A change")

    def release(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Raises RuntimeError, if `check`, when it fails."""
        return self._run("script/release", *arguments, check=check, **variables)

    def _run(self, *command: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = self.key.environment | AUTHOR | variables
        done = subprocess.run(
            command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, check=False,
            capture_output=True, text=True, timeout=COMMAND_SECONDS,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done


def make_release(checkout: Checkout, program: Path, system: Path | None, output: Path) -> Path:
    """Signed; with images that are built on a Debian in the folder `system`, if there is one. Returns the release's folder."""
    images = ["--without-images"]
    if system is not None:
        base = output.with_suffix(".tar")
        subprocess.run(["tar", "-C", system, "-cf", base, "."], check=True, timeout=COMMAND_SECONDS)
        images = ["--base", str(base)]
    said = checkout.release(
        checkout.version, "--program", str(program), "--sign", checkout.key.fingerprint, "--output", str(output), *images
    )
    assert said.stdout.splitlines()[-1] == str(output)
    return output


def installation_commands() -> str:
    """What docs/operate/install.md lets an administrator type who has no package."""
    (found,) = COMMANDS.findall((CHECKOUT / "docs" / "operate" / "install.md").read_text())
    return str(found)
