# SPDX-License-Identifier: Apache-2.0
"""What the page says of each platform that a message went to, until that is known."""

from collections.abc import Callable

from account import Account
from notify_page import PLATFORMS
from test_chromium import DELIVERING
from test_truth import Page, await_words, send
from test_words import IN_ONE_BROWSER, open_page  # noqa: F401

pytestmark = IN_ONE_BROWSER


def test_each_platform_that_is_switched_on_has_a_line_and_the_next_message_lines_of_its_own(
    open_page: Callable[..., Page], alice: Account, bob: Account  # noqa: F811
) -> None:
    page = open_page(DELIVERING)
    page.log_in(alice)
    for platform in PLATFORMS:
        page.choose(platform, True)
    send(page, bob.name, "to all")
    page.tab.wait_until(f'document.querySelectorAll("#sendResults li").length === {len(PLATFORMS)}')
    lines = page.await_results()
    assert {(line.label, line.kind) for line in lines} == {(name, "NoTargetFound") for name in PLATFORMS}
    [line] = page.send(bob, "to browsers")
    assert line.label == "browser"


def test_what_is_only_recorded_is_not_called_a_failure(
    open_page: Callable[..., Page], alice: Account, bob: Account  # noqa: F811
) -> None:
    page = open_page(DELIVERING)
    device = {"Platform": "apns", "Handle": "ab" * 32}
    assert bob.call("PUT", f"/api/register/{bob.ask_for_id()}", device).status == 200
    page.log_in(alice)
    page.choose("browser", False)
    for platform in ("gcm", "wns"):
        page.choose(platform, False)
    send(page, bob.name, "Hello")
    [line] = page.await_results()
    assert "Recorded" in line.text
    assert "Given up" not in line.text


def test_a_hub_that_does_not_know_a_message_yet_is_asked_again(
    open_page: Callable[..., Page], alice: Account  # noqa: F811
) -> None:
    page = open_page(
        """(() => {
            const real = window.fetch;
            let isFirst = true;
            window.fetch = async (url, request) => {
                if (!String(url).includes("/outcomes/") || !isFirst) return real(url, request);
                isFirst = false;
                return new Response("", { status: 404 });
            };
        })()"""
    )
    page.log_in(alice)
    assert page.send(alice, "Hello")[0].kind == "Completed"


def test_a_message_that_waits_for_a_credential_says_so_until_it_is_sent(
    open_page: Callable[..., Page], alice: Account  # noqa: F811
) -> None:
    page = open_page(
        """(() => {
            const real = window.fetch;
            window.fetch = async (url, request) => {
                if (!String(url).includes("/outcomes/") || window.isAccepted) return real(url, request);
                return Response.json({ State: "Processing", WaitsFor: "credential", Outcomes: [] });
            };
        })()"""
    )
    page.log_in(alice)
    send(page, alice.name, "Hello")
    await_words(page, "sendResults", "does not accept the site’s credential")
    page.tab.evaluate("window.isAccepted = true")
    assert page.await_results()[0].kind == "Completed"
