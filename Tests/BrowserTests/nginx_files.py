# SPDX-License-Identifier: Apache-2.0
"""nginx's files as they are shipped, with what tests must change."""

import re
import subprocess
from pathlib import Path

from built import ROOT
from certificates import Certificate
from deadline import PATIENCE_SECONDS


def lay_out(folder: Path, port: int, socket: Path, certificate: Certificate) -> None:
    """Lays them out by the function that `script/run` uses."""
    script = '. "$1/script/nginx-layout" && lay_out_nginx "$1/nginx" "$2" "$3" "$4" "$5"'
    files = [folder, socket, certificate.chain, certificate.key]
    subprocess.run(["bash", "-ec", script, "layout", ROOT, *files], check=True, timeout=PATIENCE_SECONDS)
    # The tests are all one address.
    _edit(folder / "conf.d" / "app-backend-upstream.conf", {r"rate=\d+r/[sm]": "rate=100000r/s"})
    site = folder / "sites" / "site.conf"
    site.write_text((folder / "site.conf").read_text())
    changes = {
        r"\A.*?\n}\n": "",  # The half that speaks plain text.
        r"listen +\[::\][^;]*;": "",
        r"listen +443 ": f"listen 127.0.0.1:{port} ",
        r"server_name [^;]*;": "server_name localhost;",
    }
    _edit(site, changes)


def _edit(file: Path, changes: dict[str, str]) -> None:
    text = file.read_text()
    for pattern, replacement in changes.items():
        text, count = re.subn(pattern, replacement, text, flags=re.DOTALL)
        assert count > 0, f"{file.name} has no {pattern}"
    file.write_text(text)
