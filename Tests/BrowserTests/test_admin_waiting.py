# SPDX-License-Identifier: Apache-2.0
"""The operator's page: users' messages that wait for their time."""

import json
from collections.abc import Callable

from account import Account
from installation import Installation
from later import DAY, HOUR, SCHEDULED, iso
from tab import Tab
from test_admin import await_confirmed, await_words, confirm, open_admin, root, tab, text  # noqa: F401

SHOWN = "[...document.querySelectorAll('#scheduled li')].map(one => one.dataset.id)"


def schedule(sender: Account, recipient: Account, words: str, seconds: int) -> str:
    """The id of a message for later."""
    message = {"To": recipient.name, "Title": words, "Body": words, "SendAt": iso(seconds)}
    return str(sender.call("POST", "/api/notifications", message).json()["MessageId"])


def await_shown(tab: Tab, *ids: str) -> None:  # noqa: F811
    """Raises TimeoutError."""
    tab.wait_until(f"{SHOWN}.join() === {json.dumps(','.join(ids))}")


def test_an_administrator_sees_what_waits_and_takes_it_back_and_not_its_text(
    tab: Tab, installation: Installation, root: Account, alice: Account, bob: Account,  # noqa: F811
    open_admin: Callable[[Tab, Account], None],  # noqa: F811
) -> None:
    words = installation.secret("of-a-message-for-later-")
    late, soon = schedule(bob, alice, words, DAY), schedule(bob, alice, words, HOUR)
    open_admin(tab, root)
    assert {late, soon} <= set(tab.evaluate(SHOWN))
    tab.fill("messageUser", bob.name)
    tab.click("findMessages")
    await_shown(tab, soon, late)
    assert f"From {bob.name} to {alice.name}" in text(tab, "scheduled")
    tab.evaluate("document.querySelector('#scheduled button').click()")
    assert text(tab, "confirmWords") == f"The message from {bob.name} to {alice.name} is not sent."
    # A wrong password changes nothing, and is said to be wrong.
    confirm(tab, "wrong")
    await_words(tab, "ownPasswordError", "That is not your password.")
    assert len(bob.call("GET", SCHEDULED).json()) == 2
    confirm(tab, root.user.password)
    await_confirmed(tab)
    await_shown(tab, late)
    await_words(tab, "scheduledNote", "Done.")
    tab.wait_until("document.activeElement.id === 'scheduledHeading'")
    assert [one["MessageId"] for one in bob.call("GET", SCHEDULED).json()] == [late]
    # Its sender was faster.
    assert bob.call("DELETE", f"{SCHEDULED}/{late}").status == 200
    tab.expect_complaint("404")
    tab.evaluate("document.querySelector('#scheduled button').click()")
    confirm(tab, root.user.password)
    await_words(tab, "confirmNote", "It no longer exists.")
    tab.click("cancel")
    tab.click("findMessages")
    await_words(tab, "scheduledNote", "No scheduled messages found.")
    assert words not in str(tab.evaluate("document.documentElement.outerHTML"))
