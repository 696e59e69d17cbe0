# SPDX-License-Identifier: Apache-2.0
"""Names, titles and texts that are written from right to left: each has its own direction, and leaves the words around it
where they are."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from account import Account
from certificates import Authority
from installation import Installation
from notify_page import NotifyPage
from push_service import PushService
from tab import Tab
from test_admin import await_words, confirm, find, open_user

Page = NotifyPage[Tab]

TITLE, TEXT, ANSWER = "שלום, עולם!", "זה הטקסט (1).", "مرحبا (2)."

# Where words from right to left are beside others, in no isolate of their own, or have the direction of the page. What a
# person is shown whole, and nothing else, is a name, or is in `words`.
BARE = """(words => {
    const letters = /[\\u0590-\\u08ff]/;
    const outside = (text) => text.replace(/\\u2068[^\\u2068\\u2069]*\\u2069/g, '');
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { data, parentElement: place } = walker.currentNode;
        if (!letters.test(outside(data)) || !place.checkVisibility()) continue;
        const { direction, unicodeBidi } = getComputedStyle(place);
        const isWhole = words.includes(data.trim()) || /^[\\p{L}\\p{Nd}]+$/u.test(data.trim());
        const isAlone = isWhole && place.textContent === data;
        if (!isAlone || direction !== 'rtl' || !/isolate|plaintext/.test(unicodeBidi)) found.push(place.outerHTML);
    }
    for (const place of document.querySelectorAll('input, textarea')) {
        if (letters.test(place.value) && place.checkVisibility() && getComputedStyle(place).direction !== 'rtl') found.push(place.id);
    }
    for (const place of document.querySelectorAll('[aria-label]')) {
        if (letters.test(outside(place.getAttribute('aria-label')))) found.push(place.outerHTML);
    }
    return letters.test(outside(document.title)) ? [...found, document.title] : found;
})"""

# Where the parts of an element's text begin on the screen, from the left.
LEFT = """((id, parts) => {
    const node = document.getElementById(id).firstChild;
    return parts.map((part) => {
        const range = document.createRange();
        const start = node.data.indexOf(part);
        range.setStart(node, start);
        range.setEnd(node, start + part.length);
        return range.getBoundingClientRect().left;
    });
})"""


@pytest.fixture(scope="module")
def site(
    program: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, push: PushService
) -> Iterator[Installation]:
    groups = {"inbox": {"plainDays": 7}, "roles": [{"name": "administrator", "administer": True}]}
    with Installation(program, tmp_path_factory.mktemp("bidi"), authority, push.authority, groups=groups) as running:
        yield running


@pytest.fixture
def people(site: Installation) -> tuple[Account, Account, Account]:
    """An administrator, whose page it is, and two others."""
    layla = Account(site, site.add_user("ليلى", "--role", "administrator"))
    return layla, Account(site, site.add_user("דוד")), Account(site, site.add_user("bob"))


@pytest.fixture(params=["firefox", "chromium"])
def page(
    request: pytest.FixtureRequest, site: Installation, people: tuple[Account, Account, Account], tabs: list[Tab]
) -> Page:
    tab: Tab = request.getfixturevalue(request.param).open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    for sender, members in (
        (people[1], {"Title": TITLE, "Body": TEXT}), (people[1], {"Body": TEXT}), (people[2], {"Title": TITLE, "Body": TEXT}),
        (people[2], {"Title": "Lunch", "Body": TEXT}), (people[1], {"Body": "a secret", "Secure": True}),
    ):
        assert sender.call("POST", "/api/notifications", {"To": people[0].name, **members}).status == 200
    page = NotifyPage(tab, site.origin).open()
    page.log_in(people[0], state="loggedin")
    tab.wait_until("document.querySelectorAll('#received li').length === 5")
    return page


@pytest.fixture
def expect_isolation(page: Page, people: tuple[Account, Account, Account]) -> Callable[[], None]:
    words = [TITLE, TEXT, ANSWER]

    def expect() -> None:
        assert page.tab.evaluate(f"{BARE}({json.dumps(words)})") == []

    return expect


def test_on_the_page_everybodys_words_have_a_direction_of_their_own(
    page: Page, people: tuple[Account, Account, Account], expect_isolation: Callable[[], None]
) -> None:
    _, david, _ = people
    tab = page.tab
    assert f"⁨{david.name}⁩: ⁨{TITLE}⁩" in str(tab.evaluate("document.getElementById('received').textContent"))
    expect_isolation()
    tab.evaluate("document.querySelector('#received [data-kind=locked] button').click()")
    page.await_received("a secret")
    expect_isolation()
    unknown = david.name + "דן"
    page.write(unknown, ANSWER)
    expect_isolation()
    tab.click("send")
    await_words(tab, "recipientError", unknown)
    expect_isolation()
    page.write(david.name, ANSWER)
    tab.click("send")
    await_words(tab, "resultsNote", david.name)
    expect_isolation()
    # "To", the name, and the text, in this order.
    first, name, text = tab.evaluate(f"{LEFT}('resultsFor', {json.dumps(['To', david.name, ANSWER])})")
    assert first < name < text
    page.choose("secure", True)
    page.write(david.name, ANSWER)
    tab.click("send")
    tab.wait_until("document.getElementById('message').value === ''")
    expect_isolation()
    tab.click("close")
    tab.click("showSent")
    tab.wait_until("document.querySelectorAll('#sent > li').length === 2")
    expect_isolation()
    page.open_settings()
    expect_isolation()
    tab.click("logout")
    await_words(tab, "loginResult", people[0].name)
    expect_isolation()


def test_on_the_operators_page_names_have_a_direction_of_their_own(
    page: Page, site: Installation, people: tuple[Account, Account, Account], expect_isolation: Callable[[], None]
) -> None:
    _, david, _ = people
    tab = page.tab
    tab.navigate(f"{site.origin}/admin")
    tab.wait_until("document.body.dataset.state === 'ready'")
    tab.wait_until("document.querySelectorAll('#messages tr').length >= 5")
    expect_isolation()
    tab.evaluate("document.querySelector('#messages button').click()")
    tab.wait_until("document.getElementById('message').open")
    expect_isolation()
    tab.click("closeMessage")
    find(tab, david.name)
    open_user(tab, david.name)
    expect_isolation()
    tab.click("remove")
    tab.wait_until("document.getElementById('confirm').open")
    expect_isolation()
    confirm(tab, people[0].user.password)
    await_words(tab, "usersNote", david.name)
    expect_isolation()


def test_a_name_that_holds_marks_of_direction_does_not_end_its_isolate(page: Page) -> None:
    mixed = "\u2069\u202eabc\u202c\u2068\u200f"
    shown = page.tab.evaluate(
        f"import(new URL('js/i18n.js', location.href)).then(({{ t }}) => t('login.out', {{ user: {json.dumps(mixed)} }}))"
    )
    assert "\u2068abc\u2069" in str(shown)
    assert sum(character in "\u2066\u2067\u2068\u2069\u202d\u202e\u202c\u200f" for character in str(shown)) == 2
