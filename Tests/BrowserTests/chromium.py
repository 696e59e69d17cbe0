# SPDX-License-Identifier: Apache-2.0
"""Chromium by the Chrome DevTools Protocol."""

import base64
import json
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from child import Child
from connection import Connection, Event
from deadline import wait_until
from running import Running, await_word, started
from tab import REACH, SOON, WATCH, ScriptError, Tab

# What DevTools wants to be told of keys that are no characters: name, code, Windows' number, and text.
KEYS = {
    "Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Backspace": ("Backspace", 8, ""), " ": ("Space", 32, " "),
    "Escape": ("Escape", 27, ""), "ArrowDown": ("ArrowDown", 40, ""),
}
SHIFT = 8
MIDDLE = "(e => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })"

OPTIONS = [
    "--headless=new",
    # Containers often allow no namespaces, and root has no sandbox at all. Only our own pages are shown.
    "--no-sandbox",
    # Where a container's /dev/shm is small.
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    # Each tab is the first of a window of its own. No person sees the window: its own pages, such as that beneath the
    # address, and a process kept ready for another one cost more than the tab.
    "--disable-features=PreloadTopChromeWebUI,SpareRendererForSitePerProcess,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,"
    "WebUIOmniboxPopup",
    "--remote-debugging-port=0",
    # Nothing but this host can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--window-size=1280,900",
]


class Chromium(Running):
    """A browser with a profile of its own, while the `with` block lasts."""

    def __init__(self, program: str, folder: Path, fingerprint: str):
        """`fingerprint` is of the one certificate that is trusted besides the system's."""
        super().__init__()
        self._profile = folder / "chromium"
        self._profile.mkdir()
        trust = f"--ignore-certificate-errors-spki-list={fingerprint}"
        self._command = [program, *OPTIONS, trust, f"--user-data-dir={self._profile}", "about:blank"]
        self._log = folder / "chromium.log"

    def _start(self, running: ExitStack) -> None:
        child = started(running, Child(self._command, self._log))
        self.connection = running.enter_context(closing(Connection(self._address(child))))

    def open_tab(self, origin: str, notifications: str = "granted", is_private: bool = True) -> "ChromiumTab":
        """`notifications` is what the person at the browser has said of those of `origin`: granted, denied, prompt.

        A private tab shares nothing with another one, cannot be installed from, and is refused a push subscription.
        """
        where = self.connection.call("Target.createBrowserContext") if is_private else {}
        target = self.connection.call("Target.createTarget", {"url": "about:blank"} | where)["targetId"]
        attached = self.connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = ChromiumTab(self.connection, where, target, attached["sessionId"], origin)
        for script in (WATCH, SOON):
            tab.on_new_document(script)
        tab.decide(notifications)
        return tab

    def _address(self, child: Child) -> str:
        file = self._profile / "DevToolsActivePort"

        def said() -> list[str] | None:
            lines = file.read_text().splitlines() if file.exists() else []
            return lines if len(lines) >= 2 else None

        port, path = await_word(child, said, "Chromium says where it listens")[:2]
        return f"ws://127.0.0.1:{port}{path}"


class ChromiumTab(Tab):
    def __init__(self, connection: Connection, where: dict[str, str], target: str, session: str, origin: str):
        super().__init__()
        self._connection, self._where, self._target = connection, where, target
        self._session, self._origin = session, origin
        # Requests that have gone on.
        self._gone: set[str] = set()
        for domain in ("Page", "Runtime", "Log", "Audits", "ServiceWorker"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        # It is looked at, as if its window had the focus.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def decide(self, notifications: str) -> None:
        permission = {"permission": {"name": "notifications"}, "setting": notifications, "origin": self._origin}
        self._connection.call("Browser.setPermission", permission | self._where)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._connection.call(method, params, self._session)

    def events(self, *methods: str) -> list[Event]:
        return [event for event in self._connection.events(*methods) if event.session == self._session]

    def navigate(self, url: str) -> None:
        reply = self.call("Page.navigate", url=url)
        if "errorText" in reply:
            raise ScriptError(f"{url}: {reply['errorText']}")
        # Of this very document: that of the one before, even the empty one, may still be on its way.
        loaded = {"frameId": reply["frameId"], "loaderId": reply["loaderId"], "name": "load"}
        wait_until(
            lambda: any(loaded.items() <= event.params.items() for event in self.events("Page.lifecycleEvent")),
            f"{url} is loaded",
        )

    def evaluate(self, expression: str) -> Any:
        return self._evaluate(expression)

    def evaluate_apart(self, expression: str) -> Any:
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self.call("Page.createIsolatedWorld", frameId=frame, worldName="apart")["executionContextId"]
        return self._evaluate(expression, contextId=world)

    def _evaluate(self, expression: str, **where: int) -> Any:
        reply = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, **where)
        if "exceptionDetails" in reply:
            raise ScriptError(f"{expression[:200]}: {json.dumps(reply['exceptionDetails'])[:2000]}")
        return reply["result"].get("value")

    def _press_on(self, id: str) -> None:
        middle = f"{MIDDLE}({REACH.format(id=id)})"
        x, y = self.evaluate(middle)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def touch(self, x: float, y: float) -> None:
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def on_new_document(self, script: str) -> None:
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def _hold(self, *paths: str) -> None:
        self.call("Fetch.enable", patterns=[{"urlPattern": f"*{path}*"} for path in paths or [""]])

    def held(self) -> list[tuple[str, str]]:
        return [(one["request"]["method"], one["request"]["url"]) for one in self._paused()]

    def let_go(self, fails: bool = False) -> None:
        for one in self._paused():
            if fails:
                self.call("Fetch.failRequest", requestId=one["requestId"], errorReason="Failed")
            else:
                self.call("Fetch.continueRequest", requestId=one["requestId"])
            self._gone.add(one["requestId"])

    def release(self) -> None:
        self.call("Fetch.disable")
        self._gone |= {one["requestId"] for one in self._paused()}

    def _paused(self) -> list[dict[str, Any]]:
        paused = [event.params for event in self.events("Fetch.requestPaused")]
        return [one for one in paused if one["requestId"] not in self._gone]

    def cut_off(self, is_offline: bool) -> None:
        self.call("Network.enable")
        speed = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.call("Network.emulateNetworkConditions", offline=is_offline, **speed)

    def press(self, key: str, modifiers: int = 0) -> None:
        self._press_all([key], modifiers)

    def write(self, text: str) -> None:
        self._press_all(list(text))

    def _press_all(self, keys: list[str], modifiers: int = 0) -> None:
        calls = []
        for key in keys:
            code, number, text = KEYS.get(key, ("", 0, key))
            named = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
            down = named | {"type": "keyDown", "text": text, "unmodifiedText": text}
            calls += [("Input.dispatchKeyEvent", one) for one in (down, named | {"type": "keyUp"})]
        self._connection.call_all(calls, self._session)

    def screenshot(self, file: Path, **options: bool) -> None:
        """`options` are DevTools'."""
        wanted = {"captureBeyondViewport": True, "optimizeForSpeed": True} | options
        shot = self.call("Page.captureScreenshot", format="png", **wanted)
        file.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        if self._where:
            self._connection.call("Target.disposeBrowserContext", self._where)
        else:
            self.call("Storage.clearDataForOrigin", origin=self._origin, storageTypes="all")
            self._connection.call("Target.closeTarget", {"targetId": self._target})
        self._connection.forget(self._session)

    # What only this browser can

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`, and no motion: each change of the scheme would fade for a moment."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in wanted.items()])

    def push(self, data: str) -> None:
        """Hands a message to the page's worker as if it had come from a push service."""
        # The page may have its worker before the tools have heard of it.
        here = wait_until(self._registrations, "a worker is registered")
        self.call("ServiceWorker.deliverPushMessage", origin=self._origin, registrationId=here[-1], data=data)

    def _registrations(self) -> list[str]:
        """Of workers of the page, the newest last."""
        known = [r for e in self.events("ServiceWorker.workerRegistrationUpdated") for r in e.params["registrations"]]
        return [r["registrationId"] for r in known if r["scopeURL"].startswith(self._origin)]

    def _complaints(self) -> list[str]:
        logged = [event.params["entry"] for event in self.events("Log.entryAdded")]
        issues = [event.params["issue"] for event in self.events("Audits.issueAdded")]
        said = [event.params for event in self.events("Runtime.consoleAPICalled")]
        return [
            *(event.params["exceptionDetails"]["text"] for event in self.events("Runtime.exceptionThrown")),
            *(str(event.params) for event in self.events("ServiceWorker.workerErrorReported")),
            *(str(one) for one in issues if one["code"] != "PerformanceIssue"),
            *(str(one["args"]) for one in said if one["type"] == "error"),
            # Calls that were answered with an error are there too; they are the page's business.
            *(one["text"] for one in logged if one["level"] == "error" and one["source"] != "network"),
        ]

    def evaluate_in_worker(self, expression: str) -> Any:
        """In the page's service worker, which stays until the browser ends. Raises ScriptError."""
        here = {"type": "service_worker", **self._where}

        def found() -> str | None:
            told = self._connection.call("Target.getTargets", {"filter": [{"type": "service_worker"}]})["targetInfos"]
            return next((one["targetId"] for one in told if here.items() <= one.items()), None)

        target = wait_until(found, "the page's service worker runs")
        attached = self._connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        reply = self._connection.call("Runtime.evaluate", {"expression": expression}, attached["sessionId"])
        if "exceptionDetails" in reply:
            raise ScriptError(f"{expression[:200]}: {json.dumps(reply['exceptionDetails'])[:2000]}")
        return reply["result"].get("value")

    def stop_workers(self) -> None:
        """Returns when every worker of the page has ended, as it does when a browser wants the memory."""
        self.call("ServiceWorker.stopAllWorkers")
        wait_until(lambda: set(self._workers().values()) == {"stopped"}, "the workers have ended")

    def _workers(self) -> dict[str, str]:
        updates = self.events("ServiceWorker.workerVersionUpdated")
        return {v["versionId"]: v["runningStatus"] for e in updates for v in e.params["versions"]}
