# SPDX-License-Identifier: Apache-2.0
"""The pictures in docs: of the running product, and of what it is now. `script/pictures` makes them."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from built import ROOT
import vapid
from account import Account
from certificates import Authority
from chromium import Chromium, ChromiumTab
from installation import Installation, User
from notify_page import NotifyPage
from push_service import PushService
from subscriber import Subscriber
from subscription import Answer
from tab import Tab
from terminal import draw, shape
from test_chromium import forward, subscribed
from test_looks import PHONE, settle, violations

DIGEST = ROOT / "docs" / "pictures" / "pictures.sha256"
HTML = ROOT / "nginx" / "html"
MAXIMUM_BYTES = 150_000
# Of a file that is kept, and takes its time.
SMALL = {"optimizeForSpeed": False}

Story = list[tuple[str, str]]


def digest(of: str | list[Path]) -> str:
    """Of a text, or of files' names and contents."""
    made = hashlib.sha256(of.encode() if isinstance(of, str) else b"")
    for file in [] if isinstance(of, str) else sorted(of):
        made.update(f"{file.relative_to(HTML)}\n{file.stat().st_size}\n".encode() + file.read_bytes())
    return made.hexdigest()


def page_files() -> list[Path]:
    """All that makes the page look as it does: the API's description and the operator's page aside."""
    files = [file for file in HTML.rglob("*") if file.is_file() and file.name != "openapi.json"]
    return [file for file in files if "admin" not in str(file.relative_to(HTML))]


def admin_files() -> list[Path]:
    """What makes the operator's page look as it does in English."""
    own = [file for file in HTML.rglob("*admin*") if file.is_file()]
    own += [file for file in (HTML / "js" / "admin").glob("*.js") if file.stem not in ("texts-de", "texts-es")]
    return own + [HTML / name for name in ("style.css", "controls.css", "icon.svg")]


@pytest.fixture
def site(
    program: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, push: PushService
) -> Iterator[Installation]:
    """One in which nothing is but what the pictures show."""
    groups = {"roles": [{"name": "administrator", "administer": True}], "inbox": {"plainDays": 7}}
    with Installation(program, tmp_path_factory.mktemp("pictures"), authority, push.authority, groups=groups) as running:
        yield running


@pytest.fixture
def people(site: Installation) -> dict[str, Account]:
    found = {}
    for name, options in {"alice": (), "bob": (), "carol": (), "root": ("--role", "administrator")}.items():
        user = User(name, site.secret("password-"))
        site.run("user", "add", name, *options, input=user.password + "\n")
        found[name] = Account(site, user)
    return found


@pytest.fixture
def open_tab(chromium: Chromium, site: Installation, tabs: list[Tab]) -> Callable[..., ChromiumTab]:
    def opened(notifications: str = "granted") -> ChromiumTab:
        tab = chromium.open_tab(site.origin, notifications=notifications)
        tabs.append(tab)
        return tab

    return opened


def device(site: Installation, push: PushService) -> Subscriber:
    return Subscriber(push.subscribe(vapid.decode(site.vapid_key)))


def keep(screenshots: Path, name: str, made: str) -> None:
    """Notes what the picture shows; `script/pictures` joins the notes."""
    (screenshots / f"{name}.sha256").write_text(f"{made}  {name}.png\n")


def noted() -> dict[str, str]:
    return {name: made for made, name in (line.split() for line in DIGEST.read_text().splitlines())}


def test_the_pictures_in_docs_show_the_pages_as_they_are() -> None:
    for name in noted():
        picture = (DIGEST.parent / name).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) < MAXIMUM_BYTES, name
    now = {"page.png": digest(page_files()), "page-phone.png": digest(page_files()), "admin.png": digest(admin_files())}
    assert noted().keys() == now.keys() | {"terminal.png"}
    assert noted() == now | {"terminal.png": noted()["terminal.png"]}, "script/pictures makes new pictures"


def test_the_picture_in_docs_shows_what_the_commands_print(
    site: Installation, people: dict[str, Account], push: PushService
) -> None:
    assert digest(shape(story(site, people, push))) == noted()["terminal.png"], "script/pictures makes a new picture"


def test_the_picture_of_the_page(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: dict[str, Account], push: PushService,
    screenshots: Path,
) -> None:
    alice, bob, subscriber = people["alice"], people["bob"], device(site, push)
    tab = open_tab()
    tab.size(1000, 700, scale=1.5)
    subscribed(tab, subscriber)
    page = NotifyPage(tab, site.origin).open()
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
    tab.screenshot(screenshots / "page.png", **SMALL)
    keep(screenshots, "page", digest(page_files()))
    assert violations(tab) == []
    page.choose("secure", True)
    page.write("bob", "Mine is 0815.")
    tab.size(*PHONE, scale=2, mobile=True)
    tab.wait_until(f"document.documentElement.clientWidth === {PHONE[0]}")
    settle(tab)
    tab.screenshot(screenshots / "page-phone.png", **SMALL)
    keep(screenshots, "page-phone", digest(page_files()))
    assert violations(tab) == []


def test_the_picture_of_the_operators_page(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: dict[str, Account], push: PushService,
    screenshots: Path,
) -> None:
    alice, bob, carol = (people[name] for name in ("alice", "bob", "carol"))
    gone = device(site, push)
    gone.subscription.script.append(Answer(410))
    for account, subscriber in ((alice, device(site, push)), (bob, device(site, push)), (carol, gone)):
        account.register(subscriber)
    for sender, recipient in ((alice, bob), (bob, alice), (carol, alice), (bob, carol), (alice, bob)):
        answer = sender.call("POST", "/api/notifications", {"To": recipient.name, "Body": "Hello", "Platforms": ["browser"]})
        assert sender.await_outcome(answer.json()["Outcomes"][0]["NotificationId"])[0] == "Completed"
    tab = open_tab(notifications="denied")
    tab.size(1000, 1240)
    tab.call("Emulation.setScrollbarsHidden", hidden=True)
    NotifyPage(tab, site.origin).open().log_in(people["root"], state="loggedin")
    tab.navigate(f"{site.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready' && document.querySelectorAll('#findings li').length > 8")
    settle(tab)
    # As much as is on the screen.
    tab.screenshot(screenshots / "admin.png", captureBeyondViewport=False, **SMALL)
    keep(screenshots, "admin", digest(admin_files()))


def story(site: Installation, people: dict[str, Account], push: PushService) -> Story:
    """Some commands of an operator, and what they printed."""
    for _ in range(2):
        people["alice"].register(device(site, push))
    told: Story = []

    def run(shown: str, *arguments: str) -> None:
        told.append((f"app-backend {shown}", site.run(*arguments).rstrip("\n") + "\n\n"))

    run("user show alice", "user", "show", "alice")
    words = ("send", "--to", "alice", "--pns", "browser", "--title", "Train")
    run(f'{" ".join(words)} "Ten minutes late"', *words, "Ten minutes late")
    id = site.run("message", "list").splitlines()[1].split()[0]
    run(f"message show {id}", "message", "show", id)
    return told


def test_the_picture_of_the_terminal(
    open_tab: Callable[..., ChromiumTab], site: Installation, people: dict[str, Account], push: PushService,
    screenshots: Path,
) -> None:
    told = story(site, people, push)
    draw(open_tab(notifications="denied"), told, screenshots / "terminal.png")
    keep(screenshots, "terminal", digest(shape(told)))
