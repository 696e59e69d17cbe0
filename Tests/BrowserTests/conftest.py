# SPDX-License-Identifier: Apache-2.0
"""What the tests are built on. The servers and the browsers are started once; users and tabs are every test's own."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import vapid
from account import Account
from built import ROOT, built_program
from certificates import Authority
from chromium import Chromium, ChromiumTab
from failures import FAILED, empty_folder, pytest_configure, pytest_runtest_makereport, scratch_folder  # noqa: F401
from firefox import Firefox, FirefoxTab
from gallery import write_index
from installation import Installation
from push_service import PushService
from subscriber import Subscriber
from tab import Tab


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--without-browsers", action="store_true", help="skip the tests that need Firefox or Chromium")


@pytest.fixture(scope="session")
def leavings() -> Path:
    """A folder for what a person may want to look at when a test has failed. Each of several processes has its own."""
    return empty_folder(ROOT / ".build" / "browser-tests" / "failed" / os.environ.get("PYTEST_XDIST_WORKER", "all"))


@pytest.fixture(scope="session")
def screenshots() -> Iterator[Path]:
    """A folder whose index.html shows all of them."""
    folder = Path(os.environ.get("APP_BACKEND_SCREENSHOTS") or ROOT / ".build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    write_index(folder)


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest, leavings: Path) -> Iterator[Path]:
    """Goes with the tests; logs in it stay when one has failed."""
    with scratch_folder("app-backend-browsers-", request.session, leavings) as made:
        yield made


@pytest.fixture(scope="session")
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture(scope="session")
def push(authority: Authority) -> Iterator[PushService]:
    with PushService(authority.issue("push")) as service:
        yield service


@pytest.fixture(scope="session")
def program() -> Path:
    return built_program("app-backend")


@pytest.fixture(scope="session")
def installation(program: Path, folder: Path, authority: Authority, push: PushService) -> Iterator[Installation]:
    roles = {"roles": [{"name": "administrator", "administer": True}, {"name": "team", "sendTo": ["role:team"]}]}
    with Installation(program, folder, authority, push.authority, groups=roles) as running:
        yield running


@pytest.fixture
def alice(installation: Installation) -> Account:
    return Account(installation, installation.add_user("alice"))


@pytest.fixture
def bob(installation: Installation) -> Account:
    return Account(installation, installation.add_user("bob"))


@pytest.fixture
def subscriber(installation: Installation, push: PushService) -> Subscriber:
    return Subscriber(push.subscribe(vapid.decode(installation.vapid_key)))


def browser_program(config: pytest.Config, variable: str, name: str) -> str:
    """The executable of that name, or the one that the environment variable names. Skips where the caller says so."""
    if config.getoption("--without-browsers"):
        pytest.skip("--without-browsers")
    found = shutil.which(os.environ.get(variable) or name)
    if found is None:
        raise RuntimeError(f"There is no {name} here. ${variable} may name one; --without-browsers does without.")
    if "/snap/" in os.path.realpath(found):
        raise RuntimeError(f"{found} is a snap, which cannot see the tests' folders. ${variable} may name another.")
    return found


@pytest.fixture(scope="session")
def firefox(pytestconfig: pytest.Config, folder: Path, push: PushService) -> Iterator[Firefox]:
    with Firefox(browser_program(pytestconfig, "FIREFOX", "firefox-esr"), folder, push.websocket_url) as browser:
        yield browser


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config, folder: Path, installation: Installation) -> Iterator[Chromium]:
    program = browser_program(pytestconfig, "CHROMIUM", "chromium")
    with Chromium(program, folder, installation.certificate.fingerprint) as browser:
        yield browser


@pytest.fixture
def tabs(request: pytest.FixtureRequest, leavings: Path) -> Iterator[list[Tab]]:
    """Tabs of the test, which are closed after it. None may have complained of the page."""
    opened: list[Tab] = []
    yield opened
    complaints = []
    for number, tab in enumerate(opened):
        complaints += tab.complaints
        if request.node.stash.get(FAILED, False):
            tab.screenshot(leavings / f"{request.node.name}-{number}.png")
    # Not before all were asked: the end of one may be felt in another.
    for tab in opened:
        tab.close()
    assert complaints == []


@pytest.fixture
def firefox_tab(firefox: Firefox, installation: Installation, tabs: list[Tab]) -> Callable[..., FirefoxTab]:
    """Opens a tab with storage of its own."""

    def open_tab(**options: Any) -> FirefoxTab:
        tab = firefox.open_tab(installation.origin, **options)
        tabs.append(tab)
        return tab

    return open_tab


@pytest.fixture
def chromium_tab(chromium: Chromium, installation: Installation, tabs: list[Tab]) -> Callable[..., ChromiumTab]:
    """Opens a tab with storage of its own."""

    def open_tab(**options: Any) -> ChromiumTab:
        tab = chromium.open_tab(installation.origin, **options)
        tabs.append(tab)
        return tab

    return open_tab
