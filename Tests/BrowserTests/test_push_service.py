# SPDX-License-Identifier: Apache-2.0
"""The referee refereed: an independent client (http_ece, py_vapid, curl) and the rules of the RFCs."""

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import http_ece
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from websockets import Subprotocol
from websockets.sync.client import ClientConnection, connect

import vapid
from certificates import Authority
from deadline import PATIENCE_SECONDS
from push_resources import MAXIMUM_BODY_BYTES
from push_service import PushService
from subscriber import Subscriber, is_signed, point
from subscription import CORRUPTION, SILENCE, Answer, Subscription

CONTACT = "mailto:ops@example.com"
DAY = 24 * 60 * 60


@dataclass
class Reply:
    status: int
    http_version: str
    headers: dict[str, str]


class ApplicationServer:
    """Sends as one does that is not ours."""

    def __init__(self, service: PushService, authority: Path):
        self._service, self._authority = service, authority
        self.vapid = Vapid02()
        self.vapid.generate_keys()

    @property
    def key(self) -> bytes:
        return point(self.vapid.public_key)

    def headers(self, **claims: object) -> dict[str, str]:
        named = {"aud": self._service.origin, "sub": CONTACT, "exp": int(time.time()) + DAY // 2} | claims
        self.vapid.conf["no-strict"] = True
        signed = self.vapid.sign(named)["Authorization"]
        return {"Authorization": signed, "TTL": "60", "Content-Encoding": "aes128gcm"}

    def send(self, endpoint: str, headers: dict[str, str], body: bytes, *options: str) -> Reply:
        command = self.command(endpoint, headers, *options)
        said = subprocess.run(command, input=body, capture_output=True, timeout=PATIENCE_SECONDS, check=True).stdout
        first, *fields = said.decode().strip().split("\r\n")
        version, status = first.split(" ")[:2]
        named = dict(field.split(": ", 1) for field in fields)
        return Reply(int(status), version.removeprefix("HTTP/"), named)

    def command(self, endpoint: str, headers: dict[str, str], *options: str) -> list[str]:
        """Of curl, which takes the body from its standard input."""
        command = ["curl", "--silent", "--http2", "--cacert", str(self._authority)]
        for name, value in ({"Content-Type": "application/octet-stream"} | headers).items():
            command += ["--header", f"{name}: {value}"]
        return [*command, "--data-binary", "@-", "--dump-header", "-", "--output", "/dev/null", *options, endpoint]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def service(authority: Authority) -> Iterator[PushService]:
    with PushService(authority.issue("push")) as running:
        yield running


@pytest.fixture(scope="module")
def sender(service: PushService, authority: Authority) -> ApplicationServer:
    return ApplicationServer(service, authority.file)


@pytest.fixture
def subscriber(service: PushService, sender: ApplicationServer) -> Subscriber:
    return Subscriber(service.subscribe(sender.key))


def encrypted(subscriber: Subscriber, text: bytes) -> bytes:
    return http_ece.encrypt(
        text,
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=point(subscriber.key.public_key()),
        auth_secret=subscriber.secret,
        version="aes128gcm",
    )


def test_a_message_is_taken_over_http_2_and_kept_as_it_came(sender: ApplicationServer, subscriber: Subscriber) -> None:
    body = encrypted(subscriber, b"hello")
    reply = sender.send(subscriber.subscription.endpoint, sender.headers(), body)
    assert (reply.status, reply.http_version, reply.headers["ttl"]) == (201, "2", "60")
    assert reply.headers["location"].startswith("https://localhost:")
    message = subscriber.subscription.await_message()
    assert (message.body, message.http_version, message.claims["sub"]) == (body, "2", CONTACT)
    assert is_signed(message)
    assert subscriber.decrypt(message) == b"hello"


def test_a_message_without_a_payload_is_taken(sender: ApplicationServer, subscriber: Subscriber) -> None:
    assert sender.send(subscriber.subscription.endpoint, sender.headers(), b"").status == 201


def test_a_longer_ttl_than_the_service_has_is_shortened(sender: ApplicationServer, subscriber: Subscriber) -> None:
    reply = sender.send(subscriber.subscription.endpoint, sender.headers() | {"TTL": "9999999"}, b"")
    assert (reply.status, reply.headers["ttl"]) == (201, str(28 * DAY))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"TTL": ""}, 400),
        ({"TTL": "-1"}, 400),
        ({"Urgency": "urgent"}, 400),
        ({"Topic": "t" * 33}, 400),
        ({"Topic": "a b"}, 400),
        ({"Topic": "alarm"}, 400),
        ({"Content-Encoding": "aesgcm"}, 400),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer abc"}, 401),
        ({"Authorization": "vapid t=abc"}, 403),
        ({"Authorization": "vapid t=a.b.c,k=abc"}, 403),
        ({"Urgency": "very-low", "Topic": "t" * 32, "TTL": "0"}, 201),
    ],
)
def test_header_fields_are_checked(
    sender: ApplicationServer, subscriber: Subscriber, changes: dict[str, str], status: int
) -> None:
    headers = sender.headers() | changes
    body = encrypted(subscriber, b"hello")
    assert sender.send(subscriber.subscription.endpoint, headers, body).status == status


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"aud": "https://localhost"}, 403),
        ({"exp": int(time.time()) - 1}, 403),
        ({"exp": int(time.time()) + 2 * DAY}, 403),
        ({"exp": str(int(time.time()) + DAY // 2)}, 403),
        ({"sub": ""}, 403),
        ({"sub": "ops@example.com"}, 403),
        ({"sub": "https://example.com/contact"}, 201),
    ],
)
def test_claims_are_checked(
    sender: ApplicationServer, subscriber: Subscriber, claims: dict[str, str], status: int
) -> None:
    assert sender.send(subscriber.subscription.endpoint, sender.headers(**claims), b"").status == status


def test_another_servers_key_is_refused(service: PushService, sender: ApplicationServer, authority: Authority) -> None:
    stranger = ApplicationServer(service, authority.file)
    subscription = service.subscribe(sender.key)
    assert stranger.send(subscription.endpoint, stranger.headers(), b"").status == 403


def test_a_signature_by_another_key_than_the_one_named_is_refused(
    service: PushService, sender: ApplicationServer, authority: Authority, subscriber: Subscriber
) -> None:
    stranger = ApplicationServer(service, authority.file)
    stolen = stranger.headers()["Authorization"].split(",k=")[0] + ",k=" + vapid.encode(sender.key)
    headers = sender.headers() | {"Authorization": stolen}
    assert sender.send(subscriber.subscription.endpoint, headers, b"").status == 403


def test_the_largest_body_is_taken_and_one_byte_more_is_not(sender: ApplicationServer, subscriber: Subscriber) -> None:
    largest = encrypted(subscriber, b"x" * 3993)
    assert len(largest) == MAXIMUM_BODY_BYTES
    endpoint = subscriber.subscription.endpoint
    assert sender.send(endpoint, sender.headers(), largest).status == 201
    assert sender.send(endpoint, sender.headers(), largest + b"x").status == 413


def test_a_body_that_is_not_encrypted_is_refused(sender: ApplicationServer, subscriber: Subscriber) -> None:
    plain = b'{"title":"From alice"}' * 10
    assert sender.send(subscriber.subscription.endpoint, sender.headers(), plain).status == 400


def test_only_posts_to_known_subscriptions_are_taken(
    service: PushService, sender: ApplicationServer, subscriber: Subscriber
) -> None:
    assert sender.send(f"{service.origin}/push/none", sender.headers(), b"").status == 404
    assert ("/push/none", 404) in service.strays
    put = sender.send(subscriber.subscription.endpoint, sender.headers(), b"", "--request", "PUT")
    assert put.status == 405


@pytest.mark.parametrize(
    "answer", [Answer(429, {"retry-after": "7"}), Answer(500), Answer(503), Answer(404), Answer(307, {"location": "/"})]
)
def test_it_does_to_the_next_message_what_it_was_told(
    sender: ApplicationServer, subscriber: Subscriber, answer: Answer
) -> None:
    subscriber.subscription.script.append(answer)
    reply = sender.send(subscriber.subscription.endpoint, sender.headers(), b"")
    assert reply.status == answer.status
    assert answer.headers.items() <= reply.headers.items()
    assert sender.send(subscriber.subscription.endpoint, sender.headers(), b"").status == 201


def test_it_can_keep_silent(sender: ApplicationServer, subscriber: Subscriber) -> None:
    endpoint = subscriber.subscription.endpoint
    subscriber.subscription.script.append(SILENCE)
    with subprocess.Popen(sender.command(endpoint, sender.headers()), stdin=subprocess.DEVNULL) as client:
        try:
            message = subscriber.subscription.await_message(None)
            # What comes behind it is answered.
            assert sender.send(endpoint, sender.headers(), b"").status == 201
            assert client.poll() is None and message.status is None
        finally:
            client.kill()


# The browser's half


def ask(browser: ClientConnection, **message: object) -> dict[str, object]:
    browser.send(json.dumps(message))
    return json.loads(browser.recv(PATIENCE_SECONDS))


def connected(service: PushService) -> ClientConnection:
    patience = {"open_timeout": PATIENCE_SECONDS, "ping_interval": None}
    return connect(service.websocket_url, subprotocols=[Subprotocol("push-notification")], **patience)


@pytest.fixture
def browser(service: PushService) -> Iterator[ClientConnection]:
    with connected(service) as connection:
        hello = ask(connection, messageType="hello", use_webpush=True)
        assert hello["status"] == 200
        yield connection


def register(service: PushService, browser: ClientConnection, sender: ApplicationServer) -> Subscription:
    made = ask(browser, messageType="register", channelID="c1", key=vapid.encode(sender.key))
    return service.subscription(str(made["pushEndpoint"]))


def test_a_browser_is_handed_the_message_and_says_what_became_of_it(
    service: PushService, browser: ClientConnection, sender: ApplicationServer, subscriber: Subscriber
) -> None:
    subscription = register(service, browser, sender)
    body = encrypted(subscriber, b"hello")
    assert sender.send(subscription.endpoint, sender.headers(), body).status == 201
    note = json.loads(browser.recv(PATIENCE_SECONDS))
    assert (note["channelID"], note["headers"]) == ("c1", {"encoding": "aes128gcm"})
    assert vapid.decode(note["data"]) == body
    browser.send(json.dumps({"messageType": "ack", "updates": [{"version": note["version"], "code": 100}]}))
    assert subscription.await_ack(subscription.await_message()) == 100


def test_it_can_flip_one_bit_on_the_way_to_the_browser(
    service: PushService, browser: ClientConnection, sender: ApplicationServer, subscriber: Subscriber
) -> None:
    subscription = register(service, browser, sender)
    subscription.script.append(CORRUPTION)
    body = encrypted(subscriber, b"hello")
    assert sender.send(subscription.endpoint, sender.headers(), body).status == 201
    delivered = vapid.decode(json.loads(browser.recv(PATIENCE_SECONDS))["data"])
    difference = int.from_bytes(delivered, "big") ^ int.from_bytes(body, "big")
    assert difference.bit_count() == 1


def test_a_subscription_that_the_browser_gave_up_is_gone(
    service: PushService, browser: ClientConnection, sender: ApplicationServer
) -> None:
    subscription = register(service, browser, sender)
    assert ask(browser, messageType="unregister", channelID="c1")["status"] == 200
    subscription.await_end()
    assert sender.send(subscription.endpoint, sender.headers(), b"").status == 410


def test_a_browser_that_was_away_gets_what_came_meanwhile(service: PushService, sender: ApplicationServer) -> None:
    with connected(service) as browser:
        name = ask(browser, messageType="hello", use_webpush=True)["uaid"]
        subscription = register(service, browser, sender)
    assert sender.send(subscription.endpoint, sender.headers(), b"").status == 201
    with connected(service) as browser:
        assert ask(browser, messageType="hello", use_webpush=True, uaid=name)["uaid"] == name
        assert json.loads(browser.recv(PATIENCE_SECONDS))["channelID"] == "c1"


def test_a_browser_that_asks_whether_the_service_lives_is_answered(browser: ClientConnection) -> None:
    assert ask(browser) == {}
