# SPDX-License-Identifier: Apache-2.0
"""Secrets in the inbox: read, shown again on demand, told apart, and deleted."""

import json
from collections.abc import Callable

from account import Account
from chromium import ChromiumTab
from installation import Installation
from notify_page import NotifyPage
from tab import Tab
from test_truth import SECRETS, Page, await_secrets, page  # noqa: F401

HOUR = 3_600_000  # milliseconds


def read_first(page: Page) -> None:  # noqa: F811
    page.tab.evaluate(f"document.querySelector('{SECRETS} button').click()")


def test_a_secret_that_was_read_stays_in_the_list_and_is_shown_again_on_demand(
    page: Page, installation: Installation, alice: Account, bob: Account  # noqa: F811
) -> None:
    texts = [installation.secret(f"{name} secret ") for name in ("first", "second")]
    for text in texts:
        bob.send_secret(alice, text)
    page.open()
    await_secrets(page, ["locked", "locked"])
    read_first(page)
    await_secrets(page, ["secret", "locked"])
    # Which of two of the same second is the newer one is the server's affair.
    [text] = [text for text in texts if text in page.received[0].text]
    page.open()
    await_secrets(page, ["read", "locked"])
    assert text not in page.received[0].text
    read_first(page)
    assert page.await_received(text).kind == "secret"


# Gives those secrets a sender that have none, and takes it from those that have one, as is wanted.
SENDERS = """(() => {
    const real = window.fetch;
    const names = %s;
    const told = ({ From, SentAt, ...rest }, index = 0) => names.length === 0 ? rest
        : { ...rest, From: names[index], SentAt: `2026-01-0${index + 1}T12:00:00Z` };
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        const isSecrets = /\\/(inbox|notifications\\/[0-9]+)$/.test(new URL(url).pathname);
        if (!isSecrets || request.method !== "GET" || !answer.ok) return answer;
        const json = await answer.json();
        return Response.json(json.Messages ? { ...json, Messages: json.Messages.map(told) } : told(json));
    };
})()"""


def open_with_secrets(tab: ChromiumTab, installation: Installation, alice: Account, bob: Account, names: list[str]) -> Page:
    """Two secrets of bob's wait for alice, which the page believes to be from these senders."""
    for text in ("one ", "two "):
        bob.send_secret(alice, installation.secret(text))
    tab.on_new_document(SENDERS % json.dumps(names))
    page = NotifyPage[Tab](tab, installation.origin).open()
    page.log_in(alice, state="loggedin")
    await_secrets(page, ["locked", "locked"])
    return page


def test_secrets_that_wait_are_told_apart_by_sender_and_time(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    page = open_with_secrets(tab, installation, alice, bob, ["dora", "<b>erik</b>"])
    first, second = page.received
    # The newest is on top.
    assert "A secret from <b>erik</b> is waiting" in first.text and "Jan 2, 2026" in first.text
    assert "A secret from dora is waiting" in second.text and "Jan 1, 2026" in second.text
    labels = tab.evaluate(f"[...document.querySelectorAll('{SECRETS} button')].map(one => one.ariaLabel)")
    # To read and to delete each of them.
    assert len(set(labels)) == 4 and sum("from dora" in label for label in labels) == 2
    read_first(page)
    await_secrets(page, ["secret", "locked"])
    assert "Secure message from <b>erik</b>" in page.received[0].text


def test_secrets_of_before_senders_were_noted_are_listed_without(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, alice: Account, bob: Account
) -> None:
    tab = chromium_tab(notifications="denied")
    page = open_with_secrets(tab, installation, alice, bob, [])
    assert [line.text.splitlines()[0] for line in page.received] == ["A secret is waiting New"] * 2
    assert tab.evaluate(f"document.querySelectorAll('{SECRETS} time').length") == 0
    read_first(page)
    await_secrets(page, ["secret", "locked"])


def test_the_server_tells_the_page_who_has_left_a_secret_and_when(
    page: Page, installation: Installation, alice: Account, bob: Account  # noqa: F811
) -> None:
    text = installation.secret("from bob ")
    bob.send_secret(alice, text)
    page.open()
    await_secrets(page, ["locked"])
    assert f"A secret from {bob.name} is waiting" in page.received[0].text
    [sent] = page.tab.evaluate(f"[...document.querySelectorAll('{SECRETS} time')].map(one => Date.parse(one.dateTime))")
    assert abs(page.tab.evaluate("Date.now()") - sent) < HOUR
    read_first(page)
    assert f"Secure message from {bob.name}" in page.await_received(text).text


def test_a_secret_is_deleted_by_the_second_press(
    page: Page, installation: Installation, alice: Account, bob: Account  # noqa: F811
) -> None:
    for text in ("one ", "two "):
        bob.send_secret(alice, installation.secret(text))
    page.open()
    await_secrets(page, ["locked", "locked"])
    delete = f"document.querySelector('{SECRETS} button:last-child')"
    page.tab.evaluate(f"{delete}.focus()")
    page.tab.press("Enter")
    page.tab.wait_until(f"{delete}.textContent === 'Delete for good'")
    assert len(alice.call("GET", "/api/notifications").json()) == 2
    page.tab.think()
    page.tab.press("Enter")
    await_secrets(page, ["locked"])
    assert len(alice.call("GET", "/api/notifications").json()) == 1
    # The keyboard goes on where it was.
    assert page.tab.evaluate("document.activeElement.dataset.kind") == "locked"
