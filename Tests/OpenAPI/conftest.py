# SPDX-License-Identifier: Apache-2.0
"""The product behind its nginx, started once for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from built import ROOT, built_program
from certificates import Authority
from client import Client
from contract import Contract
from failures import empty_folder, pytest_configure, pytest_runtest_makereport, scratch_folder  # noqa: F401
from sites import NO_LIMITS, NO_PUSH_SERVICE, ROLES, page_of

from installation import Installation, User

DOCUMENT = ROOT / "nginx" / "html" / "openapi.json"


@pytest.fixture(scope="session")
def contract() -> Contract:
    return Contract(DOCUMENT)


@pytest.fixture(scope="session")
def leavings() -> Path:
    """A folder for what a person may want to look at when a test has failed."""
    return empty_folder(ROOT / ".build" / "openapi" / "failed")


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest, leavings: Path) -> Iterator[Path]:
    with scratch_folder("app-backend-openapi-", request.session, leavings) as made:
        yield made


@pytest.fixture(scope="session")
def program() -> Path:
    return built_program("app-backend")


@pytest.fixture(scope="session")
def installation(program: Path, folder: Path) -> Iterator[Installation]:
    with Installation(program, folder, Authority(folder), NO_PUSH_SERVICE, groups=NO_LIMITS | ROLES) as running:
        yield running


@pytest.fixture
def client(installation: Installation, contract: Contract) -> Client:
    return Client(installation, contract)


@pytest.fixture
def alice(installation: Installation) -> User:
    return installation.add_user("alice")


@pytest.fixture(scope="session")
def root(installation: Installation) -> User:
    """An administrator."""
    return installation.add_user("root", "--role", "administrator")


@pytest.fixture
def at_the_page(installation: Installation, root: User) -> dict[str, str]:
    """The header fields of a page where the administrator is logged in."""
    return page_of(installation, root)


@pytest.fixture
def bob(installation: Installation) -> User:
    return installation.add_user("bob")
