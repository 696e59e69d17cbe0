# SPDX-License-Identifier: Apache-2.0
"""The table of refused requests with an app token in docs/reference/api-errors.md: each row, as the program answers it."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from client import Client
from contract import Contract
from deadline import PATIENCE_SECONDS, wait_until
from faults import environment
from refusals import Call, Row, expect, matched
from sites import NO_LIMITS, NO_PUSH_SERVICE

from installation import Installation, User, http_basic

HEADING = "Requests with an app token that are refused"
TWO_DAYS = 2 * 86_400
DEVICE = {"Platform": "apns", "Handle": "ab" * 32}

Tried = Callable[["Scene"], list[Call]]


class Scene:
    """A site with a user who makes tokens, and may send to everyone."""

    def __init__(self, site: Installation, client: Client, program: Path, folder: Path):
        self.site, self._client, self._program, self._folder = site, client, program, folder
        self.owner = self.user()

    def user(self) -> User:
        return self.site.add_user("alice", "--role", "speaker")

    def token(self, *scopes: str, of: User | None = None, **wish: Any) -> str:
        body = {"Scopes": list(scopes or ("send", "read", "register"))} | wish
        made = self.site.call("POST", "/api/tokens", of or self.owner, body).json()
        self.site.keep_secret(made["Token"])
        return str(made["Token"])

    def revoked(self) -> str:
        token = self.token()
        id = token.split("_")[1]
        assert self.site.call("DELETE", f"/api/tokens/{id}", self.owner).status == 200
        return token

    def expired(self) -> str:
        """Made for a day by a command whose clock is two days behind."""
        (self._folder / "clock").write_text(str(-TWO_DAYS))
        command = [self._program, "user", "token", "add", self.owner.name, "--scope", "read", "--expires", "1d"]
        done = subprocess.run(
            [*command, "--config", self.site.config], env=os.environ | environment(self._folder), check=True,
            capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return done.stdout.strip()

    def ended_with(self, command: str) -> str:
        """Of a user who is disabled or removed."""
        user = self.user()
        token = self.token(of=user)
        self.site.run("user", command, user.name)
        return token

    def device(self) -> str:
        id = self.site.call("POST", "/api/register", self.owner).json()
        assert self.site.call("PUT", f"/api/register/{id}", self.owner, DEVICE).status == 200
        return str(id)


def shown(token: str, *calls: Call) -> list[Call]:
    return [Call(one.operation, one.body, one.query, None, one.name, {"Authorization": f"Bearer {token}"}) for one in calls]


def changed(token: str) -> str:
    return token[:-1] + ("A" if token[-1] != "A" else "E")


def of_no_use(scene: Scene) -> list[Call]:
    ended = [scene.revoked(), scene.expired(), scene.ended_with("disable"), scene.ended_with("remove")]
    # With the next row these are fewer than a network has.
    tokens = ["abt_x", changed(scene.token()), *ended]
    return [one for token in tokens for one in shown(token, Call("listSecureMessages"))]


def beside_another_name(scene: Scene) -> list[Call]:
    names = ("nosuch", scene.user().name)
    return [Call("listSecureMessages", user=User(name, scene.token())) for name in names]


def after_ten(scene: Scene) -> list[Call]:
    """Those that other rows have shown count as well, as long as their minute lasts."""
    wrong = changed(scene.token())
    headers = {"Authorization": f"Bearer {wrong}"}
    wait_until(lambda: scene.site.call("GET", "/api/inbox", **headers).status == 429, "the refusal of all")
    return shown(wrong, Call("listSecureMessages"))


def at_the_session(scene: Scene) -> list[Call]:
    token = scene.token()
    as_password = {"Authorization": http_basic(User(scene.owner.name, token))}
    return shown(token, Call("readSession"), Call("logIn")) + [Call("logIn", headers=as_password)]


def as_a_key_elsewhere(scene: Scene) -> list[Call]:
    return [Call("listDevices", headers={"apikey": scene.token()})]


def beyond_its_scopes(scene: Scene) -> list[Call]:
    by_scope = {
        "send": [Call("sendMessage", "Hi"), Call("requestPush", {"text": "Hi"}), Call("readDeliveryStatus"), Call("readPlatformDelivery")],
        "read": [Call(one) for one in ("listInbox", "markAsRead", "listSecureMessages", "readSecureMessage", "markAsOpened")],
        "register": [Call("listDevices"), Call("registerDevice", DEVICE), Call("unregisterDevice"), Call("deleteInstallation")],
    }
    lacking = [
        one
        for scope in by_scope
        for other, calls in by_scope.items()
        if scope != other
        for one in shown(scene.token(scope), *calls)
    ]
    for_no_token = [
        Call("listTokens"), Call("createToken", {"Scopes": ["send"]}), Call("revokeToken"), Call("listSessions"),
        Call("endSession"), Call("changePassword", {"Password": "a", "NewPassword": "b"}), Call("listScheduledMessages"),
        Call("cancelScheduledMessage"), Call("listUsers"), Call("readStatus"), Call("addUser", {"UserName": "a", "Password": "b"}),
    ]  # fmt: skip
    return lacking + shown(scene.token(), *for_no_token)


def for_a_page_of_another_site(scene: Scene) -> list[Call]:
    headers = {"Authorization": f"Bearer {scene.token()}", "Sec_Fetch_Site": "cross-site"}
    return [Call("sendMessage", "Hi", headers=headers), Call("registerDevice", DEVICE, headers=headers)]


def in_the_query(scene: Scene) -> list[Call]:
    queries = ("", "to_tag=nosuch", "pns=apns&to_tag=nosuch", f"to_tag={scene.owner.name}")
    return shown(scene.token(To=["bob"]), *[Call("sendMessage", "Hi", query) for query in queries])


def in_an_object(scene: Scene) -> list[Call]:
    recipients = (
        "nosuch", scene.owner.name, "tag:news", "tags:news && !beta", "role:speaker", f"device:{scene.device()}", "*",
        ["bob", "nosuch"], ["bob", "tag:news"],
    )  # fmt: skip
    return shown(scene.token(To=["bob"]), *[Call("sendMessage", {"To": one, "Body": "Hi"}) for one in recipients])


def in_a_request(scene: Scene) -> list[Call]:
    bodies = ({"text": "Hi"}, {"text": "Hi", "tags": ["news"]})
    return shown(scene.token(To=["bob"]), *[Call("requestPush", body) for body in bodies])


# The first words of a row's two cells.
TRIED: dict[tuple[str, str], Tried] = {
    ("is malformed or wrong", "any"): of_no_use,
    ("is the password", "any"): beside_another_name,
    ("is wrong, and so", "any"): after_ten,
    ("is right", "`GET` or `POST /api/session`"): at_the_session,
    ("is right", "`apikey`"): as_a_key_elsewhere,
    ("is right", "a route of a scope"): beyond_its_scopes,
    ("is right", "it changes something"): for_a_page_of_another_site,
    ("has `To`", "`to_tag`"): in_the_query,
    ("has `To`", "`To`"): in_an_object,
    ("has `To`", "`POST /api/notifications/requests`"): in_a_request,
}


@pytest.fixture(scope="module")
def site(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("tokens")
    role = {"roles": {"name": "speaker", "sendTo": ["tag:*", "role:*", "*"], "broadcast": True, "administer": True}}
    with Installation(program, folder, Authority(folder), NO_PUSH_SERVICE, groups=NO_LIMITS | role) as running:
        yield running


@pytest.mark.parametrize(("row", "tried"), matched(HEADING, TRIED))
def test_a_request_with_an_app_token_is_refused_as_its_row_says(
    site: Installation, contract: Contract, program: Path, tmp_path: Path, row: Row, tried: Tried
) -> None:
    client = Client(site, contract)
    expect(client, row, tried(Scene(site, client, program, tmp_path)))
