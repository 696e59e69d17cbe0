# SPDX-License-Identifier: Apache-2.0
"""The two images of Containerfile, in real containers: what a user gets, and what the container may not do."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from containers import Podman, context
from deadline import wait_until
from debian import BOOKWORM, Debian
from gateway import Answer, ask
from installed_site import expect
from network import Network
from product import CHECKOUT
from roots import Bases
from trial import call_over_tls

USER = "10001"
STATE, SOCKET_FOLDER = "/var/lib/app-backend", "/run/app-backend"


@pytest.fixture(scope="module")
def podman(bases: dict[Debian, Bases], package: Path, folder: Path) -> Iterator[Podman]:
    """It has the images `responder` and `try`."""
    with Podman(folder / "containers") as made:
        reason = made.why_not_here()
        if reason is not None:
            pytest.skip(reason)
        made.import_base(bases[BOOKWORM].clean)
        sources = context(package, folder / "context")
        for target in ("responder", "try"):
            made.build(target, sources)
        yield made


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    """The host's folder, for the container's user."""
    made = tmp_path / "sockets"
    made.mkdir()
    made.chmod(0o777)
    return made


@pytest.fixture
def responder(podman: Podman, sockets: Path) -> Iterator[str]:
    volumes = ["--volume", f"state:{STATE}", "--volume", f"{sockets}:{SOCKET_FOLDER}"]
    with podman.running("responder", *volumes) as name:
        wait_until(lambda: (sockets / "app-backend.sock").exists(), "the responder listens")
        yield name


def call(sockets: Path, method: str, path: str, user: str, body: str = "") -> Answer:
    """As an nginx does that has the socket's folder. The password is the user's name."""
    script, _, query = path.partition("?")
    credentials = base64.b64encode(f"{user}:{user}".encode()).decode()
    parameters = {
        "REQUEST_METHOD": method, "REQUEST_URI": path, "SCRIPT_NAME": script, "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)), "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "localhost", "REMOTE_ADDR": "192.0.2.7", "HTTPS": "on", "HTTP_AUTHORIZATION": f"Basic {credentials}",
    }  # fmt: skip
    return ask(sockets / "app-backend.sock", parameters, body.encode())


def test_who_logs_in_to_the_responder_reads_a_secret_also_after_a_restart(
    podman: Podman, responder: str, sockets: Path
) -> None:
    for user in ("alice", "bob"):
        podman.run("exec", "--interactive", responder, "app-backend", "user", "add", user, input=f"{user}\n")
    left = call(sockets, "POST", "/api/notifications?to_tag=alice", "bob", '"The code is 7"')
    assert left.status == 200, left.body
    path = f"/api/notifications/{json.loads(left.body)['Id']}"
    podman.run("stop", "--time", "60", responder)
    assert podman.run("inspect", "--format", "{{.State.ExitCode}}", responder).strip() == "0"
    podman.run("start", responder)
    read = wait_until(lambda: answered(sockets, path), "the responder answers again")
    assert json.loads(read.body)["Payload"] == "The code is 7"


def answered(sockets: Path, path: str) -> Answer | None:
    try:
        return call(sockets, "GET", path, "alice")
    except (ConnectionRefusedError, FileNotFoundError):
        return None


def test_the_responder_is_an_ordinary_user_that_writes_its_state_alone(podman: Podman, responder: str) -> None:
    status = Path(f"/proc/{podman.process(responder)}/status").read_text()
    assert re.search(rf"^Uid:\t{USER}\t{USER}\t{USER}\t{USER}$", status, flags=re.M)
    assert re.search(r"^CapEff:\t0+$", status, flags=re.M)
    for place in ("/etc/app-backend/new", "/usr/bin/new"):
        with pytest.raises(RuntimeError, match="Read-only file system"):
            podman.run("exec", responder, "sh", "-c", f"echo > {place}")
    podman.run("exec", responder, "sh", "-c", f"echo > {STATE}/new && rm {STATE}/new")


def test_the_page_and_the_api_answer_in_the_image_to_try(podman: Podman) -> None:
    with podman.running("try", "--volume", f"trial:{STATE}") as name:
        said = wait_until(lambda: printed(podman, name), "the container says that it answers")
        (password,) = set(re.findall(r"^Added the user \w+, password (\S+)\.$", said, flags=re.M))
        authority = podman.run("exec", name, "cat", f"{STATE}/lan/authority.crt")
        network = Network(podman.process(name))
        alice, bob = ("alice", password), ("bob", password)
        assert b"<html" in expect(call_over_tls(network, "GET", "/", authority)).body
        sent = expect(call_over_tls(network, "POST", "/api/notifications?to_tag=alice", authority, bob, "The code is 7"))
        read = expect(call_over_tls(network, "GET", f"/api/notifications/{sent.json()['Id']}", authority, alice))
        network.close()
    assert read.json()["Payload"] == "The code is 7"


def printed(podman: Podman, name: str) -> str | None:
    said = podman.run("logs", name)
    assert podman.run("inspect", "--format", "{{.State.Running}}", name).strip() == "true", said
    return said if "AppBackend answers" in said else None


def test_the_compose_file_of_the_page_confines_what_the_image_has() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", (CHECKOUT / "docs" / "container.md").read_text(), flags=re.M | re.S)
    service = yaml.safe_load(text)["services"]["app-backend"]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
    assert {place.split(":")[1] for place in service["volumes"]} == {STATE, SOCKET_FOLDER}
    (volumes,) = re.findall(r"^VOLUME (\[.*)$", (CHECKOUT / "Containerfile").read_text(), flags=re.M)
    assert set(json.loads(volumes)) == {STATE, SOCKET_FOLDER}
