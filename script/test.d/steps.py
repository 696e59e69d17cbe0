# SPDX-License-Identifier: Apache-2.0
"""The steps of `script/test`, each described once: what it runs, what it needs, and how long it takes."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import swift_tests
from history import History
from results import Results, read_compiler, read_nothing, read_pytest, read_swift, read_unittest
from running import Command

CHECKS = "script/test.d/checks"
# With it Package.swift builds the tests that start programs, too.
BLACK_BOX = {"APP_BACKEND_BLACK_BOX": "1"}


class NoSuchTest(Exception):
    """No test of a step has a name that the filters match."""


@dataclass
class Context:
    """What one run of the script was asked for, and what its steps have made so far."""

    scratch: Path
    history: History
    filters: list[str] = field(default_factory=list)
    # Whether the bundle has the tests that start programs.
    black_box: bool = False
    with_browsers: bool = True
    # The executable that is shipped, once it is built.
    program: Path | None = None
    hashes: dict[str, str] = field(default_factory=dict)
    # The names of the steps that will run.
    planned: frozenset[str] = frozenset()

    def key(self, step: str) -> str:
        """What the history calls the step: what is built, and which tests there are, differs with the black box."""
        return f"{step} --all" if self.black_box and step in ("build", "modules") else step

    def matches(self, test: str) -> bool:
        """Whether a filter finds the test; without filters each does."""
        return not self.filters or any(re.search(pattern, test) for pattern in self.filters)

    def log(self, name: str) -> Path:
        return self.scratch / f"{name}.log"

    def named_program(self, step: str) -> dict[str, str]:
        """The variables that name the executable to a step, whose hash is kept for the closing line."""
        if self.program is None:
            raise RuntimeError(f"{step} comes before the release build")
        self.hashes[step] = hashlib.sha256(self.program.read_bytes()).hexdigest()
        return {"APP_BACKEND_PROGRAM": str(self.program.absolute()), "APP_BACKEND_TOOLS": str(swift_tests.BINARIES.absolute())}


# Browsers wait more than they work.
BROWSERS = ("--numprocesses", "3", "--dist", "loadfile")

Commands = Callable[[Context], list[Command]]


@dataclass(frozen=True)
class Step:
    """`seconds`: on two quiet cores, in a fresh clone; an estimate until this checkout has a measurement of its own.

    `after`: steps that must have passed. `cores`: how many it keeps busy; 0 for what waits for a network.
    `tests`: whether it has tests, which filters choose from.
    """

    name: str
    title: str
    seconds: int
    commands: Commands
    read: Callable[[Results, str], None] = read_nothing
    packages: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    cores: float = 1
    width: int = 1
    tests: bool = False


def plain(name: str, *words: str, **environment: str) -> Commands:
    return lambda context: [Command(list(words), context.log(name), environment)]


def build(context: Context) -> list[Command]:
    words = ["swift", "build", "--build-tests", "--explicit-target-dependency-import-check", "error"]
    return [Command(words, context.log("build"), BLACK_BOX if context.black_box else {})]


def swift_step(name: str, tests: list[str], context: Context, environment: dict[str, str]) -> list[Command]:
    """The tests in shares; a few that filters have chosen in one process. Raises NoSuchTest."""
    chosen = [test for test in tests if context.matches(test)]
    if not chosen:
        raise NoSuchTest(name)
    if context.filters and len(chosen) <= swift_tests.FEW:
        divided = [chosen]
    else:
        divided = swift_tests.shares(chosen, context.history.tests(context.key(name)))
    return [swift_command(share, f"{name}-{number}", context, environment) for number, share in enumerate(divided)]


def swift_command(tests: list[str], name: str, context: Context, environment: dict[str, str]) -> Command:
    """One process of the bundle, for these tests."""
    events = context.scratch / f"{name}.events"
    return Command(swift_tests.command(tests, events), context.log(name), environment, events=events, tests=len(tests))


def is_wire(test: str) -> bool:
    """Whether it goes through real servers."""
    return test.startswith("WireTests.")


def modules(context: Context) -> list[Command]:
    tests = [test for test in swift_tests.list_tests() if not is_wire(test)]
    return swift_step("modules", tests, context, {})


def stories(context: Context) -> list[Command]:
    # They need no second build: they start the executable of the debug build.
    return swift_step("stories", list(filter(is_wire, swift_tests.list_tests())), context, {})


def wire(context: Context) -> list[Command]:
    return swift_step("wire", list(filter(is_wire, swift_tests.list_tests())), context, context.named_program("wire"))


def pytest_step(name: str, *options: str) -> Commands:
    def commands(context: Context) -> list[Command]:
        events = context.scratch / f"{name}.events"
        environment = context.named_program(name) | {
            "APP_BACKEND_TEST_EVENTS": str(events),
            "PYTEST_ADDOPTS": "-p pytest_events",
            "PYTHONPATH": str(Path(__file__).with_name("pytest")),
        }
        words = [f"script/test-{name}", *options]
        if name == "browsers" and not context.with_browsers:
            words.append("--without-browsers")
        if context.filters:
            words += ["-k", " or ".join(context.filters)]
        return [Command(words, context.log(name), environment, events=events)]

    return commands


def client(context: Context) -> list[Command]:
    chosen = [word for pattern in context.filters for word in ("-k", pattern)]
    return [Command(["script/test-client", "--verbose", *chosen], context.log("client"))]


def prepare(context: Context) -> list[Command]:
    parts = [name for name in ("browsers", "doubles", "openapi", "examples", "install") if name in context.planned]
    script = 'status=0; for part; do "script/test-$part" --prepare || status=$?; done; exit $status'
    return [Command(["bash", "-c", script, "-", *parts], context.log("prepare"))]


FORMAT = "swift format lint --strict --recursive Package.swift Sources Tests".split()
UNITTEST = ("python3", "-B", "-m", "unittest", "discover", "--verbose", "--start-directory")
# In the order in which they begin, as far as others that they need have ended and a core is free.
STEPS = (
    Step("format", "format of the Swift sources", 8, plain("format", *FORMAT)),
    Step("words", "prose of pages and sources", 4, plain("words", *UNITTEST, "Tests/Documents"), read_unittest),
    Step("scripts", "scripts of the shell", 2, plain("scripts", CHECKS, "scripts")),
    Step("runner", "this script", 2, plain("runner", *UNITTEST, "Tests/Scripts"), read_unittest),
    Step("nginx", "nginx files", 2, plain("nginx", CHECKS, "nginx"), packages=("test",)),
    Step("units", "systemd units", 1, plain("units", CHECKS, "units"), packages=("units",)),
    Step("alerts", "alert rules", 1, plain("alerts", CHECKS, "alerts"), packages=("alerts",)),
    Step(
        "dependencies", "Swift packages and their versions", 10, plain("dependencies", CHECKS, "dependencies"),
        packages=("build",),
    ),
    Step("prepare", "packages of Python, clean Debian systems", 120, prepare, packages=("python",), cores=0),
    Step(
        "release", "release build of the executable", 180, plain("release", "script/build"), read_compiler,
        packages=("build",), after=("dependencies",), cores=2,
    ),
    Step(
        "build", "debug build, warnings as errors, imports checked", 180, build, read_compiler,
        packages=("build",), after=("dependencies",), cores=2,
    ),
    Step(
        "browsers", "Firefox, Chromium, and push services", 500, pytest_step("browsers", *BROWSERS), read_pytest,
        packages=("test", "browsers"), after=("prepare", "release"), tests=True,
    ),
    Step(
        "stories", "smoke tests through nginx, libfcgi and libcurl", 15, stories, read_swift,
        packages=("build", "test"), after=("build",), width=2, tests=True,
    ),
    Step(
        "install", "installation in clean Debian systems", 390, pytest_step("install"), read_pytest,
        packages=("install", "package"), after=("prepare", "release", "build"), tests=True, cores=0.5,
    ),
    Step(
        "wire", "all tests through nginx, libfcgi and libcurl", 120, wire, read_swift,
        packages=("build", "test", "hosting"), after=("build", "release"), width=2 * swift_tests.WIDTH, tests=True,
        cores=0.5,
    ),
    Step(
        "doubles", "fakes of push services, and independent clients that check them", 90, pytest_step("doubles"), read_pytest,
        packages=("test", "python"), after=("prepare", "release", "build"), tests=True, cores=0.5,
    ),
    Step(
        "openapi", "OpenAPI document, and the product driven by it", 90, pytest_step("openapi"), read_pytest,
        packages=("run", "test", "python", "generators"), after=("prepare", "release"), tests=True, cores=0.5,
    ),
    Step(
        "examples", "examples in each language, against the product", 60, pytest_step("examples"), read_pytest,
        packages=("run", "test", "python", "examples"), after=("prepare", "release"), tests=True,
    ),
    Step(
        "modules", "tests of all modules, and of the whole way in one process", 90, modules, read_swift,
        packages=("build", "test"), after=("build",), width=swift_tests.WIDTH, tests=True,
    ),
    Step(
        "client", "what an app imports", 60, client, read_unittest, packages=("build",), after=("build",), tests=True
    ),
)  # fmt: skip
BY_NAME = {step.name: step for step in STEPS}
DAILY = ("format", "words", "scripts", "runner", "nginx", "units", "dependencies", "build", "modules", "stories")
# `wire` has the tests of `stories`, too.
ALL = tuple(step.name for step in STEPS if step.name != "stories")
# Whose tests are part of the bundle only then.
NEED_BLACK_BOX = ("wire", "install", "doubles")
