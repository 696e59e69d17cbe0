# SPDX-License-Identifier: Apache-2.0
"""The operator's page when a push service takes nothing, and when its users were there."""

from collections.abc import Callable

from account import Account
from tab import Tab
from test_admin import find, open_admin, root, tab, text  # noqa: F401

# What the status says of a site whose credential for Android's service is refused.
OUTAGE = """{
    const real = window.fetch;
    const Since = new Date(Date.now() - 3600000).toISOString();
    window.fetch = async (url, request) => {
        const answer = await real(url, request);
        if (!String(url).endsWith("/api/admin/status") || !answer.ok) return answer;
        return Response.json({
            ...await answer.json(), Queue: 50, QueuedSince: window.since ?? Since,
            Waiting: [{ Channel: "fcm", Cause: "credential", Since, Reason: "refused" }],
            Pushes: [{ Platform: "gcm", Outcome: "InvalidCredentials", Count: 189 }],
        });
    };
}"""
IS_BAD = """(one => {{
    const wanted = document.createElement("p");
    wanted.style.color = `var(--{tone})`;
    document.body.append(wanted);
    const isIt = getComputedStyle(one).color === getComputedStyle(wanted).color;
    wanted.remove();
    return isIt;
}})({element})"""
QUEUE = "[...document.querySelectorAll('#facts div')].find(one => one.textContent.startsWith('Messages waiting')).lastChild"


def has_tone(tab: Tab, element: str, tone: str) -> bool:  # noqa: F811
    return bool(tab.evaluate(IS_BAD.format(element=element, tone=tone)))


def test_an_outage_is_seen_before_all_figures_and_names_the_platform(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    tab.on_new_document(OUTAGE)
    open_admin(tab, root)
    assert text(tab, "waiting").startswith("Nothing reaches Android")
    assert has_tone(tab, "document.querySelector('#waiting li')", "bad")
    assert tab.evaluate("document.getElementById('waiting').getBoundingClientRect().bottom <= "
                        "document.getElementById('facts').getBoundingClientRect().top")
    assert has_tone(tab, QUEUE, "wait")
    assert has_tone(tab, "document.querySelector('#pushes p span')", "bad")
    # A queue that empties itself is no trouble.
    tab.evaluate("void (window.since = new Date().toISOString())")
    tab.click("refresh")
    tab.wait_until(f"{QUEUE}.dataset.tone === undefined")


def test_when_a_user_was_there_is_told_as_exactly_as_the_server_knows_it(
    tab: Tab, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    open_admin(tab, root)
    find(tab, root.name)
    assert tab.evaluate("document.querySelector('#users .last').textContent") == "in the last hour"
    tab.evaluate("document.querySelector('#users button').click()")
    tab.wait_until("document.getElementById('user').open")
    assert "last seen in the last hour" in text(tab, "userWords")
    ago = "import('/js/admin/seen.js').then(({{ lastSeen }}) => lastSeen(new Date(Date.now() - {} * 60000).toISOString()))"
    assert [tab.evaluate(ago.format(minutes)) for minutes in (59, 61, 185)] == ["in the last hour", "1 hour ago", "3 hours ago"]
    assert ":" not in tab.evaluate(ago.format(60 * 24 * 5))
