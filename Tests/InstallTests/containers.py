# SPDX-License-Identifier: Apache-2.0
"""Podman with a store of the tests' own, on a base image that is made of a Debian of theirs: no registry is asked."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from mounts import mount, unmount
from product import CHECKOUT

# Against waiting for ever: an image is two runs of apt.
COMMAND_SECONDS = 1800
# What Containerfile names, and a registry would have.
BASE = "docker.io/library/debian:bookworm-slim"
# A machine of the tests may not raise its own limits, which Podman would do.
LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]
# What docs/container.md has in its compose file.
CONFINED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]


class Podman:
    """While the `with` block lasts. Containers and images go with it."""

    def __init__(self, folder: Path):
        self._folder = folder

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
        places = ["--root", str(self._folder / "root"), "--runroot", str(self._folder / "run")]
        command = ["podman", *places, "--storage-driver", "overlay", "--cgroup-manager", "cgroupfs", *arguments]
        options = {"capture_output": True, "text": True, "timeout": COMMAND_SECONDS, "cwd": CHECKOUT}
        done = subprocess.run(command, check=False, input=input, **options)
        if check and done.returncode != 0:
            raise RuntimeError(f"podman {arguments}: status {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout + done.stderr

    def why_not_here(self) -> str | None:
        """Why Podman can keep no images in the folder: it cannot on an overlay, which is what a container's own files are."""
        try:
            self.run("info")
        except RuntimeError as error:
            return f"Podman has no place for images here: {error}"
        return None

    def import_base(self, system: Path) -> None:
        """`system` is a folder with a Debian."""
        archive = self._folder / "base.tar"
        archive.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-C", system, "-cf", archive, "."], check=True, timeout=COMMAND_SECONDS)
        self.run("import", "--quiet", str(archive), BASE)
        archive.unlink()

    def build(self, target: str, context: Path) -> None:
        """The image has the target's name."""
        kept = ["--isolation", "chroot", "--network", "host", "--pull=never"]
        self.run("build", *kept, "--target", target, "--tag", target, str(context))

    @contextmanager
    def running(self, image: str, *options: str, arguments: tuple[str, ...] = ()) -> Iterator[str]:
        """A container without a network, whose name is returned. It is removed, and its volumes stay."""
        name = f"tests-{image}"
        alone = ["--network", "none", "--cgroups", "disabled", *LIMITS]
        self.run("run", "--detach", "--name", name, *alone, *CONFINED, *options, image, *arguments)
        try:
            yield name
        finally:
            self.run("rm", "--force", "--time", "0", name)

    def process(self, name: str) -> int:
        """Its first process, as this machine numbers it."""
        return int(self.run("inspect", "--format", "{{.State.Pid}}", name).strip())


def context(package: Path, folder: Path) -> Path:
    """What the Containerfile copies from a checkout with that package."""
    for part in ("Containerfile", ".dockerignore"):
        folder.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / part, folder)
    for part in ("nginx", "script"):
        shutil.copytree(CHECKOUT / part, folder / part)
    (folder / ".build" / "package").mkdir(parents=True)
    shutil.copy(package, folder / ".build" / "package")
    return folder
