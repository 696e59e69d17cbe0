# SPDX-License-Identifier: Apache-2.0
"""Clean Debian systems in folders: made once by debootstrap, and used through a layer that takes what is written."""

import hashlib
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from child import Child
from deadline import wait_until
from debian import HOST, Debian, architecture, mirror
from file_lock import file_lock
from mounts import bind, mount, mount_devices, unmount

# To be raised when `RootCache` makes something else of the same release.
RECIPE = 2
BOOTSTRAP = Path(__file__).with_name("bootstrap.sh")
BOOTSTRAP_SECONDS = 900
# A mirror may fail once, and need a moment.
ATTEMPTS, PAUSE_SECONDS = 3, 10
# After so long a kept system is removed.
UNUSED_SECONDS = 30 * 86400
COMMAND_SECONDS = 300
# The whole environment of a program.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    # For an answer of systemd's, which has 25 otherwise and a busy machine.
    "SYSTEMD_BUS_TIMEOUT": str(COMMAND_SECONDS),
}


@dataclass(frozen=True)
class Bases:
    """Two systems of a release. What is kept is never written to again: see `Root`."""

    # With nginx and systemd; apt has downloaded what the product needs, and needs no mirror to install it.
    clean: Path
    # With that installed.
    complete: Path


class RootCache:
    """Keeps what debootstrap has made."""

    def __init__(self, folder: Path):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def prepare(self, releases: Sequence[Debian]) -> dict[Debian, Bases]:
        """Those that are missing are made at the same time. Raises RuntimeError with the end of debootstrap's output."""
        # Another run may be making the very same, with all its attempts.
        seconds = len(releases) * (ATTEMPTS + 1) * BOOTSTRAP_SECONDS
        with file_lock(self._folder / "lock", "no other run makes roots", seconds):
            folders = {release: self._folder / _name(release) for release in releases}
            works = [_Bootstrap(release, folder) for release, folder in folders.items() if not folder.exists()]
            try:
                for work in works:
                    work.finish()
            finally:
                for work in works:
                    work.stop()
            self._forget_unused(list(folders.values()))
        return {release: Bases(folder / "clean", folder / "complete") for release, folder in folders.items()}

    def _forget_unused(self, used: list[Path]) -> None:
        """What was asked for before a list was changed is not asked for again, and is large."""
        for folder in used:
            _stamp(folder).touch()
        for stamp in self._folder.glob("*.used"):
            if time.time() - stamp.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(stamp.with_suffix(""), ignore_errors=True)
                stamp.unlink()


class _Bootstrap:
    """Runs debootstrap, and again when that fails. The folder gets its name when it is complete: one that was cut short is
    not believed."""

    def __init__(self, release: Debian, folder: Path):
        self._release, self._folder = release, folder
        self._part = folder.with_name(f"{folder.name}.part")
        self._log = folder.with_name(f"{release.suite}.log")
        self._log.unlink(missing_ok=True)
        self._start()

    def finish(self) -> None:
        for _ in range(1, ATTEMPTS):
            if self._has_worked():
                break
            time.sleep(PAUSE_SECONDS)
            self._start()
        if not self._has_worked():
            raise RuntimeError(f"debootstrap {self._release.suite}: {self._child.output[-2000:]}")
        self._part.rename(self._folder)

    def _start(self) -> None:
        shutil.rmtree(self._part, ignore_errors=True)
        lists = [",".join(HOST), ",".join(self._release.needed)]
        # With process numbers and mounts of its own, so that all it has started and mounted ends with it.
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", str(BOOTSTRAP)]
        self._child = Child([*command, str(self._part), self._release.suite, mirror(), *lists], self._log)

    def _has_worked(self) -> bool:
        wait_until(lambda: self._child.exit_status is not None, f"{self._folder.name} is made", BOOTSTRAP_SECONDS)
        return self._child.exit_status == 0

    def stop(self) -> None:
        self._child.stop(signal.SIGKILL)
        shutil.rmtree(self._part, ignore_errors=True)


class Root:
    """A Debian of one test's own, while the `with` block lasts: what is written is kept in memory, and forgotten."""

    def __init__(self, base: Path, folder: Path):
        """`base` is a folder of `Bases`, or another root's; `folder` is empty, or is not there yet."""
        self._base, self._folder = base, folder
        self.path = folder / "root"

    def __enter__(self) -> Self:
        mount("tmpfs", self._folder, "mode=755")
        try:
            layers = [self._folder / name for name in ("written", "work")]
            for layer in layers:
                layer.mkdir()
            written, work = layers
            mount("overlay", self.path, f"lowerdir={self._base}", f"upperdir={written}", f"workdir={work}")
            mount("proc", self.path / "proc")
            mount_devices(self.path / "dev")
            mount("tmpfs", self.path / "run", "mode=755", "nosuid", "nodev")
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def file(self, path: str) -> Path:
        """Where a file of the root lies for us."""
        return self.path / path.lstrip("/")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        file = self.file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode)
        file.chmod(mode)
        file.write_text(text)

    def show(self, folder: Path) -> None:
        """Lets the root see a folder of ours, under the same path."""
        bind(folder, self.file(str(folder)))

    def run(self, *command: str, input: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program of the root to its end. Raises RuntimeError with its output when it fails, if `check`."""
        return run(["chroot", str(self.path), *command], input, check)

    def _leave(self) -> None:
        unmount(self._folder)
        self._folder.rmdir()


def run(command: list[str], input: str, check: bool) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end in a clean environment. Raises RuntimeError with its output when it fails, if asked."""
    options = {"capture_output": True, "text": True, "timeout": COMMAND_SECONDS, "env": ENVIRONMENT}
    done = subprocess.run(command, input=input, check=False, **options)
    if check and done.returncode != 0:
        said = done.stdout[-4000:] + done.stderr[-4000:]
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{said}")
    return done


def _name(release: Debian) -> str:
    asked = json.dumps([RECIPE, architecture(), release.suite, HOST, release.needed])
    return f"{release.suite}-{hashlib.sha256(asked.encode()).hexdigest()[:12]}"


def _stamp(folder: Path) -> Path:
    return folder.with_suffix(".used")
