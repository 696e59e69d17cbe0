# SPDX-License-Identifier: Apache-2.0
"""Pages of other sites, which call the API from a real browser (CORS)."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from account import Account
from installation import Installation, http_basic
from tab import Tab

# The status, a field, and the text of an answer; 0 where the browser keeps it from the page.
CALL = """fetch({url}, {options}).then(
    async (answer) => [answer.status, answer.headers.get("ETag"), await answer.text()],
    () => [0, null, ""])"""


class EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Another site</title>")

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """The origin of another site on this host."""
    with ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def listing(installation: Installation, *origins: str) -> Iterator[None]:
    """While the `with` block lasts, pages of these origins may call the API."""
    former = installation.config.read_text()
    installation.config.write_text(json.dumps(json.loads(former) | {"cors": {"origins": origins}}))
    installation.reload()
    try:
        yield
    finally:
        installation.config.write_text(former)
        installation.reload()


@pytest.fixture(params=["firefox", "chromium"])
def tab(request: pytest.FixtureRequest, elsewhere: str) -> Tab:
    """A tab that shows the other site."""
    open_tab: Callable[[], Tab] = request.getfixturevalue(f"{request.param}_tab")
    opened = open_tab()
    opened.navigate(f"{elsewhere}/")
    return opened


@pytest.fixture
def call(tab: Tab, installation: Installation) -> Callable[..., Any]:
    """Calls the API from that page's script."""

    def call(method: str, path: str, authorization: str | None, body: Any = None, **options: Any) -> Any:
        headers = {"Authorization": authorization} if authorization else {}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": f"{method}{path}"}
        told = {"method": method, "headers": headers, "body": None if body is None else json.dumps(body)} | options
        return tab.evaluate(CALL.format(url=json.dumps(installation.origin + path), options=json.dumps(told)))

    return call


def test_a_listed_sites_page_sends_reads_and_deletes(
    call: Callable[..., Any], installation: Installation, elsewhere: str, alice: Account, bob: Account, tab: Tab
) -> None:
    for text in ("401", "Allow-Credentials"):
        tab.expect_complaint(text)
    with listing(installation, "https://app.example", elsewhere):
        message = {"To": alice.user.name, "Body": installation.secret(), "Secure": True}
        status, _, body = call("POST", "/api/notifications", http_basic(bob.user), message)
        assert status == 200
        path = f"/api/notifications/{json.loads(body)['Id']}"
        status, etag, _ = call("GET", "/api/inbox", http_basic(alice.user))
        assert status == 200 and etag
        assert call("GET", path, http_basic(alice.user))[0] == 200
        assert call("DELETE", path, http_basic(alice.user))[0] == 200
        # The page learns why it is refused, and a cookie is not sent in place of credentials.
        assert call("GET", "/api/inbox", None, credentials="include")[0] in (0, 401)
        status, _, body = call("GET", "/api/inbox", None)
        assert status == 401 and json.loads(body)["title"] == "Unauthorized"


def test_a_page_of_another_site_reads_and_changes_nothing(
    call: Callable[..., Any], installation: Installation, alice: Account, tab: Tab
) -> None:
    for text in ("CORS", "Cross-Origin", "Failed to load resource"):
        tab.expect_complaint(text)
    with listing(installation, "https://app.example"):
        assert call("POST", "/api/tokens", http_basic(alice.user), {"Scopes": ["send"]}) == [0, None, ""]
        assert call("GET", "/api/tokens", http_basic(alice.user)) == [0, None, ""]
        assert call("GET", "/api/config", None) == [0, None, ""]
    assert installation.call("GET", "/api/tokens", alice.user).json() == []
