# SPDX-License-Identifier: Apache-2.0
"""The product in a root, its files where docs/operate/install.md puts them. Of the units the socket alone is enabled, so that
tests see who starts the service."""

import re
import shutil
import subprocess
from pathlib import Path

from roots import Root

CHECKOUT = Path(__file__).parents[2]
COMMAND_SECONDS = 180
SITE = "push.example.com"
CERTIFICATES = f"/etc/letsencrypt/live/{SITE}"
PLACES = {
    "systemd/app-backend.service": "/etc/systemd/system/",
    "systemd/app-backend.socket": "/etc/systemd/system/",
    "systemd/app-backend.json": "/etc/app-backend/",
    "nginx/app-backend-upstream.conf": "/etc/nginx/conf.d/",
    **{
        f"nginx/app-backend{name}.conf": "/etc/nginx/snippets/"
        for name in ("", "-api", "-refusals", "-params", "-monitor", "-page", "-page-headers", "-root", "-unreadable")
    },
    "nginx/site.conf": "/etc/nginx/sites-available/app-backend.conf",
}


def install_program(root: Root, program: Path) -> None:
    shutil.copy(program, root.file("/usr/bin/app-backend"))


def install_product(root: Root, program: Path, authority: Path) -> None:
    """`authority` is a folder with cert.pem and key.pem, which stand for what a certificate authority would issue."""
    install_program(root, program)
    for source, target in PLACES.items():
        place = root.file(target)
        (place if target.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / source, place)
    shutil.copytree(CHECKOUT / "nginx" / "html", root.file("/usr/share/app-backend/html"))
    root.file("/etc/nginx/sites-enabled/app-backend.conf").symlink_to("/etc/nginx/sites-available/app-backend.conf")
    install_certificate(root, authority)
    allow_load(root)
    root.run("systemctl", "enable", "app-backend.socket")


def install_certificate(root: Root, authority: Path) -> None:
    folder = root.file(CERTIFICATES)
    folder.mkdir(parents=True)
    shutil.copy(authority / "cert.pem", folder / "fullchain.pem")
    shutil.copy(authority / "key.pem", folder / "privkey.pem")


def allow_load(root: Root) -> None:
    """Tests call from one address, and as a few users, which are limited to what people do. The unit has to be read again."""
    file = root.file("/etc/nginx/conf.d/app-backend-upstream.conf")
    text, count = re.subn(r"rate=\d+r/s", "rate=100000r/s", file.read_text())
    assert count > 0, "there are no rates to raise"
    file.write_text(text)
    names = ("SENDS_PER_MINUTE", "REGISTRATIONS_PER_MINUTE", "LISTS_PER_MINUTE", "BYTES_UNDER_WAY")
    unlimited = "".join(f"Environment=APP_BACKEND_LIMITS_{name}=0\n" for name in names)
    root.write("/etc/systemd/system/app-backend.service.d/load.conf", "[Service]\n" + unlimited)


def make_certificate(folder: Path) -> None:
    """For `localhost`, its own authority, by the function that `script/run` uses."""
    script = '. "$1/script/nginx-layout" && make_certificate "$2"'
    command = ["bash", "-ec", script, "tls", str(CHECKOUT), str(folder)]
    subprocess.run(command, check=True, timeout=COMMAND_SECONDS)
