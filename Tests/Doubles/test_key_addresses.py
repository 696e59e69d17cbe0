# SPDX-License-Identifier: Apache-2.0
"""Where the keys of an issuer may be: at addresses that the operator has named, or in the public Internet."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from installation import Installation
from serving import Answer
from token_issuer import AUDIENCE, TokenIssuer


@pytest.fixture
def issuer(authority: Authority) -> Iterator[TokenIssuer]:
    with TokenIssuer(authority.issue("issuer")) as running:
        yield running


@pytest.fixture
def elsewhere(authority: Authority) -> Iterator[TokenIssuer]:
    """Where the issuer's document says that its keys are: in this host's own network."""
    with TokenIssuer(authority.issue("elsewhere")) as running:
        yield running


@pytest.mark.parametrize("is_named", [False, True], ids=["by its document alone", "by the operator"])
def test_a_private_address_of_keys_must_be_named_by_the_operator(
    program: Path, tmp_path: Path, authority: Authority, issuer: TokenIssuer, elsewhere: TokenIssuer, is_named: bool
) -> None:
    keys = f"{elsewhere.issuer}/keys"
    document = {"issuer": issuer.issuer, "jwks_uri": keys}
    issuer.answers["/.well-known/openid-configuration"] = Answer(200, document)
    group = {"issuer": issuer.issuer, "prefix": "one", "audience": [AUDIENCE], "caFile": str(authority.file)}
    if is_named:
        group["jwksUrl"] = keys
    token = elsewhere.token(iss=issuer.issuer)
    groups = {"auth": {"issuers": [group]}}
    with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
        product.keep_secret(token)
        answer = product.call("GET", "/api/register", Authorization=f"Bearer {token}")
        assert answer.status == (200 if is_named else 503)
    # Not even a connection was made.
    assert elsewhere.calls == (["/keys"] if is_named else [])
    assert issuer.calls == ([] if is_named else ["/.well-known/openid-configuration"])
