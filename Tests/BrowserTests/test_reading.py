# SPDX-License-Identifier: Apache-2.0
"""The inbox as long as it is: older messages, what counts as read, and the number of what is not."""

from collections.abc import Callable

import pytest

from account import Account
from chromium import ChromiumTab
from deadline import wait_until
from installation import Installation
from notify_page import NotifyPage
from opening import HIDDEN, SETTLED
from subscriber import Subscriber
from tab import Tab
from test_chromium import subscribed
from test_inbox_kept import LIST, inbox, open_page, people, send, site  # noqa: F401
from test_languages import PREFERRED

Page = NotifyPage[Tab]
Open = Callable[[str], Page]

ANSWER, MORE = 50, 5  # messages
# The clock of the page goes on by `later` milliseconds, and `ticks` counts its timers' calls.
LATER = """{
    const [now, start] = [performance.now.bind(performance), window.setInterval];
    Object.assign(window, { later: 0, ticks: 0 });
    performance.now = () => now() + window.later;
    window.setInterval = (work, ...more) => start(() => { window.ticks += 1; work(); }, ...more);
}"""
ASKED = "performance.getEntriesByType('resource').filter(one => one.name.includes('/api/inbox?')).length"
# Notes how many messages are said to be read, and how many at once.
TELLING = """{
    const real = window.fetch;
    const told = window.told = { now: 0, most: 0, all: 0 };
    window.fetch = async (url, request) => {
        if (!/[/]read$/.test(url)) return real(url, request);
        told.all += 1;
        told.most = Math.max(told.most, ++told.now);
        try {
            return await real(url, request);
        } finally {
            told.now -= 1;
        }
    };
}"""
# Notes how often a look at messages begins.
LOOKS = """{
    const start = window.setTimeout;
    window.looks = 0;
    window.setTimeout = (work, time, ...more) => {
        if (time === 1500) window.looks += 1;
        return start(work, time, ...more);
    };
}"""
IS_NEW = "(one => one.dataset.unread !== undefined)"
MARKS = "document.querySelectorAll('#received .new').length"


def fill(people: tuple[Account, Account], count: int) -> None:  # noqa: F811
    """Secrets, which stay unread while a person looks at the list."""
    alice, bob = people
    for number in range(count):
        bob.send_secret(alice, f"message {number}")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_older_messages_are_behind_a_button_and_the_number_counts_those_that_are_not_listed(
    people: tuple[Account, Account], open_page: Open, browser: str  # noqa: F811
) -> None:
    fill(people, ANSWER + MORE)
    page = open_page(browser)
    page.tab.wait_until(f"{LIST}.length === {ANSWER}")
    page.tab.wait_until(f"document.title === '({ANSWER + MORE}) Notify users'")
    page.tab.click("older")
    page.tab.wait_until(f"{LIST}.length === {ANSWER + MORE} && document.getElementById('older').hidden")
    # There a person reads on.
    page.tab.wait_until(f"document.activeElement === {LIST}[{ANSWER}]")
    assert page.text("unread") == str(ANSWER + MORE)
    # The next answers, which have no more than before, take nothing away.
    fill(people, 1)
    page.tab.wait_until(f"{LIST}.length === {ANSWER + MORE + 1} && document.title.startsWith('({ANSWER + MORE + 1})')")
    assert page.tab.evaluate("document.getElementById('older').hidden")


def test_older_messages_are_found_behind_one_that_was_deleted_meanwhile(
    people: tuple[Account, Account], open_page: Open  # noqa: F811
) -> None:
    alice, _ = people
    fill(people, ANSWER + MORE)
    page = open_page("chromium")
    page.tab.wait_until(f"{LIST}.length === {ANSWER}")
    # The page hears nothing of it.
    page.tab.evaluate(HIDDEN)
    last = inbox(alice)["Messages"][-1]
    assert alice.call("DELETE", f"/api/inbox/{last['Id']}").status == 200
    # The first answer begins at the front, and has one more than was known.
    for count in (ANSWER + 1, ANSWER + MORE):
        page.tab.click("older")
        page.tab.wait_until(f"{LIST}.length === {count}")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_message_is_read_when_it_was_in_view_and_the_number_is_that_of_the_marks(
    people: tuple[Account, Account], open_page: Open, browser: str  # noqa: F811
) -> None:
    alice, _ = people
    for number in range(8):
        send(people, Title=str(number), Body="\n".join(["line"] * 12))
    page = open_page(browser)
    page.tab.wait_until(f"{LIST}.length === 8 && !{IS_NEW}({LIST}[0])")
    assert page.tab.evaluate(f"{IS_NEW}({LIST}.at(-1)) && {LIST}.at(-1).getBoundingClientRect().top > innerHeight")
    assert page.tab.evaluate(f"{MARKS} === Number(document.getElementById('unread').textContent)")
    wait_until(lambda: any(one["Read"] for one in inbox(alice)["Messages"]), "the server knows what was read")
    page.tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.tab.wait_until(f"!{IS_NEW}({LIST}.at(-1))")
    # Those between were not.
    assert page.tab.evaluate(f"{IS_NEW}({LIST}[4]) && {MARKS} === Number(document.getElementById('unread').textContent)")
    wait_until(lambda: inbox(alice)["Unread"] == page.tab.evaluate(MARKS), "the server knows what was read")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_nothing_is_read_in_a_window_that_has_not_the_focus(
    people: tuple[Account, Account], open_page: Open, browser: str  # noqa: F811
) -> None:
    alice, _ = people
    page = open_page(browser)
    page.tab.on_new_document(LOOKS)
    page.tab.on_new_document("document.hasFocus = () => window.isFocused === true;")
    page.open().await_state("loggedin")
    send(people, Body="At noon")
    page.await_received("At noon")
    page.tab.wait_until("performance.getEntriesByType('resource').some(one => one.name.endsWith('/js/seen.js') && one.responseEnd > 0)")
    for _ in range(2):
        page.tab.evaluate(SETTLED)
    assert page.tab.evaluate("window.looks") == 0
    assert inbox(alice)["Unread"] == 1
    page.tab.evaluate("(window.isFocused = true, void dispatchEvent(new Event('focus')))")
    wait_until(lambda: inbox(alice)["Unread"] == 0, "the message is read")
    page.tab.wait_until(f"{MARKS} === 0 && document.title === 'Notify users'")


def test_the_server_is_told_of_many_one_after_the_other(
    people: tuple[Account, Account], open_page: Open  # noqa: F811
) -> None:
    alice, _ = people
    page = open_page("chromium")
    page.tab.on_new_document(TELLING)
    page.open().await_state("loggedin")
    for number in range(4):
        send(people, Body=str(number))
    wait_until(lambda: inbox(alice)["Unread"] == 0, "all are read")
    told = page.tab.evaluate("window.told")
    assert told["most"] == 1 and told["all"] >= 4


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_tab_that_is_hidden_asks_once_a_minute_and_its_title_tells(
    people: tuple[Account, Account], open_page: Open, browser: str  # noqa: F811
) -> None:
    page = open_page(browser)
    page.tab.on_new_document(LATER)
    page.open().await_state("loggedin")
    page.tab.wait_until(f"{ASKED} > 0")
    page.tab.evaluate(HIDDEN)
    fill(people, 1)
    # What was asked for before has its answer.
    asked = page.tab.wait_until(f"(window.asked === {ASKED} ? window.asked : (window.asked = {ASKED}, window.ticks = 0)) && "
                                f"window.ticks > 5 && {ASKED}")
    ticks = page.tab.evaluate("window.ticks")
    page.tab.wait_until(f"window.ticks > {ticks + 5}")
    assert page.tab.evaluate(ASKED) == asked
    page.tab.evaluate("void (window.later += 60000)")
    page.tab.wait_until("document.title === '(1) Notify users'")


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_person_who_comes_back_while_an_answer_is_on_its_way_sees_what_is_true_then(
    request: pytest.FixtureRequest, site: Installation, people: tuple[Account, Account], tabs: list[Tab], browser: str  # noqa: F811
) -> None:
    tab: Tab = request.getfixturevalue(browser).open_tab(site.origin, notifications="denied")
    tabs.append(tab)
    page = NotifyPage[Tab](tab, site.origin).open()
    page.log_in(people[0], state="loggedin")
    tab.wait_until(f"{ASKED} > 0 && !document.getElementById('receivedEmpty').hidden")
    tab.hold("/api/inbox")
    focus = "void dispatchEvent(new Event('focus'))"
    tab.evaluate(focus)
    wait_until(lambda: len(tab.held()) == 1, "the first question waits")
    tab.evaluate(focus)
    tab.let_go()
    wait_until(lambda: len(tab.held()) == 1, "another question waits")
    tab.release()


def test_a_title_is_whole_in_the_list_and_short_in_the_notification(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    page = NotifyPage(tab, installation.origin).open()
    page.log_in(alice)
    title = "word " * 60 + "end"
    tab.push('{"title": "%s", "body": "Hello"}' % title)
    assert title in page.await_received("Hello").text
    page.await_shown("one.title.length === 120 && one.title.endsWith('…')")


@pytest.mark.parametrize(("language", "title"), [("en", "From {}"), ("de", "Von {}"), ("es", "De {}")])
def test_a_message_without_a_title_has_one_in_the_language_of_the_page(
    people: tuple[Account, Account], open_page: Open, language: str, title: str  # noqa: F811
) -> None:
    send(people, Body="At noon")
    page = open_page("chromium")
    page.tab.on_new_document(PREFERRED.format(languages=[language]))
    page.open().await_state("loggedin")
    page.await_received("At noon")
    assert page.tab.evaluate("document.querySelector('#received bdi').textContent") == title.format(people[1].name)
