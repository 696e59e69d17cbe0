# SPDX-License-Identifier: Apache-2.0
"""The programs that the guides for apps and servers show: each is run against the product, and against one that is busy."""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from built import ROOT
from certificates import Authority
from deadline import wait_until
from examples import BLOCK, DOCS, SITE
from fcm import FCM
from sites import a_browser

from installation import Installation, User

STAND_INS = Path(__file__).with_name("StandIns")
SECONDS = 300
# Of build/server-examples.md, by the language of its block: the file, and the commands.
SERVERS = {
    "python": ("send.py", "python3 send.py"),
    "js": ("send.mjs", "node send.mjs"),
    "php": ("send.php", "php send.php"),
    "go": ("send.go", "go run send.go"),
    "csharp": ("send.cs", "mcs -out:send.exe -r:System.Net.Http send.cs && mono send.exe"),
}
ANDROID = "/usr/share/java/com.android.json.jar"


def blocks(page: str, language: str) -> list[str]:
    found = [one["text"] for one in BLOCK.finditer((DOCS / page).read_text()) if one["language"] == language]
    assert found, language
    return found


def placed(folder: Path, name: str, text: str, site: str) -> None:
    (folder / name).write_text(text.replace(SITE, site))


@pytest.fixture(scope="session")
def environment(folder: Path, authority: Authority) -> dict[str, str]:
    """Every language trusts the authority of the tests. A program gets no settings of the surroundings."""
    trusted, java = str(authority.file), folder / "pages.jks"
    settings = {
        "SSL_CERT_FILE": trusted, "NODE_EXTRA_CA_CERTS": trusted, "XDG_CONFIG_HOME": str(folder / "config-of-pages"),
        "GOCACHE": str(ROOT / ".build" / "examples" / "go"), "JAVA_TRUST": str(java),
    }  # fmt: skip
    key = f"keytool -importcert -noprompt -alias tests -file {trusted} -keystore {java} -storetype JKS -storepass password"
    for command in (f"cert-sync --user {trusted}", key):
        subprocess.run(["bash", "-c", command], env=os.environ | settings, check=True, capture_output=True, timeout=SECONDS)
    return dict(os.environ) | settings


def typed(command: str, folder: Path, environment: dict[str, str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, input=given, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip


def token_of(site: Installation, user: User, *scopes: str) -> str:
    made: str = site.call("POST", "/api/tokens", user, {"Scopes": list(scopes)}).json()["Token"]
    site.keep_secret(made)
    return made


def test_the_page_has_no_language_that_is_not_run() -> None:
    shown = {one["language"] for one in BLOCK.finditer((DOCS / "build" / "server-examples.md").read_text())}
    assert shown - {"sh"} == SERVERS.keys()


@pytest.mark.parametrize("language", SERVERS)
def test_a_server_sends_a_message_and_prints_its_id(
    site: Installation, environment: dict[str, str], tmp_path: Path, language: str
) -> None:
    (alice, bob), (file, command) = (site.add_user("alice"), site.add_user("bob")), SERVERS[language]
    (text,) = blocks("build/server-examples.md", language)
    placed(tmp_path, file, re.sub(r"(?<=[\"'])bob(?=[\"'])", bob.name, text), site.origin)
    done = typed(command, tmp_path, environment | {"TOKEN": token_of(site, alice, "send")})
    assert (done.returncode, done.stderr) == (0, "")
    timeline = site.call("GET", f"/api/notifications/{done.stdout.strip()}/timeline", alice)
    assert (timeline.status, timeline.json()["To"]) == (200, bob.name)
    (message,) = site.call("GET", "/api/inbox", bob).json()["Messages"]
    assert (message["Title"], message["Body"]) == ("Lunch", "At noon")


@pytest.mark.parametrize("language", SERVERS)
def test_a_server_repeats_a_send_with_its_key_and_reports_a_refusal(
    environment: dict[str, str], tmp_path: Path, language: str
) -> None:
    file, command = SERVERS[language]
    (text,) = blocks("build/server-examples.md", language)
    with busy_site([503, 429, 200]) as (address, keys):
        placed(tmp_path, file, text, address)
        done = typed(command, tmp_path, environment | {"TOKEN": "abt_x"})
        assert (done.returncode, done.stdout.strip()) == (0, "sent")
        assert len(keys) == 3 and len(set(keys)) == 1 and len(keys[0]) >= 32
    with busy_site([403]) as (address, keys):
        placed(tmp_path, file, text, address)
        done = typed(command, tmp_path, environment | {"TOKEN": "abt_x"})
        assert done.returncode != 0 and "403" in done.stderr + done.stdout and "scopeMissing" in done.stderr + done.stdout
        assert len(keys) == 1


@contextmanager
def busy_site(statuses: list[int]) -> Iterator[tuple[str, list[str]]]:
    """Answers sends with these, one after the other. Its address, and the keys that came."""
    keys: list[str] = []
    left = list(statuses)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers["Idempotency-Key"])
            status = left.pop(0)
            body = json.dumps({"MessageId": "sent"} if status == 200 else {"code": "scopeMissing"}).encode()
            self.send_response(status)
            if status in (429, 503):
                self.send_header("Retry-After", "0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", keys
        finally:
            server.shutdown()
            thread.join()


def test_an_android_app_registers_and_shows_messages(
    site: Installation, fcm: FCM, environment: dict[str, str], tmp_path: Path
) -> None:
    user = site.add_user("android")
    backend, service = blocks("build/receive-android.md", "kotlin")
    placed(tmp_path, "Backend.kt", backend, site.origin)
    placed(tmp_path, "PushService.kt", service, site.origin)
    built = typed(f"kotlinc *.kt {STAND_INS}/*.kt -cp {ANDROID} -d app.jar", tmp_path, environment)
    assert built.returncode == 0 and not re.search(r"(?<!VM) warning: ", built.stdout + built.stderr), built.stderr

    phone = subprocess.Popen(
        ["java", f"-Djavax.net.ssl.trustStore={environment['JAVA_TRUST']}",
         "-cp", f"app.jar:/usr/share/java/kotlin-stdlib.jar:{ANDROID}", "com.example.chat.PhoneKt",
         token_of(site, user, "register", "read")],
        cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with phone:
        def does(line: str) -> list[str]:
            assert phone.stdin is not None and phone.stdout is not None
            phone.stdin.write(line + "\n")
            phone.stdin.flush()
            shown = []
            while (one := phone.stdout.readline().strip()) != "done":
                assert one, "the app ended"
                shown.append(one)
            return shown

        assert does("token android-page") == []
        (device,) = site.call("GET", "/api/register", user).json()
        assert device["Platform"] == "fcm"

        def pushed(message: dict[str, object]) -> tuple[str, dict[str, object]]:
            count = len(of_phone(fcm))
            sent = site.call("POST", "/api/notifications", user, {"To": user.name} | message).json()
            wait_until(lambda: len(of_phone(fcm)) > count, "the push")
            return sent["MessageId"], of_phone(fcm)[-1]

        id, plain = pushed({"Title": "Lunch", "Body": "At noon"})
        assert does("message " + json.dumps(plain)) == [f"Lunch: At noon ({id})"]
        secure_id, secure = pushed({"Body": "The code is 4711", "Secure": True})
        assert does("message " + json.dumps(secure)) == [f"{user.name}: The code is 4711 ({secure_id})"]
        assert does(f"opened {id}") == []
        assert site.call("GET", f"/api/notifications/{id}/timeline", user).json()["Opened"] == 1
        assert does("inbox x") == ["unread: 1"]
        assert does("logOut x") == []
        assert site.call("GET", "/api/register", user).json() == []
        phone.communicate()


def of_phone(fcm: FCM) -> list[dict[str, object]]:
    return [push.message for push in fcm.pushes if push.message["token"] == "android-page"]


def test_a_page_of_ones_own_registers_and_shows_messages(
    site: Installation, environment: dict[str, str], tmp_path: Path
) -> None:
    user = site.add_user("web")
    scripts = blocks("build/receive-web.md", "js")
    (page,) = [one for one in scripts if "export" in one]
    shortest, worker = [one for one in scripts if "export" not in one]
    placed(tmp_path, "push.mjs", page, site.origin)
    placed(tmp_path, "worker.mjs", worker, site.origin)
    browser = a_browser("web")
    subscription = json.dumps({"endpoint": browser["Handle"], "keys": browser["Keys"]})

    def run(pushes: list[dict[str, object]]) -> list[str]:
        shutil.copy(STAND_INS / "browser.mjs", tmp_path)
        command = ["node", "browser.mjs", site.origin, user.name, user.password, subscription]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, input="".join(json.dumps(one) + "\n" for one in pushes),
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    message = site.call("POST", "/api/notifications", user, {"To": user.name, "Title": "Lunch", "Body": "At noon"}).json()
    secure = site.call("POST", "/api/notifications", user, {"To": user.name, "Body": "4711", "Secure": True}).json()
    plain = {"title": "Lunch", "body": "At noon", "messageId": message["MessageId"], "link": "https://chat.example.com/"}
    shown = run([plain, {"secureId": str(secure["Id"]), "secureToken": secure["MessageId"]}])
    assert shown == [
        "true", "Lunch: At noon", "opens https://chat.example.com/", "done",
        f"{user.name}: 4711", "opens /", "done", "messages: 2", "unsubscribed",
    ]  # fmt: skip
    assert site.call("GET", f"/api/notifications/{message['MessageId']}/timeline", user).json()["Opened"] == 1
    assert site.call("GET", "/api/register", user).json() == []
    placed(tmp_path, "worker.mjs", shortest, site.origin)
    assert run([plain])[:3] == ["true", "Lunch: At noon", "done"]
