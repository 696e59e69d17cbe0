# SPDX-License-Identifier: Apache-2.0
"""The whole way: a responder tells a receiver, by libcurl, what became of messages."""

from pathlib import Path
from typing import Any

from backend import Backend
from certificates import Authority
from deadline import wait_until
from examples import of
from fcm import FCM
from installation import Installation
from reader import Reader
from webhook_receiver import Receiver

TEXT = "the launch code is 4711"
DEVICE = "taken:device-1"


def told(receiver: Receiver, kind: str) -> list[dict[str, Any]]:
    return [event.json["data"] for event in receiver.events if event.json["type"] == kind]


def sent(backend: Backend, **members: Any) -> str:
    return backend.json("POST", "/api/notifications", body={"To": "alice", "Body": TEXT} | members, user="bob")["MessageId"]


def test_a_receiver_is_told_what_the_push_service_said_and_that_the_message_was_read_and_opened(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    with Receiver(tmp_path) as receiver:
        configuration = groups | {"webhooks": receiver.group(), "inbox": {"plainDays": 1}}
        with Backend(program, tmp_path, configuration) as backend:
            backend.register("fcm", DEVICE)
            name = sent(backend, Platforms=["fcm"])
            number = backend.json("GET", "/api/inbox")["Messages"][0]["Id"]
            for _ in range(2):
                assert backend.call("POST", f"/api/inbox/{number}/read").status == 200
                assert backend.call("POST", f"/api/notifications/{name}/opened").status == 200
            wait_until(lambda: len(receiver.events) == 3, "three events")
            timeline = backend.json("GET", f"/api/notifications/{name}/timeline", user="bob")
            (completed,) = told(receiver, "message.completed")
            assert completed["Outcomes"] == timeline["Outcomes"] and completed["Outcomes"][0]["Counts"] == {"Success": 1}
            for kind in ("message.read", "message.opened"):
                (data,) = told(receiver, kind)
                assert (data["MessageId"], data["Sender"], data["To"]) == (name, "bob", "alice")
            assert all(event.is_signed and event.path == "/hook?token=s3cret" for event in receiver.events)
            assert all(TEXT not in event.body.decode() and DEVICE not in event.body.decode() for event in receiver.events)
            # The receiver has the last event before the service has its answer.
            counted = ('app_backend_webhook_events_total{result="delivered"} 3', "app_backend_webhook_events_waiting 0")
            wait_until(
                lambda: all(line in backend.call("GET", "/metrics").body.decode() for line in counted), "the metrics")
        assert "s3cret" not in backend.log and "whsec" not in backend.log


def test_a_receiver_hears_of_the_message_that_the_page_sends(
    program: Path, authority: Authority, tmp_path: Path
) -> None:
    with Receiver(tmp_path) as receiver:
        groups = {"webhooks": receiver.group()}
        with Installation(program, tmp_path, authority, "localhost:9", groups=groups) as site:
            reader = Reader(site, authority.file, tmp_path, {role: site.add_user(role) for role in ("alice", "bob")})
            (command,) = of("build/webhooks.md")
            sent = reader.read(command)
            wait_until(lambda: receiver.events, "the event")
        (data,) = told(receiver, "message.completed")
        assert (data["MessageId"], data["Outcomes"][0]["State"]) == (sent["MessageId"], "NoTargetFound")
        assert receiver.events[0].is_signed


def test_a_receiver_is_told_of_a_device_that_its_push_service_calls_gone(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    handle = "unregistered:device-2"
    with Receiver(tmp_path) as receiver:
        group = receiver.group(events=["device.removed"])
        with Backend(program, tmp_path, groups | {"webhooks": [group]}) as backend:
            backend.register("fcm", handle)
            sent(backend)
            wait_until(lambda: receiver.events, "the event")
            (data,) = told(receiver, "device.removed")
            assert (data["Platform"], data["User"]) == ("fcm", "alice") and data["RegistrationId"]
            assert handle not in receiver.events[0].body.decode()


def test_what_was_not_taken_outlives_a_kill_and_comes_again_with_the_same_id(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    with Receiver(tmp_path, status=500) as receiver:
        configuration = groups | {"webhooks": receiver.group(events=["message.opened"])}
        with Backend(program, tmp_path, configuration) as backend:
            backend.json("POST", f"/api/notifications/{sent(backend)}/opened")
            wait_until(lambda: "webhooks: webhooks does not take events" in backend.log, "the log line")
            backend.kill()
            backend.await_end()
        # On a busy machine it may have tried more than once.
        tried = len(receiver.events)
        receiver.status = 200
        with Backend(program, tmp_path, configuration) as backend:
            wait_until(lambda: len(receiver.events) > tried, "the next try")
            first, last = receiver.events[0], receiver.events[-1]
            assert first.name == last.name and first.body == last.body and last.is_signed
            # The receiver has it before the service has its answer; with none that waits, none comes again.
            counted = ('app_backend_webhook_events_total{result="delivered"} 1', "app_backend_webhook_events_waiting 0")
            wait_until(
                lambda: all(line in backend.call("GET", "/metrics").body.decode() for line in counted), "the metrics"
            )
            assert len(receiver.events) == tried + 1


def test_a_redirect_is_not_followed_and_a_reload_changes_who_is_told(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    (tmp_path / "other").mkdir()
    with Receiver(tmp_path, status=307) as receiver, Receiver(tmp_path / "other") as other:
        opened = ["message.opened"]
        with Backend(program, tmp_path, groups | {"webhooks": receiver.group(events=opened)}) as backend:
            former = sent(backend)
            backend.json("POST", f"/api/notifications/{former}/opened")
            wait_until(lambda: receiver.events, "the try")
            backend.reload(groups | {"webhooks": [other.group(events=opened)]})
            name = sent(backend)
            backend.json("POST", f"/api/notifications/{name}/opened")
            wait_until(lambda: other.events, "the other's event")
            # What was for the former one waits some hours for it, and is no other's.
            tries = {(event.path, event.json["data"]["MessageId"]) for event in receiver.events}
            assert tries == {("/hook?token=s3cret", former)}
            assert [data["MessageId"] for data in told(other, "message.opened")] == [name] and other.events[0].is_signed


def test_no_receiver_in_a_private_network_is_told_unless_the_configuration_says_that_it_is_there(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    # A name that leads to this host, as a stranger's name may.
    with Receiver(tmp_path) as receiver:
        url = receiver.origin.replace("http://127.0.0.1", "https://localhost")
        group = receiver.group(events=["message.opened"]) | {"url": url + "/hook"}
        with Backend(program, tmp_path, groups | {"webhooks": group}) as backend:
            backend.json("POST", f"/api/notifications/{sent(backend)}/opened")
            wait_until(lambda: "no address that may be connected to" in backend.log, "the refusal")
            backend.reload(groups | {"webhooks": group | {"private": True}})
            wait_until(lambda: "no secure connection" in backend.log or "unreachable" in backend.log, "the connection")
        assert receiver.events == []


def test_a_device_is_told_by_a_silent_push_what_was_read_on_another(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups | {"inbox": {"plainDays": 1, "silentSync": True}}) as backend:
        backend.register("fcm", DEVICE)
        for _ in range(3):
            sent(backend, Platforms=["fcm"])
        wait_until(lambda: len(fcm.pushes) == 3, "the messages")
        numbers = [message["Id"] for message in backend.json("GET", "/api/inbox")["Messages"]]
        for number in numbers[:2]:
            assert backend.call("POST", f"/api/inbox/{number}/read").status == 200
        wait_until(lambda: len(fcm.pushes) > 3, "the silent push")
        data = fcm.pushes[3].message["data"]
        assert set(data["inboxRead"].split(",")) <= {str(number) for number in numbers[:2]}
        assert "notification" not in fcm.pushes[3].message
        wait_until(lambda: fcm.pushes[-1].message["data"].get("inboxUnread") == "1", "the last count")
