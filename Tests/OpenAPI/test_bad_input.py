# SPDX-License-Identifier: Apache-2.0
"""The table "Bad input" of docs/reference/api-errors.md: each row's statuses and fields, as the program answers them."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from client import Client
from sites import KEYS, page_of
from tables import table

from installation import Installation, User

TOO_LONG = b'"' + b"x" * 70_000 + b'"'
ENDPOINT = "https://updates.push.services.mozilla.com/wpush/v2/example"
# A user's own name in a query.
SELF = "{self}"
Row = tuple[str, str]
MEMBERS = ", ".join(
    f"`{name}`"
    for name in (
        "To", "Title", "Body", "Link", "Image", "Sound", "Badge", "Category", "Thread", "Priority", "TimeToLive",
        "CollapseId", "Secure", "Silent", "Platforms", "FromDevice", "SendAt",
    )
)


@dataclass(frozen=True)
class Fault:
    """A request that is answered so."""

    operation: str
    status: int
    field: str
    body: Any = None
    query: str = ""
    key: str = ""
    expected_user: str = ""
    apikey: str = ""
    media: str = "application/json"
    coding: str = ""


def put(status: int, field: str, **changes: Any) -> Fault:
    """Of a device that is well but for what is changed; None is a member that is missing."""
    device = {"Platform": "apns", "Handle": "ab" * 32} | changes
    return Fault("registerDevice", status, field, {name: value for name, value in device.items() if value is not None})


def browser(field: str, keys: Any) -> Fault:
    return put(400, field, Platform="browser", Handle=ENDPOINT, Keys=keys)


def install(status: int, field: str, **changes: Any) -> Fault:
    """As `put`, of the older call."""
    device = {"platform": "ios", "instId": "6A5B8D1E", "deviceToken": "ab" * 32} | changes
    return Fault("registerInstallation", status, field, {name: value for name, value in device.items() if value})


def installation(status: int, field: str, **changes: Any) -> Fault:
    """As `put`, of an app of the tutorial for .NET MAUI."""
    members = {"installationId": "9774d56d682e549c", "platform": "apns", "pushChannel": "ab" * 32} | changes
    return Fault("putInstallation", status, field, {name: value for name, value in members.items() if value is not None})


def request(status: int, field: str, **members: Any) -> Fault:
    return Fault("requestPush", status, field, members)


def send(status: int, field: str, query: str, body: Any = "Hello", **more: Any) -> Fault:
    return Fault("sendMessage", status, field, body, query, **more)


def message(status: int, field: str, **changes: Any) -> Fault:
    """An object that is well but for what is changed; None is a member that is missing."""
    members = {"To": "friend", "Body": "Hello"} | changes
    return Fault("sendMessage", status, field, {name: value for name, value in members.items() if value is not None})


def listing(field: str, *values: str) -> list[Fault]:
    operations = ("listSecureMessages", "listInbox")
    return [Fault(one, 400, field, query=f"{field}={value}") for one in operations for value in values]


def token(field: str, **changes: Any) -> Fault:
    """As `put`, of an app token."""
    members = {"Scopes": ["send"]} | changes
    return Fault("createToken", 400, field, {name: value for name, value in members.items() if value is not None})


def password(status: int, field: str, **changes: Any) -> Fault:
    """As `put`, of a new password."""
    members = {"Password": "wrong", "NewPassword": "new-secret"} | changes
    return Fault("changePassword", status, field, {name: value for name, value in members.items() if value is not None})


def log_in(field: str, **members: Any) -> Fault:
    return Fault("logIn", 400, field, members)


def add_user(status: int, field: str, **changes: Any) -> Fault:
    """As `put`, of a new user."""
    members = {"UserName": "newcomer", "Password": "new-secret"} | changes
    return Fault("addUser", status, field, {name: value for name, value in members.items() if value is not None})


# By the row's request, and its field.
FAULTS: dict[Row, list[Fault]] = {
    ("any whose query counts", "its parameter"): [
        Fault("createRegistrationId", 400, "handle", query="handle=%f"),
        *listing("limit", "%ff"),
        Fault("logOut", 400, "everywhere", query="everywhere=%zz"),
    ],
    ("any whose query counts", "`query`"): [
        send(400, "query", "%f=a"),
        Fault("listSecureMessages", 400, "query", query="&".join(["a=b"] * 33)),
    ],
    ("any whose body counts", "`body`"): [
        Fault("registerDevice", 413, "body", TOO_LONG),
        Fault("logIn", 413, "body", TOO_LONG),
        send(413, "body", f"pns=apns&to_tag={SELF}", "x" * 4_100),
        *[Fault("registerDevice", 400, "body", text) for text in (b"{", b"[]", b'{"Platform":"a","Platform":"b"}')],
        *[send(400, "body", f"to_tag={SELF}", text) for text in (b"x", b"7", b'"\\ud800"')],
        Fault("logIn", 400, "body", b"null"),
    ],
    ("any whose body counts", "`Content-Encoding`"): [
        Fault(operation, 415, "Content-Encoding", {}, coding="gzip")
        for operation in ("logIn", "registerDevice", "sendMessage", "createToken")
    ],
    ("any whose body counts but three calls of the tutorials", "`Tag`"): [
        put(400, "Tag", Tag=["news"]),
        token("Tag", Tag="news"),
        log_in("Tag", UserName="a", Password="a", Tag="news"),
        password(400, "Tag", Tag="news"),
        message(400, "Tag", Tag="news"),
    ],
    ("any whose body counts", "`Content-Type`"): [
        Fault(operation, 415, "Content-Type", {}, media="text/plain")
        for operation in (
            "logIn", "registerDevice", "registerInstallation", "sendMessage", "createToken", "changePassword",
            "putInstallation", "requestPush",
        )
    ],
    ("any whose `Idempotency-Key` counts", "`Idempotency-Key`"): [
        Fault("readConfiguration", 400, "Idempotency-Key", key="a b"),
        Fault("createRegistrationId", 400, "Idempotency-Key", key="x" * 256),
        send(400, "Idempotency-Key", "", key='"'),
        send(409, "Idempotency-Key", "", "another", key="taken"),
    ],
    ("`GET /api/config`", "`App-Backend-User`, `apikey`"): [
        *[Fault("readConfiguration", 400, "App-Backend-User", expected_user=value) for value in ("%", "a%ff")],
        Fault("readConfiguration", 400, "apikey", apikey='"a'),
    ],
    ("`POST /api/session`", "`UserName`, `Password`"): [
        log_in("UserName", Password="a"),
        log_in("UserName", UserName="", Password="a"),
        log_in("Password", UserName="a"),
        log_in("Password", UserName="a", Password=7),
    ],
    ("`DELETE /api/session`", "`everywhere`"): [Fault("logOut", 400, "everywhere", query="everywhere=yes")],
    ("`PUT /api/password`", "`Password`, `NewPassword`"): [
        *[password(400, "Password", Password=value) for value in (None, "", 7)],
        *[password(400, "NewPassword", NewPassword=value) for value in (None, "", 7, "x" * 512, "seven77", "long-a\tb")],
    ],
    ("`PUT /api/password`", "`Password`"): [password(403, "Password", Password="wrong")],
    ("`POST /api/tokens`", "`Scopes`"): [
        token("Scopes", Scopes=value) for value in (None, [], "send", ["admin"], ["send", "send"])
    ],
    ("`POST /api/tokens`", "`To`"): [
        *[token("To", To=value) for value in ("bob", ["a b"], [7], ["bob"] * 51)],
        token("To", To=["bob"], Scopes=["read"]),
        Fault("createToken", 400, "To", {"Scopes": ["send"], "To": None}),
    ],
    ("`POST /api/tokens`", "`Password`"): [
        Fault("createToken", status, "Password", {"Scopes": ["send"]} | members)
        for status, members in ((400, {}), (400, {"Password": 7}), (403, {"Password": "wrong"}))
    ],
    ("`POST /api/tokens`", "`Label`, `ExpiresInDays`"): [
        *[token("Label", Label=value) for value in (7, "x" * 101, "a\nb")],
        *[token("ExpiresInDays", ExpiresInDays=value) for value in (0, 3_651, 1.5, "90")],
    ],
    ("`GET /api/admin/users`", "`limit`"): [
        Fault("listUsers", 400, "limit", query=f"limit={value}") for value in ("0", "101", "x")
    ],
    ("`POST /api/admin/users`", "`UserName`"): [
        *[add_user(400, "UserName", UserName=value) for value in (None, "", "a b")],
        add_user(409, "UserName", UserName=SELF),
    ],
    ("`POST /api/admin/users`", "`Password`"): [
        add_user(400, "Password", Password=value) for value in (None, "", 7, "x" * 512, "seven77")
    ],
    ("`POST /api/admin/users`", "`Roles`"): [
        *[add_user(400, "Roles", Roles=value) for value in ("editor", [7], ["gone"])],
        add_user(403, "Roles", Roles=["administrator"]),
    ],
    ("`POST /api/admin/users`", "`AdministratorPassword`"): [
        *[add_user(400, "AdministratorPassword", AdministratorPassword=value) for value in (None, "", 7)],
        add_user(403, "AdministratorPassword", AdministratorPassword="wrong"),
    ],
    ("`GET /api/admin/messages`", "`limit`"): [Fault("listSentMessages", 400, "limit", query="limit=0")],
    ("`GET /api/admin/messages`", "`after`, `before`"): [
        Fault("listSentMessages", 400, "after", query="after=7"),
        *[Fault("listSentMessages", 400, "before", query=f"before={value}") for value in ("noon", "2026-11-23")],
    ],
    ("`GET /api/admin/messages/scheduled`", "`limit`"): [Fault("listWaitingMessages", 400, "limit", query="limit=0")],
    ("others of `/api/admin` that take a password", "`Password`"): [
        Fault(operation, status, "Password", body)
        for operation in (
            "removeUser", "disableUser", "enableUser", "removeDevice", "endUserSessions", "endUserSession", "cancelMessage",
        )
        for status, body in ((400, {}), (403, {"Password": "wrong"}))
    ],
    ("`POST /api/register` without a body", "`handle`"): [
        Fault("createRegistrationId", 400, "handle", query="handle=" + "a" * 4_097)
    ],
    ("`POST /api/register` with a body", "`platform`"): [
        install(400, "platform", platform=value) for value in (None, "palm")
    ],
    ("`POST /api/register` with a body", "`Handle`"): [
        Fault("registerInstallation", 400, "Handle", {"Platform": "apns", "Handle": "ab" * 32})
    ],
    ("`POST /api/register` with a body", "`instId`"): [
        *[install(400, "instId", instId=value) for value in (None, "a b")],
        install(403, "instId", instId="username:bob"),
    ],
    ("`POST /api/register` with a body", "`App`"): [install(400, "App", app="com.example.app")],
    ("`POST /api/register` with a body", "`deviceToken`, `channelUri`"): [
        *[install(400, "deviceToken", deviceToken=value) for value in (None, "xyz")],
        *[install(400, "channelUri", platform="windows", channelUri=value) for value in (None, "http://example.com/")],
    ],
    ("`PUT /api/register/{id}`", "`Platform`"): [put(400, "Platform", Platform=value) for value in (None, "palm", {})],
    ("`PUT /api/register/{id}`", "`Handle`"): [put(400, "Handle", Handle=value) for value in (None, "", "xyz", 7)],
    ("`PUT /api/register/{id}`", "`App`"): [put(400, "App", App="com.example.app")],
    ("`PUT /api/register/{id}`", "`Keys`"): [browser("Keys", None), browser("Keys", [])],
    ("`PUT /api/register/{id}`", "`p256dh`, `auth`"): [
        *[browser(name, KEYS | {name: value}) for name in KEYS for value in (None, "x")]
    ],
    ("`PUT /api/register/{id}`", "`Tags`"): [
        *[put(400, "Tags", Tags=value) for value in ("a", [1], ["a b"], [f"t{number}" for number in range(60)])],
        *[put(403, "Tags", Tags=[value]) for value in ("username:bob", "from:bob")],
    ],
    ("`POST /api/notifications`", "`pns`"): [
        send(400, "pns", f"pns={name}&to_tag={SELF}") for name in ("", "mpns", "palm")
    ],
    ("`POST /api/notifications`", "`to_tag`"): [
        *[send(400, "to_tag", query) for query in ("pns=apns", "pns=apns&to_tag=a%20b", "to_tag=friend-unknown")],
        send(403, "to_tag", "pns=apns&to_tag=stranger"),
    ],
    ("`POST /api/notifications` with an object", "`to_tag`"): [
        send(400, "to_tag", f"to_tag={SELF}", {"To": "friend", "Body": "Hello"})
    ],
    ("`POST /api/notifications` with an object", MEMBERS): [
        *[message(400, "To", To=value) for value in (None, "a b", 7)],
        *[message(403, "To", To=value) for value in ("stranger", "role:oncall", "device:1-2-1")],
        *[message(400, "To", To=value) for value in ("role:", "role:a b", ["device:1-2-1"])],
        *[message(400, "FromDevice", FromDevice=value) for value in ("1-2-1", 7, "")],
        *[message(400, "SendAt", SendAt=value) for value in ("soon", "2020-01-01T00:00:00Z", "9999-01-01T00:00:00Z", 7, "")],
        message(400, "Title", Title=7),
        *[message(400, "Body", Body=value) for value in (None, [])],
        *[message(400, "Link", Link=value) for value in ("//example.com", "javascript:a", "https://a b")],
        message(400, "Image", Image="http://example.com/a.png"),
        *[message(400, name, **{name: "x" * 129}) for name in ("Sound", "Category", "Thread")],
        *[message(400, "Badge", Badge=value) for value in (-1, 100_000, 1.5, "1")],
        message(400, "Badge", Badge=1, Secure=True),
        message(400, "Priority", Priority="urgent"),
        *[message(400, "TimeToLive", TimeToLive=value) for value in (-1, 2_419_201)],
        *[message(400, "CollapseId", CollapseId=value) for value in ("a b", "x" * 65)],
        message(400, "Secure", Secure="yes"),
        message(400, "Silent", Silent=1),
        *[message(400, "Platforms", Platforms=value) for value in ("apns", ["palm"], [1], [])],
    ],
    ("`POST /api/notifications` with an object", "`Data`, `Data.room`, `Data.aps`, `Data.secureId`"): [
        *[message(400, "Data", Data=value) for value in ([], {"a b": "c"}, {"a" * 129: "c"})],
        message(400, "Data.room", Data={"room": 4}),
        *[message(400, f"Data.{name}", Data={name: "c"}) for name in ("aps", "secureId")],
    ],
    ("`PUT /api/notifications/installations`", "`installationId`, `platform`"): [
        *[installation(400, "installationId", installationId=value) for value in (None, 7, "a\tb", "a" * 257)],
        *[installation(400, "platform", platform=value) for value in (None, "palm", "browser")],
    ],
    ("`PUT /api/notifications/installations`", "`pushChannel`"): [
        installation(400, "pushChannel", pushChannel=value) for value in (None, "xyz")
    ],
    ("`PUT /api/notifications/installations`", "`tags`"): [
        *[installation(400, "tags", tags=value) for value in ("a", ["a b"], [f"t{number}" for number in range(60)])],
        installation(403, "tags", tags=["username:bob"]),
    ],
    ("`POST /api/notifications/requests`", "`text`, `action`, `silent`"): [
        request(400, "text"),
        request(400, "text", text=" "),
        request(400, "action", text="Hello", action=7),
        request(400, "action", text="Hello", silent=True),
        request(400, "silent", text="Hello", silent="yes"),
    ],
    ("`POST /api/notifications/requests`", "`tags`"): [
        *[request(400, "tags", text="Hello", tags=value) for value in ("a", ["a b"], [1])],
        request(403, "tags", text="Hello", tags=["news"]),
    ],
    ("`GET /api/notifications`, `GET /api/inbox`", "`limit`, `after`, `unread`"): [
        *listing("limit", "0", "101", "x"),
        *listing("after", "0", "-1", "2147483646"),
        *listing("unread", "maybe"),
    ],
}


def rows() -> dict[Row, tuple[set[str], set[str]]]:
    """Of the page: by request and field, the statuses and the fields that the row names."""
    found: dict[Row, tuple[set[str], set[str]]] = {}
    for request, _, statuses, field in table("Bad input"):
        assert (request, field) not in found, f"two rows of {request} have {field}"
        found[request, field] = set(statuses.split(", ")), set(re.findall(r"`([^`]+)`", field))
    return found


@pytest.fixture(scope="module")
def limited(installation: Installation) -> User:
    """A user who may send to friends alone."""
    return installation.add_user("friend", "--send-to", "friend*")


def test_the_table_has_the_rows_that_are_tried() -> None:
    table = rows()
    assert set(table) == set(FAULTS)
    for row, faults in FAULTS.items():
        statuses, fields = table[row]
        assert {str(fault.status) for fault in faults} == statuses, row
        assert {fault.field for fault in faults} == fields or row[1] == "its parameter", row


@pytest.mark.parametrize("row", FAULTS, ids=" ".join)
def test_bad_input_has_its_status_and_names_its_field(
    client: Client, installation: Installation, limited: User, at_the_page: dict[str, str], row: Row
) -> None:
    if "taken" in [fault.key for fault in FAULTS[row]]:
        client.call("sendMessage", 200, limited, "one", Idempotency_Key="taken")
    for fault in FAULTS[row]:
        headers = {"Idempotency_Key": fault.key} if fault.key else {}
        if fault.expected_user:
            headers["App_Backend_User"] = fault.expected_user
        if fault.apikey:
            headers["apikey"] = fault.apikey
        if fault.body is not None:
            headers["Content_Type"] = fault.media
        if fault.coding:
            headers["Content_Encoding"] = fault.coding
        user = None if fault.operation in ("logIn", "logOut", "readConfiguration") else limited
        if "/api/admin" in row[0]:
            user, headers = None, headers | at_the_page
            if fault.body and fault.body.get("UserName") == SELF:
                fault.body["UserName"] = limited.name
        if row == ("`POST /api/tokens`", "`Password`"):
            user, headers = None, headers | page_of(installation, limited)
        query = fault.query.replace(SELF, limited.name)
        reply = client.call(fault.operation, fault.status, user, fault.body, query, "7", limited.name, **headers)
        assert reply.json().get("field") == fault.field, fault
