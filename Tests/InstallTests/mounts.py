# SPDX-License-Identifier: Apache-2.0
"""File systems that are mounted for a while."""

import os
import stat
import subprocess
from pathlib import Path

MOUNT_SECONDS = 180
# Name, major and minor number: what every program may expect (Filesystem Hierarchy Standard 3.0, section 6.1.3).
DEVICES = [("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0)]


def mount(kind: str, target: Path, *options: str, source: str = "none") -> None:
    """Makes the folder if need be. Raises CalledProcessError."""
    target.mkdir(parents=True, exist_ok=True)
    _run("mount", "--types", kind, "--options", ",".join(options or ["defaults"]), source, str(target))


def bind(source: Path, target: Path) -> None:
    """Shows a folder, without what is mounted below it, in a second place. Raises CalledProcessError."""
    target.mkdir(parents=True, exist_ok=True)
    _run("mount", "--bind", str(source), str(target))


def unmount(folder: Path) -> None:
    """With everything below. Lazily: what a process still uses goes with that process. Raises CalledProcessError."""
    _run("umount", "--recursive", "--lazy", str(folder))


def mount_devices(folder: Path) -> None:
    """A /dev with what programs, and systemd's PrivateDevices=, look for."""
    mount("tmpfs", folder, "mode=755", "nosuid")
    for name, major, minor in DEVICES:
        os.mknod(folder / name, stat.S_IFCHR, os.makedev(major, minor))
        (folder / name).chmod(0o666)
    mount("devpts", folder / "pts", "newinstance", "ptmxmode=0666", "mode=620", "gid=5", "nosuid", "noexec")
    mount("tmpfs", folder / "shm", "mode=1777", "nosuid", "nodev")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in links.items():
        (folder / name).symlink_to(target)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=MOUNT_SECONDS)
