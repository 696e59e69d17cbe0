# SPDX-License-Identifier: Apache-2.0
"""Google's token services: the double against Google's own client, and our three ways to sign in against the double."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
import requests
from certificates import Authority
from driver_oracle import DriverOracle
from fcm import FCM
from google.auth import identity_pool
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import Request
from google.oauth2 import service_account
from google_tokens import ASSERTION_GRANT, SCOPE
from serving import Answer

PATIENCE_SECONDS = 60


@pytest.fixture
def google(authority: Authority) -> Iterator[Request]:
    with requests.Session() as session:
        session.verify, session.trust_env = str(authority.file), False
        yield Request(session)


def is_good(fcm: FCM, token: str) -> bool:
    return fcm.tokens.is_good(f"Bearer {token}")


# Google's client


def test_googles_client_signs_in_with_a_key(fcm: FCM, google: Request) -> None:
    made = service_account.Credentials.from_service_account_info(fcm.tokens.service_account(), scopes=[SCOPE])
    made.refresh(google)
    assert is_good(fcm, made.token)
    fcm.tokens.revoke()
    assert not is_good(fcm, made.token)


@pytest.mark.parametrize("impersonates", [False, True])
@pytest.mark.parametrize("source", ["file", "url"])
def test_googles_client_signs_in_by_federation(
    fcm: FCM, google: Request, tmp_path: Path, source: str, impersonates: bool
) -> None:
    paths = fcm.tokens.write_files(tmp_path)
    # Google's client takes a file's text as it is.
    Path(paths["subjectTokenFile"]).write_text(fcm.tokens.subject_token)
    origin = {"file": paths["subjectTokenFile"]} if source == "file" else fcm.tokens.url_source()
    file = fcm.tokens.external_account(origin, impersonates)
    made = identity_pool.Credentials.from_info(file, scopes=[SCOPE])
    made.refresh(google)
    assert is_good(fcm, made.token)


def test_googles_client_hears_why_a_key_is_refused(fcm: FCM, google: Request, authority: Authority) -> None:
    with FCM(authority.issue("other")) as other:
        file = {**fcm.tokens.service_account(), "private_key": other.tokens.service_account()["private_key"]}
    made = service_account.Credentials.from_service_account_info(file, scopes=[SCOPE])
    with pytest.raises(RefreshError, match="invalid_grant"):
        made.refresh(google)


# What the double refuses


def assertion(fcm: FCM, changes: dict[str, Any], header: dict[str, Any], algorithm: str = "RS256") -> str:
    now = int(time.time())
    claims = {"iss": fcm.tokens.email, "scope": SCOPE, "aud": f"{fcm.origin}/token", "iat": now, "exp": now + 3600}
    key = fcm.tokens.service_account()["private_key"] if algorithm == "RS256" else "x" * 32
    changed = {name: value for name, value in {**claims, **changes}.items() if value is not None}
    return jwt.encode(changed, key, algorithm=algorithm, headers={"kid": fcm.tokens.key_id, **header})


def post(fcm: FCM, authority: Authority, form: Any) -> requests.Response:
    return requests.post(f"{fcm.origin}/token", data=form, verify=str(authority.file), timeout=PATIENCE_SECONDS)


def test_the_double_takes_what_the_refusals_are_made_of(fcm: FCM, authority: Authority) -> None:
    form = {"grant_type": ASSERTION_GRANT, "assertion": assertion(fcm, {}, {})}
    assert post(fcm, authority, form).status_code == 200


@pytest.mark.parametrize(
    ("changes", "header", "error"),
    [
        ({"exp": int(time.time()) + 7200}, {}, "invalid_grant"),
        ({"iat": int(time.time()) - 7200, "exp": int(time.time()) - 3600}, {}, "invalid_grant"),
        ({"iat": int(time.time()) + 7200, "exp": int(time.time()) + 7300}, {}, "invalid_grant"),
        ({"iat": str(int(time.time()))}, {}, "invalid_grant"),
        ({"exp": None}, {}, "invalid_grant"),
        ({"aud": "https://oauth2.example.com/token"}, {}, "invalid_grant"),
        ({"iss": "other@app-1.iam.gserviceaccount.com"}, {}, "invalid_grant"),
        ({"scope": "https://www.googleapis.com/auth/drive"}, {}, "invalid_scope"),
        ({"scope": None}, {}, "invalid_scope"),
        ({}, {"kid": "another"}, "invalid_grant"),
    ],
)
def test_the_double_refuses_a_wrong_assertion(
    fcm: FCM, authority: Authority, changes: dict[str, Any], header: dict[str, Any], error: str
) -> None:
    answer = post(fcm, authority, {"grant_type": ASSERTION_GRANT, "assertion": assertion(fcm, changes, header)})
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_the_double_refuses_other_signatures_and_other_forms(fcm: FCM, authority: Authority) -> None:
    good = assertion(fcm, {}, {})
    forms: list[Any] = [
        {"grant_type": ASSERTION_GRANT, "assertion": assertion(fcm, {}, {}, "HS256")},
        {"grant_type": ASSERTION_GRANT, "assertion": good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")},
        {"grant_type": "client_credentials", "assertion": good},
        {"grant_type": ASSERTION_GRANT},
        {"grant_type": ASSERTION_GRANT, "assertion": good, "scope": SCOPE},
        [("grant_type", ASSERTION_GRANT), ("assertion", good), ("assertion", good)],
    ]
    assert [post(fcm, authority, form).status_code for form in forms] == [400] * len(forms)
    assert fcm.tokens.granted == 0


# Ours


def fetch(oracle: DriverOracle, fcm: FCM, file: Any, **more: Any) -> dict[str, Any]:
    return oracle.ask(do="token", google=json.dumps(file), trusted=fcm.authority, **more)


def test_ours_signs_in_with_a_key(oracle: DriverOracle, fcm: FCM) -> None:
    told = fetch(oracle, fcm, fcm.tokens.service_account())
    assert is_good(fcm, told["token"]) and told["lifetime"] == 3599


@pytest.mark.parametrize("impersonates", [False, True])
@pytest.mark.parametrize("source", ["file", "url"])
def test_ours_signs_in_by_federation(oracle: DriverOracle, fcm: FCM, source: str, impersonates: bool) -> None:
    origin = {"file": "/run/token"} if source == "file" else fcm.tokens.url_source()
    file = fcm.tokens.external_account(origin, impersonates)
    told = fetch(oracle, fcm, file, subjectToken=fcm.tokens.subject_token + "\n")
    assert is_good(fcm, told["token"])
    assert told["lifetime"] in (range(1790, 1801) if impersonates else (3599,))


def test_ours_says_why_it_is_refused_and_never_a_secret(oracle: DriverOracle, fcm: FCM, authority: Authority) -> None:
    with FCM(authority.issue("other")) as other:
        file = {**fcm.tokens.service_account(), "private_key": other.tokens.service_account()["private_key"]}
    told = fetch(oracle, fcm, file)
    assert told["error"].startswith("the token service refuses the credential: invalid_grant: Invalid JWT Signature.")
    file = fcm.tokens.external_account({"file": "/run/token"})
    told = fetch(oracle, fcm, file, subjectToken="a-wrong-subject-token")
    assert told["error"] == "the token service refuses the credential: invalid_grant"


def test_ours_waits_while_the_token_service_is_in_trouble(oracle: DriverOracle, fcm: FCM) -> None:
    fcm.tokens.failure = Answer(503, "<html>")
    assert fetch(oracle, fcm, fcm.tokens.service_account())["error"] == "the token service is out of order (HTTP 503)"
