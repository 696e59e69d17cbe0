# SPDX-License-Identifier: Apache-2.0
"""Firefox by WebDriver BiDi, which it speaks itself."""

import base64
import json
import os
import re
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from child import Child
from connection import Connection, Refused
from deadline import PATIENCE_SECONDS, wait_until
from running import Running, await_word, started
from tab import REACH, SOON, WATCH, ScriptError, Tab

# With the end of its line: of an address that is still being written only the beginning may be there.
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)\n")
# How WebDriver names keys that are no characters (WebDriver section 17.4.2).
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Backspace": "\ue003", "Escape": "\ue00c", "ArrowDown": "\ue015"}
REQUEST = "network.beforeRequestSent"
WRAPPED = "(async () => JSON.stringify((await ({})) ?? null))()"

PREFERENCES: dict[str, str | int | bool] = {
    # Automation switches it off.
    "dom.push.connection.enabled": True,
    "dom.push.testing.allowInsecureServerURL": True,
    # Milliseconds for the push service of the tests, which runs beside them.
    "dom.push.requestTimeout": 1000 * PATIENCE_SECONDS,
    # Notifications are shown by Firefox itself; there is no desktop to show them.
    "alerts.useSystemBackend": False,
    # A proxy that does not exist: nothing but this host can be reached.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "localhost, 127.0.0.1",
    "network.proxy.failover_direct": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    # Each tab is looked at, as if its window had the focus.
    "focusmanager.testmode": True,
    "privacy.userContext.enabled": True,
    # What is allowed in one context is not in another.
    "permissions.isolateBy.userContext": True,
}


class Firefox(Running):
    """A browser with a profile of its own, while the `with` block lasts."""

    def __init__(self, program: str, folder: Path, push_url: str, **preferences: str | int | bool):
        """`preferences` are what its person has chosen besides."""
        super().__init__()
        self._profile = folder / "firefox"
        self._profile.mkdir()
        preferences = PREFERENCES | {"dom.push.serverURL": push_url} | preferences
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
        (self._profile / "user.js").write_text("".join(lines))
        self._program, self._log = program, folder / "firefox.log"

    def _start(self, running: ExitStack) -> None:
        # As root it refuses a home that is another user's.
        environment = os.environ | {"HOME": str(self._profile), "MOZ_CRASHREPORTER_DISABLE": "1"}
        options = ["--headless", "--no-remote", "--profile", str(self._profile), "--remote-debugging-port=0"]
        child = started(running, Child([self._program, *options], self._log, environment))
        address = await_word(child, lambda: LISTENING.search(child.output), "Firefox says where it listens")[1]
        self.connection = running.enter_context(closing(Connection(f"{address}/session")))
        wanted = {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}}
        self.connection.call("session.new", wanted)
        self.connection.call("session.subscribe", {"events": ["log.entryAdded"]})

    def open_tab(self, origin: str, notifications: str = "granted") -> "FirefoxTab":
        """`notifications` is what the person at the browser has said of those of `origin`: granted, denied, prompt."""
        context = self.connection.call("browser.createUserContext")["userContext"]
        made = self.connection.call("browsingContext.create", {"type": "tab", "userContext": context})
        tab = FirefoxTab(self.connection, context, made["context"], origin)
        for script in (WATCH, SOON):
            tab.on_new_document(script)
        tab.decide(notifications)
        return tab


class FirefoxTab(Tab):
    def __init__(self, connection: Connection, user: str, context: str, origin: str):
        super().__init__()
        self._connection, self._user, self._context, self._origin = connection, user, context, origin
        # Requests that have gone on.
        self._gone: set[str] = set()

    def decide(self, notifications: str) -> None:
        permission = {"descriptor": {"name": "notifications"}, "state": notifications, "origin": self._origin}
        self._connection.call("permissions.setPermission", permission | {"userContext": self._user})

    def navigate(self, url: str) -> None:
        self._call("browsingContext.navigate", url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        return json.loads(self._evaluate(WRAPPED.format(expression))["value"])

    def evaluate_apart(self, expression: str) -> Any:
        return json.loads(self._evaluate(WRAPPED.format(expression), sandbox="apart")["value"])

    def _press_on(self, id: str) -> None:
        wait_until(lambda: self._is_clicked(id), f"{id} stays where it was put")

    def _is_clicked(self, id: str) -> bool:
        """Not where the page, or the browser after a change of focus, has scrolled it away in the meantime."""
        element = self._evaluate(REACH.format(id=id))
        if "sharedId" not in element:
            raise ScriptError(f"there is no element {id}")
        origin = {"type": "element", "element": {"sharedId": element["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        try:
            self._perform({"type": "pointer", "id": "mouse", "actions": steps})
        except Refused as error:
            if "move target out of bounds" not in str(error):
                raise
            # What is not shown any more, such as the line that became a form, does not come back by itself.
            if not self.evaluate(f"document.getElementById('{id}').checkVisibility()"):
                raise
            return False
        return True

    def touch(self, x: float, y: float) -> None:
        steps = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._perform({"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": steps})

    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        self._call("browsingContext.setViewport", viewport={"width": width, "height": height}, devicePixelRatio=scale)

    def on_new_document(self, script: str) -> None:
        watch = {"functionDeclaration": f"() => {{ {script} }}", "contexts": [self._context]}
        self._connection.call("script.addPreloadScript", watch)

    def _hold(self, *paths: str) -> None:
        here: dict[str, Any] = {"contexts": [self._context]}
        patterns = [{"type": "pattern", "pathname": path} for path in paths]
        wanted = here | {"phases": ["beforeRequestSent"]} | ({"urlPatterns": patterns} if patterns else {})
        self._subscription = self._connection.call("session.subscribe", here | {"events": [REQUEST]})["subscription"]
        self._intercept = self._connection.call("network.addIntercept", wanted)["intercept"]

    def held(self) -> list[tuple[str, str]]:
        return [(one["method"], one["url"]) for one in self._blocked()]

    def let_go(self, fails: bool = False) -> None:
        for one in self._blocked():
            try:
                self._connection.call(f"network.{'fail' if fails else 'continue'}Request", {"request": one["request"]})
            except Refused as error:
                # One that ended meanwhile. Were it still held, the page would wait for it, and the test with the page.
                if "no such request" not in str(error):
                    raise
            self._gone.add(one["request"])

    def release(self) -> None:
        self._connection.call("network.removeIntercept", {"intercept": self._intercept})
        # Firefox has reported by then what it stopped just before.
        self.evaluate("null")
        self.let_go()
        self._connection.call("session.unsubscribe", {"subscriptions": [self._subscription]})

    def _blocked(self) -> list[dict[str, Any]]:
        sent = [event.params for event in self._connection.events(REQUEST)]
        own = [one["request"] for one in sent if one["context"] == self._context and one["isBlocked"]]
        return [one for one in own if one["request"] not in self._gone]

    def cut_off(self, is_offline: bool) -> None:
        wanted = {"networkConditions": {"type": "offline"} if is_offline else None, "contexts": [self._context]}
        self._connection.call("emulation.setNetworkConditions", wanted)

    def press(self, key: str) -> None:
        self.write(KEYS.get(key, key))

    def write(self, text: str) -> None:
        steps = [{"type": kind, "value": character} for character in text for kind in ("keyDown", "keyUp")]
        self._perform({"type": "key", "id": "keyboard", "actions": steps})

    def screenshot(self, file: Path) -> None:
        shot = self._call("browsingContext.captureScreenshot", origin="document")
        file.write_bytes(base64.b64decode(shot["data"]))

    def _complaints(self) -> list[str]:
        entries = [event.params for event in self._connection.events("log.entryAdded")]
        return [
            entry["text"]
            for entry in entries
            if entry["source"].get("context") == self._context and entry["level"] in ("error", "warn")
        ]

    def close(self) -> None:
        # What belongs to the context goes in the background. Were its permission still there then, Firefox would end
        # subscriptions of this origin for its sake, while the next test has one.
        self.decide("prompt")
        self._connection.call("browser.removeUserContext", {"userContext": self._user})

    def _perform(self, actions: dict[str, Any]) -> None:
        self._call("browsingContext.activate")
        self._call("input.performActions", actions=[actions])

    def _evaluate(self, expression: str, **where: str) -> dict[str, Any]:
        reply = self._connection.call(
            "script.evaluate",
            {
                "expression": expression,
                "awaitPromise": True,
                "target": {"context": self._context} | where,
                "userActivation": False,
            },
        )
        if reply["type"] != "success":
            raise ScriptError(f"{expression}: {reply['exceptionDetails']['text']}")
        result: dict[str, Any] = reply["result"]
        return result

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._connection.call(method, {"context": self._context} | params)
