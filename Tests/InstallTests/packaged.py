# SPDX-License-Identifier: Apache-2.0
"""The Debian package in a booted system, as an administrator meets it: apt, nginx's own default server, a shell."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from booted import BootedSystem
from deadline import wait_until
from product import CHECKOUT, install_certificate
from roots import Root

# Packages may have to be installed first.
COMMAND_SECONDS = 600
# Where the packages lie in the system.
FOLDER = "/srv/packages"
DEFAULT_SERVER = "/etc/nginx/sites-available/default"
CERTIFICATES = "/etc/ssl/private/tests"
INCLUDE = "include snippets/app-backend.conf;"
# What every installation changes: the books of apt and dpkg, caches, and the journal.
BOOKS = ("/var/lib/apt/", "/var/lib/dpkg/", "/var/cache/", "/var/log/apt/", "/var/log/journal/")
# Not on disk.
ELSEWHERE = {"/dev", "/proc", "/run", "/sys", "/tmp"}


def bring(root: Root, *packages: Path) -> None:
    """Puts the packages into a root that is not booted yet, and what they depend on: later it sees no mirror."""
    folder = root.file(FOLDER)
    folder.mkdir()
    for package in packages:
        shutil.copy(package, folder)
    root.run("apt-get", "install", "--download-only", "--yes", f"{FOLDER}/{packages[0].name}")


def speak_tls(root: Root, authority: Path) -> None:
    """Debian's own default server does. `authority` is a folder with cert.pem and key.pem."""
    shutil.copytree(authority, root.file(CERTIFICATES))
    tls = f"listen 443 ssl; ssl_certificate {CERTIFICATES}/cert.pem; ssl_certificate_key {CERTIFICATES}/key.pem;"
    _add_to_server(root, tls)


def include_snippet(root: Root) -> None:
    """As README.Debian says, in Debian's own default server."""
    _add_to_server(root, INCLUDE)


def exclude_snippet(root: Root) -> None:
    file = root.file(DEFAULT_SERVER)
    file.write_text(file.read_text().replace(INCLUDE, ""))


def _add_to_server(root: Root, line: str) -> None:
    file = root.file(DEFAULT_SERVER)
    text, count = re.subn(r"^(\tserver_name _;)$", rf"\1\n\t{line}", file.read_text(), flags=re.M)
    assert count == 1, "Debian's default server has changed"
    file.write_text(text)


def apt(system: BootedSystem, *arguments: str) -> str:
    """Runs apt-get and returns all that it printed. Raises RuntimeError with that when it fails."""
    done = system.run("apt-get", "--yes", *arguments)
    return done.stdout + done.stderr


def install(system: BootedSystem, package: Path) -> str:
    return apt(system, "install", f"{FOLDER}/{package.name}")


def satisfy(system: BootedSystem, package: Path) -> None:
    """Installs what the package depends on, and not the package."""
    apt(system, "satisfy", _run("dpkg-deb", "--field", str(package), "Depends"))


@contextmanager
def nginx_reloaded(system: BootedSystem) -> Iterator[None]:
    """What is done within makes nginx reload its configuration. Ends when no worker has the old one any more."""
    earlier = _nginx_workers(system)
    yield
    wait_until(lambda: earlier.isdisjoint(_nginx_workers(system)), "nginx has the new configuration")


def _nginx_workers(system: BootedSystem) -> set[str]:
    process = system.property("nginx.service", "MainPID")
    return set(system.run("cat", f"/proc/{process}/task/{process}/children").stdout.split())


def files_of(root: Root) -> set[str]:
    """Every path, but for those that any installation changes."""
    found = set()
    for folder, folders, files in os.walk(root.path):
        inner = folder.removeprefix(str(root.path))
        folders[:] = [name for name in folders if f"{inner}/{name}" not in ELSEWHERE]
        found |= {f"{inner}/{name}" for name in (*folders, *files)}
    return {path for path in found if not path.startswith(BOOKS)}


def make_package(program: Path, folder: Path) -> Path:
    """By script/package, whose last line is the package's path."""
    said = _run(str(CHECKOUT / "script" / "package"), "--program", str(program), "--output", str(folder))
    return Path(said.splitlines()[-1])


def names_in(package: Path) -> set[str]:
    """Of its files, without their folders. Needs dpkg-deb on this machine."""
    return {line.rpartition("/")[2] for line in _run("dpkg-deb", "--contents", str(package)).splitlines()}


def unpack(package: Path, folder: Path) -> None:
    """Its files below `folder`, without installing anything. Needs dpkg-deb on this machine."""
    _run("dpkg-deb", "--extract", str(package), str(folder))


def dynamic_entries(program: Path) -> dict[str, list[str]]:
    """What the loader reads, by kind. Needs readelf on this machine."""
    found: dict[str, list[str]] = {}
    for kind, text in re.findall(r"\((\w+)\)\s+(.*)", _run("readelf", "--wide", "--dynamic", str(program))):
        found.setdefault(kind, []).append(text)
    return found


def make_later(package: Path, folder: Path) -> Path:
    """The same package as a later version that also brings a change to the snippet. Needs dpkg-deb on this machine."""
    content = folder / "later"
    _run("dpkg-deb", "--raw-extract", str(package), str(content))
    control = content / "DEBIAN" / "control"
    text, count = re.subn(r"^Version: (.*)$", r"Version: \1+later", control.read_text(), flags=re.M)
    assert count == 1
    control.write_text(text)
    with (content / "etc/nginx/snippets/app-backend.conf").open("a") as snippet:
        snippet.write("# later\n")
    later = folder / package.name.replace("_", "_later-", 1)
    _run("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(content), str(later))
    shutil.rmtree(content)
    return later


def _run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def nginx_block(page: str) -> str:
    """The lines for nginx in a page of docs, of all its blocks; they can be in one server."""
    found = re.findall(r"```nginx\n(.*?)```", (CHECKOUT / "docs" / page).read_text(), flags=re.S)
    assert found
    return "".join(found)


def write_every_file(root: Root, certificate: Path) -> dict[int, str]:
    """Writes every file for nginx that the pages let an administrator write, beside sites of others. Returns what those
    answer on which port."""
    folder = "/etc/nginx/conf.d"
    root.write(f"{folder}/app-backend-metrics.conf", nginx_block("operate/monitor.md"))
    root.write(f"{folder}/shop.conf", _server(8001, nginx_block("operate/nginx.md")))
    names = ("", "-monitor", "-hub")
    root.write(f"{folder}/blog.conf", _server(8002, *(f"include snippets/app-backend{name}.conf;" for name in names)))
    root.write(f"{folder}/names.conf", _server(8003, *_every_name()))
    install_certificate(root, certificate)
    root.write("/etc/nginx/sites-enabled/app-backend.conf", (CHECKOUT / "nginx" / "site.conf").read_text())
    return {port: f"site {port}" for port in (8001, 8002, 8003)}


def _server(port: int, *lines: str) -> str:
    return "\n".join([f"server {{ listen 127.0.0.1:{port};", *lines, f"location / {{ return 200 'site {port}'; }} }}\n"])


def _every_name() -> list[str]:
    """Lines that use every name that the file for `http { }` defines."""
    text = (CHECKOUT / "nginx" / "app-backend-upstream.conf").read_text()

    def names(pattern: str) -> list[str]:
        found = re.findall(rf"^{pattern}", text, flags=re.M)
        assert found, f"the file has no {pattern}"
        return sorted(set(found))

    variables = "".join(names(r"map +\S+ +(\$\w+)"))
    return [
        *(f"location /to/{name} {{ fastcgi_pass {name}; }}" for name in names(r"upstream (\w+)")),
        *(f"location /by/{name} {{ limit_req zone={name}; }}" for name in names(r"limit_req_zone .*zone=(\w+)")),
        *(f"location /in/{name} {{ access_log /var/log/nginx/names.log {name}; }}" for name in names(r"log_format (\w+)")),
        f"location /variables {{ return 200 '{variables}'; }}",
    ]
