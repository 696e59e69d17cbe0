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
    """Says what will run, and about how long that takes."""
    if arguments.sanitizer:
        print(f"Steps: a build with the {arguments.sanitizer} sanitizer, modules. The first time some 15 minutes.", flush=True)
        return
    seconds = length(steps, context)
    known = all(context.history.seconds(context.key(step.name)) is not None for step in steps)
    source = "by the last runs here" if known else "on two quiet cores, and some minutes of downloads the first time"
    duration = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
    print(f"Steps: {', '.join(step.name for step in steps)}")
    if arguments.repeat:
        print(f"The tests {arguments.repeat} times, beside a process that keeps one core busy.", flush=True)
    else:
        print(f"About {duration} ({source}). script/test --list says how long each took.", flush=True)


def say_left_out(steps: list[Step], context: Context, arguments: Arguments) -> None:
    """Says what this machine or the caller does without, before the first step."""
    names = {step.name for step in steps} or {"modules"}
    found = []
    if names & {"modules", "wire"}:
        recordings = os.environ.get("AZURE_RECORDINGS")
        if not recordings:
            found.append("comparisons with recorded responses of the real hub; AZURE_RECORDINGS may name their folder")
        elif not Path(recordings).is_dir():
            found.append(f"comparisons with recorded responses of the real hub: AZURE_RECORDINGS names {recordings}, which is no folder")
        if not swift_tests.can_mount():
            found.append("tests that mount disks; they need root, and a machine that lets it mount")
    if "browsers" in names and not context.with_browsers:
        found.append("tests that need Firefox or Chromium (--without-browsers)")
    if os.geteuid() != 0 and (arguments.is_all or "install" in names):
        found.append("the installation; only root can make and boot Debian systems")
    if "scripts" in names and shutil.which("shellcheck") is None:
        found.append("shellcheck, which is not installed; bash alone parses the scripts")
    if names & {"nginx", "wire"} and not _has_debian_nginx():
        found.append("the snippet in the server of Debian's nginx package; /etc/nginx is not as that package has it")
    for line in found:
        print(f"Left out: {line}", flush=True)


def _has_debian_nginx() -> bool:
    script = ". script/nginx-layout && has_debian_nginx"
    return subprocess.run(["bash", "-c", script], capture_output=True, check=False).returncode == 0


def install_packages(steps: list[Step], context: Context) -> None:
    """Ends the script with 1 if this user may not install what is missing, or a variable names no browser, and says so."""
    for variable in ("FIREFOX", "CHROMIUM"):
        named = os.environ.get(variable)
        if named and context.with_browsers and "browsers" in context.planned and shutil.which(named) is None:
            sys.exit(f"script/test: ${variable} names {named}, which is no executable; --without-browsers does without.")
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
