# SPDX-License-Identifier: Apache-2.0
"""The arguments of `script/test`."""

import difflib
import re
from dataclasses import dataclass, field

from results import read_swift
from steps import BY_NAME

SANITIZERS = ("thread", "address")
# A word of an expression of pytest's option -k.
PYTEST_WORD = r"(?!(?:and|or|not)$)(\w|[:+.\[\]/-])+"


class UsageError(Exception):
    """The message names the argument and the fault."""


@dataclass
class Arguments:
    """`filters`: regular expressions on `Module.Suite/test` for Swift's tests, words of the name for Python's."""

    steps: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    is_all: bool = False
    lists: bool = False
    repeat: int = 0
    with_browsers: bool = True
    sanitizer: str | None = None

    @classmethod
    def parse(cls, words: list[str]) -> "Arguments":
        made = cls()
        rest = list(words)
        while rest:
            made._take(rest.pop(0), rest)
        made._check()
        return made

    def _take(self, word: str, rest: list[str]) -> None:
        if word == "--all":
            self.is_all = True
        elif word == "--list":
            self.lists = True
        elif word == "--without-browsers":
            self.with_browsers = False
        elif word == "--repeat":
            number = rest.pop(0) if rest else ""
            if not re.fullmatch(r"[1-9]\d{0,5}", number):
                raise UsageError(f"--repeat needs a number from 1 to 999999, not {number!r}")
            self.repeat = int(number)
        elif word == "--sanitize":
            self.sanitizer = rest.pop(0) if rest else ""
            if self.sanitizer not in SANITIZERS:
                raise UsageError(f"--sanitize needs {' or '.join(SANITIZERS)}, not {self.sanitizer!r}")
        elif word.startswith("-"):
            raise UsageError(f"there is no option {word}; --help lists them")
        elif word in BY_NAME:
            self.steps.append(word)
        elif near := difflib.get_close_matches(word, BY_NAME, n=1, cutoff=0.8):
            raise UsageError(f"there is no step {word}; {near[0]} is one. As a filter it is ({word})")
        else:
            self.filters.append(self._pattern(word))

    @staticmethod
    def _pattern(word: str) -> str:
        try:
            re.compile(word)
        except re.error as error:
            raise UsageError(f"{word!r} is neither a step nor a regular expression: {error}") from None
        return word

    def _check(self) -> None:
        if self.is_all and self.steps:
            raise UsageError(f"--all is every step; {' '.join(self.steps)} is one of them")
        if self.filters and self.steps and not any(BY_NAME[name].tests for name in self.steps):
            names = ", ".join(step.name for step in BY_NAME.values() if step.tests)
            raise UsageError(f"{' '.join(self.filters)}: no step, and {' '.join(self.steps)} has no tests to choose from; {names} have")
        by_word = [name for name in self.steps if BY_NAME[name].read is not read_swift and BY_NAME[name].tests] or (["--all"] if self.is_all else [])
        odd = [word for word in self.filters if not re.fullmatch(PYTEST_WORD, word)]
        if by_word and odd:
            raise UsageError(f"{odd[0]!r}: {', '.join(by_word)} takes a part of a test's name, not a regular expression")
        if self.repeat and not (self.filters or any(BY_NAME[name].tests for name in self.steps)):
            raise UsageError(f"--repeat needs a filter, or a step that has tests: {', '.join(step.name for step in BY_NAME.values() if step.tests)}")
        if self.sanitizer and (self.steps or self.is_all or self.repeat):
            raise UsageError("--sanitize takes a filter, and no step, --all or --repeat")
