# SPDX-License-Identifier: Apache-2.0
"""The commands of the pages, and what they say that is answered: the product answers so."""

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import routes
from certificates import Authority
from examples import BLOCK, DOCS, TRIAL_SITE, Example, Story, examples, of, settings
from reader import KEY, Reader
from sites import NO_LIMITS, NO_PUSH_SERVICE, a_browser, apples, trust_certificates

from built import ROOT
from installation import Installation

ROUTES = DOCS / "reference" / "routes.md"
# Of the pages of the API: what needs a site of another configuration.
APPS, OTHER_SITES, ISSUERS = "Several apps", "Pages of other sites", "Tokens of identity providers"
# Of operate/users-and-permissions.md, likewise.
JOINING = "Tags that users may join"
# A time in the next seven days, for the one that the pages name.
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
HANDLE = "ab" * 32
# Pages whose commands Tests/Doubles plays, because they need a provider of identities, or a receiver.
ELSEWHERE = {"operate/single-sign-on.md", "build/webhooks.md"}


def of_api() -> list[Example]:
    """Those of the pages of the API, in the order in which they can be typed."""
    whole = [*of("reference/http-api.md"), *of("reference/routes.md"), *of("reference/api-examples.md")]
    guides = [*of("build/devices.md"), *of("build/secure-messages.md"), *of("build/inbox.md")]
    guides += [*of("build/delivery-status.md"), *of("build/retry-safely.md"), *of("build/login-and-tokens.md")]
    return whole + guides


def below(heading: str) -> list[Example]:
    return [one for one in of_api() if heading in one.headings]


@pytest.fixture(scope="module")
def site(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """What the pages ask of a configuration, as they show it."""
    folder = tmp_path_factory.mktemp("site")
    groups = settings(DOCS / "operate" / "users-and-permissions.md", "Roles") | settings(DOCS / "build" / "login-and-tokens.md", OTHER_SITES)
    groups["roles"] += [{"name": "oncall"}, {"name": "speaker", "sendTo": ["tag:*", "role:*"], "broadcast": True}]
    with Installation(program, folder, Authority(folder), NO_PUSH_SERVICE, groups=NO_LIMITS | groups) as running:
        yield running


@pytest.fixture
def authority(site: Installation) -> Path:
    return site.config.with_name("authority.pem")


def test_every_route_of_the_page_has_an_example() -> None:
    shown = [one.request for one in of("reference/api-examples.md")]
    missing = []
    for route in sorted(routes.of_page(ROUTES)):
        if not any(fits(asked, route) for asked in shown):
            missing.append(" ".join(route))
    assert missing == []


def fits(asked: tuple[str, str], route: tuple[str, str]) -> bool:
    """Whether a request is one of the route: method and path."""
    pattern = re.sub(r"\\\{[^}]*\}", "[^/]+", re.escape(route[1]))
    return asked[0] == route[0] and re.fullmatch(pattern, asked[1]) is not None


def name_of(page: Path) -> str:
    """As `of` takes it."""
    return str(page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT))


def test_every_page_with_a_command_of_curl_is_played() -> None:
    """Here or in Tests/Doubles, and each of its commands stands where it is found."""
    pages = {ROOT / "README.md", *DOCS.rglob("*.md")}
    blocks = {page: "".join(one["text"] for one in BLOCK.finditer(page.read_text())) for page in pages}
    counts = {name_of(page): len(re.findall(r"^ *curl ", text, re.M)) for page, text in blocks.items() if "curl " in text}
    assert counts == {name: len(of(name)) for name in counts}
    source = Path(__file__).read_text()
    assert {name for name, count in counts.items() if count and f'of("{name}"' not in source} == ELSEWHERE


def test_the_product_answers_as_the_page_shows(installation: Installation, folder: Path, tmp_path: Path) -> None:
    users = {role: installation.add_user(role) for role in ("alice", "bob")}
    users["root"] = installation.add_user("root", "--role", "administrator")
    reader = Reader(installation, folder / "authority.pem", tmp_path, users)
    # The page's password is changed to another one, which is the same here.
    own = {"PASSWORD": users["alice"].password, "ROOTS-PASSWORD": users["root"].password, "NEW": users["alice"].password}
    reader.story.names |= own | {"2026-11-30T08:00:00Z": TOMORROW}
    found = [one for one in of_api() if not {APPS, OTHER_SITES, ISSUERS} & set(one.headings)]
    assert len(found) > 15
    for one in found:
        has_answer = one.request in {("GET", "/metrics"), ("HEAD", "/api/config")}
        reader.read(one, is_whole=one.page == "api-examples.md" and not has_answer)


def test_a_device_names_its_app_as_the_page_shows(program: Path, tmp_path: Path) -> None:
    groups = apples(tmp_path, "com.example.chat", "com.example.mail")
    with Installation(program, tmp_path, Authority(tmp_path), NO_PUSH_SERVICE, groups=groups) as site:
        reader = Reader(site, tmp_path / "authority.pem", tmp_path, {"alice": site.add_user("alice")})
        for one in below(APPS):
            reader.read(one, is_whole=True)


def test_a_page_of_another_site_may_ask_as_the_page_shows(site: Installation, authority: Path, tmp_path: Path) -> None:
    (one,) = below(OTHER_SITES)
    reader = Reader(site, authority, tmp_path, {})
    assert "access-control-allow-origin: https://app.example.com" in reader.read(one).lower()
    stranger = [reader.story.here(word).replace("app.example.com", "other.example.com") for word in one.words[1:]]
    status, fields = reader.ask(stranger)
    assert status != 204 and "access-control" not in fields.lower()


def test_each_message_of_its_page_reaches_a_device(site: Installation, authority: Path, tmp_path: Path) -> None:
    users = {role: site.add_user(role, "--role", "oncall") for role in ("alice", "carol")}
    users["bob"] = site.add_user("bob", "--role", "speaker", "--role", "oncall")
    phones = [("alice", {"Platform": "apns", "Handle": HANDLE}), ("alice", {"Platform": "fcm", "Handle": "a" * 40})]
    # Without a name of platforms those count that the site delivers to.
    for role, device in phones + [(role, a_browser(role)) for role in ("alice", "carol", "bob")]:
        id = site.call("POST", "/api/register", users[role]).json()
        assert site.call("PUT", f"/api/register/{id}", users[role], device | {"Tags": ["news"]}).status == 200
    reader = Reader(site, authority, tmp_path, users)
    reader.story.names |= {"7260336227650468927-4200236381151834034-1": id, "2026-11-30T08:00:00Z": TOMORROW}
    found = [*of("build/send.md"), *of("build/schedule.md")]
    for one in found:
        answer = reader.read(one)
        if "SendAt" not in answer:
            assert "Enqueued" in [outcome["State"] for outcome in answer["Outcomes"]], one.place
    assert len(found) > 8


def test_a_role_lets_its_users_do_what_the_page_says(site: Installation, authority: Path, tmp_path: Path) -> None:
    reader = Reader(site, authority, tmp_path, {"bob": site.add_user("bob")})
    role, message = [one for one in of("operate/users-and-permissions.md", "app-backend", "curl") if JOINING not in one.headings]
    assert reader.ask([reader.story.here(word) for word in message.words[1:]])[0] == 403
    reader.read(role)
    reader.read(message)


def test_a_user_joins_a_tag_as_the_page_says(program: Path, tmp_path: Path) -> None:
    groups = settings(DOCS / "operate" / "users-and-permissions.md", JOINING)
    with Installation(program, tmp_path, Authority(tmp_path), NO_PUSH_SERVICE, groups=groups) as site:
        alice = site.add_user("alice")
        reader = Reader(site, tmp_path / "authority.pem", tmp_path, {"alice": alice})
        (command,) = [one for one in of("operate/users-and-permissions.md") if JOINING in one.headings]
        reader.read(command, is_whole=True)
        assert site.call("GET", "/api/register", alice).json()[0]["Tags"] == ["news-sport"]
        for tag, status in (("news/sport", 400), ("sport", 403)):
            words = [reader.story.here(word).replace("news-sport", tag) for word in command.words[1:]]
            assert reader.ask(words)[0] == status


def test_the_calls_that_an_app_of_the_tutorial_for_maui_makes_work_as_its_page_shows(
    site: Installation, authority: Path, tmp_path: Path
) -> None:
    reader = Reader(site, authority, tmp_path, {})
    commands = of("build/receive-windows-maui.md", "app-backend", "curl")
    # The first ones are made with the key of step 2.
    for one in sorted(commands, key=lambda one: one.words[:2] != ["app-backend", "user"]):
        reader.read(one)
    assert reader.story.names[KEY].startswith("abt_") and len(commands) > 5


def test_the_key_for_browsers_is_made_and_rotated_as_its_page_shows(
    program: Path, tmp_path: Path
) -> None:
    with Installation(program, tmp_path, Authority(tmp_path), NO_PUSH_SERVICE) as site:
        reader = Reader(site, tmp_path / "authority.pem", tmp_path, {})
        for one in of("operate/push-browsers.md", "curl", "app-backend", "systemctl"):
            reader.read(one)


def test_a_user_whom_nginx_has_authenticated_is_let_in_as_the_page_shows(program: Path, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    groups = {"auth": {"methods": ["web-server", "password", "session"]}}
    with Installation(program, tmp_path, authority, NO_PUSH_SERVICE, groups=groups) as site:
        alice = site.add_user("alice")
        trust_certificates(site, tmp_path / "nginx", authority)
        reader = Reader(site, authority.file, tmp_path, {"alice": alice})
        (command,) = of("operate/nginx.md")
        for user, status in ((alice.name, 200), ("nosuch", 401)):
            certificate = authority.issue_to(user)
            (tmp_path / "alice.pem").write_bytes(certificate.chain.read_bytes() + certificate.key.read_bytes())
            assert reader.ask([reader.story.here(word) for word in command.words[1:]])[0] == status
            if status == 200:
                reader.read(command)
        assert site.call("GET", "/api/register", alice).status == 200


def test_the_first_calls_of_a_stranger_work(site: Installation, authority: Path, tmp_path: Path) -> None:
    users = {role: site.add_user(role) for role in ("alice", "bob")}
    reader = Reader(site, authority, tmp_path, users)
    for one in [*of("README.md"), *of("operate/install.md")]:
        answer = reader.read(one)
        if "MessageId" in answer:
            reader.story.names["ID"] = answer["MessageId"]


def test_the_calls_of_the_first_app_work_in_their_order(program: Path, tmp_path: Path) -> None:
    """Against a site with the settings of script/run, whose certificate is where the page has it."""
    authority = Authority(tmp_path)
    with Installation(program, tmp_path, authority, NO_PUSH_SERVICE, groups={"inbox": {"plainDays": 7}}) as site:
        (tmp_path / ".run").mkdir()
        shutil.copy(authority.file, tmp_path / ".run" / "cert.pem")
        reader = Reader(site, authority.file, tmp_path, {role: site.add_user(role) for role in ("alice", "bob")})
        reader.story.names[TRIAL_SITE] = site.origin
        found = of("start/first-app.md")
        for one in found:
            reader.read(one, is_whole=True)
        assert len(found) > 8


@pytest.mark.parametrize(
    ("expected", "answered", "count"),
    [
        ({"Id": 7, "Read": False}, {"Id": 9, "Read": False}, 0),
        ({"Id": 7}, {"Id": 9, "Read": False}, 1),
        ([{"Id": 7}, {"Id": 7}], [{"Id": 9}, {"Id": 8}], 1),
        ({"From": "bob"}, {"From": "bob1"}, 0),
        ({"From": "bob"}, {"From": "alice"}, 1),
        ({"Ids": {"bob": 7}, "Id": 7}, {"Ids": {"bob1": 9}, "Id": 9}, 0),
        ({"Ids": {"bob": 7}}, {"Ids": {"alice": 9}}, 1),
        ({"Ids": {"bob": 7}, "Id": 7}, {"Ids": {"bob1": 9}, "Id": 8}, 1),
        ({"State": "Completed", "Outcomes": []}, {"State": "Unheard", "Outcomes": []}, 1),
        ({"State": "NoTargetFound", "Counts": {}}, {"State": "NoTargetFound", "Counts": {}}, 0),
        ({"RegistrationId": "1", "Outcome": "Success"}, {"RegistrationId": "2", "Outcome": "Skipped"}, 0),
        ({"RegistrationId": "1", "Outcome": "Success"}, {"RegistrationId": "2", "Outcome": 1}, 1),
        ({"Outcome": "Success"}, {"Outcome": "Skipped"}, 1),
        ([1], [], 1),
        ({"detail": "…", "MessageId": "…"}, {"detail": "Which platform?", "MessageId": "a"}, 0),
        ({"MessageId": "…"}, {"MessageId": 7}, 1),
    ],
)
def test_answers_are_compared_but_for_what_the_page_made_up(expected: object, answered: object, count: int) -> None:
    assert len(Story({"bob": "bob1"}).differences(expected, answered)) == count


def test_the_commands_of_a_page_are_found_with_their_answers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n## One\n\n```json\n{}\n```\n\n1. First\n\n   ```sh\n   curl \\\n       a '{\n       }'\n   curl b   # []\n   ```\n"
        "\n### Two\n\n```\ncurl c\n```\n\n```json\n[1]\n```\n\n## Three\n\n```swift\ncurl d\n```\n"
    )
    found = [(one.line, one.headings, one.words, one.answer) for one in examples(page)]
    assert found == [
        (12, ("One",), ["curl", "a", "{\n    }"], ""), (15, ("One",), ["curl", "b"], "[]"),
        (21, ("One", "Two"), ["curl", "c"], "[1]\n"),
    ]  # fmt: skip


def test_a_command_tells_its_request() -> None:
    one = Example("page.md", 1, (), "curl -u alice -X PUT 'https://push.example.com/api/register/7?a=b' --json '{}'\n", "")
    assert one.request == ("PUT", "/api/register/7")
