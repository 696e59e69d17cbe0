# SPDX-License-Identifier: Apache-2.0
"""The operator's page says what the server names by words of its own, in the page's language."""

import json
import re
from collections.abc import Callable

import pytest

from account import Account
from built import ROOT
from installation import Installation
from tab import Tab
from test_admin import kind_of, open_admin, root, tab, texts  # noqa: F401

# Answers the question for the status with this one.
STATUS = """(() => {{
    const real = window.fetch;
    const status = {status};
    window.fetch = async (url, request) => {{
        const answer = await real(url, request);
        return String(url).endsWith("/admin/status") ? Response.json({{ ...await answer.json(), ...status }}) : answer;
    }};
}})()"""
REASON = "the token service is out of order (HTTP 500)"


# Where the server has its names: a source, what they follow there, what they end before, and what each looks like.
SOURCES = {
    "storeIs": ("Store/Records/Records.swift", "enum StoreHealth", "\n\n", r"case (\w+)"),
    "hubIs": ("AppBackend/Administration/StatusReport.swift", 'json.member("Hub"', "\n", r'[?:] "([\w-]+)"'),
    "cause": ("AppBackend/Monitoring/HealthController.swift", "enum Cause", "}", r"case (\w+)"),
    "outcome": ("Push/PushOutcome.swift", "struct PushOutcome", "\n}", r'PushOutcome\(rawValue: "(\w+)"\)'),
}


def names(kind: str) -> set[str]:
    file, begin, end, pattern = SOURCES[kind]
    text = (ROOT / "Sources" / file).read_text().partition(begin)[2].partition(end)[0]
    # Of what was taken there is a number of its own.
    return set(re.findall(pattern, text)) - {"Success"}


@pytest.mark.parametrize("kind", SOURCES)
def test_each_name_that_the_server_has_is_in_words(kind: str) -> None:
    assert {key.removeprefix(f"admin.{kind}.") for key in texts("en") if kind_of(key) == kind} == names(kind) != set()


@pytest.mark.parametrize("language", ["de", "es"])
def test_the_status_has_no_english_but_the_programs_own_sentences(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None], language: str,  # noqa: F811
) -> None:
    open_admin(tab, root)
    tab.evaluate(f"localStorage.setItem('language', JSON.stringify('{language}'))")
    tab.navigate(f"{installation.origin}/admin")
    tab.wait_until(f"document.body.dataset.state === 'ready' && document.documentElement.lang === '{language}'")
    for store in names("storeIs"):
        for hub in names("hubIs"):
            refresh(tab, {"Store": store, "Hub": hub})
            assert [shown(tab, "#facts dd")[place] for place in (2, 3)] == [
                texts(language)[f"admin.storeIs.{store}"], texts(language)[f"admin.hubIs.{hub}"],
            ]
    causes, outcomes = sorted(names("cause")), sorted(names("outcome"))
    channel = {"Channel": "fcm", "Since": "2026-11-23T00:14:10Z", "Reason": REASON}
    refresh(tab, {
        "Waiting": [channel | {"Cause": cause} for cause in causes],
        "Pushes": [{"Platform": "browser", "Outcome": outcome, "Count": 3} for outcome in outcomes],
    })
    said = shown(tab, "#waiting small:not([lang])")
    assert all(words.startswith(texts(language)[f"admin.cause.{cause}"]) for words, cause in zip(said, causes, strict=True))
    assert shown(tab, "#waiting small[lang=en]") == [REASON] * len(causes)
    assert shown(tab, "#pushes small") == [", ".join(f"{texts(language)[f'admin.outcome.{one}']}: 3" for one in outcomes)]
    # A newer server's name stays as it is.
    refresh(tab, {"Store": "frozen"})
    assert shown(tab, "#facts dd")[2] == "frozen"


def refresh(tab: Tab, status: dict[str, object]) -> None:  # noqa: F811
    """Returns when the page shows that status."""
    tab.evaluate(f"void ({STATUS.format(status=json.dumps(status | {'Version': 'old'}))})")
    tab.evaluate("document.querySelector('#facts dd').textContent = ''")
    tab.click("refresh")
    tab.wait_until("document.querySelector('#facts dd').textContent === 'old'")


def shown(tab: Tab, selector: str) -> list[str]:  # noqa: F811
    return [str(one) for one in tab.evaluate(f"[...document.querySelectorAll('{selector}')].map(one => one.textContent)")]
