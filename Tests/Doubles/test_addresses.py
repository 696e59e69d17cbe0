# SPDX-License-Identifier: Apache-2.0
"""A push service with an address of version 6 that is dead and one of version 4 that answers."""

import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from apns_process import APNsProcess
from backend import Backend
from certificates import TWO_ADDRESSES
from test_backend import APPLE

HOSTS = f"""127.0.0.1 localhost {TWO_ADDRESSES}
::1 localhost {TWO_ADDRESSES}
"""


@pytest.fixture
def resolving(program: Path, tmp_path: Path) -> Path:
    """The program with a resolver of its own, in mounts of its own."""
    hosts, script = tmp_path / "hosts", tmp_path / "app-backend"
    hosts.write_text(HOSTS)
    mount = f'mount --bind {shlex.quote(str(hosts))} /etc/hosts && exec "$0" "$@"'
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(inside)} {shlex.quote(str(program))} "$@"\n')
    script.chmod(0o700)
    # Version 6 is tried first, or the test would prove nothing.
    found = subprocess.run([*inside, "getent", "ahosts", TWO_ADDRESSES], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in found.stdout.splitlines() if "STREAM" in line] == ["::1", "127.0.0.1"]
    return script


@contextmanager
def silence(port: int) -> Iterator[None]:
    """Lets the port answer no one at ::1: the kernel drops what comes while nothing takes the connections that wait."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_INET6))
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(("::1", port))
        listener.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket(socket.AF_INET6))
            waiting.setblocking(False)
            waiting.connect_ex(("::1", port))
        probe = stack.enter_context(socket.socket(socket.AF_INET6))
        probe.settimeout(0.5)
        with pytest.raises(TimeoutError):
            probe.connect(("::1", port))
        yield


@pytest.mark.parametrize("is_silent", [False, True], ids=["refusing", "silent"])
def test_a_dead_address_of_version_6_keeps_no_push_from_the_one_of_version_4(
    resolving: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, is_silent: bool
) -> None:
    # Nothing listens at ::1 there, or the double would be reached by it.
    groups["apns"]["endpoint"] = f"https://{TWO_ADDRESSES}:{apns.port}"
    with ExitStack() as stack:
        if is_silent:
            stack.enter_context(silence(apns.port))
        backend = stack.enter_context(Backend(resolving, tmp_path, groups))
        backend.register("apns", APPLE)
        for text in ("one", "two"):
            send = backend.json("POST", "/api/notifications", "pns=apns&to_tag=alice", text, user="bob")
            assert backend.outcome(send, "apns") == {"Success": 1}
        assert "push:" not in backend.log
