# SPDX-License-Identifier: Apache-2.0
"""The two images of a release, in real containers: what a user gets, and what the container may not do."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from containers import ContainerHost, Podman
from deadline import wait_until
from gateway import Answer, ask
from installed_site import expect
from network import Network
from product import CHECKOUT
from releases import Checkout
from trial import call_over_tls
from walk import walk
from walks import CONTAINERS

USER = "10001"
STATE, SOCKET_FOLDER = "/var/lib/app-backend", "/run/app-backend"


@pytest.fixture(scope="module")
def podman(without_images: str | None, folder: Path) -> Iterator[Podman]:
    if without_images is not None:
        pytest.skip(without_images)
    with Podman(folder / "containers") as made:
        yield made


@pytest.fixture(scope="module")
def archive(made: Path) -> Path:
    """Of the responder alone."""
    (found,) = made.glob("app-backend-[0-9]*.oci.tar")
    return found


@pytest.fixture(scope="module")
def image(podman: Podman, archive: Path) -> str:
    return podman.load(archive)


@pytest.fixture(scope="module")
def trial_image(podman: Podman, made: Path) -> str:
    (found,) = made.glob("app-backend-try-*.oci.tar")
    return podman.load(found)


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    """The host's folder, for the container's user."""
    made = tmp_path / "sockets"
    made.mkdir()
    made.chmod(0o777)
    return made


@pytest.fixture
def responder(podman: Podman, image: str, sockets: Path) -> Iterator[str]:
    volumes = ["--volume", f"state:{STATE}", "--volume", f"{sockets}:{SOCKET_FOLDER}"]
    with podman.running(image, *volumes) as name:
        wait_until(lambda: (sockets / "app-backend.sock").exists(), "the responder listens")
        yield name


def test_an_image_has_the_release_for_its_name(image: str, trial_image: str, checkout: Checkout) -> None:
    assert image == f"localhost/app-backend:{checkout.version}" and trial_image == f"{image}-try"


def test_docker_finds_the_same_image_in_the_archive(podman: Podman, image: str, archive: Path) -> None:
    """By its own list: it reads none of the OCI's."""
    loaded = podman.identify(image)
    podman.run("rmi", "--force", loaded)
    pulled = podman.run("pull", "--quiet", f"docker-archive:{archive}").split()[-1]
    assert podman.identify(pulled) == loaded
    assert podman.load(archive) == image


def test_the_list_of_an_image_has_its_packages_and_no_others(podman: Podman, responder: str, archive: Path) -> None:
    parts = json.loads(archive.with_suffix(".spdx.json").read_text())
    listed = {(part["name"], part["versionInfo"]) for part in parts["packages"] if part["SPDXID"] != "SPDXRef-image"}
    told = podman.run("exec", responder, "dpkg-query", "--show", "--showformat=${Package} ${Version}\n")
    assert listed == {tuple(line.split()) for line in told.splitlines()}
    assert "app-backend" in dict(listed)


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


def test_init_says_what_to_do_where_the_configuration_is_read_only(podman: Podman, responder: str) -> None:
    with pytest.raises(RuntimeError, match="APP_BACKEND_WEB_PUSH_SUBJECT=mailto:"):
        podman.run("exec", responder, "app-backend", "init", "--user", "alice", "--subject", "op@example.com")


def test_init_sets_a_site_up_by_the_variables_of_the_page(podman: Podman, image: str, sockets: Path) -> None:
    page = (CHECKOUT / "docs" / "operate" / "install-container.md").read_text()
    variables = re.findall(r"`(APP_BACKEND_\w+): \"?([^\"`]+)\"?`", page)
    options = [word for name, value in variables for word in ("--env", f"{name}={value}")]
    volumes = ["--volume", f"set-up:{STATE}", "--volume", f"{sockets}:{SOCKET_FOLDER}"]
    with podman.running(image, *volumes, *options) as name:
        wait_until(lambda: (sockets / "app-backend.sock").exists(), "the responder listens")
        init = ["app-backend", "init", "--user", "alice", "--administer"]
        said = podman.run("exec", "--interactive", name, *init, input="alice-1234\n")
        assert "added alice" in said
        assert "administrator" in podman.run("exec", name, "app-backend", "user", "show", "alice")


def test_the_page_and_the_api_answer_in_the_image_to_try(podman: Podman, trial_image: str) -> None:
    with podman.running(trial_image, "--volume", f"trial:{STATE}") as name:
        said = wait_until(lambda: printed(podman, name), "the container says that it answers")
        (password,) = set(re.findall(r"^Added the user \w+, password (\S+)\.$", said, flags=re.M))
        authority = podman.run("exec", name, "cat", f"{STATE}/lan/authority.crt")
        network = Network(podman.process(name))
        alice, bob = ("alice", password), ("bob", password)
        assert b"<html" in expect(call_over_tls(network, "GET", "/", authority)).body
        sent = expect(call_over_tls(network, "POST", "/api/notifications?to_tag=alice", authority, bob, "The code is 7"))
        read = expect(call_over_tls(network, "GET", f"/api/notifications/{sent.json()['Id']}", authority, alice))
        assert podman.run("exec", name, "app-backend", "user", "list").split()[:2] == ["alice", "bob"]
        network.close()
    assert read.json()["Payload"] == "The code is 7"


def printed(podman: Podman, name: str) -> str | None:
    said = podman.run("logs", name)
    assert podman.run("inspect", "--format", "{{.State.Running}}", name).strip() == "true", said
    return said if "AppBackend answers" in said else None


def compose_file() -> str:
    page = (CHECKOUT / "docs" / "operate" / "install-container.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, flags=re.M | re.S)
    return str(text)


def test_an_administrator_types_the_commands_of_the_page(podman: Podman, made: Path, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(compose_file())
    for file in made.glob("*.oci.tar"):
        (tmp_path / file.name).symlink_to(file)
    with ContainerHost(podman, tmp_path) as host:
        walk(host, CONTAINERS)


def test_the_compose_file_of_the_page_confines_what_the_image_has() -> None:
    service = yaml.safe_load(compose_file())["services"]["app-backend"]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
    assert {place.split(":")[1] for place in service["volumes"]} == {STATE, SOCKET_FOLDER}
    (volumes,) = re.findall(r"^VOLUME (\[.*)$", (CHECKOUT / "Containerfile").read_text(), flags=re.M)
    assert set(json.loads(volumes)) == {STATE, SOCKET_FOLDER}
