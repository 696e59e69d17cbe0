# SPDX-License-Identifier: Apache-2.0
"""Tokens of issuers, right and forged, shown to the product behind its nginx."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jwt
import pytest
from backend import Backend
from certificates import Authority
from installation import Installation, Reply, User
from joserfc.jwk import ECKey, OctKey, RSAKey
from serving import Answer
from token_issuer import AUDIENCE, PARTY, TokenIssuer

INVALID = 'error="invalid_token"'
LONG_TOKEN = 100
# When a token was made, in seconds since 1970, that is older than any keys.
OLD = 1_000_000_000
COOL_DOWN_SECONDS = 301


def encoded(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def by_shared_key(one: TokenIssuer, key: bytes) -> str:
    """Made by hand, because no library signs so any more."""
    signed = f'{encoded({"alg": "HS256", "typ": "JWT", "kid": "r"})}.{encoded(one.claims())}'
    return f"{signed}.{encoded(hmac.digest(key, signed.encode(), 'sha256'))}"


@pytest.fixture(scope="module")
def issuer(authority: Authority) -> Iterator[TokenIssuer]:
    with TokenIssuer(authority.issue("issuer")) as running:
        yield running


@pytest.fixture(scope="module")
def other(authority: Authority) -> Iterator[TokenIssuer]:
    with TokenIssuer(authority.issue("other-issuer")) as running:
        yield running


@pytest.fixture(scope="module")
def product(
    program: Path, authority: Authority, issuer: TokenIssuer, other: TokenIssuer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("bearer")
    ca = str(authority.file)
    issuers = [
        {"issuer": issuer.issuer, "prefix": "one", "audience": [AUDIENCE], "authorizedParty": [PARTY], "caFile": ca},
        {
            "issuer": other.issuer, "prefix": "two", "audience": [AUDIENCE], "jwksUrl": f"{other.issuer}/keys",
            "userClaim": "email", "caFile": ca,
        },
    ]
    with Installation(program, folder, authority, "localhost:9", groups={"auth": {"issuers": issuers}}) as running:
        yield running


def show(product: Installation, token: str, method: str = "GET", path: str = "/api/register", **more: object) -> Reply:
    # Short ones are words, which logs may have.
    if len(token) >= LONG_TOKEN:
        product.keep_secret(token)
    return product.call(method, path, Authorization=f"Bearer {token}", **more)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_a_token_of_each_algorithm_is_a_user(product: Installation, issuer: TokenIssuer, algorithm: str) -> None:
    assert show(product, issuer.token(algorithm)).status == 200
    assert show(product, jwt.encode(
        issuer.claims(sub="carol"), issuer.keys[algorithm].as_pem(private=True), algorithm,
        headers={"kid": issuer.keys[algorithm].kid},
    )).status == 200


def test_two_issuers_share_no_user(product: Installation, issuer: TokenIssuer, other: TokenIssuer) -> None:
    verified = {"email": "alice", "email_verified": True}
    for token in (issuer.token(), other.token(**verified)):
        assert show(product, token).status == 200
    created = show(product, issuer.token(), "POST").json()
    device = {"Platform": "apns", "Handle": "ab" * 32, "Tags": []}
    path = f"/api/register/{created}"
    assert show(product, issuer.token(), "PUT", path, json_body=device).status in (200, 204)
    assert len(show(product, issuer.token()).json()) == 1
    assert show(product, other.token(**verified)).json() == []


Forge = Callable[[TokenIssuer], str]
NOW = int(time.time())
DAY = 86_400

FORGED: dict[str, tuple[Forge, str]] = {
    "nothing": (lambda one: "", "not a signed JWT"),
    "a word": (lambda one: "x", "not a signed JWT"),
    "two parts": (lambda one: one.token().rpartition(".")[0], "not a signed JWT"),
    "four parts": (lambda one: one.token() + ".x", "not a signed JWT"),
    "five parts": (lambda one: "a.b.c.d.e", "not a signed JWT"),
    "dots": (lambda one: "." * 6000, "not a signed JWT"),
    "not Base64": (lambda one: one.token() + "!", "not a signed JWT"),
    "padded": (lambda one: one.token().replace(".", "=.", 1), "not a signed JWT"),
    "not JSON": (lambda one: one.signed("{"), "not a signed JWT"),
    "a list": (lambda one: one.signed("[]"), "not a signed JWT"),
    "a member twice": (
        lambda one: one.signed(json.dumps(one.claims())[:-1] + ',"sub":"bob"}'), "not a signed JWT"),
    "not UTF-8": (
        lambda one: f'{encoded({"alg": "ES256", "kid": "p"})}.{encoded(bytes([123, 34, 255, 34]))}.AA',
        "not a signed JWT"),
    "deep": (lambda one: one.signed('{"a":' + "[" * 500 + "]" * 500 + "}"), "not a signed JWT"),
    "no signature": (lambda one: one.token().rpartition(".")[0] + ".", "signature is wrong"),
    "none": (lambda one: jwt.encode(one.claims(), None, "none"), "algorithm"),
    "None": (lambda one: f'{encoded({"alg": "None", "kid": "p"})}.{encoded(one.claims())}.', "algorithm"),
    "the public key as a shared one": (
        lambda one: by_shared_key(one, one.keys["RS256"].as_pem(private=False)), "algorithm"),
    "a shared key of the token's own": (
        lambda one: one.token(
            "HS256", key=OctKey.import_key("0123456789abcdef0123456789abcdef"), header={"kid": "p"}),
        "algorithm"),
    "RS512": (lambda one: one.token("RS512", key=one.keys["RS256"]), "algorithm"),
    "PS256": (lambda one: one.token("PS256", key=one.keys["RS256"]), "algorithm"),
    "another kind of key": (lambda one: one.token("ES256", header={"kid": "r"}), "not that of the key"),
    "a stranger's key": (lambda one: one.token(key=ECKey.generate_key("P-256", {"kid": "p"})), "signature is wrong"),
    "a stranger's RSA key": (
        lambda one: one.token("RS256", key=RSAKey.generate_key(2048, {"kid": "r"})), "signature is wrong"),
    "a key of its own": (
        lambda one: (lambda key: one.token(key=key, header={"jwk": key.as_dict(private=False)}))(
            ECKey.generate_key("P-256", {"kid": "p"})),
        "signature is wrong"),
    "an address of keys of its own": (
        lambda one: one.token(
            key=ECKey.generate_key("P-256", {"kid": "q"}), header={"jku": "https://localhost:9/keys"}, iat=OLD),
        "no such key"),
    "a path as the key's id": (lambda one: one.token(header={"kid": "../../../dev/null"}, iat=OLD), "no such key"),
    "SQL as the key's id": (lambda one: one.token(header={"kid": "' or 1=1 --"}, iat=OLD), "no such key"),
    "a critical extension": (lambda one: one.token(header={"crit": ["kid"]}), "extension"),
    "a payload that is not encoded": (lambda one: one.token(header={"crit": ["b64"], "b64": True}), "extension"),
    "a log-out token": (lambda one: one.token(header={"typ": "logout+jwt"}), "type"),
    "a log-out": (lambda one: one.token(events={}), "type"),
    "bound to a key": (lambda one: one.token(cnf={"jkt": "x"}), "bound"),
    "another issuer": (lambda one: one.token(iss="https://evil.example"), "issuer is not known"),
    "a slash behind the issuer": (lambda one: one.token(iss=one.issuer + "/"), "issuer is not known"),
    "no issuer": (lambda one: one.token(iss=None), "issuer is not known"),
    "another audience": (lambda one: one.token(aud="other"), "another audience"),
    "no audience": (lambda one: one.token(aud=None), "another audience"),
    "an empty list of audiences": (lambda one: one.token(aud=[]), "another audience"),
    "another party": (lambda one: one.token(aud="account", azp="other"), "another audience"),
    "expired": (lambda one: one.token(exp=NOW - DAY), "has expired"),
    "no end": (lambda one: one.token(exp=None), "no valid times"),
    "an end as a text": (lambda one: one.token(exp=str(NOW + DAY)), "no valid times"),
    "an end of NaN": (
        lambda one: one.signed(json.dumps(one.claims()).replace('"exp": ', '"exp": NaN, "x": ')), "not a signed JWT"),
    "an infinite end": (
        lambda one: one.signed(json.dumps(one.claims()).replace('"exp": ', '"exp": 1e999, "x": ')), "no valid times"),
    "not yet": (lambda one: one.token(nbf=int(time.time()) + 600), "not valid yet"),
    "made in the future": (lambda one: one.token(iat=int(time.time()) + 600), "not valid yet"),
    "no user": (lambda one: one.token(sub=None), "no user"),
    "a user of another kind": (lambda one: one.token(sub=["alice"]), "no user"),
    "a long user": (lambda one: one.token(sub="a" * 256), "no user"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused_with_its_reason(product: Installation, issuer: TokenIssuer, name: str) -> None:
    forge, reason = FORGED[name]
    token = forge(issuer)
    answer = show(product, token)
    assert answer.status == 401, answer.body
    challenge = answer.headers["WWW-Authenticate"]
    assert challenge.startswith("Bearer realm=") and INVALID in challenge and reason in challenge
    assert reason in answer.json()["detail"]
    for part in token.split("."):
        assert len(part) < 8 or part not in challenge + answer.body.decode()


def test_a_token_that_is_longer_than_any_is_refused(product: Installation, issuer: TokenIssuer) -> None:
    # By nginx, as it is configured; or by the product.
    assert show(product, issuer.token(x="a" * 9_000)).status in (400, 401)


def test_one_issuer_does_not_sign_for_another(product: Installation, issuer: TokenIssuer, other: TokenIssuer) -> None:
    assert "signature is wrong" in show(product, other.token(iss=issuer.issuer)).json()["detail"]


def test_an_unverified_address_is_no_user(product: Installation, other: TokenIssuer) -> None:
    for verified in (False, None, "no"):
        answer = show(product, other.token(email="alice@example.com", email_verified=verified))
        assert answer.status == 401 and "not verified" in answer.json()["detail"]
    assert show(product, other.token(email="alice@example.com", email_verified=True)).status == 200


def test_who_asks_for_the_authorized_party_is_let_in(product: Installation, issuer: TokenIssuer) -> None:
    assert show(product, issuer.token(aud="account", azp=PARTY)).status == 200


def test_forged_ids_of_keys_cause_no_storm_of_requests(product: Installation, issuer: TokenIssuer) -> None:
    assert show(product, issuer.token()).status == 200
    before = len(issuer.calls)
    for number in range(30):
        assert show(product, issuer.token(header={"kid": f"made-up-{number}"}, iat=OLD)).status == 401
    # These could be the first after a rotation, so they are to come again.
    for number in range(30):
        answer = show(product, issuer.token(header={"kid": f"made-up-{number}"}, iat=int(time.time()) + 30))
        assert answer.status == 503 and 1 <= int(answer.headers["Retry-After"]) <= COOL_DOWN_SECONDS
    # At most one more look at the document and the keys.
    assert len(issuer.calls) - before <= 2


def test_an_operator_manages_a_user_who_has_no_record(product: Installation, issuer: TokenIssuer) -> None:
    token, name = issuer.token(sub="carol"), "one.carol"
    body = {"Platform": "fcm", "Handle": "a-token-of-firebase", "Tags": ["news"]}
    assert show(product, token, "PUT", "/api/register/my-phone", json_body=body).status == 200
    assert name not in product.run("user", "list")
    listed = json.loads(product.run("device", "list", "--json", name))
    assert [one["tags"] for one in listed] == [["news"]]
    assert "devices: 1" in product.run("user", "show", name)
    assert product.run("device", "remove", name, listed[0]["id"]) == f"removed {listed[0]['id']}\n"
    assert json.loads(product.run("device", "list", "--json", name)) == []
    assert show(product, token).status == 200
    for number in range(2):
        # The second one has never been here before.
        user, shown = f"one.carol{number or ''}", issuer.token(sub=f"carol{number or ''}")
        assert product.run("user", "disable", user) == f"disabled {user}\n"
        assert show(product, shown).status == 401
        assert product.run("user", "enable", user) == f"enabled {user}\n"
        assert show(product, shown).status == 200
        assert product.run("user", "remove", user) == f"removed {user}\n"
        assert show(product, shown).status == 401
    # A name that was mistyped makes no record.
    with pytest.raises(RuntimeError, match="`app-backend user disable one.dave`"):
        product.run("user", "remove", "one.dave")
    assert show(product, issuer.token(sub="dave")).status == 200
    sent = issuer.token(sub="erin")
    assert show(product, sent, "POST", "/api/notifications", json_body={"To": "one.erin", "Body": "Hi"}).status == 200
    assert product.run("user", "remove", "one.erin").startswith("removed one.erin: ")
    assert show(product, sent).status == 401


def test_the_password_of_an_issuers_user_can_be_taken_away(product: Installation, issuer: TokenIssuer) -> None:
    eve = User("one.eve", product.secret("password-"))
    product.run("user", "add", eve.name, input=eve.password + "\n")
    token = issuer.token(sub="eve")
    assert show(product, token).status == product.call("GET", "/api/register", eve).status == 200
    assert product.run("user", "passwd", eve.name, "--none") == "changed one.eve\n"
    assert "password: none" in product.run("user", "show", eve.name)
    assert show(product, token).status == 200
    assert product.call("GET", "/api/register", eve).status == 401


def test_a_session_and_a_token_are_not_mixed_up(product: Installation, issuer: TokenIssuer) -> None:
    answer = product.call("GET", "/api/register", Authorization=f"Basic {issuer.token()}")
    assert answer.status == 401 and answer.headers["WWW-Authenticate"].startswith("Basic")


def test_without_credentials_both_challenges_arrive(product: Installation) -> None:
    answer = product.call("GET", "/api/register")
    schemes = [value.split(" ")[0] for value in answer.headers.get_all("WWW-Authenticate") or []]
    assert (answer.status, schemes) == (401, ["Basic", "Bearer"])


def test_without_keys_the_answer_is_503_and_no_blame(
    program: Path, authority: Authority, tmp_path: Path
) -> None:
    with TokenIssuer(authority.issue("lost-issuer")) as lost:
        lost.answers["/keys"] = Answer(500)
        group = {"issuer": lost.issuer, "prefix": "lost", "audience": [AUDIENCE], "caFile": str(authority.file)}
        groups = {"auth": {"issuers": [group]}}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
            answer = show(product, lost.token())
            assert answer.status == 503 and int(answer.headers["Retry-After"]) >= 1


def test_a_key_that_was_withdrawn_ends_with_a_reload(program: Path, authority: Authority, tmp_path: Path) -> None:
    with TokenIssuer(authority.issue("withdrawing")) as issuer:
        group = {"issuer": issuer.issuer, "prefix": "w", "audience": [AUDIENCE], "caFile": str(authority.file)}
        with Installation(program, tmp_path, authority, "localhost:9", groups={"auth": {"issuers": [group]}}) as product:
            withdrawn, kept = issuer.token("ES256"), issuer.token("RS256")
            assert [show(product, token).status for token in (withdrawn, kept)] == [200, 200]
            del issuer.keys["ES256"]
            assert show(product, withdrawn).status == 200
            product.reload()
            assert [show(product, token).status for token in (withdrawn, kept)] == [401, 200]


def test_a_role_of_a_token_counts_for_its_requests(program: Path, authority: Authority, tmp_path: Path) -> None:
    with TokenIssuer(authority.issue("giving-roles")) as issuer:
        group = {
            "issuer": issuer.issuer, "prefix": "r", "authorizedParty": [PARTY], "caFile": str(authority.file),
            "rolesClaim": "realm_access.roles",
        }
        roles = [{"name": "editor", "sendTo": ["tag:news*"]}]
        groups = {"auth": {"issuers": [group]}, "roles": roles}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
            message = {"To": "tag:news", "Title": "t"}
            for given, status in ((["editor", "offline_access"], 200), (["offline_access"], 403), ("Editor", 403)):
                token = issuer.token(azp=PARTY, realm_access={"roles": given})
                answer = show(product, token, "POST", "/api/notifications", json_body=message)
                assert answer.status == status
            assert answer.json()["code"] == "recipientNotAllowed" and "(policy.sendTo)" in answer.json()["detail"]


def test_the_doctor_fetches_the_keys_of_each_issuer(program: Path, authority: Authority, tmp_path: Path) -> None:
    with TokenIssuer(authority.issue("good")) as good, TokenIssuer(authority.issue("bad")) as bad:
        bad.answers["/keys"] = Answer(404)
        groups = [
            {"issuer": one.issuer, "prefix": prefix, "audience": [AUDIENCE], "caFile": str(authority.file)}
            for one, prefix in ((good, "good"), (bad, "bad"))
        ]
        # Without the authority's certificate it is not trusted.
        groups.append({**groups[0], "issuer": f"{good.issuer}/other", "prefix": "other"} | {"caFile": None})
        with Backend(program, tmp_path, {"auth": {"issuers": groups}}) as backend:
            findings = backend.doctor()["issuers"]["findings"]
    assert [one["verdict"] for one in findings] == ["ok", "wrong", "wrong"]
    assert findings[0]["found"] == f"{good.issuer}: 3 keys to verify its tokens by"
    assert findings[1]["found"] == f"{bad.issuer}: the issuer answers 404"
    assert "auth.issuers.1.issuer" in findings[1]["fix"]
    assert "auth.issuers.2.caFile" in findings[2]["fix"]


def test_keys_of_a_file_need_no_network(program: Path, authority: Authority, tmp_path: Path) -> None:
    with TokenIssuer(authority.issue("file-issuer")) as issuer:
        (tmp_path / "keys.json").write_text(json.dumps(issuer.key_set()))
        group = {
            "issuer": issuer.issuer, "prefix": "f", "audience": [AUDIENCE], "jwksFile": str(tmp_path / "keys.json")
        }
        groups = {"auth": {"issuers": [group]}}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as product:
            assert show(product, issuer.token("EdDSA")).status == 200
        assert issuer.calls == []
