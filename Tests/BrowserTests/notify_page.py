# SPDX-License-Identifier: Apache-2.0
"""The page in the words of who uses it. Elements are found by their ids, which are part of the page's contract."""

import contextlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from account import FINAL_STATES, Account
from connection import Refused
from tab import Tab

PLATFORMS = ("wns", "gcm", "apns", "browser")
SUBSCRIPTION = "navigator.serviceWorker.ready.then(one => one.pushManager.getSubscription())"
IS_LISTED = "document.getElementById('settings').ariaBusy === 'false'"
IS_ENABLED = "(one => !one.disabled && one.ariaBusy !== 'true')(document.getElementById('{id}'))"
RESULTS = 'document.querySelectorAll("#sendResults li")'


@dataclass(frozen=True)
class Line:
    """Of the results: `label` is the platform, `kind` the state; of what was received: `kind` alone."""

    kind: str
    text: str
    label: str = ""


AnyTab = TypeVar("AnyTab", bound=Tab)


class NotifyPage(Generic[AnyTab]):
    def __init__(self, tab: AnyTab, origin: str):
        self.tab, self._origin = tab, origin

    def open(self) -> Self:
        self.tab.navigate(f"{self._origin}/")
        return self

    @property
    def state(self) -> str:
        return str(self.tab.evaluate("document.body.dataset.state"))

    def await_state(self, *states: str) -> str:
        """Raises TimeoutError."""
        return str(self.tab.wait_until(f"{json.dumps(states)}.find(s => s === document.body.dataset.state)"))

    def text(self, id: str) -> str:
        return str(self.tab.evaluate(f'document.getElementById("{id}").textContent.trim()'))

    def is_enabled(self, id: str) -> bool:
        return bool(self.tab.evaluate(IS_ENABLED.format(id=id)))

    def await_enabled(self, id: str) -> None:
        """Raises TimeoutError."""
        self.tab.wait_until(IS_ENABLED.format(id=id))

    # Log in

    def log_in(self, account: Account, state: str = "registered") -> None:
        self._try_to_log_in(account.name, account.user.password)
        self.await_state(state)

    def fail_to_log_in(self, account: Account) -> None:
        """Returns when the page has said that the password is wrong."""
        self._try_to_log_in(account.name, "wrong")
        self.tab.wait_until('document.getElementById("password").ariaInvalid === "true"')

    def _try_to_log_in(self, name: str, password: str) -> None:
        self.await_enabled("login")
        self.tab.fill("username", name)
        self.tab.fill("password", password)
        self.tab.click("login")

    def log_out(self) -> None:
        self.open_settings()
        self.tab.click("logout")
        self.await_state("token", "silent", "blocked", "idle")

    def open_settings(self) -> None:
        """Returns when the user's own are listed. Raises TimeoutError."""
        self.tab.click("showSettings")
        self.tab.wait_until(f'{IS_LISTED} && document.querySelectorAll("#sessions li").length > 0')

    # Send

    def unfold(self) -> None:
        """Shows all of the form for a new message, which is loaded for the first one. Raises TimeoutError."""
        # A page that has just been opened shows the way to it when it knows its user.
        form, way = (f'document.getElementById("{id}")' for id in ("sendForm", "compose"))
        self.tab.wait_until(f"!{form}.hidden || {way}.offsetParent !== null")
        if self.tab.evaluate('document.getElementById("sendForm").hidden'):
            # A page that has kept a draft unfolds by itself, and then the way to it is not there to be clicked.
            with contextlib.suppress(Refused):
                self.tab.click("compose")
            self.tab.wait_until('!document.getElementById("sendForm").hidden')

    def write(self, recipient: str, message: str) -> None:
        self.unfold()
        self.tab.fill("recipient", recipient)
        self.tab.fill("message", message)

    def choose(self, id: str, is_on: bool) -> None:
        """Switches a platform, or `secure`, on or off."""
        self.unfold()
        if id != "secure" and not self.tab.evaluate('document.getElementById("where").open'):
            if self.tab.evaluate(f'document.getElementById("{id}").checked') == is_on:
                return
            self.tab.click("whereNow")
        if self.tab.evaluate(f'document.getElementById("{id}").checked') != is_on:
            self.tab.click(id)

    def send(
        self, recipient: Account, message: str, secure: bool = False, platforms: Collection[str] = ("browser",)
    ) -> list[Line]:
        """Sends to these platforms, a secret to all, and returns the results as soon as they are final."""
        self.choose("secure", secure)
        if not secure:
            for platform in PLATFORMS:
                self.choose(platform, platform in platforms)
        self.write(recipient.name, message)
        # Those of the message before must not be taken for this one's.
        self.tab.evaluate(f"{RESULTS}.forEach(line => {{ line.dataset.former = true; }})")
        self.tab.click("send")
        return self.await_results()

    def await_results(self) -> list[Line]:
        """Raises TimeoutError."""
        lines = f"[...{RESULTS}].filter(line => !line.dataset.former)"
        is_final = f"{json.dumps(FINAL_STATES)}.includes(line.dataset.state)"
        self.tab.wait_until(f"{lines}.length > 0 && {lines}.every(line => {is_final})")
        return self._lines("sendResults", "state", "platform")

    # Receive

    @property
    def received(self) -> list[Line]:
        """Newest first."""
        return self._lines("received", "kind", "kind")

    def await_received(self, text: str) -> Line:
        """The newest that holds the text. Raises TimeoutError."""
        has_it = f"line => line.textContent.includes({json.dumps(text)})"
        self.tab.wait_until(f'[...document.querySelectorAll("#received li")].some({has_it})')
        return next(line for line in self.received if text in line.text)

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Title and body of the notifications that the browser shows, or has shown since the page was opened."""
        return [(one["title"], one["body"]) for one in self.tab.evaluate("window.seenNotifications()")]

    def await_shown(self, condition: str) -> None:
        """Waits for a notification `one` of which the JavaScript condition is true. Raises TimeoutError."""
        # Chromium forgets a notification that is asked after while it is still being put up. The worker tells the page
        # when it is up.
        self.tab.wait_until('document.querySelectorAll("#received li").length > 0')
        self.tab.wait_until(f"window.seenNotifications().then(list => list.some(one => {condition}))")

    @property
    def endpoint(self) -> str:
        return str(self.tab.evaluate(f"{SUBSCRIPTION}.then(one => one.endpoint)"))

    def unsubscribe(self) -> None:
        """What a browser does by itself when its person takes the permission away."""
        assert self.tab.evaluate(f"{SUBSCRIPTION}.then(one => one.unsubscribe())")

    def subscribe_for_another_key(self) -> str:
        """Leaves the browser as it is when the server has changed its key, and returns the endpoint."""
        return str(
            self.tab.evaluate(
                """(async () => {
                    const curve = { name: "ECDSA", namedCurve: "P-256" };
                    const { publicKey } = await crypto.subtle.generateKey(curve, false, ["sign"]);
                    const applicationServerKey = await crypto.subtle.exportKey("raw", publicKey);
                    const { pushManager } = await navigator.serviceWorker.ready;
                    return (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })).endpoint;
                })()"""
            )
        )

    def _lines(self, id: str, kind: str, label: str) -> list[Line]:
        fields = f"[line.dataset.{kind}, line.innerText, line.dataset.{label}]"
        found = self.tab.evaluate(f'[...document.querySelectorAll("#{id} li")].map(line => {fields})')
        return [Line(kind, text, label) for kind, text, label in found]
