# SPDX-License-Identifier: Apache-2.0
"""The Debian releases that the product is tried on, and what it needs there."""

import subprocess
from dataclasses import dataclass

COMMAND_SECONDS = 180
DEFAULT_MIRROR = "http://deb.debian.org/debian"
# What a host has that the product comes to. systemd is not in a minimal Debian; it boots the roots.
HOST = ("ca-certificates", "nginx", "systemd")
# What the executable links, beside libcurl, libfcgi and libssl, which every release calls by another name.
LINKED_EVERYWHERE = ("libcrypt1", "libexpat1", "libstdc++6")


@dataclass(frozen=True)
class Debian:
    """A release of which systems are made. Nothing of Swift is in them."""

    suite: str
    # What the product needs, and tests call it with, beside `HOST`.
    needed: tuple[str, ...]


BOOKWORM = Debian("bookworm", (*LINKED_EVERYWHERE, "libcurl4", "libfcgi0ldbl", "libssl3"))
# Its curl speaks HTTP/3.
TRIXIE = Debian("trixie", (*LINKED_EVERYWHERE, "curl", "libcurl4t64", "libfcgi0t64", "libssl3t64"))
RELEASES = (BOOKWORM, TRIXIE)


def architecture() -> str:
    """Of this machine's packages, such as `amd64`: its programs are what runs in the roots."""
    return _output("dpkg", "--print-architecture").strip()


def mirror() -> str:
    """Where this machine's apt has Debian from; Debian's own where it has none."""
    for line in _output("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)").splitlines():
        origin, _, address = line.partition(" ")
        if origin == "Debian" and address.startswith("http") and "security" not in address:
            return address.rstrip("/")
    return DEFAULT_MIRROR


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=COMMAND_SECONDS).stdout
