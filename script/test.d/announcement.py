# SPDX-License-Identifier: Apache-2.0
"""What is said and installed before the first step."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import swift_tests
from arguments import Arguments
from plan_run import length
from steps import Context, Step


def announce(steps: list[Step], context: Context, arguments: Arguments) -> None:
    """Says what will run, about how long that takes, and what this machine leaves out."""
    if steps and not arguments.repeat:
        seconds = length(steps, context)
        known = sum(context.history.seconds(step.name) is not None for step in steps)
        source = "by the last runs here" if known == len(steps) else "on two quiet cores, and some minutes of downloads the first time"
        duration = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
        print(f"Steps: {', '.join(step.name for step in steps)}")
        print(f"About {duration} ({source}). script/test --list says how long each took.")
    for line in left_out(steps, context):
        print(f"Left out: {line}")
    sys.stdout.flush()


def left_out(steps: list[Step], context: Context) -> list[str]:
    """What this machine or the caller does without."""
    names = {step.name for step in steps}
    found = []
    if names & {"modules", "wire"}:
        recordings = os.environ.get("AZURE_RECORDINGS")
        if not recordings:
            found.append("comparisons with recorded answers of the real hub; AZURE_RECORDINGS may name their folder")
        elif not Path(recordings).is_dir():
            found.append(f"comparisons with recorded answers of the real hub: AZURE_RECORDINGS names {recordings}, which is no folder")
        if not swift_tests.can_mount():
            found.append("tests that mount disks; they need root, and a machine that lets it mount")
    if "browsers" in names and not context.with_browsers:
        found.append("tests that need Firefox or Chromium (--without-browsers)")
    if ("install" in names and os.geteuid() != 0) or ("wire" in names and "browsers" in names and "install" not in names):
        found.append("the installation; only root can make and boot Debian systems")
    if "scripts" in names and shutil.which("shellcheck") is None:
        found.append("shellcheck, which is not installed; scripts are parsed by bash alone")
    return found


def install_packages(steps: list[Step], context: Context) -> None:
    """Ends the script with 1, and says how to install what is missing, where this user may not."""
    groups = {group for step in steps for group in step.packages} or {"build", "test"}
    if not context.with_browsers:
        groups -= {"browsers"}
    if os.geteuid() != 0:
        groups -= {"install", "package"}
    started = time.monotonic()
    command = '. script/packages; need_packages "$@"; need_swift'
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command, "-", *sorted(groups)], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    seconds = time.monotonic() - started
    if seconds >= 2:
        print(f"{'packages':<13} {seconds:5.0f} s  of this system", flush=True)
