# SPDX-License-Identifier: Apache-2.0
"""The table of tokens of identity providers in docs/build/login-and-tokens.md: each row, as the program answers it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import Authority
from installation import Installation, Reply
from serving import Answer
from tables import table
from token_issuer import AUDIENCE, TokenIssuer

HEADING = "Tokens of identity providers"
# The status that the row has where it says "as the route says".
LISTED = 200
DAY = 86_400
COOL_DOWN_SECONDS = 301


class Scene:
    """A site that trusts two issuers, one of which gives no keys."""

    def __init__(self, issuer: TokenIssuer, silent: TokenIssuer, site: Installation):
        self.issuer, self.silent, self.site = issuer, silent, site

    def show(self, token: str) -> Reply:
        return self.site.call("GET", "/api/register", Authorization=f"Bearer {token}")


def accepted(scene: Scene) -> list[Reply]:
    return [scene.show(scene.issuer.token(algorithm)) for algorithm in scene.issuer.keys]


def refused(scene: Scene) -> list[Reply]:
    issuer = scene.issuer
    for arguments in (["disable", "one.disabled"], ["disable", "one.removed"], ["remove", "one.removed"]):
        scene.site.run("user", *arguments)
    forged = issuer.token().rpartition(".")[0] + ".AAAA"
    changes = [{"exp": int(time.time()) - DAY}, {"iss": "https://evil.example"}, {"aud": "other"}]
    tokens = ["abc", forged, *(issuer.token(**one) for one in changes)]
    tokens += [issuer.token(sub=name) for name in ("disabled", "removed")]
    replies = [scene.show(token) for token in tokens]
    for reply in replies:
        challenge = reply.headers["WWW-Authenticate"]
        assert challenge.startswith("Bearer realm=") and 'error="invalid_token"' in challenge
        assert f'error_description="{reply.json()["detail"]}"' in challenge
    return replies


def of_an_unknown_key(scene: Scene) -> list[Reply]:
    assert scene.show(scene.issuer.token()).status == LISTED
    reply = scene.show(scene.issuer.token(header={"kid": "new"}, iat=int(time.time()) + 30))
    assert 1 <= int(reply.headers["Retry-After"]) <= COOL_DOWN_SECONDS
    return [reply]


def without_keys(scene: Scene) -> list[Reply]:
    reply = scene.show(scene.silent.token())
    assert int(reply.headers["Retry-After"]) >= 1 and "WWW-Authenticate" not in reply.headers
    return [reply]


def without_credentials(scene: Scene) -> list[Reply]:
    reply = scene.site.call("GET", "/api/register")
    challenges = reply.headers.get_all("WWW-Authenticate") or []
    assert [one.split(" ")[0] for one in challenges] == ["Basic", "Bearer"] and "error" not in challenges[1]
    return [reply]


# The first words of a row.
TRIED: dict[str, Callable[[Scene], list[Reply]]] = {
    "is accepted": accepted,
    "is malformed, forged, expired": refused,
    "names a key that is not known yet": of_an_unknown_key,
    "no credentials at all": without_credentials,
    "the keys of its issuer": without_keys,
}


@pytest.fixture(scope="module")
def scene(program: Path, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with TokenIssuer(authority.issue("table-issuer")) as issuer, TokenIssuer(authority.issue("silent")) as silent:
        silent.answers["/keys"] = Answer(500)
        issuers = [
            {"issuer": one.issuer, "prefix": prefix, "audience": [AUDIENCE], "caFile": str(authority.file)}
            for one, prefix in ((issuer, "one"), (silent, "two"))
        ]
        folder = tmp_path_factory.mktemp("table")
        with Installation(program, folder, authority, "localhost:9", groups={"auth": {"issuers": issuers}}) as site:
            yield Scene(issuer, silent, site)


@pytest.mark.parametrize("words", TRIED)
def test_a_token_of_an_identity_provider_is_answered_as_its_row_says(scene: Scene, words: str) -> None:
    (status,) = [status for token, status, _ in table(HEADING) if token.startswith(words)]
    for reply in TRIED[words](scene):
        assert reply.status == (LISTED if status == "as the route says" else int(status)), reply.body


def test_each_row_is_tried() -> None:
    assert len(table(HEADING)) == len(TRIED)
