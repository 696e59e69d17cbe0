# SPDX-License-Identifier: Apache-2.0
"""A responder with the built-in hub, which delivers by libcurl."""

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import gateway
from child import Child
from deadline import PATIENCE_SECONDS, wait_until


class Backend:
    """A responder with the built-in hub, while the `with` block lasts."""

    def __init__(
        self, program: Path, folder: Path, configuration: dict[str, Any], environment: dict[str, str] | None = None
    ):
        self._environment = None if environment is None else os.environ | environment
        self._program, self._socket = program, folder / "socket"
        self.file, self._log = folder / "app-backend.json", folder / "log"
        self.file.touch(mode=0o600)
        self._own = {"store": {"path": str(folder / "store")}, "listen": str(self._socket), "auth": {"method": "test"}}
        self.file.write_text(json.dumps(self._own | configuration))

    def __enter__(self) -> Self:
        command = [str(self._program), "serve", "--config", str(self.file)]
        self._child = Child(command, self._log, self._environment)
        wait_until(self._is_there, "the responder answers")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.stop()

    def kill(self) -> None:
        """Any thread may do it; `await_end` returns when the process has ended."""
        self._child.send(signal.SIGKILL)

    def reload(self, configuration: dict[str, Any]) -> None:
        taken = "reloaded the configuration"
        before = self.log.count(taken)
        self.file.write_text(json.dumps(self._own | configuration))
        self._child.send(signal.SIGHUP)
        wait_until(lambda: self.log.count(taken) > before, "the reload")

    def await_end(self) -> None:
        wait_until(lambda: self._child.exit_status is not None, "the responder has ended")

    @property
    def log(self) -> str:
        return self._child.output

    def _is_there(self) -> bool:
        assert self._child.exit_status is None, self.log
        try:
            return self.call("GET", "/api/config").status == 200
        except OSError:
            return False

    def call(self, method: str, path: str, query: str = "", body: object = None, user: str = "alice") -> gateway.Answer:
        content = b"" if body is None else json.dumps(body).encode()
        return gateway.ask(self._socket, gateway.parameters(method, path, query, content, user), content)

    def json(self, method: str, path: str, query: str = "", body: object = None, user: str = "alice") -> Any:
        answer = self.call(method, path, query, body, user)
        assert answer.status == 200, (method, path, answer)
        return json.loads(answer.body or b"null")

    def register(self, platform: str, handle: str, user: str = "alice", **members: str) -> None:
        name = self.json("POST", "/api/register", user=user)
        body = {"Platform": platform, "Handle": handle, "Tags": []} | members
        self.json("PUT", f"/api/register/{name}", body=body, user=user)

    def register_all(self, devices: list[tuple[str, str]], user: str = "alice") -> None:
        """Each a platform and a handle; several at a time, so that they share what a write to the disk takes."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda device: self.register(*device, user=user), devices))

    @staticmethod
    def one(send: dict[str, Any], platform: str) -> dict[str, Any]:
        return next(one for one in send["Outcomes"] if one["Platform"] == platform)

    def outcome(self, send: dict[str, Any], platform: str, of: str | None = None) -> dict[str, int]:
        """How many devices of the platform had which outcome, when nothing more is to come. Of a template notification
        `of` names the devices' own."""
        name = self.one(send, platform)["NotificationId"]

        def ended() -> dict[str, Any] | None:
            details = self.json("GET", f"/api/notifications/outcomes/{name}", user="bob")
            return details if details["State"] == "Completed" else None

        details = wait_until(ended, f"the end of the notification to {platform}")
        return next(one["Counts"] for one in details["Outcomes"] if one["Platform"] == (of or platform))

    def command(self, *arguments: str, text: str = "") -> str:
        """What a command of the program says, beside the responder."""
        run = [self._program, *arguments, "--config", self.file]
        told = subprocess.run(run, input=text, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert told.returncode == 0, told
        return told.stdout

    def doctor(self) -> dict[str, Any]:
        command = [self._program, "doctor", "--json", "--socket", self._socket, "--config", self.file]
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        return {step["step"]: step for step in json.loads(told.stdout)["steps"]}
