# SPDX-License-Identifier: Apache-2.0
"""A provider of identities that is not ours: Canaille, over TLS on this host, with its state in memory."""

import base64
import hashlib
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urljoin, urlsplit

import requests
import werkzeug.serving
from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from certificates import Certificate
from joserfc.jwk import RSAKey

REDIRECT = "https://app.example/back"
# How soon the end of the server is noticed.
POLL_SECONDS = 0.05


class IdentityProvider:
    """Runs while the `with` block lasts. `restart` is what its operator does to change the configuration."""

    def __init__(self, certificate: Certificate):
        self._server = werkzeug.serving.make_server(
            "127.0.0.1", 0, lambda environment, start: self._application(environment, start), threaded=True,
            ssl_context=(str(certificate.chain), str(certificate.key)),
        )
        self._name = f"localhost:{self._server.server_port}"
        self.issuer = f"https://{self._name}"
        self._users: dict[str, str] = {}
        self._state: Backend | None = None
        self.active, self.inactive = new_key(), None
        self.restart()

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def restart(self, **settings: Any) -> None:
        """With these settings, and the keys that there are now. Users, clients and codes stay."""
        oidc = {"ACTIVE_JWKS": exported([self.active]), "INACTIVE_JWKS": exported(filter(None, [self.inactive]))}
        own = {
            "SECRET_KEY": secrets.token_hex(), "SERVER_NAME": self._name, "PREFERRED_URL_SCHEME": "https",
            # Into the log of the tests, by a logger of its own alone.
            "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "LOGGING": {"version": 1}}, "CANAILLE_OIDC": oidc,
        }
        self._application = create_app(own | settings, backend=self._state)
        self._state = self._application.backend

    def rotate(self) -> None:
        """As its manual says: another key signs from now on, and the former one is still published."""
        self.active, self.inactive = new_key(), self.active
        self.restart()

    def withdraw(self) -> None:
        """The former key is not published any more."""
        self.inactive = None
        self.restart()

    def add_user(self, name: str) -> None:
        self._users[name] = secrets.token_hex()
        self._save(models.User(
            user_name=name, formatted_name=name, family_name=name, emails=[f"{name}@app.example"],
            password=self._users[name],
        ))

    def add_client(self, name: str, algorithm: str | None = "RS256") -> None:
        """`algorithm`: what its tokens are to be signed by; None: what the provider prefers."""
        client = models.Client(
            client_id=name, client_name=name, client_uri="https://app.example", redirect_uris=[REDIRECT],
            grant_types=["authorization_code"], response_types=["code"], scope=["openid"],
            # As an app has it, which keeps no secret.
            token_endpoint_auth_method="none", id_token_signed_response_alg=algorithm,
        )
        self._save(client)
        client.audience = [client]
        self._save(client)

    def _save(self, one: Any) -> None:
        with self._application.app_context():
            Backend.instance.save(one)

    def log_in(self, user: str, client: str, ca: Path) -> dict[str, str]:
        """The authorization code flow, as a person and an app go through it. Returns the tokens, by their names."""
        with requests.Session() as browser:
            # Or an authority that the environment names would take the place of this one.
            browser.trust_env, browser.verify = False, str(ca)
            places = browser.get(f"{self.issuer}/.well-known/openid-configuration").json()
            verifier = secrets.token_urlsafe(32)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
            page = browser.get(places["authorization_endpoint"], params={
                "response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "scope": "openid", "state": "s",
                "nonce": secrets.token_hex(), "code_challenge": challenge, "code_challenge_method": "S256",
            })
            for typed in ({"login": user}, {"password": self._users[user]}, {"answer": "accept"}):
                page = self._submit(browser, page, typed)
            code = parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]
            answer = browser.post(places["token_endpoint"], data={
                "grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "client_id": client,
                "code_verifier": verifier,
            })
            return {name: answer.json()[name] for name in ("access_token", "id_token")}

    def _submit(self, browser: requests.Session, page: requests.Response, typed: dict[str, str]) -> requests.Response:
        """Fills a form in and follows where it leads, as far as that is within the provider."""
        if page.is_redirect:
            return page
        hidden = dict(re.findall(r'<input[^>]*name="(csrf_token)"[^>]*value="([^"]*)"', page.text))
        answer = browser.post(page.url, data=hidden | typed, headers={"Referer": page.url}, allow_redirects=False)
        while answer.is_redirect and not answer.headers["Location"].startswith(REDIRECT):
            answer = browser.get(urljoin(answer.url, answer.headers["Location"]), allow_redirects=False)
        return answer


def new_key() -> RSAKey:
    return RSAKey.generate_key(2048, auto_kid=True)


def exported(keys: Iterable[RSAKey]) -> list[Any]:
    return [key.as_dict(private=True) for key in keys]
