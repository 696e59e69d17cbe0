# SPDX-License-Identifier: Apache-2.0
"""The arguments of `script/test`."""

import re
from dataclasses import dataclass, field

from steps import BY_NAME

SANITIZERS = ("thread", "address")


class UsageError(Exception):
    """The arguments make no sense; says which."""


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
        if self.repeat and not (self.filters or self.steps):
            raise UsageError("--repeat needs a step or a filter")
        if self.sanitizer and (self.steps or self.is_all or self.repeat):
            raise UsageError("--sanitize takes a filter, and no step, --all or --repeat")
