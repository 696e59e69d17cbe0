# SPDX-License-Identifier: Apache-2.0
"""Swift's compiler, asked about Apple's systems from Linux.

The textual interface of Swift's own library says of each name since which of Apple's systems it is there, also in a toolchain for
Linux. Made into a module for an Apple target, it lets the compiler find whatever an older system lacks. Apple's frameworks are
not here: for them there are stand-ins.
"""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAND_INS = Path(__file__).parent / "StandIns"
# Kept, because it takes most of a minute for each system.
CACHE = ROOT / ".build" / "swift-app"
HTTP_TYPES = ROOT / ".build" / "checkouts" / "swift-http-types"
# What an app gets with DeviceClient, each behind what it needs.
ROOMS = ["Text", "JSON", "HTTP", "DeviceAPI", "DeviceClient"]
LIBRARY = ["Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing"]
# As SwiftPM calls it with this package.
FLAGS = ["-swift-version", "6", "-package-name", "app_backend", "-parse-as-library"]


class Refused(Exception):
    """What the compiler has said."""


def run(*command: str | Path, seconds: int = 600) -> str:
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode != 0:
        raise Refused(done.stdout + done.stderr)
    return done.stdout + done.stderr


def sources(room: str) -> list[Path]:
    return sorted((ROOT / "Sources" / room).rglob("*.swift"))


def http_types() -> tuple[list[Path], list[str]]:
    """Its files, and the names of systems that its manifest gives the compiler."""
    manifest = (HTTP_TYPES / "Package.swift").read_text()
    names = re.findall(r'"(HTTPTypes [\d.]+)": "([^"]+)"', manifest)
    flags = [flag for name in names for flag in ("-enable-experimental-feature", f"AvailabilityMacro={': '.join(name)}")]
    return sorted((HTTP_TYPES / "Sources" / "HTTPTypes").rglob("*.swift")), [
        *flags, "-enable-upcoming-feature", "InternalImportsByDefault",
    ]


def oldest_systems() -> dict[str, str]:
    """The targets of the oldest systems that Package.swift promises: `ios` by `arm64-apple-ios15.0`."""
    promised = re.findall(r"\.(iOS|macOS)\(\.v(\d+)\)", (ROOT / "Package.swift").read_text())
    names = {"iOS": "ios", "macOS": "macosx"}
    return {names[name]: f"arm64-apple-{names[name]}{version}.0" for name, version in promised}


def resources() -> Path:
    return Path(json.loads(run("swiftc", "-print-target-info"))["paths"]["runtimeResourcePath"])


def interfaces(room: str) -> Iterator[Path]:
    """What the toolchain has of a module of Swift's library, as text."""
    return (resources() / "linux" / f"{room}.swiftmodule").glob("*-linux-gnu.swiftinterface")


def has_interfaces() -> bool:
    return all(any(interfaces(room)) for room in LIBRARY)


class AppleSystem:
    """One of Apple's systems, as far as type checking needs it."""

    def __init__(self, name: str, target: str) -> None:
        self.name, self.target = name, target
        self._resources = resources()
        texts = {room: self._interface(room) for room in LIBRARY}
        self.folder = CACHE / f"{target}-{hashlib.sha256(''.join(texts.values()).encode()).hexdigest()[:16]}"
        place = {"ios": "iphoneos", "macosx": "macosx"}[name]
        for room, text in texts.items():
            file = self.folder / "resources" / place / f"{room}.swiftmodule" / f"arm64-apple-{_plain(name)}.swiftinterface"
            # Also after a run that was ended while it wrote.
            if not file.exists() or file.read_text() != text:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        for shared in ("shims", "clang"):
            link = self.folder / "resources" / shared
            if not link.is_symlink():
                link.symlink_to(self._resources / shared)
        (self.folder / "no-sdk").mkdir(exist_ok=True)

    def _interface(self, room: str) -> str:
        text = next(interfaces(room)).read_text()
        # The library itself is made for newer systems, and says so.
        text = re.sub(r"-target \S+", f"-target {self.target} -disable-availability-checking", text, count=1)
        # Nothing is run.
        text = text.replace(" -O ", " -Onone ", 1)
        # Numbers of 80 bits are calls of C that are not there on this processor.
        text = re.sub(r"_stdlib_(?:remainder|squareRoot)l\([^)]*\)", "0", text)
        return "\n".join(_without_empty_deployments(text.split("\n")))

    def module(self, name: str, files: list[Path], into: Path, *flags: str) -> None:
        """Type-checks the files as a module, and leaves it for those that import it.

        Raises `Refused`.
        """
        said = run(
            "swiftc", "-frontend", "-emit-module", "-target", self.target, "-disable-objc-interop",
            "-resource-dir", self.folder / "resources", "-sdk", self.folder / "no-sdk",
            "-module-cache-path", self.folder / "modules", "-I", into, *FLAGS, *flags,
            "-module-name", name, "-o", into / f"{name}.swiftmodule", *files,
        )  # fmt: skip
        if name in ROOMS and "warning:" in said:
            raise Refused(said)


def _plain(name: str) -> str:
    return {"macosx": "macos"}.get(name, name)


def _without_empty_deployments(lines: list[str]) -> list[str]:
    """A function that is brought to older systems has a body. The interface leaves out those that do nothing here."""
    kept = []
    for number, line in enumerate(lines):
        if line.lstrip().startswith("@backDeployed"):
            declaration = next(one for one in lines[number + 1 :] if re.search(r"\b(?:func|var|init|subscript)\b", one))
            if not declaration.rstrip().endswith("{"):
                continue
        kept.append(line)
    return kept


def linux_program(into: Path) -> Path:
    """A program of Program/ with the stand-ins for Security and UserNotifications, and with DeviceClient as it is with these."""
    files, flags = http_types()
    parts = [("HTTPTypes", files, flags)]
    parts += [(name, [STAND_INS / f"{name}.swift"], []) for name in ("Security", "UserNotifications")]
    parts += [(room, sources(room), []) for room in ROOMS]
    for name, its_files, its_flags in parts:
        run(
            "swiftc", "-emit-module", "-emit-module-path", into / f"{name}.swiftmodule", "-wmo", "-c",
            "-o", into / f"{name}.o", "-I", into, *FLAGS, *its_flags, "-module-name", name, *its_files,
        )  # fmt: skip
    program = into / "program"
    objects = [into / f"{name}.o" for name, _, _ in parts]
    flags = [flag for flag in FLAGS if flag != "-parse-as-library"]
    folder = Path(__file__).parent / "Program"
    run("swiftc", "-o", program, "-I", into, *flags, "-module-name", "Program", *sorted(folder.glob("*.swift")), *objects)
    return program
