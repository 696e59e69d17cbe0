# SPDX-License-Identifier: Apache-2.0
"""Podman with a store of the tests' own: no registry is asked."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from child import Child
from deadline import wait_until
from mounts import mount, unmount

# Against waiting without end.
COMMAND_SECONDS = 600
# A machine of the tests may not raise its own limits, which Podman would do.
SETTINGS = """
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
[network]
network_backend = "netavark"
"""
# What may be written, of a host that is not the tests' machine: networks and sockets of its own.
OWN = "ip link set lo up && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /etc/tmpfiles.d && echo made && exec sleep infinity"
# What docs/operate/install-container.md has in its compose file.
CONFINED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]


class Podman:
    """While the `with` block lasts. Containers and images go with it."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        places = "".join(f'{name} = "{folder / name}"\n' for name in ("graphroot", "runroot"))
        files = {"CONTAINERS_STORAGE_CONF": f'[storage]\ndriver = "overlay"\n{places}', "CONTAINERS_CONF": SETTINGS}
        self.environment = os.environ | {name: str(folder / name) for name in files}
        for name, text in files.items():
            (folder / name).write_text(text)

    def __enter__(self) -> Self:
        # Control groups as they are on a machine that has the second version alone. The tests have mounts of their own.
        mount("cgroup2", Path("/sys/fs/cgroup"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.run("rm", "--all", "--force", "--time", "0", check=False)
            self.run("rmi", "--all", "--force", check=False)
        finally:
            unmount(Path("/sys/fs/cgroup"))

    def run(self, *arguments: str, input: str = "", check: bool = True) -> str:
        """Returns what was printed. Raises RuntimeError with that when it fails, if `check`."""
        done = _run(["podman", *arguments], self.environment, input, check)
        return done.stdout + done.stderr

    def why_not_here(self) -> str | None:
        """Why Podman can keep no images in the folder: it cannot on an overlay, which is what a container's own files are."""
        try:
            self.run("info")
        except RuntimeError as error:
            return f"Podman has no place for images here: {error}"
        return None

    def load(self, archive: Path) -> str:
        """The image's name."""
        (name,) = re.findall(r"^Loaded image: (\S+)$", self.run("load", "--input", str(archive)), flags=re.M)
        return str(name)

    def identify(self, image: str) -> str:
        return self.run("image", "inspect", "--format", "{{.Id}}", image).strip()

    @contextmanager
    def running(self, image: str, *options: str, arguments: tuple[str, ...] = ()) -> Iterator[str]:
        """A container without a network, whose name is returned. It is removed, and its volumes stay."""
        name = "tests-" + image.rpartition("/")[2].replace(":", "-")
        self.run("run", "--detach", "--name", name, "--network", "none", *CONFINED, *options, image, *arguments)
        try:
            yield name
        finally:
            self.run("rm", "--force", "--time", "0", name)

    def process(self, name: str) -> int:
        """Its first process, as this machine numbers it."""
        return int(self.run("inspect", "--format", "{{.State.Pid}}", name).strip())


class ContainerHost:
    """A host with that Podman, and a network and sockets of its own, while the `with` block lasts."""

    def __init__(self, podman: Podman, home: Path):
        self._environment = podman.environment | {"HOME": str(home)}
        self._log = home / "host.log"

    def __enter__(self) -> Self:
        self._child = Child(["unshare", "--net", "--mount", "sh", "-ec", OWN], self._log)
        wait_until(lambda: "made" in self._child.output, "there is a network")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run("podman", "rm", "--all", "--force", "--time", "0", check=False)
        self._child.stop(signal.SIGKILL)

    def run(self, *command: str, input: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Raises RuntimeError with the output when it fails, if `check`."""
        inside = ["nsenter", "--target", str(self._child.id), "--net", "--mount", "--", *command]
        return _run(inside, self._environment, input, check)


def _run(command: list[str], environment: dict[str, str], input: str, check: bool) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": COMMAND_SECONDS, "env": environment}
    done = subprocess.run(command, check=False, input=input, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done
