# SPDX-License-Identifier: Apache-2.0
"""Chooses scenarios, runs them, and says what they have found. script/torture starts it."""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import disks
import hostile
import power
import processes
import removals
from oracle import Oracle, TortureError
from scenario import Scenario, Torture, build_faults

SCENARIOS: list[Scenario] = [*processes.SCENARIOS, *disks.SCENARIOS, *removals.SCENARIOS, *hostile.SCENARIOS]
USUAL_MINUTES = 10


def main() -> int:
    arguments = parse()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As an exception, so that everything is ended and taken down on the way out.
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if arguments.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name:10}  {scenario.tells}{' (root)' if scenario.needs_root else ''}")
        return 0
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    print(f"Seed {seed}; the folder is on {file_system(arguments.folder)}.", flush=True)
    with tempfile.TemporaryDirectory(prefix="torture-") as scratch:
        with tempfile.TemporaryDirectory(prefix="torture-", dir=arguments.folder) as folder:
            oracle = Oracle(arguments.oracle, Path(scratch))
            try:
                return run(arguments, oracle, Path(folder), Path(scratch), seed)
            finally:
                oracle.forget()


def parse() -> argparse.Namespace:
    usage = "script/torture [--minutes N] [--folder FOLDER] [--seed N] [--list | --power-cut | SCENARIO...]"
    parser = argparse.ArgumentParser(prog="script/torture", usage=usage, add_help=False)
    parser.add_argument("--oracle", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--minutes", type=float, default=USUAL_MINUTES)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--power-cut", action="store_true")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    arguments = parser.parse_args()
    known = {scenario.name for scenario in SCENARIOS}
    for name in arguments.scenarios:
        if name not in known:
            parser.error(f"there is no scenario {name}; script/torture --list names them")
    if arguments.power_cut and arguments.scenarios:
        parser.error("--power-cut has no scenarios")
    if not arguments.folder.is_dir():
        parser.error(f"{arguments.folder} is no folder")
    return arguments


def run(arguments: argparse.Namespace, oracle: Oracle, folder: Path, scratch: Path, seed: int) -> int:
    seconds = arguments.minutes * 60
    if arguments.power_cut:
        if os.geteuid() != 0:
            print("Power cuts need root: they mount file systems on loop devices.", file=sys.stderr)
            return 2
        with power.prepared(folder) as rig:
            return 0 if power.PowerCut(rig, oracle, scratch, seconds, random.Random(seed)).run() else 1
    chosen = [one for one in SCENARIOS if not arguments.scenarios or one.name in arguments.scenarios]
    possible = [one for one in chosen if one.is_possible]
    build_faults(scratch / "faults.so")
    results = [torture(one, oracle, folder, scratch, seconds / len(possible), seed) for one in possible]
    for one in chosen:
        if not one.is_possible:
            print(f"skipped {one.name}: only root can mount what it needs")
    return 0 if possible and all(results) else 1


def torture(
    scenario: Scenario, oracle: Oracle, folder: Path, scratch: Path, seconds: float, seed: int
) -> bool:
    """Whether nothing was lost."""
    chance = random.Random(f"{seed} {scenario.name}")
    run = Torture(scenario.name, oracle, folder, scratch, time.monotonic() + seconds, chance)
    trouble = None
    try:
        scenario.run(run)
    except (TortureError, TimeoutError, OSError, subprocess.SubprocessError) as error:
        trouble = f"{type(error).__name__}: {error}"
    finally:
        oracle.forget()
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    is_good = trouble is None and run.count.verdict.bad == 0
    print(f"{'ok    ' if is_good else 'FAILED'}  {scenario.name}: {run.count.text}", flush=True)
    for line in ([trouble] if trouble else []) + run.count.verdict.faults[:20]:
        print(f"        {line}", flush=True)
    return is_good


def file_system(folder: Path) -> str:
    command = ["stat", "--file-system", "--format=%T", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
