# SPDX-License-Identifier: Apache-2.0
"""Answers that need an earlier one, or a certain cause: each has its status, and is as the document says."""

import json
from datetime import UTC, datetime, timedelta

from client import Client
from contract import Contract
from sites import own_page

from deadline import wait_until
from installation import Installation, User

HANDLE = "ab" * 32


def test_a_session_lasts_from_log_in_to_log_out(client: Client, installation: Installation, alice: User) -> None:
    log_in = client.call("logIn", 200, body={"UserName": alice.name, "Password": alice.password})
    cookie = log_in.headers["Set-Cookie"].partition(";")[0]
    assert client.call("readSession", 200, Cookie=cookie).json() == log_in.json()
    client.call("listDevices", 200, Cookie=cookie)
    client.call("createRegistrationId", 403, Cookie=cookie)
    client.call("createRegistrationId", 200, **own_page(installation, cookie))
    client.call("logOut", 200, query="everywhere=true", **own_page(installation, cookie))
    client.call("readSession", 401, Cookie=cookie)


def test_an_administrator_finds_changes_and_removes_a_user(
    client: Client, installation: Installation, root: User, alice: User, at_the_page: dict[str, str]
) -> None:
    own = {"Password": root.password}
    page = at_the_page
    carol = User(alice.name + "x", installation.secret("new-"))
    new = {"UserName": carol.name, "Password": carol.password, "AdministratorPassword": root.password}
    client.call("addUser", 200, body=new, **page)
    client.call("addUser", 409, body={"UserName": carol.name, "Password": "x"}, **page)
    found = client.call("listUsers", 200, query=f"name={carol.name}&limit=1", **page).json()
    assert [one["Name"] for one in found] == [carol.name]
    id = client.call("createRegistrationId", 200, carol, query=f"handle={HANDLE}").json()
    client.call("registerDevice", 200, carol, {"Platform": "apns", "Handle": HANDLE}, name=id)
    client.call("logIn", 200, body={"UserName": carol.name, "Password": carol.password})
    shown = client.call("readUser", 200, of=carol.name, **page).json()
    assert shown["Devices"][0]["RegistrationId"] == id
    message = client.call("sendMessage", 200, carol, {"To": carol.name, "Body": "Hello", "Platforms": ["apns"]}).json()
    seen = client.call("readSentMessage", 200, name=message["MessageId"], **page).json()
    assert (seen["From"], [one["RegistrationId"] for one in seen["Devices"]]) == (carol.name, [id])
    assert client.call("removeDevice", 200, body=own, name=id, of=carol.name, **page).json()["Devices"] == 1
    client.call("endUserSession", 200, body=own, name=shown["Sessions"][0]["Id"], of=carol.name, **page)
    client.call("endUserSessions", 200, body=own, of=carol.name, **page)
    assert "DisabledAt" in client.call("disableUser", 200, body=own, of=carol.name, **page).json()
    client.call("listDevices", 401, carol)
    client.call("enableUser", 200, body=own, of=carol.name, **page)
    client.call("removeUser", 200, body=own, of=carol.name, **page)
    client.call("readUser", 404, of=carol.name, **page)
    assert client.call("readStatus", 200, **page).json()["Store"] == "writable"


def test_who_may_not_administer_is_refused(
    client: Client, contract: Contract, root: User, alice: User, at_the_page: dict[str, str]
) -> None:
    for id, operation in contract.operations.items():
        if operation.path.startswith("/api/admin/"):
            client.call(id, 403, root, name="1")
            client.call(id, 403, name="1", Cookie=at_the_page["Cookie"])
            client.call(id, 403, name="1", **at_the_page | {"Sec_Fetch_Site": "cross-site"})
    client.call("removeUser", 403, body={"Password": "wrong"}, of=alice.name, **at_the_page)
    client.call("removeUser", 403, body={"Password": root.password}, of=root.name, **at_the_page)


def test_a_user_ends_a_session_and_changes_the_password(
    client: Client, installation: Installation, alice: User, bob: User
) -> None:
    body = {"UserName": alice.name, "Password": alice.password}
    first, second = (client.call("logIn", 200, body=body).headers["Set-Cookie"].partition(";")[0] for _ in range(2))
    others = [one["Id"] for one in client.call("listSessions", 200, Cookie=first).json() if not one["Current"]]
    for id in others:
        client.call("endSession", 404, bob, name=id)
        client.call("endSession", 403, name=id, Cookie=first)
        client.call("endSession", 200, name=id, **own_page(installation, first))
    client.call("readSession", 401, Cookie=second)
    client.call("endSession", 401, name=others[0])
    for operation in ("listInbox", "listSecureMessages", "registerDevice", "sendMessage", "readPlatformDelivery"):
        client.call(operation, 401, name="1")
    client.call("createToken", 401, body={"Scopes": ["send"]})
    change = {"Password": "wrong", "NewPassword": alice.password}
    client.call("changePassword", 403, alice, change)
    change["Password"] = alice.password
    wish = {"Scopes": ["send"]}
    client.call("createToken", 400, body=wish, **own_page(installation, first))
    client.call("createToken", 403, body=wish | {"Password": "wrong"}, **own_page(installation, first))
    client.call("createToken", 200, body=wish | {"Password": alice.password}, **own_page(installation, first))
    kept = client.call("changePassword", 200, alice, change | {"KeepTokens": True}).json()
    assert kept == {"TokensEnded": 0, "TokensKept": 1}
    first = client.call("logIn", 200, body=body).headers["Set-Cookie"].partition(";")[0]
    changed = client.call("changePassword", 200, body=change, **own_page(installation, first))
    assert changed.json() == {"TokensEnded": 1, "TokensKept": 0}
    assert client.call("listTokens", 200, alice).json() == []
    client.call("readSession", 401, Cookie=first)
    client.call("readSession", 200, Cookie=changed.headers["Set-Cookie"].partition(";")[0])
    client.call("changePassword", 200, alice, change)


def test_an_app_token_does_what_its_scopes_say_until_it_is_revoked(client: Client, alice: User, bob: User) -> None:
    wish = {"Scopes": ["send"], "To": [bob.name], "Label": "script", "ExpiresInDays": 1}
    made = client.call("createToken", 200, alice, wish).json()
    bearer = {"Authorization": f"Bearer {made.pop('Token')}"}
    assert client.call("listTokens", 200, alice).json() == [made]
    client.call("sendMessage", 200, body="Hello", query=f"to_tag={bob.name}", **bearer)
    client.call("sendMessage", 403, body="Hello", query=f"to_tag={alice.name}", **bearer)
    for operation in ("listSecureMessages", "listInbox", "listDevices", "listTokens", "createToken", "revokeToken"):
        client.call(operation, 403, name=made["Id"], **bearer)
    assert "LastUsedAt" in client.call("listTokens", 200, alice).json()[0]
    client.call("revokeToken", 404, bob, name=made["Id"])
    client.call("revokeToken", 200, alice, name=made["Id"])
    client.call("sendMessage", 401, body="Hello", query=f"to_tag={bob.name}", **bearer)


def test_a_key_is_an_app_token_at_the_routes_of_one_tutorial(client: Client, alice: User) -> None:
    key = {"apikey": client.call("createToken", 200, alice, {"Scopes": ["send", "register"]}).json()["Token"]}
    installation = {"installationId": "9774d56d682e549c", "platform": "apns", "pushChannel": HANDLE}
    client.call("putInstallation", 200, body=installation, **key)
    (device,) = client.call("listDevices", 200, alice).json()
    assert device["InstallationId"] == installation["installationId"]
    client.call("requestPush", 200, body={"text": "At noon", "action": "action_a"}, **key)
    client.call("requestPush", 403, body={"text": "At noon", "tags": ["news"]}, **key)
    client.call("deleteInstallation", 200, name=installation["installationId"], **key)
    assert client.call("listDevices", 200, alice).json() == []
    client.call("listDevices", 401, **key)
    for wrong in ({}, {"apikey": "123-456"}):
        client.call("putInstallation", 401, body=installation, **wrong)
        client.call("deleteInstallation", 401, name=installation["installationId"], **wrong)
        client.call("requestPush", 401, body={"text": "At noon"}, **wrong)


def test_a_secure_message_is_read_and_deleted_by_its_recipient(client: Client, alice: User, bob: User) -> None:
    id = client.call("sendMessage", 200, bob, "The code is 7", f"to_tag={alice.name}").json()["Id"]
    assert id in [one["Id"] for one in client.call("listSecureMessages", 200, alice).json()]
    client.call("readSecureMessage", 404, bob, name=id)
    client.call("readSecureMessage", 403, alice, name=id, Sec_Fetch_Site="cross-site")
    message = client.call("readSecureMessage", 200, alice, name=id).json()
    assert (message["Payload"], message["From"], message["Read"]) == ("The code is 7", bob.name, False)
    client.call("deleteSecureMessage", 200, alice, name=id)
    client.call("deleteSecureMessage", 404, alice, name=id)


def test_an_unchanged_inbox_is_304_until_a_message_is_read_or_deleted(client: Client, alice: User, bob: User) -> None:
    id = client.call("sendMessage", 200, bob, "The code is 7", f"to_tag={alice.name}").json()["Id"]
    inbox = client.call("listInbox", 200, alice)
    assert (inbox.json()["Unread"], inbox.json()["Messages"][0]["Id"]) == (1, id)
    tag = inbox.headers["ETag"]
    assert client.call("listInbox", 304, alice, If_None_Match=tag).headers["ETag"] == tag
    for operation in ("listInbox", "markAsRead", "deleteFromInbox"):
        client.call(operation, 401, name=id)
    client.call("markAsRead", 404, bob, name=id)
    client.call("markAsRead", 403, alice, name=id, Sec_Fetch_Site="cross-site")
    client.call("markAsRead", 200, alice, name=id)
    read = client.call("listInbox", 200, alice, If_None_Match=tag)
    assert (read.json()["Unread"], read.json()["Messages"][0]["Read"]) == (0, True)
    client.call("deleteFromInbox", 404, bob, name=id)
    client.call("deleteFromInbox", 200, alice, name=id)
    client.call("deleteFromInbox", 404, alice, name=id)
    assert client.call("listInbox", 200, alice, If_None_Match=read.headers["ETag"]).json()["Messages"] == []


def test_the_sender_alone_reads_what_became_of_a_send(client: Client, alice: User, bob: User) -> None:
    id = client.call("createRegistrationId", 200, alice, query=f"handle={HANDLE}").json()
    client.call("registerDevice", 200, alice, {"Platform": "apns", "Handle": HANDLE}, name=id)
    sent = client.call("sendMessage", 200, bob, "Hello", f"pns=apns&to_tag={alice.name}").json()["Outcomes"][0]
    assert sent["State"] == "Enqueued"
    client.call("readPlatformDelivery", 404, alice, name=sent["NotificationId"])
    # The built-in hub has no credential for Apple here.
    wait_until(
        lambda: client.call("readPlatformDelivery", 200, bob, name=sent["NotificationId"]).json()["State"] == "Abandoned",
        "the send has ended",
    )


def test_the_sender_alone_reads_the_timeline_of_a_message_and_its_recipient_opens_it(
    client: Client, alice: User, bob: User
) -> None:
    message = {"To": alice.name, "Body": "Hello", "Secure": True}
    id = client.call("sendMessage", 200, bob, message).json()["MessageId"]
    client.call("readDeliveryStatus", 401, name=id)
    client.call("readDeliveryStatus", 404, alice, name=id)
    assert client.call("readDeliveryStatus", 200, bob, name=id).json()["Opened"] == 0
    client.call("markAsOpened", 401, name=id)
    client.call("markAsOpened", 404, bob, name=id)
    client.call("markAsOpened", 403, alice, name=id, Sec_Fetch_Site="cross-site")
    for _ in range(2):
        client.call("markAsOpened", 200, alice, name=id)
    assert client.call("readDeliveryStatus", 200, bob, name=id).json()["Opened"] == 1


def test_the_sender_alone_lists_a_message_for_later_and_takes_it_back(client: Client, alice: User, bob: User) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for message in ({"Body": "Hello", "Title": "Hi"}, {"Body": "4711", "Secure": True}):
        sent = client.call("sendMessage", 200, bob, {"To": alice.name, "SendAt": soon} | message).json()
        assert sent == {"MessageId": sent["MessageId"], "SendAt": soon, "Outcomes": []}
        client.call("listScheduledMessages", 401)
        (listed,) = client.call("listScheduledMessages", 200, bob).json()
        shown = {"Secure": True} if "Secure" in message else message
        assert listed == {"MessageId": sent["MessageId"], "To": alice.name, "SendAt": soon} | shown
        assert client.call("listScheduledMessages", 200, alice).json() == []
        id = sent["MessageId"]
        client.call("cancelScheduledMessage", 401, name=id)
        client.call("cancelScheduledMessage", 404, alice, name=id)
        client.call("cancelScheduledMessage", 403, bob, name=id, Sec_Fetch_Site="cross-site")
        client.call("cancelScheduledMessage", 200, bob, name=id)
        client.call("cancelScheduledMessage", 404, bob, name=id)
        client.call("readDeliveryStatus", 404, bob, name=id)


def test_an_administrator_takes_a_message_for_later_back(
    client: Client, root: User, alice: User, bob: User, at_the_page: dict[str, str]
) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    id = client.call("sendMessage", 200, bob, {"To": alice.name, "Body": "4711", "SendAt": soon}).json()["MessageId"]
    listed = client.call("listWaitingMessages", 200, query=f"user={bob.name}", **at_the_page).json()
    assert listed == [{"MessageId": id, "From": bob.name, "To": alice.name, "SendAt": soon, "Secure": False}]
    own = {"Password": root.password}
    client.call("cancelMessage", 200, body=own, name=id, **at_the_page)
    client.call("cancelMessage", 404, body=own, name=id, **at_the_page)
    assert client.call("listScheduledMessages", 200, bob).json() == []


def test_the_same_request_twice(client: Client, alice: User) -> None:
    first = client.call("sendMessage", 200, alice, "once", Idempotency_Key="errand")
    again = client.call("sendMessage", 200, alice, "once", Idempotency_Key='"errand"')
    assert (again.body, again.headers["Idempotency-Replayed"]) == (first.body, "true")
    client.call("sendMessage", 409, alice, "another", Idempotency_Key="errand")
    assert len(client.call("listSecureMessages", 200, alice).json()) == 1


def test_the_older_call_registers_a_device_that_the_list_shows(client: Client, alice: User) -> None:
    device = {"platform": "windows", "instId": "6A5B8D1E", "channelUri": "https://db5p.notify.windows.com/?token=a"}
    made = client.call("registerInstallation", 200, alice, device).json()
    assert client.call("listDevices", 200, alice).json() == [made]
    sent = client.call("sendMessage", 200, alice, "Hello", f"pns=wns&to_tag={alice.name}").json()["Outcomes"]
    assert [one["Platform"] for one in sent] == ["wns", "template"]


def test_an_id_is_its_owners(client: Client, alice: User, bob: User) -> None:
    id = client.call("createRegistrationId", 200, alice).json()
    client.call("registerDevice", 200, alice, {"Platform": "apns", "Handle": "cd" * 32}, name=id)
    client.call("unregisterDevice", 403, bob, name=id)
    client.call("registerDevice", 410, alice, {"Platform": "apns", "Handle": "ef" * 32}, name="1" * 257)


def test_401_has_a_challenge_of_its_own_for_the_fetch_of_a_page(client: Client, alice: User) -> None:
    stranger = User(alice.name, "wrong")
    basic = client.call("listDevices", 401, stranger)
    session = client.call("listDevices", 401, stranger, Sec_Fetch_Mode="cors")
    challenges = [reply.headers["WWW-Authenticate"].partition(" ")[0] for reply in (basic, session)]
    assert challenges == ["Basic", "Session"]


def test_a_body_or_an_address_that_is_too_long_is_refused(client: Client, alice: User) -> None:
    query = f"pns=apns&to_tag={alice.name}"
    for_apple = client.call("sendMessage", 413, alice, "x" * 4_100, query).json()
    assert [one["State"] for one in for_apple["Outcomes"]] == ["Abandoned"]
    assert "Outcomes" not in client.call("sendMessage", 413, alice, "x" * 70_000, query).json()
    by_nginx = client.call("sendMessage", 413, alice, "x" * 80_000, query).json()
    assert by_nginx["field"] == "body"
    client.call("createRegistrationId", 414, alice, query="handle=" + "a" * 17_000)


def test_while_the_service_is_away_nginx_answers(
    client: Client, contract: Contract, installation: Installation, alice: User
) -> None:
    with installation.without_service():
        for id, operation in contract.operations.items():
            if operation.path.startswith("/api/"):
                client.call(id, 503, alice, name=1)
        client.call("readHealth", 502)
        client.call("readMetrics", 502)


def test_a_media_type_that_is_not_json_is_415(client: Client, alice: User) -> None:
    body = json.dumps("Hello").encode()
    client.call("sendMessage", 415, alice, body, Content_Type="text/plain")
    client.call("logIn", 415, body=body, Content_Type="text/plain")
