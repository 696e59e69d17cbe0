# SPDX-License-Identifier: Apache-2.0
"""The page without a network: it opens with what it has, and sends when the network is back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from account import Account
from built import ROOT
from certificates import Authority
from installation import Installation
from notify_page import NotifyPage
from opening import TOLD
from push_service import PushService
from tab import Tab
from test_inbox import log_in_elsewhere
from timers import RETRIES, retry_until

Page = NotifyPage[Tab]

IS_LOGGED_IN = "document.body.dataset.state === 'loggedin'"
HTML = ROOT / "nginx" / "html"
# Those that no worker keeps: its own, what only machines read, and icons that a system has copied at the installation.
NOT_KEPT = {"sw.js", "js/offline.js", "js/worker-words.js", "openapi.json"}
# Those of the operator's page, which shows what the server says.
NOT_KEPT |= {"admin.html", "admin.js", "admin.css"}
NOT_KEPT |= {str(file.relative_to(HTML)) for file in (HTML / "js" / "admin").iterdir()}


@pytest.fixture(scope="module")
def site(
    program: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, push: PushService
) -> Iterator[Installation]:
    """Of these tests' own, as they take the web server away."""
    folder = tmp_path_factory.mktemp("offline")
    with Installation(program, folder, authority, push.authority, groups={"inbox": {"plainDays": 7}}) as running:
        yield running


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_the_page_opens_without_a_network_and_sends_when_it_is_back(
    request: pytest.FixtureRequest, site: Installation, tabs: list[Tab], browser: str
) -> None:
    alice, bob = (Account(site, site.add_user(role)) for role in ("alice", "bob"))
    tab: Tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    tab.on_new_document(RETRIES)
    page = NotifyPage(tab, site.origin).open()
    page.log_in(alice, state="loggedin")
    # The worker has kept all files.
    tab.wait_until("navigator.serviceWorker.controller !== null")
    tab.wait_until("caches.match('js/texts/es-more.js').then(one => one !== undefined)")
    with site.without_web_server():
        page.open()
        page.await_state("offline")
        assert page.text("who") == alice.name
        page.choose("secure", True)
        page.write(bob.name, "as soon as possible")
        page.tab.click("send")
        tab.wait_until('document.getElementById("sendError").textContent.includes("sent automatically")')
        # It waits through a reload as well.
        page.open()
        page.await_state("offline")
        # Firefox complains of files that a page still loads when it is left.
        tab.wait_until('document.getElementById("message").value === "as soon as possible"')
        # As of a bookmark.
        tab.navigate(f"{site.origin}/index.html")
        page.await_state("offline")
        tab.wait_until('document.getElementById("message").value === "as soon as possible"')
    retry_until(tab, IS_LOGGED_IN)
    tab.wait_until('document.getElementById("message").value === ""')
    assert [one["From"] for one in bob.call("GET", "/api/notifications").json()] == [alice.name]


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_secret_that_was_listed_without_a_network_is_shown_when_it_is_back(
    request: pytest.FixtureRequest, site: Installation, tabs: list[Tab], browser: str
) -> None:
    alice, bob = (Account(site, site.add_user(role)) for role in ("alice", "bob"))
    bob.send_secret(alice, site.secret("kept "))
    tab: Tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    tab.on_new_document(RETRIES)
    page = NotifyPage(tab, site.origin).open()
    page.log_in(alice, state="loggedin")
    tab.wait_until(f"{TOLD}.then(told => told?.entries.length === 1)")
    tab.wait_until("navigator.serviceWorker.controller !== null")
    tab.wait_until("caches.match('js/texts/es-more.js').then(one => one !== undefined)")
    with site.without_web_server():
        page.open().await_state("offline")
        tab.wait_until("document.querySelectorAll('#received li').length === 1")
    retry_until(tab, IS_LOGGED_IN)
    # The list may not have come yet.
    tab.wait_until(
        "(document.querySelector('#received :is([data-kind=locked], [data-kind=read]) button')?.click(),"
        " document.querySelector('#received [data-kind=secret]') !== null)")


def without_times(page: Page) -> list[list[str]]:
    """Kind and text of each line of the inbox. A time is shown in another way on the next day."""
    lines = page.tab.evaluate(
        "[...document.querySelectorAll('#received li')].map(line => [line.dataset.kind, [...line.querySelectorAll('time')]"
        ".reduce((text, time) => text.replace(time.innerText, ''), line.innerText)])")
    assert isinstance(lines, list)
    return lines


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_without_a_network_the_inbox_is_what_the_server_told_its_user_last(
    request: pytest.FixtureRequest, site: Installation, tabs: list[Tab], browser: str
) -> None:
    alice, bob = (Account(site, site.add_user(role)) for role in ("alice", "bob"))
    secrets = [site.secret(f"{name} secret ") for name in ("first", "second")]
    for text in secrets:
        bob.send_secret(alice, text)
    lunch = {"To": alice.name, "Platforms": ["browser"], "Title": "Lunch", "Body": "At noon"}
    assert bob.call("POST", "/api/notifications", lunch).status == 200
    tab: Tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    tab.on_new_document(RETRIES)
    page = NotifyPage(tab, site.origin).open()
    page.log_in(alice, state="loggedin")
    tab.wait_until("document.querySelectorAll('#received li').length === 3")
    tab.evaluate("document.querySelector('#received [data-kind=locked] button').click()")
    tab.wait_until("document.querySelector('#received [data-kind=secret]') !== null")
    tab.wait_until(f"{TOLD}.then(told => told.entries.filter(one => one.isRead).length === 2)")
    assert not any(text in json.dumps(tab.evaluate(TOLD)) for text in secrets)
    tab.wait_until("navigator.serviceWorker.controller !== null")
    tab.wait_until("caches.match('js/texts/es-more.js').then(one => one !== undefined)")
    page.open().await_state("loggedin")
    # With the server's answer.
    tab.wait_until("performance.getEntriesByType('resource').some(one => one.name.includes('/api/inbox') && one.responseEnd > 0)")
    listed = without_times(page)
    assert sorted(kind for kind, _ in listed) == ["locked", "message", "read"]
    with site.without_web_server():
        page.open().await_state("offline")
        tab.wait_until("document.querySelectorAll('#received li').length === 3")
        assert without_times(page) == listed
        assert f"{bob.name}: Lunch" in str(listed) and "At noon" in str(listed)
        assert page.text("unread") == "1"
    retry_until(tab, IS_LOGGED_IN)
    page.log_out()
    assert tab.evaluate(TOLD) is None
    page.log_in(alice, state="loggedin")
    tab.wait_until(f"{TOLD}.then(told => told?.entries.length === 3)")
    log_in_elsewhere(page, bob)
    with site.without_web_server():
        page.open().await_state("offline")
        tab.wait_until("!document.getElementById('receivedEmpty').hidden")
        assert page.received == []


def test_the_worker_keeps_every_file_that_the_page_is_made_of() -> None:
    source = (HTML / "js" / "offline.js").read_text()
    files = {str(file.relative_to(HTML)) for file in HTML.rglob("*") if file.is_file() and file.suffix != ".png"}
    kept = {f"js/{name}.js" for name in _quoted(source.split("...[")[1].split("]")[0])}
    kept |= {name.replace("./", "index.html") for name in _quoted(source.split("const files = [")[1].split("...[")[0])}
    assert kept == files - NOT_KEPT


def _quoted(text: str) -> list[str]:
    return [part for part in text.split("'")[1::2]]
