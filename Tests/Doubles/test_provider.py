# SPDX-License-Identifier: Apache-2.0
"""Tokens of a provider that people run (Canaille), by the flow that an app goes through, shown to the product."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from deadline import wait_until
from examples import of
from identity_provider import IdentityProvider
from installation import Installation, Reply
from reader import TOKEN, Reader

CLIENT = "app"
# Of a token that is over when it is made, and longer than the product's leeway.
OVER_SECONDS = -3_600


@pytest.fixture(scope="module")
def provider(authority: Authority) -> Iterator[IdentityProvider]:
    with IdentityProvider(authority.issue("provider")) as running:
        running.add_user("alice")
        running.add_client(CLIENT)
        yield running


@pytest.fixture
def product(
    program: Path, authority: Authority, provider: IdentityProvider, tmp_path: Path
) -> Iterator[Installation]:
    group = {"issuer": provider.issuer, "prefix": "real", "audience": [CLIENT], "caFile": str(authority.file)}
    with Installation(program, tmp_path, authority, "localhost:9", groups={"auth": {"issuers": [group]}}) as running:
        yield running


def show(product: Installation, token: str) -> Reply:
    product.keep_secret(token)
    return product.call("GET", "/api/register", Authorization=f"Bearer {token}")


def refusal(product: Installation, token: str) -> str:
    answer = show(product, token)
    assert answer.status == 401 and 'error="invalid_token"' in answer.headers["WWW-Authenticate"], answer.body
    return str(answer.json()["detail"])


def test_the_commands_of_the_pages_work_with_its_token(
    product: Installation, provider: IdentityProvider, authority: Authority, tmp_path: Path
) -> None:
    reader = Reader(product, authority.file, tmp_path, {})
    reader.story.names[TOKEN] = provider.log_in("alice", CLIENT, authority.file)["access_token"]
    of_reference = [one for one in of("build/login-and-tokens.md") if "Tokens of identity providers" in one.headings]
    commands = [*of("operate/single-sign-on.md"), *of_reference]
    assert [reader.read(one) for one in commands] == [[], []]


def test_both_tokens_of_a_person_who_has_logged_in_are_that_user(
    product: Installation, provider: IdentityProvider, authority: Authority
) -> None:
    tokens = provider.log_in("alice", CLIENT, authority.file)
    device = {"Platform": "apns", "Handle": "ab" * 32}
    bearer = f"Bearer {tokens['access_token']}"
    assert product.call("PUT", "/api/register/phone", json_body=device, Authorization=bearer).status == 200
    for token in tokens.values():
        assert [one["Platform"] for one in show(product, token).json()] == ["apns"]
        assert "signature is wrong" in refusal(product, re.sub(r"\.[^.]+$", "." + "A" * 342, token))
    assert "devices: 1" in product.run("user", "show", "real.alice")


def test_a_token_for_another_audience_is_refused(
    product: Installation, provider: IdentityProvider, authority: Authority
) -> None:
    provider.add_client("another-app")
    for token in provider.log_in("alice", "another-app", authority.file).values():
        assert "another audience" in refusal(product, token)


def test_a_token_whose_time_is_over_is_refused(
    product: Installation, provider: IdentityProvider, authority: Authority
) -> None:
    provider.restart(OAUTH2_TOKEN_EXPIRES_IN={"authorization_code": OVER_SECONDS})
    expired = provider.log_in("alice", CLIENT, authority.file)["access_token"]
    provider.restart()
    assert "has expired" in refusal(product, expired)
    assert show(product, provider.log_in("alice", CLIENT, authority.file)["access_token"]).status == 200


def test_the_keys_are_rotated_as_the_providers_manual_says(
    product: Installation, provider: IdentityProvider, authority: Authority
) -> None:
    former = provider.log_in("alice", CLIENT, authority.file)["access_token"]
    assert show(product, former).status == 200
    provider.rotate()
    current = provider.log_in("alice", CLIENT, authority.file)["access_token"]
    answer = show(product, current)
    # Ten seconds after the keys were fetched they are fetched again for it, which a slow machine may reach.
    if answer.status != 200:
        assert answer.status == 503 and 1 <= int(answer.headers["Retry-After"]) <= 301
        product.reload()
    assert [show(product, token).status for token in (current, former)] == [200, 200]
    provider.withdraw()

    def is_refused() -> bool:
        """In the second in which a token was made no fetch says that its key is gone."""
        product.reload()
        assert show(product, current).status == 200
        return show(product, former).status != 503

    wait_until(is_refused, "the end of the former key")
    assert "no such key" in refusal(product, former)


def test_the_algorithm_that_the_provider_prefers_is_refused_and_named(
    product: Installation, provider: IdentityProvider, authority: Authority
) -> None:
    """docs/operate/single-sign-on.md says what to choose."""
    provider.add_client("as-it-comes", None)
    token = provider.log_in("alice", "as-it-comes", authority.file)["access_token"]
    assert "algorithm" in refusal(product, token)
