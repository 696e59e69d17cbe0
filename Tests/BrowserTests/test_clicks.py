# SPDX-License-Identifier: Apache-2.0
"""A click of the tests hits what it is meant for, also on a page that moves meanwhile."""

import pytest

from installation import Installation
from tab import Tab

# A button that is elsewhere as soon as the pointer is over it, so often, and notes its presses and clicks.
SHY = """void (() => {{
    const button = document.createElement("button");
    let moves = {moves};
    Object.assign(button, {{ id: "shy", textContent: "Shy", disabled: {disabled} }});
    button.style = "position: fixed; left: 20px; top: 20px; width: 60px; height: 20px; z-index: 9";
    window.counts = {{ pointerdown: 0, click: 0 }};
    for (const kind of Object.keys(counts)) button.addEventListener(kind, () => {{ counts[kind] += 1; }});
    button.addEventListener("pointermove", () => {{
        if (moves-- > 0) button.style.top = `${{parseInt(button.style.top) + 50}}px`;
    }});
    document.body.append(button);
}})()"""


@pytest.fixture(params=["firefox", "chromium"])
def tab(request: pytest.FixtureRequest, installation: Installation) -> Tab:
    made = request.getfixturevalue(f"{request.param}_tab")(notifications="denied")
    assert isinstance(made, Tab)
    made.navigate(f"{installation.origin}/")
    return made


@pytest.mark.parametrize("moves", [0, 1, 3])
def test_an_element_that_moves_away_before_it_is_hit_is_clicked_once(tab: Tab, moves: int) -> None:
    tab.evaluate(SHY.format(moves=moves, disabled="false"))
    tab.click("shy")
    assert tab.evaluate("window.counts") == {"pointerdown": 1, "click": 1}


def test_a_disabled_button_is_pressed_once(tab: Tab) -> None:
    tab.evaluate(SHY.format(moves=0, disabled="true"))
    tab.click("shy")
    assert tab.evaluate("window.counts.click") == 0 and tab.evaluate("window.counts.pointerdown") <= 1


def test_a_click_that_leads_to_another_document_is_made_once(tab: Tab, installation: Installation) -> None:
    tab.evaluate(SHY.format(moves=0, disabled="false"))
    tab.evaluate(f"void document.getElementById('shy').addEventListener('click', () => location.assign('{installation.origin}/?other'))")
    tab.click("shy")
    tab.wait_until("location.search === '?other'")
