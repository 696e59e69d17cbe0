# SPDX-License-Identifier: Apache-2.0
"""What the sites of the tests have in their configurations."""

from pathlib import Path
from typing import Any

from built import ROOT
from certificates import Authority
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from examples import BLOCK

from installation import Installation, User

# No service of this host is there, and no other may be pushed to.
NO_PUSH_SERVICE = "localhost:9"
# What is tried is the contract, not how often it may be.
NO_LIMITS = {"limits": {"sendsPerMinute": 0, "registrationsPerMinute": 0, "listsPerMinute": 0}}
# A browser's.
KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
ROLES = {"roles": {"name": "administrator", "administer": True}}


def own_page(installation: Installation, cookie: str) -> dict[str, str]:
    """The header fields of a page with that cookie."""
    return {"Cookie": cookie, "Sec_Fetch_Site": "same-origin", "Origin": installation.origin}


def page_of(installation: Installation, user: User) -> dict[str, str]:
    """The header fields of a page where the user is logged in."""
    log_in = {"UserName": user.name, "Password": user.password}
    begun = installation.call("POST", "/api/session", json_body=log_in)
    return own_page(installation, begun.headers["Set-Cookie"].partition(";")[0])


def a_browser(name: str) -> dict[str, Any]:
    """To be registered. It subscribed at a push service that is not there."""
    return {"Platform": "browser", "Handle": f"https://{NO_PUSH_SERVICE}/{name}", "Keys": KEYS}


def apples(folder: Path, *topics: str) -> dict[str, Any]:
    """Apps of Apple's systems, with a key that was never shown to Apple."""
    key = ec.generate_private_key(ec.SECP256R1())
    file = folder / "apns.p8"
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    app = {"keyFile": str(file), "keyId": "ABC123DEFG", "teamId": "DEF123GHIJ", "endpoint": f"https://{NO_PUSH_SERVICE}"}
    return {"apns": [app | {"topic": topic} for topic in topics]}


def trust_certificates(site: Installation, folder: Path, authority: Authority) -> None:
    """Lets nginx say who a client with a certificate is, by the lines that docs/operate/nginx.md has for that."""
    section = (ROOT / "docs" / "operate" / "nginx.md").read_text().partition("\n## Users whom nginx authenticates\n")[2]
    blocks = [one["text"] for one in BLOCK.finditer(section.partition("\n## ")[0])]
    location = next(one for one in blocks if "location ^~ /api/" in one)
    lines = "".join(line for line in location.splitlines(keepends=True) if "auth_request" not in line)
    (folder / "conf.d" / "users.conf").write_text(next(one for one in blocks if one.startswith("map ")))
    file, shipped = folder / "sites" / "site.conf", "include snippets/app-backend.conf;"
    text = file.read_text()
    assert shipped in text
    verification = f"ssl_client_certificate {authority.file}; ssl_verify_client optional;"
    with site.without_web_server():
        file.write_text(text.replace(shipped, f"{verification}\n{lines}"))
