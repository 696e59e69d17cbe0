# SPDX-License-Identifier: Apache-2.0
"""What the page weighs until a person can read their messages, as nginx sends it, and what it loads later."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from test_languages import opened

Page = NotifyPage[ChromiumTab]

LIMIT = 42 * 1024  # bytes, compressed, without pictures
LOADED = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map(one => [new URL(one.name).pathname, one.encodedBodySize])
    .filter(([path]) => /^[/]$|[.](html|css|js)$/.test(path))"""
# Loaded when it is needed first.
LATER = (
    "composer", "when", "send-form", "sender-api", "results", "sent-list", "account", "devices", "session-list", "password-form",
)


def loaded(page: Page) -> dict[str, int]:
    """The sizes of the page's files that it has fetched, by their paths."""
    return {path: int(size) for path, size in page.tab.evaluate(LOADED)}


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_the_first_load_is_light(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account, language: str
) -> None:
    bob.send_secret(alice, installation.secret("waits "))
    page = opened(chromium_tab(notifications="denied"), installation, language)
    page.log_in(alice, state="loggedin")
    page.tab.wait_until("document.querySelectorAll('#received li').length === 1")
    files = loaded(page)
    assert {"/", "/style.css", "/app.js", "/js/received.js", f"/js/texts/{language}.js"} <= files.keys()
    assert all(size > 0 for size in files.values()), files
    assert sum(files.values()) < LIMIT, sorted(files.items(), key=lambda one: -one[1])


def test_what_is_rarely_used_is_loaded_when_it_is_used(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account
) -> None:
    page = opened(chromium_tab(notifications="denied"), installation, "en")
    page.log_in(alice, state="loggedin")
    paths = {name: f"/js/{name}.js" for name in LATER}
    assert not loaded(page).keys() & paths.values()
    page.open_settings()
    assert {paths["account"], paths["devices"]} <= loaded(page).keys()
    page.tab.click("closeSettings")
    page.unfold()
    page.tab.click("showSent")
    page.tab.wait_until(f"performance.getEntriesByName(new URL('{paths['sent-list']}', location).href).length > 0")
    assert set(paths.values()) <= loaded(page).keys()
