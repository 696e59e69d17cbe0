# SPDX-License-Identifier: Apache-2.0
"""The product behind its nginx, with Google's service and a receiver of webhooks, once for all examples."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from built import ROOT, built_program
from certificates import Authority
from failures import empty_folder, pytest_configure, pytest_runtest_makereport, scratch_folder  # noqa: F401
from fcm import FCM
from languages import Workshop
from webhook_receiver import Receiver

from installation import Installation


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    leavings = empty_folder(ROOT / ".build" / "examples" / "failed")
    with scratch_folder("app-backend-examples-", request.session, leavings) as made:
        yield made


@pytest.fixture(scope="session")
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture(scope="session")
def workshop(folder: Path, authority: Authority) -> Workshop:
    return Workshop(folder, authority.file)


@pytest.fixture(scope="session")
def fcm(authority: Authority) -> Iterator[FCM]:
    with FCM(authority.issue("fcm")) as double:
        yield double


@pytest.fixture(scope="session")
def receiver(folder: Path) -> Iterator[Receiver]:
    with Receiver(folder) as running:
        yield running


@pytest.fixture(scope="session")
def site(folder: Path, authority: Authority, fcm: FCM, receiver: Receiver) -> Iterator[Installation]:
    credential = fcm.tokens.write_files(folder)["credentialFile"]
    groups = {
        "fcm": {"credentialFile": credential, "endpoint": fcm.origin, "caFile": str(authority.file)},
        "inbox": {"plainDays": 1},
        "webhooks": receiver.group(),
    }
    with Installation(built_program("app-backend"), folder, authority, "localhost:9", groups=groups) as running:
        yield running


@pytest.fixture
def closed_port() -> Iterator[int]:
    """At which nothing listens, as long as the test runs."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield int(reserved.getsockname()[1])
