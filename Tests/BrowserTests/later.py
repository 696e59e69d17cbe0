# SPDX-License-Identifier: Apache-2.0
"""What tests of messages for later and of the list of what was sent do at the page, and what the server keeps then."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from account import Account
from test_truth import Page, await_words

MINUTE, HOUR, DAY = 60, 3600, 86_400  # seconds
SCHEDULED = "/api/notifications/scheduled"
ITEMS = "[...document.querySelectorAll('#sent > li')]"
STEPS = "[...document.querySelectorAll('#sent > li:first-child li')].map(one => one.innerText)"
CANCEL = "document.querySelector('#sent button')"
# Puts a time so many seconds ahead into the field, as a person's own clock has it.
CHOOSE = """(() => {{
    const at = new Date(Date.now() + {seconds} * 1000);
    const field = document.getElementById("when");
    field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
    field.dispatchEvent(new Event("input"));
    return field.value;
}})()"""


def choose_time(page: Page, seconds: int) -> str:
    """Puts the time into the field, and returns what is there then."""
    page.unfold()
    return str(page.tab.evaluate(CHOOSE.format(seconds=seconds)))


def schedule(page: Page, recipient: str, text: str, seconds: int) -> None:
    """Sends a message for later, and returns when the page has said so."""
    page.write(recipient, text)
    choose_time(page, seconds)
    page.tab.click("send")
    await_words(page, "resultsNote", "Scheduled for ")


def send_soon(page: Page, recipient: str, text: str, said: str = "resultsNote") -> str:
    """Sends a message for the next seconds, and returns its time as soon as the page says something at that place."""
    page.write(recipient, text)
    words = 'document.getElementById("{id}").textContent !== ""'
    taken, late = words.format(id=said), words.format(id="whenError")
    # A machine that stood still for so long needs another time.
    for seconds in (3, 30, 3 * MINUTE):
        chosen = choose_time(page, seconds)
        page.tab.click("send")
        if page.tab.wait_until(f'{taken} ? "taken" : {late} && "late"') == "taken":
            return chosen
    raise AssertionError("too late for every time")


def waiting(account: Account) -> list[dict[str, Any]]:
    """What the server keeps of the user's for later."""
    reply = account.call("GET", SCHEDULED)
    assert reply.status == 200, reply
    found: list[dict[str, Any]] = reply.json()
    return found


def show_sent(page: Page, count: int = 1) -> list[str]:
    """The texts of the list, as soon as there are so many. Raises TimeoutError."""
    page.tab.click("showSent")
    page.tab.wait_until(f"{ITEMS}.length === {count}")
    return list(page.tab.evaluate(f"{ITEMS}.map(one => one.innerText)"))


def await_steps(page: Page, *words: str) -> list[str]:
    """The steps of the newest message, as soon as they are those that begin so. Raises TimeoutError."""
    begin = f"({json.dumps(words)}).every((one, place) => steps[place]?.startsWith(one))"
    page.tab.wait_until(f"(steps => steps.length === {len(words)} && {begin})({STEPS})")
    return list(page.tab.evaluate(STEPS))


def press(page: Page, button: str, times: int = 1) -> None:
    page.tab.wait_until(f"{button} !== null")
    page.tab.evaluate(f"{button}.focus()")
    for _ in range(times):
        page.tab.press("Enter")
        page.tab.think()


def iso(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def post(account: Account, recipient: str, text: str, seconds: int) -> None:
    """Sends a message for later from another device."""
    message = {"To": recipient, "Body": text, "Platforms": ["browser"], "SendAt": iso(seconds)}
    reply = account.call("POST", "/api/notifications", message)
    assert reply.status == 200, reply
