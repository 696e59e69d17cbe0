# SPDX-License-Identifier: Apache-2.0
"""The code that opens the page on a telephone, read by a decoder that is not ours."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import PATIENCE_SECONDS
from installation import Installation
from notify_page import NotifyPage
from tab import Tab
from test_admin import tab  # noqa: F401
from test_languages import opened
from test_looks import DESKTOP, PHONE, settle

Page = NotifyPage[Tab]
# Its versions hold 14, 26, 42, 62, 84, 106, 122, 152, 180 and 213 bytes.
LENGTHS = [1, 14, 15, 26, 27, 42, 43, 62, 63, 84, 85, 106, 107, 122, 123, 152, 153, 180, 181, 213]
DRAW = """(async () => {{
    const {{ qrCode }} = await import(new URL('js/qr.js', location.href));
    const code = qrCode({text!r});
    const drawn = (tag, attributes) => {{
        const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
        for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
        return made;
    }};
    const size = code.length + 8;
    const path = code.flatMap((row, y) => row.map((dark, x) => dark ? `M${{x + 4}} ${{y + 4}}h1v1h-1z` : '')).join('');
    const picture = drawn('svg', {{ width: size * 4, height: size * 4, viewBox: `0 0 ${{size}} ${{size}}` }});
    picture.append(drawn('rect', {{ width: size, height: size, fill: '#fff' }}), drawn('path', {{ d: path }}));
    document.body.replaceChildren(picture);
    // A picture of the tab shows what was painted.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return code.length;
}})()"""


def decoded(picture: Path) -> str:
    """What the one code in it says."""
    command = ["zbarimg", "--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    return done.stdout.removesuffix("\n")


def settings(page: Page, account: Account) -> None:
    page.log_in(account, state="loggedin")
    page.open_settings()


@pytest.mark.parametrize(
    ("browser", "language", "scheme"),
    [("chromium", "en", "light"), ("chromium", "de", "dark"), ("chromium", "es", "light"), ("firefox", "en", "")],
)
def test_a_telephone_that_reads_the_code_opens_the_page(
    request: pytest.FixtureRequest, installation: Installation, alice: Account, tmp_path: Path, browser: str,
    language: str, scheme: str,
) -> None:
    tab: Tab = request.getfixturevalue(f"{browser}_tab")(notifications="denied")
    tab.size(*DESKTOP)
    if isinstance(tab, ChromiumTab):
        tab.prefer(scheme)
    page = opened(tab, installation, language)
    settings(page, alice)
    tab.wait_until("document.querySelector('#telephoneCode svg') !== null")
    settle(tab)
    tab.screenshot(tmp_path / "settings.png")
    assert decoded(tmp_path / "settings.png") == f"{installation.origin}/"
    assert installation.origin in str(tab.evaluate("document.querySelector('#telephoneCode svg').ariaLabel"))


def test_on_a_telephone_there_is_no_code(tab: Tab, installation: Installation, alice: Account) -> None:  # noqa: F811
    tab.size(*PHONE, scale=2, mobile=True)
    page = opened(tab, installation, "en")
    settings(page, alice)
    assert tab.evaluate("document.getElementById('telephone').hidden")
    assert tab.evaluate("performance.getEntriesByType('resource').every(one => !one.name.endsWith('/js/qr.js'))")


def test_texts_of_every_length_are_read(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, tmp_path: Path
) -> None:
    tab = chromium_tab(notifications="denied")
    tab.navigate(f"{installation.origin}/openapi.json")
    versions = []
    for length in LENGTHS:
        text = ("https://push.example.com/" + "a-path/of_some~length." * 10)[:length]
        versions.append(int(str(tab.evaluate(DRAW.format(text=text)))) // 4 - 4)
        tab.screenshot(tmp_path / "code.png")
        assert decoded(tmp_path / "code.png") == text
    assert set(versions) == set(range(1, 11))
    with pytest.raises(Exception, match="too many"):
        tab.evaluate(DRAW.format(text="x" * 214))
