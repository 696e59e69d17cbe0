# SPDX-License-Identifier: Apache-2.0
"""Removes users and adds others of the same names, under load, with kills: no user reads what a former one had."""

import json
import random
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from gateway import Answer, ask, parameters
from oracle import TortureError, Verdict
from scenario import Scenario, Torture
from waiting import wait_until

VICTIMS = 3
SERVICES = 2
SENDERS = 2
KILL_SECONDS = 1.0
COMMAND_SECONDS = 120
TRIES = 400  # of a request while services are killed
QUIET_SECONDS = 400  # until the service has looked for the last time for what requests under way have written
SHORT_ROUNDS, LONG_ROUNDS = 40, 10_000
LONG_MINUTES = 30  # with so many minutes the scenario takes its long form
SHARE_OF_KILLED_COMMANDS = 0.05


@dataclass
class Site:
    """Services on one store, and the operator's commands."""

    program: Path
    folder: Path
    hashes: dict[str, str] = field(default_factory=dict)
    services: list[subprocess.Popen] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    faults: list[str] = field(default_factory=list)
    kills: int = 0
    noise: int = 0

    def begin(self) -> None:
        for number in range(SERVICES):
            configuration = {"store": {"path": str(self.folder / "store")}, "listen": str(self.socket(number))}
            self.configuration(number).write_text(json.dumps(configuration | {"log": {"level": "error"}}))
            self.configuration(number).chmod(0o600)
            self.services.append(self.serve(number))
            self.wait_for(number)

    def begin_again(self) -> None:
        """What another thread has started dies with it (PR_SET_PDEATHSIG)."""
        for number, service in enumerate(self.services):
            service.kill()
            service.wait()
            self.services[number] = self.serve(number)
            self.wait_for(number)

    def socket(self, number: int) -> Path:
        return self.folder / f"s{number}"

    def configuration(self, number: int) -> Path:
        return self.folder / f"c{number}.json"

    def serve(self, number: int) -> subprocess.Popen:
        command = ["setpriv", "--pdeathsig", "KILL", "--", str(self.program), "serve"]
        return subprocess.Popen(
            [*command, "--config", str(self.configuration(number))], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=(self.folder / f"e{number}").open("ab"))

    def wait_for(self, number: int) -> None:
        def answers() -> bool:
            try:
                return ask(self.socket(number), parameters("GET", "/api/config")).status == 200
            except OSError:
                return False

        wait_until(answers, "a service answers", 60)

    def kill_by_turns(self) -> None:
        number = 0
        while not self.ended.wait(KILL_SECONDS):
            number = (number + 1) % SERVICES
            self.services[number].send_signal(signal.SIGKILL)
            self.services[number].wait()
            self.kills += 1
            self.services[number] = self.serve(number)

    def end(self) -> None:
        for service in self.services:
            service.kill()
            service.wait()

    def call(self, chance: random.Random, method: str, path: str, user: str, query: str = "", body: str = "") -> Answer:
        """As a client that asks again: a request whose service was killed may have been carried out."""
        content = body.encode()
        for _ in range(TRIES):
            number = chance.randrange(SERVICES)
            try:
                answer = ask(self.socket(number), parameters(method, path, query, content, user), content)
            except OSError:
                time.sleep(0.02)
                continue
            if answer.status not in (429, 503):
                return answer
            time.sleep(0.05)
        raise TortureError(f"{method} {path} was not answered")

    def command(self, *arguments: str, text: str = "", kill_after: float | None = None) -> tuple[int, str]:
        command = [str(self.program), *arguments, "--config", str(self.configuration(0))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, **pipes) as process:
            try:
                output, _ = process.communicate(text, timeout=kill_after or COMMAND_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                if kill_after is None:
                    raise
            return process.returncode, output

    def add(self, name: str) -> None:
        if name not in self.hashes:
            made = ["openssl", "passwd", "-6", "-stdin", "-salt", "rounds=1000$torture"]
            self.hashes[name] = subprocess.run(made, input=name, capture_output=True, text=True, check=True).stdout
        status, output = self.command("user", "import-htpasswd", "-", text=f"{name}:{self.hashes[name]}")
        if status != 0:
            raise TortureError(f"a user could not be added: {output}")

    def remove(self, name: str, chance: random.Random) -> bool:
        """Whether the command was killed before it was given once more."""
        killed = chance.random() < SHARE_OF_KILLED_COMMANDS
        if killed:
            self.command("user", "remove", name, kill_after=chance.uniform(0.001, 0.08))
        status, output = self.command("user", "remove", name)
        if status != 0 and not (killed and "There is no user" in output):
            raise TortureError(f"a user could not be removed: {output}")
        return killed


def live_and_die(site: Site, name: str, rounds: int, chance: random.Random, verdict: Verdict) -> None:
    """One name, again and again: what each user of it was left is looked for by the next one."""
    for number in range(rounds):
        text = f"secret-of-{name}-{number}"
        sent = site.call(chance, "POST", "/api/notifications", "sender", f"to_tag={name}", f'"{text}"')
        if sent.status != 200:
            raise TortureError(f"a secret could not be left: {sent.status} {sent.body!r}")
        left = json.loads(sent.body)["Id"]
        device = register(site, name, chance) if number % 4 == 0 else None
        if site.remove(name, chance):
            verdict.unacknowledged += 1
        site.add(name)
        verdict.acknowledged += 1
        read = site.call(chance, "GET", f"/api/notifications/{left}", name)
        if read.status != 404:
            site.faults.append(f"{text} was read by the next user: {read.status}")
        listed = json.loads(site.call(chance, "GET", "/api/notifications", name, "limit=100").body)
        for id in [one["Id"] for one in listed]:
            found = site.call(chance, "GET", f"/api/notifications/{id}", name)
            if b"secret-of-" in found.body:
                site.faults.append(f"the next user was shown {found.body!r}")
        devices = json.loads(site.call(chance, "GET", "/api/register", name).body)
        if devices:
            site.faults.append(f"the next user has devices: {devices}")
        if device and site.call(chance, "DELETE", f"/api/register/{device}", name).status not in (200, 403):
            site.faults.append("a former device")
        if site.faults:
            return


def register(site: Site, name: str, chance: random.Random) -> str:
    """The same phone each time."""
    id = json.loads(site.call(chance, "POST", "/api/register", name).body)
    body = json.dumps({"Platform": "apns", "Handle": f"{abs(hash(name)):064X}", "Tags": ["x"]})
    site.call(chance, "PUT", f"/api/register/{id}", name, body=body)
    return id


def make_noise(site: Site, sender: str, names: list[str], chance: random.Random) -> None:
    """Sends to the user who has the name at that moment; a request may be under way when that user is removed."""
    while not site.ended.is_set():
        name = chance.choice(names)
        try:
            if chance.random() < 0.5:
                site.call(chance, "POST", "/api/notifications", sender, f"to_tag={name}", '"noise"')
            else:
                site.call(chance, "POST", "/api/register", name)
            site.noise += 1
        except TortureError:
            return
        # The mailbox of a user who lives for a second holds so much.
        site.ended.wait(0.02)


def rest(site: Site, names: list[str], verdict: Verdict) -> None:
    """Waits until there is nothing left to do, and looks for what is on the disk."""

    def is_quiet() -> bool:
        shown = [json.loads(site.command("user", "show", "--json", name)[1]) for name in names]
        return all("nextAt" not in one["pending"] for one in shown)

    site.begin_again()
    wait_until(is_quiet, "all is removed", QUIET_SECONDS)
    for file in (site.folder / "store").rglob("*.jsonl"):
        if b'"payload":"secret-of-' in file.read_bytes():
            site.faults.append(f"{file.name} holds a secret of a former user")
    verdict.visible += look_for_former_owners(site, names)


def look_for_former_owners(site: Site, names: list[str]) -> int:
    """Whatever the store still has of these names is the present users'. Returns how many records that are."""
    exported = site.folder / "export"
    status, text = site.command("store", "export", "--output", str(exported))
    if status != 0:
        raise TortureError(f"the store cannot be exported: {text}")
    records = [json.loads(line) for line in exported.read_text().splitlines()]
    generations = {one["id"]: one.get("generation", 0) for one in records if one.get("table") == "users"}
    present = {f"{name}:{generations[name]}" if generations[name] else name for name in names}
    kept = [one for one in records if str(one.get("owner", "")).split(":")[0] in names]
    site.faults += [f"{one['table']} has a record of {one['owner']}" for one in kept if one["owner"] not in present]
    return len(kept)


def remove_and_add(torture: Torture) -> None:
    for folder in torture.rounds():
        is_long = torture.end - time.monotonic() >= LONG_MINUTES * 60 - 5
        rounds = LONG_ROUNDS // VICTIMS + 1 if is_long else SHORT_ROUNDS
        site, verdict = Site(torture.oracle.program.parent / "app-backend", folder), Verdict()
        names = [f"victim{number}" for number in range(VICTIMS)]
        troubles: list[BaseException] = []
        try:
            site.begin()
            noisy = [f"noise{number}" for number in range(SENDERS)]
            for name in ["sender", *noisy, *names]:
                site.add(name)
            work = [(live_and_die, (site, name, rounds, random.Random(torture.random.random()), verdict)) for name in names]
            beside = [(make_noise, (site, one, names, random.Random(torture.random.random()))) for one in noisy]
            beside.append((site.kill_by_turns, ()))
            run_all(site, work, beside, troubles)
            if troubles:
                raise troubles[0]
            rest(site, names, verdict)
        finally:
            site.end()
        verdict.wrong += len(site.faults)
        verdict.faults += site.faults
        torture.count.happened("kills of a service", site.kills)
        torture.count.happened("requests beside", site.noise)
        torture.count.happened("killed removals", verdict.unacknowledged)
        torture.count.add(verdict)


def run_all(site: Site, work: list, beside: list, troubles: list[BaseException]) -> None:
    """Each on a thread; those beside end with the work."""

    def start(body, arguments) -> threading.Thread:
        def run() -> None:
            try:
                body(*arguments)
            except Exception as trouble:  # pylint: disable=broad-exception-caught
                troubles.append(trouble)
                site.ended.set()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    others = [start(*one) for one in beside]
    for thread in [start(*one) for one in work]:
        thread.join()
    site.ended.set()
    for thread in others:
        thread.join()


SCENARIOS = [
    Scenario(
        "removals", "users are removed and added again, a service is killed every second; 10,000 when it has 30 minutes",
        remove_and_add,
    ),
]
