# SPDX-License-Identifier: Apache-2.0
"""Scenarios in which the disk fills, fails, or may not be written; and copies of it, and hands on it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from mounts import mounted, mounted_image
from oracle import TortureError, Verdict, Writer
from scenario import Scenario, Torture
from waiting import wait_until

FILLINGS = 3  # of one disk
REFUSALS = 40  # after which it counts as full
PROMISES = 40  # after which it counts as working again
FILL_SECONDS = 120
POISONED = 74  # exit status of a writer whose store broke off
COPY_SECONDS = 120
COPY_TRIES = 40
COPIES = 3  # of one store
IMAGE_BYTES = 24 << 20
BALLAST_BYTES = 8 << 20
INODES = 4_000


def full(torture: Torture) -> None:
    for folder in torture.rounds():
        kind = torture.random.choice(["tmpfs", "ext4"])
        torture.count.happened(kind)
        with small_disk(torture, folder, kind, []) as disk:
            exhaust(torture, disk / "store", lambda: fill_bytes(disk / "ballast"), "! ")


def inodes(torture: Torture) -> None:
    for folder in torture.rounds():
        kind = torture.random.choice(["tmpfs", "ext4"])
        torture.count.happened(kind)
        with small_disk(torture, folder, kind, ["-N", str(INODES)]) as disk:
            (disk / "fillers").mkdir()
            # A store has so few files that it may go on as if nothing were: what it cannot tidy it leaves for later.
            exhaust(torture, disk / "store", lambda: fill_names(disk / "fillers"), "")


def small_disk(torture: Torture, folder: Path, kind: str, options: list[str]):
    target = folder / "disk"
    if kind == "tmpfs":
        limit = f",nr_inodes={INODES}" if options else ""
        return mounted(target, "tmpfs", f"size={IMAGE_BYTES},mode=0700{limit}")
    return mounted_image(folder / "image", target, "ext4", IMAGE_BYTES, options)


def fill_bytes(ballast: Path) -> Callable[[], None]:
    """Leaves no room but in blocks that are begun. Returns what makes room again."""
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
    return ballast.unlink


def fill_names(folder: Path) -> Callable[[], None]:
    try:
        for number in range(IMAGE_BYTES):
            (folder / str(number)).touch()
    except OSError:
        pass
    return lambda: remove_all(folder)


def remove_all(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def exhaust(torture: Torture, store: Path, fill: Callable[[], Callable[[], None]], mark: str) -> None:
    """Writers are refused (`mark`), go on when there is room again, in the same process, and have lost nothing."""
    options = [*torture.sizes(), "--tolerant"]
    writers = torture.oracle.start_all(2, store, *options)
    for _ in range(FILLINGS):
        torture.moment(0.1, 0.6)
        sizes = {writer: writer.size for writer in writers}
        make_room = fill()
        try:
            for writer in writers:
                wait_for(writer, mark, REFUSALS, sizes[writer], "the disk is full")
        finally:
            make_room()
        torture.count.happened("times full")
        sizes = {writer: writer.size for writer in writers}
        for writer in writers:
            wait_for(writer, "+ ", PROMISES, sizes[writer], "writes resume")
    torture.oracle.kill_all()
    torture.count.add(torture.oracle.compare(store, *options[:2]))


def wait_for(writer: Writer, mark: str, times: int, since: int, what: str) -> None:
    wait_until(lambda: writer.has_said(mark, since, times), what, FILL_SECONDS)


def read_only(torture: Torture) -> None:
    """The folder is shown read-only in its own place, and not any more."""
    for folder in torture.rounds():
        store, shown = folder / "store", folder / "shown"
        options = [*torture.sizes(), "--tolerant"]
        writers = torture.oracle.start_all(2, store, *options)
        for _ in range(FILLINGS):
            torture.moment(0.05, 0.3)
            sizes = {writer: writer.size for writer in writers}
            # In two steps: what a writer has opened through a mount keeps it from being made read-only.
            with mounted(shown, "none", "bind,ro", source=str(store)), mounted(store, "none", "bind", source=str(shown)):
                for writer in writers:
                    wait_for(writer, "! ", REFUSALS, sizes[writer], "writes are refused")
            torture.count.happened("times read-only")
            sizes = {writer: writer.size for writer in writers}
            for writer in writers:
                wait_for(writer, "+ ", PROMISES, sizes[writer], "writes resume")
        torture.oracle.kill_all()
        torture.count.add(torture.oracle.compare(store, *options[:2]))


def flush(torture: Torture) -> None:
    """fdatasync and fsync fail: no more writes are acknowledged, each process ends, the next one goes on."""
    with torture.faults() as faults:
        for store in torture.rounds():
            options = [*torture.sizes(), *torture.owners()]
            for _ in range(FILLINGS):
                writers = torture.oracle.start_all(2, store, *options, environment=faults.environment)
                torture.moment(0.05, 0.3)
                faults.begin("flush")
                for writer in writers:
                    if writer.wait(FILL_SECONDS) != POISONED:
                        raise TortureError(f"a writer has not ended as poisoned: {writer.complaints}")
                    torture.count.happened("failed flushes")
                faults.end("flush")
            torture.count.add(torture.oracle.compare(store, *options[:2]))


def copy(torture: Torture) -> None:
    """What was promised before a copy began is in it, as it was then or became meanwhile, and every index finds it."""
    for folder in torture.rounds():
        store = folder / "store"
        options = [*torture.sizes(), *torture.owners(), *torture.tears()]
        writers = torture.oracle.start_all(2, store, *options)
        copies: list[tuple[Path, list[str]]] = []
        for number in range(COPIES):
            torture.moment(0.05, 0.3)
            promised = [writer.promised_so_far() for writer in writers]
            program = torture.random.choice(["cp", "rsync"])
            target = folder / f"copy-{number}"
            make_copy(program, store, target)
            torture.count.happened(f"by {program}")
            copies.append((target, promised))
        torture.oracle.kill_all()
        found = Verdict()
        for target, promised in copies:
            found.add(torture.oracle.compare(target, *options[:2], promised=promised))
        torture.count.add(found)


def make_copy(program: str, store: Path, target: Path) -> None:
    """As docs/operate/backup-and-restore.md tells: until the program has no complaint about a file of the store."""
    target.mkdir(mode=0o700)
    command = ["cp", "-a", f"{store}/.", str(target)]
    if program == "rsync":
        command = ["rsync", "-a", "--exclude=*.tmp", "--exclude=/lock/", f"{store}/", str(target)]
    for _ in range(COPY_TRIES):
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=COPY_SECONDS, check=False)
        escaped = [line for line in outcome.stderr.splitlines() if ".jsonl" in line and ".tmp" not in line]
        if not escaped:
            return
    raise TortureError(f"{program} never had a copy without a gap: {escaped[0]}")


def hands(torture: Torture) -> None:
    """Of each damaged line at most what it said is lost, in whatever file; what an index lost comes back."""
    for store in torture.rounds():
        options = torture.sizes()
        torture.oracle.start_all(2, store, *options)
        torture.moment(0.1, 0.5)
        torture.oracle.kill_all()
        before = torture.oracle.compare(store, *options)
        damaged = damage(torture, store)
        torture.count.happened("damaged lines", damaged)
        after = torture.oracle.compare(store, *options, "--reindex")
        if before.bad == 0 and after.bad <= damaged:
            torture.count.happened("records that cost", after.bad)
            after = Verdict(acknowledged=after.acknowledged, visible=after.visible)
        after.add(Verdict(lost=before.lost, torn=before.torn, wrong=before.wrong, faults=before.faults))
        torture.count.add(after)


def damage(torture: Torture, store: Path) -> int:
    """Hurts a line each of some files. Returns of how many."""
    files = [path for path in store.rglob("*.jsonl") if path.stat().st_size and "quarantine" not in path.parts]
    chosen = torture.random.sample(sorted(files), k=min(len(files), 12))
    return sum(hurt(torture, path) for path in chosen)


def hurt(torture: Torture, path: Path) -> int:
    lines = path.read_bytes().split(b"\n")[:-1]
    index = torture.random.randrange(len(lines))
    line = lines[index]
    match torture.random.choice(["quote", "zeros", "cut", "half", "edit"]):
        case "quote":
            lines[index] = line.replace(b'"', b"", 1)
        case "zeros":
            lines[index] = line[:8] + bytes(len(line) - 8)
        case "cut":
            lines[index] = line[: len(line) // 2]
        case "half":
            path.write_bytes(b"".join(one + b"\n" for one in lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
            return 1
        case "edit":
            lines[index] = line.replace(b'":', b'" : ')
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    return 1


SCENARIOS = [
    Scenario("full", "a small disk that others fill, and empty", full, needs_root=True),
    Scenario("inodes", "a disk on which no name has room any more, and then has", inodes, needs_root=True),
    Scenario("read-only", "the folder becomes read-only under the writers, and writable again", read_only, needs_root=True),
    Scenario("flush", "flushes that fail: every process ends, and the next one goes on", flush),
    Scenario("copy", "cp -a and rsync of a store in use, opened and compared", copy),
    Scenario("hands", "lines broken, zeroed, cut and edited, a file each", hands),
]
