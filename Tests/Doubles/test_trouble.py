# SPDX-License-Identifier: Apache-2.0
"""What push services answer when something is wrong, and what that costs: through the whole responder."""

from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from apns_process import APNsProcess
from backend import Backend
from deadline import PATIENCE_SECONDS, wait_until
from faults import environment
from fcm import FCM
from wns import WNS

# More than a fifth of them is more than the 20 that may go in any case.
MANY = 106
FIFTH = MANY // 5
REFUSES = "push: the service refuses the credential of apns"


def device(kind: str, number: int) -> str:
    """A device of Apple's; the double knows by the kind what to answer."""
    return kind + f"{number:0{64 - len(kind)}x}"


def channel(wns: WNS, name: str, scenario: str = "taken") -> str:
    return wns.channel("store", scenario, name).replace(wns.origin, "https://db5p.notify.windows.com")


def send(backend: Backend, platform: str, text: str = "hello", to: str = "alice") -> dict[str, Any]:
    answer: dict[str, Any] = backend.json("POST", "/api/notifications", f"pns={platform}&to_tag={to}", text, user="bob")
    return answer


def apple(apns: APNsProcess, after: int = 0) -> Counter[str]:
    """How often a push came to each device, after so many pushes."""
    return Counter(event["device"] for event in apns.events("push")[after:])


def google(fcm: FCM, after: int = 0) -> Counter[str]:
    return Counter(push.message["token"] for push in fcm.pushes[after:])


def microsoft(wns: WNS, after: int = 0) -> Counter[str]:
    return Counter(push.channel for push in wns.pushes[after:])


@pytest.mark.parametrize(
    ("platform", "outcome"), [("apns", "BadChannel"), ("fcm", "ExpiredChannel"), ("fcm", "BadChannel")]
)
def test_a_service_that_calls_every_device_gone_costs_a_fifth_of_them(
    program: Path, tmp_path: Path, groups: dict[str, Any], platform: str, outcome: str
) -> None:
    kind = {"ExpiredChannel": "unregistered", "BadChannel": "invalid"}[outcome]
    handles = [device("e001", number) if platform == "apns" else f"{kind}:{number}" for number in range(MANY)]
    half = MANY // 2
    with Backend(program, tmp_path, groups) as backend:
        backend.register_all([(platform, handle) for handle in handles[:half]])
        backend.register_all([(platform, handle) for handle in handles[half:]], user="carol")
        assert backend.outcome(send(backend, platform), platform) == {outcome: half}
        assert backend.outcome(send(backend, platform), platform) == {outcome: half - FIFTH}
        for _ in range(2):
            assert backend.outcome(send(backend, platform, to="carol"), platform) == {outcome: half}
        assert backend.log.count(f"the service called too many devices of {platform} gone; they stay") == 1


@pytest.mark.parametrize("apns", ["production", "sandbox"], indirect=True)
def test_a_key_of_another_team_or_environment_holds_all_and_removes_nothing(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, request: pytest.FixtureRequest
) -> None:
    fault = {"teamId": "WRONG12345"} if request.node.callspec.params["apns"] == "production" else {}
    with Backend(program, tmp_path, groups | {"apns": groups["apns"] | fault}) as backend:
        backend.register_all([("apns", device("00", number)) for number in range(30)])
        sends = [send(backend, "apns", text) for text in ("one", "two")]
        wait_until(lambda: REFUSES in backend.log, "the log line")
        # Few have shown the credential; the others wait with their messages.
        assert {event["status"] for event in apns.events("answer")} == {403}
        assert len(apns.events("push")) < 10
        assert backend.log.count(REFUSES) == 1
    apns.__exit__(None, None, None)
    apns.environment = "production"
    apns.__enter__()
    with Backend(program, tmp_path, groups | {"apns": apns.group}) as backend:
        for one in sends:
            assert backend.outcome(one, "apns") == {"Success": 30}


def test_a_device_stays_that_was_renewed_after_it_was_gone(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        # Gone now, and gone an hour ago.
        for kind in ("e025", "f0"):
            backend.register("apns", device(kind, 1))
        assert backend.outcome(send(backend, "apns"), "apns") == {"ExpiredChannel": 2}
        assert backend.outcome(send(backend, "apns"), "apns") == {"ExpiredChannel": 1}
        assert apple(apns) == {device("e025", 1): 1, device("f0", 1): 2}


def test_a_device_that_is_throttled_waits_and_its_neighbours_do_not(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, fcm: FCM
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        throttled, neighbour = device("e028", 1), device("00", 2)
        for handle in (throttled, neighbour):
            backend.register("apns", handle)
        for handle in ("device-quota:1", "taken:2"):
            backend.register("fcm", handle)
        messages = 5
        for count in range(1, messages + 1):
            for platform in ("apns", "fcm"):
                send(backend, platform, f"message {count}")
            wait_until(lambda: apple(apns)[neighbour] == count, "the push to Apple's neighbour")
            wait_until(lambda: google(fcm)["taken:2"] == count, "the push to Google's neighbour")
        # Google wants a minute, in which later messages to that device wait as well.
        assert google(fcm)["taken:2"] == messages and 1 <= google(fcm)["device-quota:1"] < messages
        assert apple(apns)[neighbour] == messages and apple(apns)[throttled] >= 1


def test_a_project_that_is_not_the_apps_costs_no_registration_and_is_said(
    program: Path, tmp_path: Path, groups: dict[str, Any]
) -> None:
    reason = "the service account's project app-1 is not the one that the app was built with"
    with Backend(program, tmp_path, groups) as backend:
        backend.register_all([("fcm", f"mismatch:{number}") for number in range(30)])
        for _ in range(2):
            assert backend.outcome(send(backend, "fcm"), "fcm") == {"WrongToken": 30}
        assert backend.log.count(f"push: devices of fcm are refused: {reason}") == 1
        [doubt] = backend.json("GET", "/health")["waiting"]
        assert (doubt["channel"], doubt["cause"], doubt["reason"]) == ("fcm", "app", reason)
        [finding] = [one for one in backend.doctor()["push"]["findings"] if one["verdict"] == "warning"]
        assert reason in finding["found"] and "fcm" in finding["fix"]


def test_the_quota_of_a_project_holds_that_project_alone(
    program: Path, tmp_path: Path, groups: dict[str, Any], fcm: FCM, wns: WNS
) -> None:
    with Backend(program, tmp_path, groups) as backend:
        backend.register("fcm", "quota:1")
        for platform, handle in (("fcm", "taken:2"), ("apns", device("00", 1)), ("wns", channel(wns, "1"))):
            backend.register(platform, handle, user="carol")
        send(backend, "fcm")
        refusal = 'app_backend_pushes_total{platform="fcm",outcome="Throttled"} 1'
        wait_until(lambda: refusal in backend.call("GET", "/metrics").body.decode(), "the refusal")
        # The delivery takes all answers that are there before it pushes more: this one is pushed after the refusal.
        assert backend.outcome(send(backend, "apns", to="carol"), "apns") == {"Success": 1}
        for text in ("one", "two"):
            to_all = backend.json("POST", "/api/notifications", "to_tag=carol", text, user="bob")
            assert backend.outcome(to_all, "apns") == {"Success": 1}
            assert backend.outcome(to_all, "wns") == {"Success": 1}
        assert google(fcm) == {"quota:1": 1}


def test_no_device_gets_a_message_twice_when_the_responder_is_killed_between_answer_and_record(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, fcm: FCM, wns: WNS
) -> None:
    count = 16
    with Backend(program, tmp_path, groups) as backend:
        backend.register_all([("apns", device("00", number)) for number in range(count)])
        backend.register_all([("fcm", f"taken:{number}") for number in range(count)])
        backend.register_all([("wns", channel(wns, str(number))) for number in range(count)])
    unsure = 0
    for kill_at in (1, 8, count):
        seen = (len(apns.events("push")), len(fcm.pushes), len(wns.pushes))
        is_sent = Event()
        with Backend(program, tmp_path, groups) as backend:

            def on_push(number: int, until: int = seen[1] + kill_at, running: Backend = backend) -> None:
                # The answer to the send comes first; those to the pushes before this one have been given by then.
                assert is_sent.wait(PATIENCE_SECONDS)
                if number == until:
                    running.kill()

            fcm.on_push = on_push
            to_all = backend.json("POST", "/api/notifications", "to_tag=alice", f"killed at {kill_at}", user="bob")
            is_sent.set()
            backend.await_end()
        fcm.on_push = lambda number: None
        with Backend(program, tmp_path, groups) as backend:
            outcomes = {platform: backend.outcome(to_all, platform) for platform in ("apns", "fcm", "wns")}
        pushed = {
            "apns": apple(apns, seen[0]),
            "fcm": google(fcm, seen[1]),
            "wns": microsoft(wns, seen[2]),
        }
        for platform, devices_of in pushed.items():
            counts = outcomes[platform]
            assert set(devices_of.values()) <= {1}, (platform, kill_at)
            assert set(counts) <= {"Success", "UnknownError"} and sum(counts.values()) == count, (platform, counts)
            # Who was not pushed to was in flight when the process ended, and is counted so.
            assert count - counts.get("UnknownError", 0) <= len(devices_of) <= count, (platform, counts)
            unsure += counts.get("UnknownError", 0)
    # The kill came in the middle.
    assert unsure > 0


@pytest.fixture
def faults(tmp_path: Path) -> dict[str, str]:
    """The environment in which a test sets the clocks, by files in its folder."""
    return environment(tmp_path)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-7200, "APNs calls the provider token expired: this host's clock is {} s behind that of the service"),
        (7200, "check key file, key id and team id; this host's clock is {} s ahead of that of the service"),
    ],
)
def test_a_clock_that_is_wrong_is_named_as_the_cause_of_a_refused_token(
    program: Path, tmp_path: Path, groups: dict[str, Any], faults: dict[str, str], seconds: int, words: str
) -> None:
    (tmp_path / "clock").write_text(str(seconds))
    with Backend(program, tmp_path, groups, faults) as backend:
        backend.register("apns", device("00", 1))
        send(backend, "apns")
        [waiting] = wait_until(lambda: backend.json("GET", "/health")["waiting"], "the hold")
        # The answer may have been on its way for some seconds.
        assert any(words.format(off) in waiting["reason"] for off in range(7140, 7260)), waiting
        assert REFUSES in backend.log and waiting["cause"] == "credential"
    (tmp_path / "clock").unlink()
    with Backend(program, tmp_path, groups, faults) as backend:
        assert backend.outcome(send(backend, "apns"), "apns")["Success"] == 1


@pytest.mark.parametrize(("seconds", "connections"), [(3 * 3600, 1), (5 * 3600, 2)])
def test_a_connection_to_apple_is_used_again_after_hours_of_idleness(
    program: Path, tmp_path: Path, groups: dict[str, Any], apns: APNsProcess, faults: dict[str, str], seconds: int,
    connections: int,
) -> None:
    """libcurl's own limit is 118 s. Apple takes quick reconnecting for an attack."""
    with Backend(program, tmp_path, groups, faults) as backend:
        backend.register("apns", device("00", 1))
        assert backend.outcome(send(backend, "apns"), "apns") == {"Success": 1}
        (tmp_path / "pause").write_text(str(seconds))
        assert backend.outcome(send(backend, "apns"), "apns") == {"Success": 1}
        assert len({event["connection"] for event in apns.events("push")}) == connections
