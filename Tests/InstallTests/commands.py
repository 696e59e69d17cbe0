# SPDX-License-Identifier: Apache-2.0
"""The commands that a page lets an operator type: each line of its blocks without a language, and of those in `sh`; and what
is in its sentences, where that is a whole command of one of these programs."""

import re
from collections.abc import Iterator

from product import CHECKOUT

PAGES = (
    "README.md", "docs/operate/install.md", "docs/operate/package.md", "docs/operate/admin-page.md",
    "docs/operate/nginx.md", "docs/operate/systemd.md", "docs/operate/monitor.md", "docs/operate/troubleshoot.md",
    "docs/reference/messages.md", "docs/operate/backup-and-restore.md", "docs/operate/upgrade.md",
    "docs/explain/restarts.md", "docs/operate/postgresql.md", "docs/operate/shared-hosting.md",
    "docs/operate/install-container.md", "docs/maintain/apt-repository.md", "docs/operate/configuration.md",
    "docs/operate/users-and-permissions.md", "docs/operate/leavers-and-lost-devices.md",
    "docs/operate/hub-for-other-backends.md", "docs/migrate/from-azure-tutorials.md",
    "docs/migrate/from-other-services.md", "docs/operate/doctor.md",
    "docs/operate/store.md", "docs/operate/push-browsers.md", "docs/operate/push-apple.md",
    "docs/operate/push-android.md", "docs/operate/push-windows.md",
    "docs/operate/push-azure.md", "docs/operate/sizing.md",
)  # fmt: skip
PROGRAMS = {
    "./app-backend", "app-backend", "apt", "cd", "certbot", "chmod", "chown", "curl", "dpkg-deb", "getent", "gpg",
    "grep", "journalctl", "ls", "mv", "openssl", "pkill", "podman", "rsync", "script/package", "systemctl", "tar",
    "timedatectl",
}  # fmt: skip
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", flags=re.M | re.S)
# A whole one names something: `systemctl reload` alone is the name of a command.
WORDS = 3


def commands(page: str) -> list[str]:
    """Each once, in the page's order."""
    return list(dict.fromkeys(_commands((CHECKOUT / page).read_text())))


def _commands(text: str) -> Iterator[str]:
    end = 0
    for block in BLOCK.finditer(text):
        yield from _in_sentences(text[end : block.start()])
        if block[2] in ("", "sh"):
            yield from in_block(block[3])
        end = block.end()
    yield from _in_sentences(text[end:])


def in_block(block: str) -> Iterator[str]:
    """Lines, with what a backslash, a pipe at the end, or a here-document adds to them, and without their comments."""
    lines = iter(block.splitlines())
    for line in lines:
        command = re.sub(r"(^|\s+)#\s.*$", "", line).strip()
        while command.endswith(("\\", "|")):
            command = command.removesuffix("\\").rstrip() + " " + re.sub(r"\s+#\s.*$", "", next(lines)).strip()
        if (document := re.search(r"<< '(\w+)'$", command)) is not None:
            while not command.endswith(f"\n{document[1]}"):
                command += "\n" + next(lines)
        if command:
            yield command


def _in_sentences(text: str) -> Iterator[str]:
    for code in re.findall(r"``(.+?)``|(?<!`)`([^`\n]+)`", text):
        command = "".join(code).strip()
        words = re.sub(r"^(\w+=\S* )+", "", command).split()
        if len(words) >= WORDS and words[0] in PROGRAMS and "…" not in command:
            yield command
