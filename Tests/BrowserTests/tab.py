# SPDX-License-Identifier: Apache-2.0
"""What a person does with a page, whichever browser shows it."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from connection import Refused
from deadline import PATIENCE_SECONDS, wait_until

# What Chromium says of a question to a document that the page leaves.
WENT_AWAY = ("Inspected target navigated or closed", "Execution context was destroyed")

# Yields an element after it was put where a pointer can reach it.
REACH = """(() => {{
    const element = document.getElementById("{id}");
    element.scrollIntoView({{block: "center", behavior: "instant"}});
    return element;
}})()"""

# Notes whether the next press of the pointer hits the element, or its label, also where the page makes it again meanwhile.
# It says nothing where the browser tells the page of no press, as at a disabled button.
NOTE_HIT = """void (() => {{
    const press = window.press = {{}};
    const note = ({{ target }}) => {{
        press.isHit = Boolean(target.closest?.("#{id}")) || target.closest?.("label")?.control?.id === "{id}";
    }};
    for (const kind of ["pointerdown", "click"]) addEventListener(kind, note, {{ capture: true, once: true }});
}})()"""
MAXIMUM_PRESSES = 5

# Lets the page ask what became of a message sooner: after results.js' first pauses, which are of 1, 2 and 4 seconds. The others
# stay, so that a machine that stands still meanwhile loses no answer.
SOON = """{
    const [timer, pauses] = [window.setTimeout, { 1000: 50, 2000: 100, 4000: 400 }];
    const isOfResults = () => new Error().stack.split("\\n").slice(0, 5).some((line) => line.includes("/js/results.js:"));
    window.setTimeout = (work, time, ...more) => timer(work, time in pauses && isOfResults() ? pauses[time] : time, ...more);
}"""

# Takes the limit of twenty seconds in api.js away, so that the page waits while a test looks at it.
PATIENCE = "void (AbortSignal.timeout = () => new AbortController().signal)"

# Lets the console tell what the page's policy forbids. And notes each notification as soon as the worker says that it
# is up: after twenty seconds browsers take it down again, and a test may come later.
WATCH = """
addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
if (location.protocol === "https:") {
    const seen = new Map();
    window.seenNotifications = async () => {
        const worker = await navigator.serviceWorker.ready;
        for (const one of await worker.getNotifications()) seen.set(one.tag, { title: one.title, body: one.body });
        return [...seen.values()];
    };
    new BroadcastChannel("app-backend").onmessage = ({ data }) => {
        if (data?.about === "received") window.seenNotifications().catch(() => {});
    };
}"""


class ScriptError(Exception):
    """An expression of a test threw."""


class Tab(ABC):
    """A tab with storage, cookies and workers that no other tab shares."""

    def __init__(self) -> None:
        self._expected: list[str] = []

    @abstractmethod
    def decide(self, notifications: str) -> None:
        """Settles whether the page may show notifications: `granted`, `denied`, or `prompt` to be asked."""

    @abstractmethod
    def navigate(self, url: str) -> None:
        """Returns when the page is loaded."""

    @abstractmethod
    def evaluate(self, expression: str) -> Any:
        """The JavaScript expression's value, or what its promise yields. Raises ScriptError."""

    @abstractmethod
    def evaluate_apart(self, expression: str) -> Any:
        """As `evaluate`, in a world of its own: the page's policy does not reach it, nor does it reach the page's scripts."""

    def click(self, id: str) -> None:
        """By the pointer, in the middle of the element. Where the page has moved it away before it was hit, once more."""
        for _ in range(MAXIMUM_PRESSES):
            self.evaluate(NOTE_HIT.format(id=id))
            self._press_on(id)
            if not self._has_missed():
                return

    @abstractmethod
    def _press_on(self, id: str) -> None:
        """Presses the pointer once, where the middle of the element is."""

    def _has_missed(self) -> bool:
        """Whether another element was hit. A page that went to its next document was not missed."""
        try:
            return self.evaluate("window.press?.isHit") is False
        except Refused:
            return False

    @abstractmethod
    def touch(self, x: float, y: float) -> None:
        """A finger there, which leaves at once. In CSS pixels of what is seen."""

    @abstractmethod
    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        """Sets what the page has of the window, in CSS pixels."""

    @abstractmethod
    def on_new_document(self, script: str) -> None:
        """Runs a script in every page before the page's own."""

    def hold(self, *paths: str) -> None:
        """Lets the page's requests for these paths, or all of them, wait until `release`, and the page for their answers."""
        self.evaluate(PATIENCE)
        self._hold(*paths)

    @abstractmethod
    def _hold(self, *paths: str) -> None: ...

    @abstractmethod
    def held(self) -> list[tuple[str, str]]:
        """Method and address of each request that waits."""

    @abstractmethod
    def let_go(self, fails: bool = False) -> None:
        """What waits goes on, or fails as when the connection is lost. What is asked for later still waits."""

    @abstractmethod
    def release(self) -> None:
        """What waits goes on, and nothing waits any more."""

    @abstractmethod
    def cut_off(self, is_offline: bool) -> None:
        """Takes the network away from the page, or gives it back."""

    @abstractmethod
    def press(self, key: str) -> None:
        """A key: a character, or `Tab`, `Enter`, `Backspace`, `Escape`, `ArrowDown`."""

    @abstractmethod
    def screenshot(self, file: Path) -> None:
        """Of the whole page, as PNG."""

    @property
    def complaints(self) -> list[str]:
        """Failed scripts, errors on the console, and what a policy forbade; without what is expected."""
        return [one for one in self._complaints() if not any(text in one for text in self._expected)]

    def expect_complaint(self, text: str) -> None:
        """Lets complaints that hold this text pass."""
        self._expected.append(text)

    @abstractmethod
    def _complaints(self) -> list[str]: ...

    @abstractmethod
    def close(self) -> None:
        """Forgets the tab's storage too."""

    def think(self) -> None:
        """As long as it takes to read a question: a button that asks once more takes no sooner press for an answer."""
        before = self.evaluate("performance.now()")
        self.wait_until(f"performance.now() > {before} + 600")

    def write(self, text: str) -> None:
        """Presses one key after the other, wherever the focus is."""
        for character in text:
            self.press(character)

    def fill(self, id: str, text: str) -> None:
        """Replaces a field's text as a person does who clicks into it."""
        self.click(id)
        self.evaluate(f'document.getElementById("{id}").select()')
        self.press("Backspace")
        self.write(text)

    def wait_until(self, expression: str, seconds: float = PATIENCE_SECONDS) -> Any:
        """Waits until the expression is true, also of the document that the page goes to meanwhile. Raises TimeoutError."""
        return wait_until(lambda: self._answer(expression), expression, seconds)

    def ask_until(self, condition: str) -> Any:
        """As `wait_until`. Until then the page asks the server, as it does when a person comes back to it, and not after its pause.

        Each second once more: what is true may change after it was asked.
        """
        focus = "(window.focused = performance.now(), dispatchEvent(new Event('focus')))"
        return self.wait_until(f"(performance.now() < (window.focused ?? -Infinity) + 1000 || {focus}, {condition})")

    def _answer(self, expression: str) -> Any:
        """None, where the document went away before it had one."""
        try:
            return self.evaluate(expression)
        except Refused as error:
            if not any(words in str(error) for words in WENT_AWAY):
                raise
            return None
