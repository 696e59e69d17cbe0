# SPDX-License-Identifier: Apache-2.0
"""The shipped nginx files in each Debian's own nginx, as its package configures it; HTTP/3 where it has that."""

import base64
import json
import re
from typing import Any

import pytest

from debian import TRIXIE, Debian
from installed_site import Reply, Site, User
from roots import Root

SITE = "/etc/nginx/sites-available/app-backend.conf"
DEFAULT = "/etc/nginx/sites-available/default"
INCLUDE = "include snippets/app-backend.conf;"
HANDLE = "ab" * 32
only_trixie = pytest.mark.parametrize("release", [TRIXIE], indirect=True, ids=["trixie"])
CALL_SECONDS = "180"


def test_nginx_says_nothing_against_the_site(installed: Root, release: Debian) -> None:
    if release == TRIXIE:
        warnings = _complaints(installed)
        assert warnings and all('the "listen ... http2" directive is deprecated' in line for line in warnings)
        take_comments_at_their_word(installed)
    assert _complaints(installed) == []


def test_nginx_says_nothing_against_one_line_in_debians_own_server(installed: Root) -> None:
    installed.file("/etc/nginx/sites-enabled/app-backend.conf").unlink()
    _edit(installed, DEFAULT, r"server_name _;", rf"server_name _;\n\t{INCLUDE}")
    assert _complaints(installed) == []
    assert installed.run("nginx", "-T").stdout.count("limit_req_zone $app_backend_network") == 1


@only_trixie
def test_a_device_registers_and_its_user_reads_a_secret_over_quic(site: Site) -> None:
    take_comments_at_their_word(site.system.root)
    site.system.systemctl("restart", "nginx")
    alice = site.add_user("alice")
    assert call(site, alice, "GET", "/api/config").status == 200
    assert call(site, None, "GET", "/api/register").status == 401
    identity = call(site, alice, "POST", "/api/register").json()
    device = {"Platform": "apns", "Handle": HANDLE, "Tags": []}
    assert call(site, alice, "PUT", f"/api/register/{identity}", device).status == 200
    sent = call(site, alice, "POST", f"/api/notifications?pns=apns&to_tag={alice.name}", "Hello").json()
    assert [outcome["State"] for outcome in sent["Outcomes"]] == ["Enqueued"]
    secret = call(site, alice, "POST", "/api/notifications", "The code is 7").json()
    assert call(site, alice, "GET", f"/api/notifications/{secret['Id']}").json()["Payload"] == "The code is 7"
    listed = call(site, alice, "GET", "/api/register").json()
    assert [entry["RegistrationId"] for entry in listed] == [identity]


@only_trixie
def test_over_quic_too_a_page_proves_by_its_origin_whose_it_is(site: Site) -> None:
    """nginx 1.26 leaves $http_host empty in HTTP/3, and the host is what the origin is compared with."""
    take_comments_at_their_word(site.system.root)
    site.system.systemctl("restart", "nginx")
    alice = site.add_user("alice")
    for origin, status in [("https://localhost", 200), ("https://localhost.example", 403)]:
        assert call(site, alice, "POST", "/api/session", fields={"Origin": origin}).status == status


@only_trixie
def test_the_page_tells_browsers_that_there_is_http_3(site: Site) -> None:
    take_comments_at_their_word(site.system.root)
    site.system.systemctl("restart", "nginx")
    head = _curl(site, "--http2", "--head", "https://localhost/").lower()
    assert head.startswith("http/2 200") and 'alt-svc: h3=":443"' in head


def call(
    site: Site, user: User | None, method: str, path: str, body: Any = None, fields: dict[str, str] | None = None
) -> Reply:
    """By HTTP/3 or not at all, with the system's own curl."""
    fields = dict(fields or {})
    if user is not None:
        fields["Authorization"] = "Basic " + base64.b64encode(f"{user.name}:{user.password}".encode()).decode()
    options = ["--http3-only", "--request", method, "--write-out", "\n%{http_version} %{http_code}"]
    if body is not None:
        fields["Content-Type"] = "application/json"
        options += ["--data-binary", json.dumps(body)]
    for name, value in fields.items():
        options += ["--header", f"{name}: {value}"]
    text, _, result = _curl(site, *options, f"https://localhost{path}").rpartition("\n")
    version, status = result.split()
    assert version == "3"
    return Reply(int(status), text.encode())


def take_comments_at_their_word(root: Root) -> None:
    """Does with the site's file what its comments say to do for newer versions and for HTTP/3."""
    _edit(root, SITE, r"(?m)^ *listen .*443 ssl http2;\n", "")
    _edit(root, SITE, r"(?m)^( *)#((?:listen|http2|add_header) .*;)$", r"\1\2")


def _curl(site: Site, *arguments: str) -> str:
    trust = ["--cacert", "/etc/letsencrypt/live/push.example.com/fullchain.pem"]
    return site.system.run("curl", "--silent", "--show-error", "--max-time", CALL_SECONDS, *trust, *arguments).stdout


def _complaints(root: Root) -> list[str]:
    """What `nginx -t` prints beside its verdict."""
    done = root.run("nginx", "-t", "-q")
    return (done.stdout + done.stderr).splitlines()


def _edit(root: Root, path: str, pattern: str, replacement: str) -> None:
    file = root.file(path)
    text, count = re.subn(pattern, replacement, file.read_text())
    assert count > 0, f"{path} has no {pattern}"
    file.write_text(text)
