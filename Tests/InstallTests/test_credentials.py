# SPDX-License-Identifier: Apache-2.0
"""Who says yes has looked as the service does: with its credentials, and as its user."""

import base64
import json
import secrets
import subprocess
from pathlib import Path
from typing import Any

from installed_site import CONFIGURATION, SERVICE, Site
from product import CHECKOUT
from roots import run

FOLDER = "/etc/app-backend"
TOPIC = "com.example.app"
HUB = "Endpoint=sb://localhost:9/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey="
ACCOUNT = {
    "type": "service_account", "project_id": "app-1", "client_email": "push@app-1.iam.gserviceaccount.com",
    "private_key_id": "1", "token_uri": "https://oauth2.googleapis.com/token",
}  # fmt: skip
CERTIFICATE = {"apns.certificatePassword": "secret-1"}
EXTERNAL_HUB = {"hub.connectionString": HUB + secrets.token_urlsafe(32)}
# That root may read, and the service's user may not.
CLOSED = [("600", CONFIGURATION), ("700", FOLDER)]


def openssl(*arguments: str) -> str:
    return run(["openssl", *arguments], input="", check=True).stdout


def curve_key() -> str:
    return openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def vapid_key() -> str:
    """The 32 bytes of a private key, in base64url. In SEC 1 they follow seven others."""
    command = ["openssl", "pkey", "-outform", "DER", "-traditional"]
    der = subprocess.run(command, input=curve_key().encode(), capture_output=True, check=True).stdout
    return base64.urlsafe_b64encode(der[7:39]).decode().rstrip("=")


def without_hub() -> tuple[dict[str, str], dict[str, Any]]:
    """All that may be there at once where no hub elsewhere is called, and the groups that need them."""
    files = {
        "webPush.privateKey": vapid_key(),
        "webPush.formerPrivateKey": vapid_key(),
        "apns.key": curve_key(),
        "fcm.credential": json.dumps(ACCOUNT | {"private_key": openssl("genpkey", "-algorithm", "RSA")}),
        "wns.secret": secrets.token_urlsafe(32),
        "webhooks.secret": "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode(),
        "localHub.key": secrets.token_urlsafe(32),
        "localHub.keys": f"SharedAccessKeyName=other;Rights=Send;PrimaryKey={secrets.token_urlsafe(32)}",
    }
    return files, {
        "webPush": {"subject": "mailto:you@example.com"},
        "apns": {"keyId": "ABC123DEFG", "teamId": "DEF123GHIJ", "topic": TOPIC},
        "fcm": {"timeout": 9},
        "wns": {"packageSid": "ms-app://s-1-15-2-1004590375"},
        "webhooks": {"url": "https://chat.example.com/hook"},
        "localHub": {"serve": True},
    }


def load(site: Site, files: dict[str, str], members: dict[str, Any], *lines: str) -> None:
    """Starts the service with these credentials, groups and lines of its unit, and without those before."""
    file = site.system.root.file(CONFIGURATION)
    kept = {name: value for name, value in json.loads(file.read_text()).items() if name in ("store", "inbox")}
    file.write_text(json.dumps(kept | members))
    for name, text in files.items():
        site.system.root.write(f"{FOLDER}/{name}", text + "\n", mode=0o600)
    site.change_unit(*(f"LoadCredential={name}:{FOLDER}/{name}" for name in files), *lines)
    site.system.systemctl("restart", SERVICE)


def expect_reloads(site: Site, files: dict[str, str]) -> None:
    """One of a right configuration, one of a wrong one, and one of the right one again."""
    assert site.system.systemctl("reload", SERVICE, check=False).returncode == 0, site.log()
    assert site.system.run("app-backend", "check", check=False).returncode == 0
    right = site.system.root.file(CONFIGURATION).read_text()
    site.configure(session={"hours": -1})
    for command in (["systemctl", "reload", SERVICE], ["app-backend", "check"], ["app-backend", "doctor"]):
        assert site.system.run(*command, check=False).returncode != 0, command
    assert any("reload: the former configuration stays: configuration: session.hours" in line for line in site.log())
    site.system.root.file(CONFIGURATION).write_text(right)
    # The service has not read it yet.
    assert "the last reload was refused" in site.system.run("app-backend", "doctor", check=False).stdout
    site.system.systemctl("reload", SERVICE)
    assert "the last reload was refused" not in site.system.run("app-backend", "doctor", check=False).stdout
    told = "\n".join(site.log())
    assert not any(text in told for text in files.values())


def test_every_credential_that_there_is_is_reloaded_with() -> None:
    schema = json.loads((CHECKOUT / "docs/reference/settings.schema.json").read_text())
    # With a database, test_walk.py reloads.
    loaded = {*without_hub()[0], *CERTIFICATE, *EXTERNAL_HUB, "store.url"}
    assert loaded == {key for key, row in schema["properties"].items() if row.get("writeOnly")}


def test_a_reload_sees_every_credential_and_tells_right_from_wrong(site: Site, folder: Path) -> None:
    files, members = without_hub()
    load(site, files, members)
    expect_reloads(site, files)
    # The file of a credential that was given up is not taken for one.
    site.system.root.write(f"{FOLDER}/apns.certificatePassword", "left behind\n", mode=0o600)
    assert site.system.run("app-backend", "check", check=False).returncode == 0

    certificate = folder / "credentials"
    certificate.mkdir(exist_ok=True)
    names = [str(certificate / name) for name in ("push.key", "push.pem", "apns.p12")]
    subject = ["-subj", f"/UID={TOPIC}", "-keyout", names[0], "-out", names[1]]
    openssl("req", "-x509", "-newkey", "rsa:2048", "-noenc", *subject)
    openssl("pkcs12", "-export", "-passout", "pass:secret-1", "-in", names[1], "-inkey", names[0], "-out", names[2])
    # As docs/operate/push-apple.md says: the service's user reads it by a group.
    site.system.root.file(f"{FOLDER}/apns.p12").write_bytes(Path(names[2]).read_bytes())
    for command in ("groupadd --system push", f"chgrp push {FOLDER}/apns.p12", f"chmod 640 {FOLDER}/apns.p12"):
        site.system.run(*command.split())
    files = CERTIFICATE
    members = {"apns": {"certificateFile": f"{FOLDER}/apns.p12", "topic": TOPIC}}
    # So it does the key for browsers, which the store's owner without that group may not read.
    site.system.root.write(f"{FOLDER}/vapid.key", vapid_key() + "\n", mode=0o640)
    site.system.run("chgrp", "push", f"{FOLDER}/vapid.key")
    members["webPush"] = {"subject": "mailto:you@example.com", "privateKeyFile": f"{FOLDER}/vapid.key"}
    load(site, files, members, "SupplementaryGroups=push")
    expect_reloads(site, files)
    assert "Permission denied" not in site.system.run("app-backend", "doctor", check=False).stdout

    files = EXTERNAL_HUB
    load(site, files, {"hub": {"name": "push", "platforms": ["apns"]}})
    expect_reloads(site, files)


def test_who_says_yes_reads_as_the_services_user(site: Site) -> None:
    site.add_user("alice")
    site.system.systemctl("start", SERVICE)
    commands = [["app-backend", "check"], ["systemctl", "reload", SERVICE], ["app-backend", "doctor"]]
    for mode, path in CLOSED:
        former = site.system.run("stat", "--format=%a", path).stdout.strip()
        site.system.run("chmod", mode, path)
        for command in commands:
            done = site.system.run(*command, check=False)
            assert done.returncode != 0, (command, path)
            if command[0] == "app-backend":
                assert f"{CONFIGURATION}: cannot be read: Permission denied" in done.stdout + done.stderr
        assert any("reload: the former configuration stays" in line and "denied" in line for line in site.log())
        site.system.run("chmod", former, path)
        for command in commands:
            assert site.system.run(*command, check=False).returncode == 0, (command, path)
