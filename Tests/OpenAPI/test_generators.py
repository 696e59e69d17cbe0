# SPDX-License-Identifier: Apache-2.0
"""Generators make clients of the document that compile, and that an app can use."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from contract import Contract
from generators import GENERATORS, SWIFT, Generator, call, openapi_generator
from sites import KEYS, NO_LIMITS, NO_PUSH_SERVICE

from installation import Installation

# What each program of `clients` prints. The newest message of an inbox comes first.
LINES = [
    "device browser", "sent browser", "secure 4711", "plain At noon", "unchanged 304", "delivery browser read",
    "refused 400 Badge",
]  # fmt: skip


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def site(program: Path, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """It keeps plain messages, so that an inbox has them."""
    groups = NO_LIMITS | {"inbox": {"plainDays": 1}}
    folder = tmp_path_factory.mktemp("site")
    with Installation(program, folder, authority, NO_PUSH_SERVICE, groups=groups) as running:
        yield running


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda one: one.name.replace(" ", "-"))
def test_a_generated_client_registers_sends_reads_and_asks(
    site: Installation, contract: Contract, authority: Authority, tmp_path: Path, generator: Generator
) -> None:
    generator.make(tmp_path, contract.file, authority.file)
    user = site.add_user("alice")
    settings = {
        "APP_URL": site.origin, "APP_USER": user.name, "APP_PASSWORD": user.password,
        "APP_HANDLE": f"https://{NO_PUSH_SERVICE}/{user.name}", "APP_P256DH": KEYS["p256dh"], "APP_AUTH": KEYS["auth"],
    }  # fmt: skip
    assert generator.drive(tmp_path, settings) == LINES
    (device,) = site.call("GET", "/api/register", user).json()
    assert device["Platform"] == "browser"


@pytest.mark.skipif(shutil.which("swiftc") is None, reason="there is no swiftc")
def test_a_client_in_swift_and_a_program_that_uses_it_fit_their_types(
    contract: Contract, authority: Authority, tmp_path: Path
) -> None:
    SWIFT.make(tmp_path, contract.file, authority.file)


def test_a_client_in_kotlin_has_the_three_calls_with_their_types(contract: Contract, tmp_path: Path) -> None:
    """Debian's compiler is older than what is generated."""
    (tmp_path / "openapi.json").symlink_to(contract.file)
    call(openapi_generator("kotlin", "made", "packageName=made"), tmp_path, {})
    folder = tmp_path / "made/src/main/kotlin/made"
    source = "".join(file.read_text() for file in sorted(folder.rglob("*.kt")))
    for signature in (
        "fun createRegistrationId(handle: kotlin.String? = null, idempotencyKey: kotlin.String? = null) : kotlin.String ",
        "fun registerDevice(id: kotlin.String, deviceRegistration: DeviceRegistration) : Unit ",
        "fun sendMessage(messageObject: MessageObject, idempotencyKey: kotlin.String? = null) : SendOutcome ",
        "val to: kotlin.Any?,",
        "val propertyKeys: BrowserKeys? = null,",
    ):
        assert signature in source, signature
