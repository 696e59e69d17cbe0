# SPDX-License-Identifier: Apache-2.0
"""The table of recipients that are not there, in docs/reference/api-errors.md: each row, as the program answers it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from client import Client
from contract import Contract
from refusals import Call, Row, expect, matched
from sites import NO_LIMITS, NO_PUSH_SERVICE

from installation import Installation, User

HEADING = "Recipients that are not there"
SOON = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
NO_DEVICE = "7260336227650468927-4200236381151834034-1"
# A role that no user has, and one that the configuration does not have.
IDLE, UNKNOWN = "role:idle", "role:unknown"
OF_AN_ISSUER = "staff.7f3a"
X, Y = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"

Tried = Callable[["Scene"], list[Call]]


class Scene:
    """A sender with all rights, one who is secure-only, and a user whom neither may send to."""

    def __init__(self, site: Installation):
        self._site = site
        self.sender = site.add_user("sender", "--role", "speaker")
        self.careful = site.add_user("careful", "--role", "speaker", "--secure-only")
        self.friends = site.add_user("friends", "--send-to", "friend*", "--send-to", "device:*")
        self._removed = site.add_user("removed")
        site.run("user", "remove", self._removed.name)

    @property
    def absent(self) -> list[str]:
        return ["nosuch", self._removed.name]

    def devices_of_others(self) -> list[str]:
        id = self._site.call("POST", "/api/register", self.careful).json()
        device = {"Platform": "apns", "Handle": "ab" * 32}
        assert self._site.call("PUT", f"/api/register/{id}", self.careful, device).status == 200
        return [NO_DEVICE, str(id)]


def strings(names: list[str], user: User, query: str = "") -> list[Call]:
    return [Call("sendMessage", "Hi", f"{query}to_tag={name}", user) for name in names]


def objects(recipients: list[Any], user: User, **members: Any) -> list[Call]:
    return [Call("sendMessage", {"To": one, "Body": "Hi"} | members, user=user) for one in recipients]


def with_lists(scene: Scene) -> list[Any]:
    return [*scene.absent, *([scene.sender.name, name] for name in scene.absent)]


def plain(scene: Scene) -> list[Call]:
    at_once = strings(scene.absent, scene.sender, "pns=apns&") + objects(with_lists(scene), scene.sender)
    return at_once + objects(scene.absent, scene.sender, SendAt=SOON)


def kept_strings(scene: Scene) -> list[Call]:
    return strings(scene.absent, scene.sender) + strings(scene.absent, scene.careful, "pns=apns&")


def kept_objects(scene: Scene) -> list[Call]:
    secure = objects(with_lists(scene), scene.sender, Secure=True)
    return secure + objects(scene.absent, scene.sender, Secure=True, SendAt=SOON) + objects(scene.absent, scene.careful)


def tokens(scene: Scene) -> list[Call]:
    return [Call("createToken", {"Scopes": ["send"], "To": [name]}, user=scene.sender) for name in scene.absent]


def issuers_plain(scene: Scene) -> list[Call]:
    return strings([OF_AN_ISSUER], scene.sender, "pns=apns&") + objects([OF_AN_ISSUER], scene.sender)


def issuers_string(scene: Scene) -> list[Call]:
    return strings([OF_AN_ISSUER], scene.sender)


def issuers_object(scene: Scene) -> list[Call]:
    return objects([OF_AN_ISSUER], scene.sender, Secure=True)


def many(scene: Scene) -> list[Call]:
    asked = [Call("requestPush", {"text": "Hi", "tags": ["lonely"]}, user=scene.sender)]
    return objects(["tag:lonely", "tags:lonely && !news", IDLE], scene.sender) + asked


def unknown_role(scene: Scene) -> list[Call]:
    return objects([UNKNOWN, [scene.sender.name, UNKNOWN]], scene.sender)


def device(scene: Scene) -> list[Call]:
    return objects([f"device:{id}" for id in scene.devices_of_others()], scene.friends)


def from_device(scene: Scene) -> list[Call]:
    return [one for id in scene.devices_of_others() for one in objects([scene.sender.name], scene.sender, FromDevice=id)]


NEVER, ISSUERS, MANY = "a user who was never", "a user of an identity provider", "a tag that no device has"
# The first words of a row's two cells.
TRIED: dict[tuple[str, str], Tried] = {
    (NEVER, "`to_tag` beside `pns`"): plain,
    (NEVER, "`to_tag` without `pns`"): kept_strings,
    (NEVER, "`To` of an object with `Secure`"): kept_objects,
    (NEVER, "`To` of an app token"): tokens,
    (ISSUERS, "`to_tag` beside `pns`"): issuers_plain,
    (ISSUERS, "`to_tag` without `pns`"): issuers_string,
    (ISSUERS, "`To` of an object with `Secure`"): issuers_object,
    (MANY, "`To` of an object"): many,
    ("a role", "`To` of an object"): unknown_role,
    ("a device that is not there, or is one of a user", "`To` of an object"): device,
    ("a device that is not there, or is another", "`FromDevice`"): from_device,
}


@pytest.fixture(scope="module")
def site(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("recipients")
    keys = folder / "keys.json"
    # Of RFC 7517, appendix A.1. No token comes.
    keys.write_text(json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "kid": "1", "x": X, "y": Y}]}))
    issuer = {"issuer": "https://id.example.com", "prefix": "staff", "audience": ["app"], "jwksFile": str(keys)}
    groups = {
        "auth": {"issuers": [issuer]},
        "roles": [{"name": "speaker", "sendTo": ["*", "tag:*", "role:*"], "broadcast": True}, {"name": "idle"}],
    }
    with Installation(program, folder, Authority(folder), NO_PUSH_SERVICE, groups=NO_LIMITS | groups) as running:
        yield running


@pytest.fixture(scope="module")
def scene(site: Installation) -> Scene:
    return Scene(site)


@pytest.mark.parametrize(("row", "tried"), matched(HEADING, TRIED))
def test_a_recipient_that_is_not_there_is_answered_as_its_row_says(
    site: Installation, contract: Contract, scene: Scene, row: Row, tried: Tried
) -> None:
    for reply in expect(Client(site, contract), row, tried(scene)):
        if reply.status == 200:
            assert {one["State"] for one in reply.json().get("Outcomes", [])} <= {"NoTargetFound"}, reply.body
