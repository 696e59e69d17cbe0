# SPDX-License-Identifier: Apache-2.0
"""The doubles and our drivers, one of each for every test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apns_process import APNsProcess
from built import built_program
from certificates import Authority
from driver_oracle import DriverOracle
from fcm import FCM
from wns import WNS


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def fcm(authority: Authority) -> Iterator[FCM]:
    with FCM(authority.issue("fcm")) as double:
        yield double


@pytest.fixture
def wns(authority: Authority) -> Iterator[WNS]:
    with WNS(authority.issue("wns")) as double:
        yield double


@pytest.fixture(scope="session")
def program() -> Path:
    return built_program("app-backend")


@pytest.fixture
def oracle(authority: Authority) -> Iterator[DriverOracle]:
    with DriverOracle(built_program("driver-oracle"), authority.file) as running:
        yield running


@pytest.fixture
def apns(authority: Authority, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[APNsProcess]:
    """With a key of production, unless a test names its environment."""
    with APNsProcess(authority, tmp_path, getattr(request, "param", "production")) as double:
        yield double


@pytest.fixture
def groups(apns: APNsProcess, fcm: FCM, wns: WNS, authority: Authority, tmp_path: Path) -> dict[str, Any]:
    """The three groups of a configuration."""
    files = fcm.tokens.write_files(tmp_path)
    ca = str(authority.file)
    return {
        "apns": apns.group,
        "fcm": {"credentialFile": files["credentialFile"], "endpoint": fcm.origin, "caFile": ca},
        "wns": {
            "packageSid": wns.tokens.package_sid, "secret": wns.tokens.secret,
            "tokenEndpoint": f"{wns.origin}/accesstoken.srf", "endpoint": wns.origin, "caFile": ca,
        },
    }


@pytest.fixture
def other_project(authority: Authority) -> Iterator[FCM]:
    """Google once more, with another project."""
    with FCM(authority.issue("fcm-2")) as double:
        double.tokens.project = "app-2"
        yield double
