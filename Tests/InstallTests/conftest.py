# SPDX-License-Identifier: Apache-2.0
"""What the tests are built on. Roots are made once and kept; what is written into them is every test's own."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from booted import NAMESPACES, BootedSystem
from containers import Podman
from debian import BOOKWORM, RELEASES, Debian
from failures import FAILED, empty_folder, pytest_configure, pytest_runtest_makereport, scratch_folder  # noqa: F401
from file_lock import file_lock
from installed_site import Site
from keys import SigningKey
from packaged import COMMAND_SECONDS, make_later, make_package
from product import CHECKOUT, install_product, make_certificate
from releases import Checkout, make_release
from roots import Bases, Root, RootCache

PROBE_SECONDS = 180


def pytest_addoption(parser: pytest.Parser) -> None:
    suites = [release.suite for release in RELEASES]
    parser.addoption("--release", choices=suites, help="only its tests; those of none are the first one's")
    parser.addoption("--shared", type=Path, help="a folder of this run and of those beside it, for what one makes for all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.getoption("--release")
    if chosen is not None:
        config.hook.pytest_deselected(items=[item for item in items if suite(item) != chosen])
        items[:] = [item for item in items if suite(item) == chosen]
    reason = why_not_here()
    if reason is not None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason))


def suite(item: pytest.Item) -> str:
    """Of the release that the test runs on."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    release: Debian = parameters.get("release", RELEASES[0])
    return release.suite


def why_not_here() -> str | None:
    """Why roots can be neither made nor booted by this user on this machine."""
    if os.geteuid() != 0:
        return "roots are made and booted by root alone"
    probe = subprocess.run(["unshare", *NAMESPACES, "true"], capture_output=True, text=True, timeout=PROBE_SECONDS)
    return None if probe.returncode == 0 else f"this machine grants no namespaces: {probe.stderr.strip()}"


@pytest.fixture(scope="session")
def leavings(pytestconfig: pytest.Config) -> Path:
    """A folder for what a person may want to look at when a test has failed."""
    return empty_folder(CHECKOUT / ".build" / "install-tests" / "failed" / (pytestconfig.getoption("--release") or "all"))


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest, leavings: Path) -> Iterator[Path]:
    """Goes with the tests; logs in it stay when one has failed."""
    with scratch_folder("app-backend-install-", request.session, leavings) as made:
        yield made


@pytest.fixture(scope="session")
def shared(pytestconfig: pytest.Config, folder: Path) -> Path:
    """For what runs side by side need once."""
    return pytestconfig.getoption("--shared") or folder


@pytest.fixture(scope="session")
def program() -> Path:
    """The executable that is shipped: $APP_BACKEND_PROGRAM."""
    named = os.environ.get("APP_BACKEND_PROGRAM")
    if named is None or not os.access(named, os.X_OK):
        raise RuntimeError("$APP_BACKEND_PROGRAM names no executable. script/test-install builds it.")
    return Path(named)


@pytest.fixture(scope="session")
def certificate(folder: Path) -> Path:
    """A folder with cert.pem and key.pem."""
    made = folder / "tls"
    made.mkdir()
    make_certificate(made)
    return made


@pytest.fixture(scope="session")
def bases() -> dict[Debian, Bases]:
    """The kept systems. They are never written to."""
    return RootCache(CHECKOUT / ".build" / "roots").prepare(RELEASES)


@pytest.fixture(scope="session", params=RELEASES, ids=lambda release: release.suite)
def release(request: pytest.FixtureRequest) -> Debian:
    found: Debian = request.param
    return found


@pytest.fixture(scope="session")
def package(program: Path, shared: Path) -> Path:
    """Made of the executable that is shipped."""
    with file_lock(shared / "lock", "no other process makes the package", 2 * COMMAND_SECONDS):
        return next(shared.glob("*.deb"), None) or make_package(program, shared)


@pytest.fixture(scope="session")
def later(package: Path, folder: Path) -> Path:
    return make_later(package, folder)


@pytest.fixture(scope="session")
def checkout(folder: Path) -> Iterator[Checkout]:
    with SigningKey("Tests of a release") as key:
        yield Checkout(folder / "release-checkout", key)


@pytest.fixture(scope="session")
def without_images(folder: Path) -> str | None:
    """Why this machine can make none."""
    return Podman(folder / "no-containers").why_not_here()


@pytest.fixture(scope="session")
def made(
    checkout: Checkout, program: Path, bases: dict[Debian, Bases], without_images: str | None, folder: Path
) -> Path:
    """The folder of a signed release. Its images are built on a Debian of the tests'."""
    return make_release(checkout, program, bases[BOOKWORM].clean if without_images is None else None, folder / "release")


@pytest.fixture
def root(release: Debian, bases: dict[Debian, Bases], folder: Path) -> Iterator[Root]:
    """One of the test's own, with what the product needs and without the product."""
    place = Path(tempfile.mkdtemp(prefix=f"{release.suite}-", dir=folder))
    with Root(bases[release].complete, place) as made:
        yield made


@pytest.fixture
def installed(root: Root, program: Path, certificate: Path) -> Root:
    """With the product in it, as an administrator installs it."""
    install_product(root, program, certificate)
    return root


@pytest.fixture
def site(
    request: pytest.FixtureRequest, installed: Root, certificate: Path, folder: Path, leavings: Path
) -> Iterator[Site]:
    """Installed and booted, before the first call."""
    with BootedSystem(installed, folder / f"{request.node.name}.log") as system:
        with closing(Site(system, certificate)) as made:
            yield made
        if request.node.stash.get(FAILED, False):
            (leavings / f"{request.node.name}.journal").write_text(system.journal())
