# SPDX-License-Identifier: Apache-2.0
"""The doubles and our drivers, one of each for every test."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apns_process import APNsProcess
from certificates import Authority
from driver_oracle import DriverOracle
from fcm import FCM
from wns import WNS

ROOT = Path(__file__).resolve().parents[2]
SWIFT_SECONDS = 300


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
def oracle_program() -> Path:
    """Beside $APP_BACKEND_PROGRAM, else in the debug build."""
    named = os.environ.get("APP_BACKEND_PROGRAM")
    if named is None:
        command = ["swift", "build", "--show-bin-path", "--package-path", str(ROOT)]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SWIFT_SECONDS)
        named = f"{told.stdout.strip()}/app-backend"
    program = Path(named).parent / "driver-oracle"
    if not os.access(program, os.X_OK):
        raise RuntimeError(f"There is no {program}. `swift build` makes it.")
    return program


@pytest.fixture
def oracle(oracle_program: Path, authority: Authority) -> Iterator[DriverOracle]:
    with DriverOracle(oracle_program, authority.file) as running:
        yield running


@pytest.fixture(scope="session")
def program(oracle_program: Path) -> Path:
    return oracle_program.with_name("app-backend")


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
