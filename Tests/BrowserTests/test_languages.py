# SPDX-License-Identifier: Apache-2.0
"""The page in each of its languages: the same texts in all, by the browser's choice, and by the person's."""

import re
from collections.abc import Callable

import pytest

from account import Account
from built import ROOT
from chromium import ChromiumTab
from installation import Installation
from notify_page import AnyTab, NotifyPage
from subscriber import Subscriber
from test_chromium import subscribed

HTML = ROOT / "nginx" / "html"
LANGUAGES = ("en", "de", "es")
LINE = re.compile(r"^    '([^']+)': '(.*)',$", re.M)
# Texts whose keys are put together: the code says `state.${state}`.
MADE = re.compile(r"^(failure|state|stateWords|count|device|platform|secret)\.|^tokens\.(send|read|register)$|\.(one|other|endSure)$")
HEADINGS = {"en": "Log in", "de": "Anmelden", "es": "Iniciar sesión"}
PREFERRED = "Object.defineProperty(navigator, 'languages', {{ get: () => {languages} }});"


def texts(language: str) -> dict[str, str]:
    source = "".join((HTML / "js" / "texts" / f"{language}{part}.js").read_text() for part in ("", "-more"))
    found = LINE.findall(source)
    assert len(found) == source.count("\n    '") > 100, "a line that is not read"
    assert len(dict(found)) == len(found), "a key that is there twice"
    return dict(found)


def names(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_every_language_has_the_same_texts_with_the_same_names_in_them(language: str) -> None:
    english, other = texts("en"), texts(language)
    assert list(other) == list(english)
    assert {key: names(text) for key, text in other.items()} == {key: names(text) for key, text in english.items()}
    assert "" not in other.values()


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    english = texts("en")
    sources = [(HTML / "index.html"), HTML / "app.js", HTML / "sw.js", *(HTML / "js").glob("*.js")]
    code = "\n".join(file.read_text() for file in sources)
    quoted = set(re.findall(r"""(?:\bt\(|data-t[a-z-]*=|amount\(|label\(|words\(|, |\? |: )['"]([a-z]+\.[A-Za-z.]+|name|skip|about|retry|compose|loading)['"]""", code))
    used = {key for key in english if key in quoted or f"{key.rsplit('.', 1)[0]}" in quoted or MADE.search(key)}
    assert set(english) - used == set()
    wanted = set(re.findall(r"""(?:\bt\(|data-t(?:-label|-hint)?=)['"]([A-Za-z.]+)['"]""", code))
    assert len(wanted) > 50
    assert wanted - set(english) == set()


def opened(tab: AnyTab, installation: Installation, *languages: str) -> NotifyPage[AnyTab]:
    tab.on_new_document(PREFERRED.format(languages=list(languages)))
    page = NotifyPage(tab, installation.origin).open()
    page.await_enabled("login")
    return page


@pytest.mark.parametrize(
    ("browser", "preferred", "language"),
    [
        ("chromium", ["de-AT", "en"], "de"), ("firefox", ["de-AT", "en"], "de"), ("chromium", ["fr", "es-MX"], "es"),
        ("chromium", ["fr"], "en"), ("chromium", ["en-US", "de"], "en"),
    ],
    ids=["German of Austria", "German of Austria in Firefox", "the second choice", "none that there is", "English first"],
)
def test_the_page_speaks_the_first_of_the_browsers_languages_that_it_knows(
    request: pytest.FixtureRequest, installation: Installation, browser: str, preferred: list[str], language: str
) -> None:
    page = opened(request.getfixturevalue(f"{browser}_tab")(notifications="denied"), installation, *preferred)
    assert page.tab.evaluate("document.documentElement.lang") == language
    assert page.text("login") == HEADINGS[language]


@pytest.mark.parametrize(
    ("preferred", "locale"), [(["en-US", "de"], "en-US"), (["en"], "en-GB"), (["en-AU", "en-US"], "en-GB"), (["fr"], "en-GB")],
)
def test_times_in_english_are_american_where_the_browser_is_and_else_british(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, preferred: list[str], locale: str
) -> None:
    page = opened(chromium_tab(notifications="denied"), installation, *preferred)
    wanted = f"new Intl.DateTimeFormat('{locale}', {{ dateStyle: 'medium', timeStyle: 'short' }}).format(0)"
    assert page.tab.evaluate("import('/js/i18n.js').then(({ time }) => time(0))") == page.tab.evaluate(wanted)


@pytest.mark.parametrize("browser", ["firefox", "chromium"])
def test_a_language_that_was_chosen_stays_and_costs_nothing_that_was_typed(
    request: pytest.FixtureRequest, installation: Installation, alice: Account, bob: Account, browser: str
) -> None:
    page = opened(request.getfixturevalue(f"{browser}_tab")(notifications="denied"), installation, "en")
    page.log_in(alice, state="loggedin")
    page.write(bob.name, "nicht fertig")
    page.tab.click("showSettings")
    page.tab.evaluate(
        """(select => {
            select.value = "de";
            select.dispatchEvent(new Event("change"));
        })(document.getElementById("language"))"""
    )
    page.tab.wait_until('document.documentElement?.lang === "de" && document.body?.dataset.state === "loggedin"')
    assert page.text("showSent") == "Gesendet"
    page.tab.wait_until('document.getElementById("message").value === "nicht fertig"')
    page.open()
    page.await_state("loggedin")
    page.tab.wait_until('document.getElementById("send").textContent === "Senden"')


def test_the_worker_speaks_the_pages_language(
    chromium_tab: Callable[..., ChromiumTab], installation: Installation, subscriber: Subscriber
) -> None:
    tab = chromium_tab()
    subscribed(tab, subscriber)
    page = opened(tab, installation, "es")
    page.await_state("token")
    tab.stop_workers()
    tab.push('{"secureId":"7"}')
    page.await_shown('one.title === "Hay un mensaje seguro" && one.body === "Abra para leerlo"')
    tab.push('{"title":"From dora","body":"Hola"}')
    page.await_shown('one.title === "De dora" && one.body === "Hola"')
