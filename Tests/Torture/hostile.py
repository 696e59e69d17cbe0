# SPDX-License-Identifier: Apache-2.0
"""One user does all that one may against a busy site, on both stores: the others' calls go on. It says how long they wait."""

import base64
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway import Answer, ask, parameters
from outside import Arrivals, Database, browser_key, make_certificate
from oracle import TortureError, Verdict
from scenario import Scenario, Torture
from waiting import wait_until

PAIRS = 3
FLOODERS = 4
QUIET_SHARE = 0.2  # of the time, before the hostile user begins
LATER_SECONDS = 2
LOST_SECONDS = 60
START_SECONDS = 60
# What one may do at once is more than usual, so that what takes ten minutes takes one: the room is the product's own.
LIMITS = {"sendsPerMinute": 60_000, "sendsAtOnce": 10_000, "listsPerMinute": 60_000, "listsAtOnce": 10_000}
LONG_TEXT = "x" * 2_100
KINDS = ["send", "push", "log-in", "webhook", "later"]


@dataclass
class Waits:
    """How long the others have waited, by kind, and what they were refused."""

    times: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    refusals: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        worst = ", ".join(f"{kind} {max(times):.2f}" for kind, times in self.times.items() if times)
        calls = sum(len(times) for times in self.times.values())
        return f"{calls} measured, {len(self.refusals)} refused, {len(self.lost)} lost; the longest in seconds: {worst}"


class Site:
    """A service, and what is around it."""

    def __init__(self, program: Path, folder: Path, store: dict[str, object], around: ExitStack):
        self.program, self.folder = program, folder
        self.socket, self.configuration = folder / "socket", folder / "site.json"
        certificate = make_certificate(folder)
        self.push = around.enter_context(Arrivals(certificate))
        self.hooks = around.enter_context(Arrivals())
        secret = folder / "webhook"
        secret.touch(mode=0o600)
        secret.write_text("whsec_" + base64.b64encode(os.urandom(32)).decode() + "\n")
        key = folder / "vapid.key"
        self.configuration.touch(mode=0o600)
        self.configuration.write_text(json.dumps({
            "listen": str(self.socket), "store": store, "log": {"level": "warning"}, "limits": LIMITS,
            "webhooks": {"url": f"http://127.0.0.1:{self.hooks.port}/", "secretFile": str(secret)},
            "webPush": {
                "subject": "mailto:push@example.com", "caFile": str(certificate[0]), "privateKeyFile": str(key),
                # Port 1 takes no connections: what is sent there waits for half an hour.
                "privateHosts": [f"localhost:{self.push.port}", "localhost:1"]}}))
        if "url" in store:
            self.command("store", "migrate")
        self.command("keys", "vapid")
        with (folder / "log").open("wb") as log:
            guard = ["setpriv", "--pdeathsig", "KILL", "--"]
            self.service = subprocess.Popen(
                [*guard, str(program), "serve", "--config", str(self.configuration)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log)
        around.callback(self.end)
        wait_until(self.answers, "a service answers", START_SECONDS)

    def end(self) -> None:
        self.service.kill()
        self.service.wait()

    def answers(self) -> bool:
        try:
            return ask(self.socket, parameters("GET", "/api/config")).status == 200
        except OSError:
            return False

    def command(self, *arguments: str, text: str = "") -> None:
        command = [str(self.program), *arguments, "--config", str(self.configuration)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise TortureError(f"{arguments}: {done.stdout}{done.stderr}")

    def add(self, names: list[str]) -> None:
        made = ["openssl", "passwd", "-6", "-stdin", "-salt", "rounds=1000$torture"]
        lines = [
            f"{name}:" + subprocess.run(made, input=name, capture_output=True, text=True, check=True).stdout
            for name in names
        ]
        self.command("user", "import-htpasswd", "-", text="".join(lines))

    def call(
        self, method: str, path: str, user: str, content: object = None, address: str = "127.0.0.1", password: str = ""
    ) -> Answer:
        body = b"" if content is None else json.dumps(content).encode()
        request = parameters(method, path, body=body, user=user) | {"REMOTE_ADDR": address}
        if password:
            request["HTTP_AUTHORIZATION"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        return ask(self.socket, request, body)

    def register(self, user: str, endpoint: str) -> None:
        id = json.loads(self.call("POST", "/api/register", user).body)
        device = {
            "Platform": "browser", "Handle": endpoint,
            "Keys": {"p256dh": encoded(browser_key()), "auth": encoded(os.urandom(16))}}
        answer = self.call("PUT", f"/api/register/{id}", user, device)
        if answer.status != 200:
            raise TortureError(f"{user} could not register: {answer.status} {answer.body!r}")


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Busy:
    """Two of the others: one sends, the other one has a browser that is there."""

    def __init__(self, site: Site, number: int):
        self.site, self.number = site, number
        self.sender, self.recipient = f"sender{number}", f"recipient{number}"
        self.path = f"/push/{self.recipient}"

    def register(self) -> None:
        self.site.register(self.recipient, f"https://localhost:{self.site.push.port}{self.path}")

    def work(self, waits: Waits, has_ended: Callable[[], bool]) -> None:
        turn = 0
        while not has_ended():
            turn += 1
            self.log_in(waits, turn)
            message = self.send(waits, {})
            if message:
                self.hear(waits, message)
            later = datetime.now(UTC) + timedelta(seconds=LATER_SECONDS)
            self.send(waits, {"SendAt": later.isoformat()})

    def log_in(self, waits: Waits, turn: int) -> None:
        begin = time.monotonic()
        address = f"198.51.{self.number}.{turn % 250 + 1}"
        self.note(waits, "log-in", self.site.call("POST", "/api/session", self.sender, {}, address), begin)

    def send(self, waits: Waits, more: dict[str, str]) -> str:
        """Returns the message's id; empty when it was refused."""
        before, begin = self.site.push.count(self.path), time.monotonic()
        message = {"To": self.recipient, "Title": "Hello", "Body": "of a busy site"} | more
        answer = self.site.call("POST", "/api/notifications", self.sender, message)
        if not self.note(waits, "send", answer, begin):
            return ""
        due = begin + (LATER_SECONDS if more else 0)
        arrived = self.site.push.wait(self.path, before + 1, LOST_SECONDS + LATER_SECONDS)
        if arrived is None:
            waits.lost.append(f"a push to {self.recipient}")
        else:
            waits.times["later" if more else "push"].append(max(0.0, arrived - due))
        return json.loads(answer.body).get("MessageId", "")

    def hear(self, waits: Waits, message: str) -> None:
        """The recipient opens it, and the receiver of webhooks learns of that."""
        before, begin = self.site.hooks.count(message), time.monotonic()
        opened = self.site.call("POST", f"/api/notifications/{message}/opened", self.recipient)
        if opened.status not in (200, 204):
            waits.refusals.append(f"opened: {opened.status}")
            return
        arrived = self.site.hooks.wait(message, before + 1, LOST_SECONDS)
        if arrived is None:
            waits.lost.append(f"an event of {message}")
        else:
            waits.times["webhook"].append(arrived - begin)

    def note(self, waits: Waits, kind: str, answer: Answer, begin: float) -> bool:
        waits.times[kind].append(time.monotonic() - begin)
        if answer.status != 200:
            waits.refusals.append(f"{kind}: {answer.status} {answer.body.decode(errors='replace')[:200]}")
        return answer.status == 200


class Mallory:
    """Does what one user may, as fast as one may."""

    NAME = "mallory"

    def __init__(self, site: Site):
        self.site = site
        self.calls: dict[int, int] = {}
        self._lock = threading.Lock()

    def register(self) -> None:
        for host in ("localhost:1", "no-such-host.push.apple.com"):
            self.site.register(self.NAME, f"https://{host}/mallory")

    def work(self, number: int, has_ended: Callable[[], bool]) -> None:
        turn = 0
        while not has_ended():
            turn += 1
            self.call("POST", "/api/notifications", {"To": [self.NAME, f"no{number}-{turn}"], "Body": LONG_TEXT})
            if turn % 10 == 0:
                later = datetime.now(UTC) + timedelta(days=3)
                self.call("POST", "/api/notifications", {"To": self.NAME, "Body": LONG_TEXT, "SendAt": later.isoformat()})
                self.call("DELETE", "/api/notifications/scheduled/" + "A" * 22)
                self.call("POST", "/api/session", {}, password=f"wrong{turn}")

    def call(self, method: str, path: str, content: object = None, password: str = "") -> None:
        status = self.site.call(method, path, self.NAME, content, "203.0.113.9", password).status
        with self._lock:
            self.calls[status] = self.calls.get(status, 0) + 1


def measure(site: Site, busy: list[Busy], mallory: Mallory | None, seconds: float) -> Waits:
    """What the others wait for so many seconds."""
    waits, end, troubles = Waits(), time.monotonic() + seconds, []

    def begin(body: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                body()
            except Exception as trouble:  # pylint: disable=broad-exception-caught
                troubles.append(trouble)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def has_ended() -> bool:
        return time.monotonic() >= end

    threads = [begin(lambda one=one: one.work(waits, has_ended)) for one in busy]
    if mallory:
        threads += [begin(lambda number=number: mallory.work(number, has_ended)) for number in range(FLOODERS)]
    for thread in threads:
        thread.join()
    if troubles:
        raise TortureError(f"a client: {type(troubles[0]).__name__}: {troubles[0]}")
    if site.service.poll() is not None:
        raise TortureError("the service has ended")
    return waits


def one_against_all(torture: Torture) -> None:
    program = torture.oracle.program.parent / "app-backend"
    kinds = ["files", *(["PostgreSQL"] if Database.BINARIES else [])]
    if len(kinds) == 1:
        print("hostile: without PostgreSQL, which is not installed", flush=True)
    for folder in torture.rounds():
        seconds = max(20.0, (torture.end - time.monotonic()) / len(kinds))
        for kind in kinds:
            part, verdict = folder / kind, Verdict()
            part.mkdir(mode=0o700)
            with ExitStack() as around:
                url = around.enter_context(Database()).url if kind != "files" else None
                site = Site(program, part, {"url": url} if url else {"path": str(part / "store")}, around)
                busy, mallory = [Busy(site, number) for number in range(PAIRS)], Mallory(site)
                site.add([mallory.NAME, *(name for one in busy for name in (one.sender, one.recipient))])
                mallory.register()
                for one in busy:
                    one.register()
                quiet = measure(site, busy, None, seconds * QUIET_SHARE)
                beside = measure(site, busy, mallory, seconds * (1 - QUIET_SHARE))
            print(f"        {kind}, quiet: {quiet.text}", flush=True)
            print(f"        {kind}, beside one hostile user: {beside.text}", flush=True)
            print(f"        {kind}, the hostile user was answered: {dict(sorted(mallory.calls.items()))}", flush=True)
            for waits in (quiet, beside):
                verdict.acknowledged += sum(len(times) for times in waits.times.values())
                verdict.lost += len(waits.lost)
                verdict.wrong += len(waits.refusals)
                verdict.faults += waits.lost[:5] + waits.refusals[:5]
            torture.count.happened("calls of a hostile user", sum(mallory.calls.values()))
            torture.count.add(verdict)


SCENARIOS = [
    Scenario(
        "hostile", "one user does all that one may: the others' sends, log-ins, webhooks and messages for later go on",
        one_against_all),
]
