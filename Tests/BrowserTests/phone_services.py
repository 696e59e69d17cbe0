# SPDX-License-Identifier: Apache-2.0
"""Apple's, Google's and Microsoft's push services on this host (Tests/Doubles), each a process of its own."""

import http.client
import json
import ssl
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from apns_process import APNsProcess
from built import ROOT
from certificates import Authority
from child import Child
from deadline import PATIENCE_SECONDS, wait_until
from running import Running, await_word, started

# To put the packages of the doubles into an environment of their own, the first time.
ENVIRONMENT_SECONDS = 600


class PhoneServices(Running):
    """Run while the `with` block lasts."""

    def __init__(self, authority: Authority, folder: Path):
        super().__init__()
        self._authority, self._folder = authority, folder

    def _start(self, running: ExitStack) -> None:
        self._apns = running.enter_context(APNsProcess(self._authority, self._folder))
        python = _interpreter()
        self._fcm = running.enter_context(_Announcing(python, "fcm", self._folder))
        self._wns = running.enter_context(_Announcing(python, "wns", self._folder))

    @property
    def groups(self) -> dict[str, Any]:
        """Of a configuration, as an operator writes them who has a relay to each service."""
        fcm, wns = self._fcm.facts, self._wns.facts
        return {
            "apns": self._apns.group,
            "fcm": {"credentialFile": fcm["credentialFile"], "endpoint": fcm["endpoint"], "caFile": fcm["caFile"]},
            "wns": {
                "packageSid": wns["packageSid"],
                "secret": wns["secret"],
                "tokenEndpoint": wns["storeTokenEndpoint"],
                "endpoint": f"https://localhost:{wns['port']}",
                "caFile": wns["caFile"],
            },
        }

    @property
    def devices(self) -> dict[str, str]:
        """A device of each service: its handle by the name of its platform."""
        channel = f"https://db5p.notify.windows.com/store/taken/1?{self._wns.facts['channelQuery']}"
        return {"apns": "ab" * 32, "fcm": "taken:device-1", "wns": channel}

    def await_pushes(self, count: int) -> dict[str, list[str]]:
        """What each service was sent so far, as soon as each has so many pushes. Raises TimeoutError."""

        def enough() -> dict[str, list[str]] | None:
            found = {
                "apns": [push["body"] for push in self._apns.events("push")],
                "fcm": [json.dumps(push["message"], ensure_ascii=False) for push in self._fcm.pushes()],
                "wns": [push["body"] for push in self._wns.pushes()],
            }
            return found if all(len(pushes) >= count for pushes in found.values()) else None

        return wait_until(enough, f"{count} pushes at each service")


class _Announcing(Running):
    """A double that prints a line of facts, and tells its pushes at a path of its own."""

    def __init__(self, python: str, name: str, folder: Path):
        super().__init__()
        self._python, self._name, self._log = python, name, folder / f"{name}.log"

    def _start(self, running: ExitStack) -> None:
        script = ROOT / "Tests" / "Doubles" / f"{self._name}.py"
        child = started(running, Child([self._python, str(script)], self._log, has_input=True))
        await_word(child, lambda: "\n" in child.output, f"{self._name}.py listens")
        self.facts: dict[str, Any] = json.loads(child.output.partition("\n")[0])

    def pushes(self) -> list[dict[str, Any]]:
        tls = ssl.create_default_context(cafile=self.facts["caFile"])
        port = self.facts["port"]
        connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE_SECONDS, context=tls)
        try:
            connection.request("GET", "/pushes")
            found = json.loads(connection.getresponse().read())
            assert isinstance(found, list)
            return found
        finally:
            connection.close()


def _interpreter() -> str:
    """The doubles need packages that the browsers' tests do without."""
    command = [str(ROOT / "script" / "test-doubles"), "--python"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=ENVIRONMENT_SECONDS)
    return told.stdout.strip().splitlines()[-1]
