# SPDX-License-Identifier: Apache-2.0
"""What the package meets: a Debian with nginx, and nothing of what the package needs beside it."""

from debian import BOOKWORM, TRIXIE, Debian

PACKAGES = ("ca-certificates", "nginx", "systemd")
CLEAN = {release: Debian(release.suite, PACKAGES) for release in (BOOKWORM, TRIXIE)}
