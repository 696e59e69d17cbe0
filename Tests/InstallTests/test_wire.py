# SPDX-License-Identifier: Apache-2.0
"""The story through nginx, FastCGI and libcurl, as `Tests/WireTests` tell it, with a clean Debian's programs."""

import os
import tempfile
from pathlib import Path

import pytest

from child import Child
from deadline import wait_until
from debian import Debian
from product import CHECKOUT, install_program
from roots import Root

STORY_SECONDS = 1200
# Without SwiftPM, which would let the one system wait for the other.
BUNDLE = [str(CHECKOUT / ".build/debug/app-backendPackageTests.xctest"), "--testing-library", "swift-testing"]
CHROOTED = Path(__file__).with_name("chrooted.sh")


@pytest.fixture
def programs(root: Root, program: Path, folder: Path) -> dict[str, Path]:
    """The variables of `Program.swift`, and programs of ours that become the root's."""
    install_program(root, program)
    # Both see the same files under the same paths: those of the tests, and the page.
    root.show(Path("/tmp"))
    root.show(CHECKOUT / "nginx")
    named = {"APP_BACKEND_PROGRAM": "/usr/bin/app-backend", "NGINX_PROGRAM": "/usr/sbin/nginx"}
    place = Path(tempfile.mkdtemp(dir=folder))
    return {variable: _wrap(place, root, inner) for variable, inner in named.items()}


# Shared hosts are not root's, and only root can enter another system. Restarts are tried under its systemd. Disks are mounted,
# and databases started, where the tests are, which the programs of another system do not see; and the others of these meet
# nothing of a system's.
ELSEWHERE = (
    "HostingTests|RestartStories|LimitStories|Doctor|StoreStories|StoreCommandStories|IdempotencyStories|Placement"
    "|DiskStories|TwinStories|DatabaseStories"
)


def test_the_whole_story_passes_on_a_clean_debian(programs: dict[str, Path], folder: Path, release: Debian) -> None:
    environment = os.environ | {variable: str(wrapper) for variable, wrapper in programs.items()}
    log = folder / f"wire-{release.suite}.log"
    tests = Child([*BUNDLE, "--filter", "WireTests", "--skip", ELSEWHERE], log, environment, orphaned="TERM")
    try:
        wait_until(lambda: tests.exit_status is not None, "WireTests have ended", STORY_SECONDS)
    finally:
        tests.stop()
    closing = [line for line in tests.output.splitlines() if "Test run with" in line]
    failures = [line for line in tests.output.splitlines() if line.startswith("✘")]
    assert tests.exit_status == 0, "\n".join([tests.output[-4000:], *failures])
    assert len(closing) == 1 and "with 0 tests" not in closing[0]
    for wrapper in programs.values():
        assert _mark(wrapper).exists(), f"{wrapper.name} was not what the tests started"


def _wrap(folder: Path, root: Root, program: str) -> Path:
    """Replaces itself, so that its number is the program's, and signals reach that.

    A copy of it is a copy of the program: whatever path it is called by has the root's program there, for that call.
    """
    wrapper = folder / Path(program).name
    become = f'unshare --mount "{CHROOTED}" "{root.path}" "{program}" "$0" "$@"'
    wrapper.write_text(f'#!/bin/sh\n: > "{_mark(wrapper)}"\nexec {become}\n')
    wrapper.chmod(0o700)
    return wrapper


def _mark(wrapper: Path) -> Path:
    """Is there when the wrapper was started."""
    return wrapper.with_suffix(".started")
