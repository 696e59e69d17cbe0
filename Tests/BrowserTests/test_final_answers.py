# SPDX-License-Identifier: Apache-2.0
"""An answer that the server repeats under a message's key is final: another try would be another message."""

from account import Account
from test_truth import Page, await_words, page, send, value  # noqa: F401

# Answers each send with 503 for a moment, from the second on as a repetition, and notes the keys.
REPEATING = """void (() => {
    const real = window.fetch;
    window.keys = [];
    window.fetch = async (url, request) => {
        if (request?.method !== "POST") return real(url, request);
        window.keys.push(new Headers(request.headers).get("Idempotency-Key"));
        const headers = { "Retry-After": "1" };
        if (window.keys.length > 1) headers["Idempotency-Replayed"] = "true";
        return new Response("{}", { status: 503, headers });
    };
})()"""


def test_a_repeated_answer_ends_the_tries_and_the_person_decides(page: Page, bob: Account) -> None:
    page.tab.evaluate(REPEATING)
    send(page, bob.name, "Hello")
    page.tab.wait_until("window.keys.length === 2")
    page.await_enabled("send")
    await_words(page, "sendError", "The server is temporarily unavailable (503).")
    page.tab.wait_until('!document.getElementById("sendError").textContent.includes("automatically")')
    assert page.tab.evaluate("new Set(window.keys).size") == 1
    assert value(page, "message") == "Hello"
    # Sent again by the person it is another message.
    page.tab.click("send")
    page.tab.wait_until("window.keys.length === 3 && window.keys[2] !== window.keys[0]")
