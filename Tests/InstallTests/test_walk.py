# SPDX-License-Identifier: Apache-2.0
"""Every command that the pages for operators show is typed here, on a booted Debian, or it is said why not."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from booted import BootedSystem
from commands import PAGES, commands, in_block
from debian import TRIXIE
from failures import FAILED
from packaged import INCLUDE, bring, speak_tls
from product import CHECKOUT
from releases import installation_commands
from roots import Root
from test_repository import commands as repository_commands
from walk import parts, walk
from walks import CONTAINERS, HOST
from walks_elsewhere import ELSEWHERE, PAGES_ELSEWHERE

NAMES = ("push.example.com", "www.example.com", "shop.example.com")
CONFIGURATION = "systemd/app-backend.json"
ROLES = re.compile(r'^ *```json\n *(\{ "roles".*)\n *```$', flags=re.M)
SUBJECT = re.compile(r'^("webPush": .*)$', flags=re.M)
COMMAND_SECONDS = 180
only_trixie = pytest.mark.parametrize("release", [TRIXIE], indirect=True, ids=["trixie"])


def names_one(command: str, typed: list[str]) -> bool:
    """Whether it is the name of a command that was typed, and stands for that."""
    return any(line == command or line.startswith(command + " ") for line in typed)


def test_every_command_of_the_pages_is_typed_or_it_is_said_why_not() -> None:
    # Blocks that other tests type as a whole.
    blocks = [installation_commands(), *repository_commands()]
    lines = [*(step.command for step in (*HOST, *CONTAINERS)), *(line for block in blocks for line in in_block(block))]
    typed = [part for line in lines for part in (line, *parts(line))]
    missing = [
        f"{page}: {command}"
        for page in PAGES
        for command in commands(page)
        if command not in ELSEWHERE and command not in typed and not all(names_one(part, typed) for part in parts(command))
    ]
    assert missing == []


def test_every_page_with_a_command_is_walked_or_it_is_said_why_not() -> None:
    pages = ["README.md", *(str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "docs").rglob("*.md"))]
    walked = {*PAGES, *PAGES_ELSEWHERE}
    assert len(walked) == len(PAGES) + len(PAGES_ELSEWHERE)
    assert walked == {page for page in pages if any(commands(page))}


def test_nothing_is_typed_or_left_out_that_no_page_shows() -> None:
    shown = {command for page in PAGES for command in commands(page)}
    assert [step.command for step in (*HOST, *CONTAINERS) if step.command not in shown] == []
    assert sorted(ELSEWHERE.keys() - shown) == []


@pytest.fixture
def host(
    request: pytest.FixtureRequest, root: Root, package: Path, folder: Path, leavings: Path
) -> Iterator[BootedSystem]:
    """It has nginx, a certificate of a trusted authority, and the package in root's folder."""
    bring(root, package)
    root.run("apt-get", "install", "--yes", "--no-install-recommends", "jq", "postgresql", "rsync", "sudo")
    shutil.copy(package, root.file(f"/root/{package.name}"))
    authority = make_authority(folder / "walk-tls")
    speak_tls(root, authority)
    shutil.copy(authority / "cert.pem", root.file("/usr/local/share/ca-certificates/tests.crt"))
    root.run("update-ca-certificates")
    live = root.file("/etc/letsencrypt/live/www.example.com")
    live.mkdir(parents=True)
    for name, source in (("fullchain.pem", "cert.pem"), ("privkey.pem", "key.pem")):
        shutil.copy(authority / source, live / name)
    root.write("/etc/hosts", f"127.0.0.1 localhost {' '.join(NAMES)}\n")
    write_what_a_reader_writes(root)
    with BootedSystem(root, folder / "walk.log") as system:
        yield system
        if request.node.stash.get(FAILED, False):
            (leavings / "walk.journal").write_text(system.journal())


def make_authority(folder: Path) -> Path:
    """A folder with cert.pem, which vouches for itself, and key.pem."""
    folder.mkdir()
    names = ",".join(f"DNS:{name}" for name in NAMES)
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "90",
        "-subj", "/CN=Tests", "-addext", f"subjectAltName={names}", "-keyout", "key.pem", "-out", "cert.pem",
    ]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=COMMAND_SECONDS)
    return folder


def write_what_a_reader_writes(root: Root) -> None:
    """By the pages, where these show more than commands."""
    (subject,) = SUBJECT.findall((CHECKOUT / "docs" / "operate" / "install.md").read_text())
    (roles,) = ROLES.findall((CHECKOUT / "docs" / "operate" / "admin-page.md").read_text())
    told = json.loads(f"{{ {subject} }}") | json.loads(roles) | {"log": {"level": "debug"}}
    configuration = json.loads((CHECKOUT / CONFIGURATION).read_text()) | told
    root.write("/root/configuration.json", json.dumps(configuration))
    # As docs/operate/postgresql.md says; the key of the page is in the folder.
    without = {name: value for name, value in configuration.items() if name not in ("store", "webPush")}
    root.write("/root/without-path.json", json.dumps(without))
    # The page's lines, the second one in place of the server's own root.
    includes = re.findall(r"include snippets/app-backend[a-z-]*\.conf;", (CHECKOUT / "README.md").read_text())
    assert includes[0] == INCLUDE and len(includes) == 2
    server = "\\n\\t".join(["\\tserver_name push.example.com;", *includes])
    edits = f"-e '/^\\tlocation \\/ {{$/,/^\\t}}$/d' -e 's|^\\tserver_name _;$|{server}|'"
    root.write("/root/include-snippet", f"sed -i {edits} /etc/nginx/sites-available/default\n")
    # The file is its last argument; before it may stand the line to begin at.
    root.write("/root/editor", '#!/bin/sh\nfor file; do :; done\ncat /root/edited > "$file"\n', mode=0o755)
    page = (CHECKOUT / "docs" / "operate" / "nginx.md").read_text()
    (below_prefix,) = re.findall(r"^## Below a prefix$.*?^```nginx\n(.*?)^```$", page, flags=re.M | re.S)
    tls = "listen 443 ssl; ssl_certificate /etc/ssl/private/tests/cert.pem; ssl_certificate_key /etc/ssl/private/tests/key.pem;"
    root.write("/root/shop.conf", f"server {{ {tls} server_name shop.example.com;\n{below_prefix}}}\n")


@only_trixie
def test_root_types_the_pages_on_a_host(host: BootedSystem) -> None:
    walk(host, HOST)
