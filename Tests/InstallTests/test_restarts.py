# SPDX-License-Identifier: Apache-2.0
"""Restarts while people call, through nginx, on connections that they keep."""

import secrets
from itertools import count

from installed_site import SERVICE, Caller, Site, User, expect
from load import Load, Worker

RESTARTS = 20
# No user may keep more than 1000 messages; so the next one comes earlier.
MESSAGES_PER_USER = 900
PAGE = 100


class Sender:
    """Leaves secrets, no two alike, and remembers which were acknowledged."""

    def __init__(self, site: Site, name: str):
        self._site, self._name = site, name
        self._users: list[User] = []
        self._numbers = count()
        # The ids, for each of its users.
        self.acknowledged: list[set[int]] = []

    def send(self) -> None:
        if next(self._numbers) % MESSAGES_PER_USER == 0:
            user = self._site.import_user(f"{self._name}-{len(self._users)}")
            self._users.append(user)
            self._caller = self._site.caller(user)
            self.acknowledged.append(set())
        reply = expect(self._caller.call("POST", "/api/notifications", secrets.token_hex(8)))
        self.acknowledged[-1].add(reply.json()["Id"])

    @property
    def stored(self) -> list[set[int]]:
        """What is kept, acknowledged or not."""
        return [set(messages(self._site.caller(user))) for user in self._users]


def messages(caller: Caller) -> list[int]:
    """The ids of all that is kept for a user. `caller` has no connection that nginx could have closed meanwhile."""
    found: list[int] = []
    while True:
        behind = f"&after={found[-1]}" if found else ""
        page = expect(caller.call("GET", f"/api/notifications?limit={PAGE}{behind}")).json()
        found += [message["Id"] for message in page]
        if len(page) < PAGE:
            return found


def registering(site: Site, user: User) -> Worker:
    """Registers the same device again and again."""
    caller = site.caller(user)
    handle = secrets.token_hex(32)
    name = expect(caller.call("POST", f"/api/register?handle={handle}")).json()
    device = {"Platform": "apns", "Handle": handle, "Tags": ["news"]}
    return Worker(lambda: expect(caller.call("PUT", f"/api/register/{name}", device)))


def reading(site: Site, user: User) -> Worker:
    """Reads the same secret again and again."""
    caller = site.caller(user)
    number = expect(caller.call("POST", "/api/notifications", "The code is 7")).json()["Id"]

    def read() -> None:
        assert expect(caller.call("GET", f"/api/notifications/{number}")).json()["Payload"] == "The code is 7"

    return Worker(read)


def listing(site: Site, user: User) -> Worker:
    caller = site.caller(user)
    return Worker(lambda: expect(caller.call("GET", "/api/register")))


def test_twenty_restarts_under_load_fail_no_request_and_repeat_none(site: Site) -> None:
    # After each restart no user is remembered, and all log in at once. A slow machine refuses some of them when passwords are
    # as costly as usual ("Too many log-ins at once"), which no restart is to blame for.
    alice, bob = site.import_user("alice"), site.import_user("bob")
    senders = [Sender(site, "carol"), Sender(site, "dave")]
    workers = [make(site, user) for make in (registering, reading, listing) for user in (alice, bob)]
    workers += [Worker(sender.send) for sender in senders]
    processes = {site.process}
    with Load(workers) as load:
        for _ in range(RESTARTS):
            load.carry_on()
            site.system.systemctl("restart", SERVICE)
            processes.add(site.process)
        load.carry_on()
    assert load.failures == []
    assert len(processes) == RESTARTS + 1
    for user in (alice, bob):
        assert len(expect(site.call(user, "GET", "/api/register")).json()) == 1
    for sender in senders:
        assert sender.stored == sender.acknowledged
    print(f"{load.answered} answers over {RESTARTS} restarts")
