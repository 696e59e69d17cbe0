# SPDX-License-Identifier: Apache-2.0
"""The pictures of the page in docs: of the running product, and of the page as it is now. `script/pictures` makes them."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from account import Account
from chromium import ChromiumTab
from installation import ROOT, Installation, User
from notify_page import NotifyPage
from subscriber import Subscriber
from test_chromium import forward, subscribed
from test_looks import PHONE, settle, violations

DIGEST = ROOT / "docs" / "pictures.sha256"


def page_digest() -> str:
    """Of all that makes the page look as it does: names and contents, the API's description and the operator's page aside."""
    html = ROOT / "nginx" / "html"
    digest = hashlib.sha256()
    for file in sorted(html.rglob("*")):
        if file.is_file() and file.name != "openapi.json" and "admin" not in str(file.relative_to(html)):
            digest.update(f"{file.relative_to(html)}\n{file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def test_the_pictures_in_docs_show_the_page_as_it_is() -> None:
    for name in ("page.png", "page-phone.png"):
        assert (ROOT / "docs" / name).read_bytes().startswith(b"\x89PNG")
    assert DIGEST.read_text().strip() == page_digest(), "the page has changed since; script/pictures makes new pictures"


def test_the_picture_of_the_readme(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, subscriber: Subscriber, screenshots: Path
) -> None:
    """`page.png`, `page-phone.png`, and the hash of the page that they show, into the screenshots."""
    accounts = {}
    for name in ("alice", "bob"):
        user = User(name, installation.secret("password-"))
        installation.run("user", "add", name, input=user.password + "\n")
        accounts[name] = Account(installation, user)
    alice, bob = accounts["alice"], accounts["bob"]
    tab = chromium_tab()
    tab.size(1000, 700, scale=1.5)
    subscribed(tab, subscriber)
    page = NotifyPage(tab, installation.origin).open()
    page.await_state("token")
    page.log_in(alice)
    bob.send(alice, "The train is ten minutes late: https://trains.example/4711")
    forward(page, subscriber)
    page.await_received("ten minutes late")
    bob.send_secret(alice, "The door’s code is 4711.")
    forward(page, subscriber, number=2)
    page.await_received("4711.")
    bob.register(subscriber)
    page.write("bob", "Thank you!")
    tab.click("send")
    assert [line.kind for line in page.await_results()] == ["Completed"]
    tab.wait_until('document.getElementById("message").value === ""')
    settle(tab)
    tab.screenshot(screenshots / "page.png")
    assert violations(tab) == []
    page.choose("secure", True)
    page.write("bob", "Mine is 0815.")
    tab.size(*PHONE, scale=2, mobile=True)
    tab.wait_until(f"document.documentElement.clientWidth === {PHONE[0]}")
    settle(tab)
    tab.screenshot(screenshots / "page-phone.png")
    assert violations(tab) == []
    (screenshots / DIGEST.name).write_text(page_digest() + "\n")
