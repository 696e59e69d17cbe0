# SPDX-License-Identifier: Apache-2.0
"""ID tokens of a provider that is not ours (oidc-provider-mock, by Authlib), by the flow that an app goes through."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import oidc_provider_mock
import requests
import werkzeug.serving
from certificates import Authority
from deadline import PATIENCE_SECONDS
from installation import ROOT, Installation

CLIENT = "app"
REDIRECT = "https://app.example/back"
# How soon the end of the server is noticed.
POLL_SECONDS = 0.05


@contextmanager
def provider(authority: Authority) -> Iterator[str]:
    """Runs it over TLS while the `with` block lasts; gives its issuer's name."""
    certificate = authority.issue("provider")
    server = werkzeug.serving.make_server(
        "127.0.0.1", 0, oidc_provider_mock.app(), threaded=True,
        ssl_context=(str(certificate.chain), str(certificate.key)),
    )
    thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def log_in(issuer: str, ca: Path, user: str) -> str:
    """The authorization code flow; the user types a name, as the provider's page wants it. Returns the ID token."""
    with requests.Session() as session:
        # Or an authority that the environment names would take the place of this one.
        session.trust_env, session.verify = False, str(ca)
        places = session.get(f"{issuer}/.well-known/openid-configuration").json()
        asked = {
            "response_type": "code", "client_id": CLIENT, "redirect_uri": REDIRECT, "scope": "openid", "state": "s",
        }
        back = session.post(
            places["authorization_endpoint"], params=asked, data={"sub": user}, allow_redirects=False
        ).headers["Location"]
        code = parse_qs(urlsplit(back).query)["code"][0]
        answer = session.post(
            places["token_endpoint"],
            data={
                "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "client_id": CLIENT,
                "client_secret": "any",
            },
        )
        return str(answer.json()["id_token"])


def first_command(page: str) -> str:
    found = re.search(r"^```sh\n(.+?)\n```", (ROOT / "docs" / page).read_text(), re.M | re.S)
    assert found
    return found[1]


def test_the_first_command_of_the_page_works(program: Path, authority: Authority, tmp_path: Path) -> None:
    with provider(authority) as issuer:
        group = {"issuer": issuer, "prefix": "real", "audience": [CLIENT], "caFile": str(authority.file)}
        groups = {"auth": {"issuers": [group]}}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
            command = first_command("oidc.md").replace("https://push.example.com", product.origin)
            assert product.origin in command
            environment = {"TOKEN": log_in(issuer, authority.file, "alice"), "CURL_CA_BUNDLE": str(authority.file)}
            done = subprocess.run(
                ["bash", "-c", command], env=os.environ | environment, capture_output=True, text=True, check=False,
                timeout=PATIENCE_SECONDS,
            )
            assert (done.returncode, done.stdout) == (0, "[]"), done.stderr


def test_a_user_of_a_real_provider_is_let_in(program: Path, authority: Authority, tmp_path: Path) -> None:
    with provider(authority) as issuer:
        group = {"issuer": issuer, "prefix": "real", "audience": [CLIENT], "caFile": str(authority.file)}
        groups = {"auth": {"issuers": [group]}}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
            token = log_in(issuer, authority.file, "alice")
            product.keep_secret(token)
            assert product.call("GET", "/api/register", Authorization=f"Bearer {token}").status == 200
            changed = re.sub(r"\.[^.]+$", ".AAAA", token)
            assert product.call("GET", "/api/register", Authorization=f"Bearer {changed}").status == 401
