# SPDX-License-Identifier: Apache-2.0
"""The life of the Debian package on a host that has nginx: installed by apt, used, upgraded, removed, purged."""

import contextlib
import http.client
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from booted import BootedSystem
from debian import Debian
from deadline import wait_until
from installed_site import CONFIGURATION, SERVICE, SOCKET, Site, User, expect
from links import broken_links, pages
from load import Load, Worker
from packaged import (
    apt,
    bring,
    dynamic_entries,
    exclude_snippet,
    files_of,
    include_snippet,
    install,
    names_in,
    nginx_reloaded,
    satisfy,
    speak_tls,
    unpack,
    write_every_file,
)
from product import CHECKOUT, allow_load
from roots import Bases, Root

SNIPPET = "/etc/nginx/snippets/app-backend.conf"
# As docs/operate/configuration.md calls them.
SECRETS = (
    "hub.connectionString", "localHub.key", "localHub.keys", "store.url", "webPush.privateKey", "webPush.formerPrivateKey",
    "apns.key", "apns.certificatePassword", "fcm.credential", "wns.secret", "webhooks.secret"
)
LOG = "/var/log/nginx/app-backend.log"


@pytest.fixture(scope="session")
def downloaded(
    release: Debian, bases: dict[Debian, Bases], package: Path, later: Path, folder: Path
) -> Iterator[Path]:
    """A clean system in which apt has downloaded what the package depends on, and installed nothing."""
    with Root(bases[release].clean, Path(tempfile.mkdtemp(prefix="downloaded-", dir=folder))) as root:
        bring(root, package, later)
        yield root.path


@pytest.fixture
def clean(downloaded: Path, certificate: Path, folder: Path) -> Iterator[Root]:
    """Its nginx speaks TLS."""
    with Root(downloaded, Path(tempfile.mkdtemp(prefix="clean-", dir=folder))) as root:
        speak_tls(root, certificate)
        yield root


@pytest.fixture
def system(request: pytest.FixtureRequest, clean: Root, folder: Path) -> Iterator[BootedSystem]:
    with BootedSystem(clean, folder / f"{request.node.name}.log") as booted:
        wait_until(lambda: booted.property("nginx.service", "ActiveState") == "active", "nginx runs")
        yield booted


@pytest.fixture
def before(system: BootedSystem, package: Path) -> set[str]:
    """The files of the clean system, and of what the package depends on."""
    satisfy(system, package)
    return files_of(system.root)


@pytest.fixture
def site(system: BootedSystem, package: Path, certificate: Path) -> Iterator[Site]:
    """The package is installed, and its snippet included in Debian's own default server."""
    install(system, package)
    include_snippet(system.root)
    with nginx_reloaded(system):
        system.systemctl("reload", "nginx")
    with contextlib.closing(Site(system, certificate)) as made:
        yield made


@pytest.fixture
def alice(site: Site) -> User:
    return site.add_user("alice")


def leave_secret(site: Site, user: User, secret: str) -> int:
    number: int = expect(site.call(user, "POST", "/api/notifications", secret)).json()["Id"]
    return number


def read_secret(site: Site, user: User, number: int) -> str:
    payload: str = expect(site.call(user, "GET", f"/api/notifications/{number}")).json()["Payload"]
    return payload


def test_the_package_has_every_file_that_an_administrator_installs(package: Path) -> None:
    installed = {path.name for folder in ("nginx", "systemd") for path in (CHECKOUT / folder).glob("*.*")}
    assert installed <= names_in(package)


def test_every_file_that_the_installation_and_the_page_name_is_in_the_package(package: Path, tmp_path: Path) -> None:
    unpack(package, tmp_path)
    told_in = (CHECKOUT / "debian" / "app-backend.postinst", CHECKOUT / "docs" / "operate" / "package.md")
    told = "".join(page.read_text() for page in told_in)
    named = set(re.findall(r"/usr/share/doc/app-backend/[\w./-]+\w", told))
    assert named and not [path for path in named if not (tmp_path / path.removeprefix("/")).exists()]
    snippets = set(re.findall(r"snippets/app-backend[\w-]*\.conf", told))
    assert snippets and not [name for name in snippets if not (tmp_path / "etc/nginx" / name).exists()]


def test_the_package_has_the_executable_that_the_other_tests_start(package: Path, program: Path, tmp_path: Path) -> None:
    unpack(package, tmp_path)
    assert (tmp_path / "usr" / "bin" / "app-backend").read_bytes() == program.read_bytes()


def test_the_program_loads_no_library_that_lies_beside_it(package: Path, tmp_path: Path) -> None:
    unpack(package, tmp_path)
    entries = dynamic_entries(tmp_path / "usr" / "bin" / "app-backend")
    assert "NEEDED" in entries and not {"RPATH", "RUNPATH"} & entries.keys()


def test_every_link_of_an_installed_page_leads_to_an_installed_file(package: Path, tmp_path: Path) -> None:
    unpack(package, tmp_path)
    shipped = {path.name for path in (CHECKOUT / "docs").rglob("*.md")} | {"README.md", "CHANGELOG.md", "SECURITY.md"}
    assert {page.name for page in pages(tmp_path)} == shipped
    assert broken_links(tmp_path) == []


def test_the_log_of_calls_is_not_for_everybody(site: Site, alice: User) -> None:
    log = site.system.root.file(LOG)
    expect(site.call(alice, "GET", "/api/register"))
    wait_until(lambda: log.stat().st_size > 0, "nginx has written its log")
    assert stat.S_IMODE(log.stat().st_mode) == 0o640


def test_apt_installs_and_one_include_later_everything_works(site: Site, alice: User) -> None:
    for unit in (SOCKET, SERVICE):
        assert site.system.property(unit, "ActiveState") == "active"
        assert site.system.property(unit, "UnitFileState") == "enabled"
    handle = secrets.token_hex(32)
    registration = expect(site.call(alice, "POST", f"/api/register?handle={handle}")).json()
    device = {"Platform": "apns", "Handle": handle, "Tags": ["news"]}
    expect(site.call(alice, "PUT", f"/api/register/{registration}", device))
    expect(site.call(alice, "POST", "/api/notifications?pns=apns&to_tag=alice", "Hello"))
    assert read_secret(site, alice, leave_secret(site, alice, "The code is 7")) == "The code is 7"


def test_an_upgrade_under_load_fails_no_request_and_keeps_what_was_edited(
    site: Site, later: Path
) -> None:
    # Both of the callers log in again at once when the service is another one: see `import_user`.
    alice = site.import_user("alice")
    allow_load(site.system.root)
    site.system.systemctl("daemon-reload")
    site.configure(hub={"platforms": ["apns"]})
    edited = site.system.root.file(CONFIGURATION).read_text()
    with nginx_reloaded(site.system):
        site.system.systemctl("reload", "nginx")
    site.system.systemctl("restart", SERVICE)
    process = site.process
    # By a new connection each time: the upgrade makes nginx reload its files, and nginx then closes kept ones.
    read = Worker(lambda: expect(site.call(alice, "GET", "/api/register")))
    send = Worker(lambda: expect(site.call(alice, "POST", "/api/notifications?pns=apns&to_tag=alice", "Hello")))
    with Load([read, send]) as load:
        load.carry_on()
        install(site.system, later)
        load.carry_on()
    assert load.failures == []
    assert site.process not in (0, process)
    assert site.system.root.file(CONFIGURATION).read_text() == edited
    assert site.system.root.file(SNIPPET).read_text().endswith("# later\n")


def test_what_was_stored_outlives_removal_and_is_found_again(site: Site, alice: User, package: Path) -> None:
    number = leave_secret(site, alice, "The code is 7")
    apt(site.system, "remove", "app-backend")
    assert site.system.property(SOCKET, "ActiveState") == "inactive"
    site.system.run("nginx", "-t")
    assert site.call(alice, "GET", "/api/register").status == 503
    install(site.system, package)
    assert read_secret(site, alice, number) == "The code is 7"


def test_purging_leaves_nothing_of_it(system: BootedSystem, before: set[str], site: Site, alice: User) -> None:
    leave_secret(site, alice, "The code is 7")
    for secret in SECRETS:
        system.root.write(f"/etc/app-backend/{secret}", "a secret")
    exclude_snippet(system.root)
    said = apt(system, "purge", "app-backend")
    assert files_of(system.root) == before
    system.run("nginx", "-t")
    assert "app-backend:" not in said


def test_purging_while_nginx_includes_the_snippet_leaves_placeholders_and_says_so(
    site: Site, alice: User, package: Path
) -> None:
    said = apt(site.system, "purge", "app-backend")
    assert "/etc/nginx/sites-enabled/default" in said and "include snippets/app-backend.conf;" in said
    site.system.systemctl("restart", "nginx")
    assert site.call(alice, "GET", "/api/register").status == 503
    with nginx_reloaded(site.system):
        install(site.system, package)
    assert expect(site.call(site.add_user("bob"), "GET", "/api/register")).json() == []


def answers(site: Site, ports: dict[int, str]) -> dict[int, str]:
    """What these sites of others answer."""
    found = {}
    for port in ports:
        connection = http.client.HTTPConnection("localhost", port)
        connection.sock = site.system.network.socket()
        connection.sock.connect(("127.0.0.1", port))
        with contextlib.closing(connection):
            connection.request("GET", "/")
            found[port] = connection.getresponse().read().decode()
    return found


def test_a_purge_ends_no_other_site_whatever_an_administrator_has_written(site: Site, certificate: Path) -> None:
    others = write_every_file(site.system.root, certificate)
    site.system.run("nginx", "-t")
    site.system.systemctl("restart", "nginx")
    assert answers(site, others) == others
    said = apt(site.system, "purge", "app-backend")
    assert "/etc/nginx/conf.d/app-backend-metrics.conf" in said and "nginx -t says where" not in said
    site.system.systemctl("restart", "nginx")
    assert answers(site, others) == others


def test_a_purge_beside_somebody_elses_fault_adds_none(site: Site) -> None:
    site.system.root.write("/etc/nginx/conf.d/broken.conf", "nonsense;\n")
    said = apt(site.system, "purge", "app-backend")
    assert "nginx -t says where" in said
    site.system.root.file("/etc/nginx/conf.d/broken.conf").unlink()
    site.system.run("nginx", "-t")


def test_a_purge_defines_no_name_a_second_time(site: Site) -> None:
    conf = site.system.root.file("/etc/nginx/conf.d")
    (conf / "app-backend-upstream.conf").rename(conf / "mine.conf")
    site.system.run("nginx", "-t")
    apt(site.system, "purge", "app-backend")
    assert not (conf / "app-backend-upstream.conf").exists()
    site.system.run("nginx", "-t")
    site.system.systemctl("restart", "nginx")
