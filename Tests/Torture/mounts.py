# SPDX-License-Identifier: Apache-2.0
"""File systems that are mounted for a while, in mounts of script/torture's own: the kernel takes down what is left."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60


@contextmanager
def mounted(target: Path, kind: str, options: str, source: str = "none") -> Iterator[Path]:
    """The target, with a file system of that kind in it. `loop` among the options gives its device back at the end."""
    target.mkdir(mode=0o700, exist_ok=True)
    run("mount", "--types", kind, "--options", options, source, str(target))
    if "bind" in options.split(",") and "ro" in options.split(","):
        # A bind mount takes its options in a second call (mount(8)).
        run("mount", "--options", "remount,ro,bind", str(target))
    try:
        yield target
    finally:
        take_down(target)


@contextmanager
def mounted_image(image: Path, target: Path, kind: str, size: int, options: list[str]) -> Iterator[Path]:
    """The target, with a new file system in a file of that many bytes."""
    make_image(image, kind, size, options)
    with mounted(target, kind, "loop", source=str(image)) as made:
        made.chmod(0o700)
        yield made


def make_image(image: Path, kind: str, size: int, options: list[str]) -> None:
    with image.open("wb") as file:
        file.truncate(size)
    quiet = {"ext4": ["-q", "-F"], "xfs": ["-q", "-f"]}[kind]
    run(f"mkfs.{kind}", *quiet, *options, str(image))


def take_down(target: Path) -> None:
    """Lazily only when a process is still in it: a process that goes on would write to a disk that is gone."""
    if subprocess.run(["umount", str(target)], capture_output=True, timeout=SECONDS, check=False).returncode:
        run("umount", "--lazy", str(target))


def run(*command: str) -> None:
    """Raises CalledProcessError, with what the program said."""
    subprocess.run(command, check=True, timeout=SECONDS, capture_output=True, text=True)
