# SPDX-License-Identifier: Apache-2.0
"""Both pages of a person whose system says that they want no motion: nothing slides, fades or turns."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from account import Account
from conftest import browser_program
from firefox import Firefox
from installation import Installation
from notify_page import NotifyPage
from push_service import PushService
from tab import Tab
from test_admin import find, root  # noqa: F401
from test_inbox import HASTE

# Notes each motion that begins.
NOTE = """
window.motions = [];
for (const kind of ["transitionrun", "animationstart"]) {
    addEventListener(kind, ({ target, propertyName, animationName }) => {
        motions.push([kind, target.id || target.tagName, propertyName || animationName]);
    }, true);
}
const real = Element.prototype.animate;
Element.prototype.animate = function (...words) {
    motions.push(["animate", this.id, ""]);
    return real.apply(this, words);
};"""
MOTIONS = """[...window.motions, ...document.getAnimations().map(one =>
    ["runs", one.effect.target.id, one.transitionProperty ?? one.animationName ?? ""])]"""


@pytest.fixture(scope="module")
def calm_firefox(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, push: PushService
) -> Iterator[Firefox]:
    program = browser_program(pytestconfig, "FIREFOX", "firefox-esr")
    calm = {"ui.prefersReducedMotion": 1}
    with Firefox(program, tmp_path_factory.mktemp("calm"), push.websocket_url, **calm) as browser:
        yield browser


@pytest.fixture(params=["firefox", "chromium"])
def calm(request: pytest.FixtureRequest, installation: Installation, tabs: list[Tab]) -> Tab:
    if request.param == "firefox":
        tab: Tab = request.getfixturevalue("calm_firefox").open_tab(installation.origin, notifications="denied")
    else:
        tab = request.getfixturevalue("chromium").open_tab(installation.origin, notifications="denied")
        tab.prefer("light")
    tabs.append(tab)
    return tab


@pytest.fixture(params=["firefox", "chromium"])
def usual(request: pytest.FixtureRequest) -> Tab:
    made: Tab = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    return made


def motions(tab: Tab, site: Installation, person: Account, other: Account) -> list[list[str]]:
    """What has moved by itself in all that has a motion."""
    for script in (HASTE, NOTE):
        tab.on_new_document(f"{{ {script} }}")
    page = NotifyPage(tab, site.origin).open()
    page.log_in(person, state="loggedin")
    for count in (1, 2):
        other.send_secret(person, site.secret("slides "))
        tab.wait_until(f"document.querySelectorAll('#received li').length === {count}")
    # The lamp breathes while the browser asks; it is there in the meantime, too.
    tab.evaluate("void (document.body.dataset.device = 'asking')")
    tab.evaluate("document.getElementById('banner').offsetHeight")
    page.send(other, "to the list of what was sent", secure=True)
    tab.click("showSent")
    tab.wait_until("document.querySelectorAll('#sent > li').length === 1")
    page.open_settings()
    tab.click("closeSettings")
    found = list(tab.evaluate(MOTIONS))
    tab.navigate(f"{site.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    find(tab, other.name)
    tab.click("refresh")
    tab.evaluate("void document.querySelector('#adding summary').click()")
    tab.evaluate("document.getElementById('adding').offsetHeight")
    return found + list(tab.evaluate(MOTIONS))


def test_nothing_moves_for_a_person_who_wants_no_motion(
    calm: Tab, installation: Installation, root: Account, bob: Account  # noqa: F811
) -> None:
    assert motions(calm, installation, root, bob) == []


def test_for_others_messages_slide_the_lamp_breathes_and_colours_change_slowly(
    usual: Tab, installation: Installation, root: Account, bob: Account  # noqa: F811
) -> None:
    """Else the test above would look at nothing."""
    found = motions(usual, installation, root, bob)
    assert {"animate", "animationstart", "transitionrun"} <= {kind for kind, *_ in found}
    assert "rotate" in {what for _, _, what in found}
