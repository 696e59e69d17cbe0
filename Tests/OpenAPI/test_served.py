# SPDX-License-Identifier: Apache-2.0
"""The document as nginx serves it, beside the page."""

import json

from contract import Contract

from installation import Installation


def test_a_developer_finds_it_at_openapi_json(installation: Installation, contract: Contract) -> None:
    reply = installation.call("GET", "/openapi.json")
    assert (reply.status, reply.headers.get_content_type()) == (200, "application/json")
    assert json.loads(reply.body) == contract.document


def test_it_is_served_as_the_page_is(installation: Installation) -> None:
    page, document = installation.call("GET", "/"), installation.call("GET", "/openapi.json")
    for name in ("Cache-Control", "Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"):
        assert document.headers[name] == page.headers[name] is not None
    kept = installation.call("GET", "/openapi.json", If_None_Match=document.headers["ETag"])
    assert (kept.status, kept.body) == (304, b"")
    assert installation.call("GET", "/openapi.json", Accept_Encoding="gzip").headers["Content-Encoding"] == "gzip"
    assert installation.call("POST", "/openapi.json").status == 403


def test_the_routes_have_the_methods_of_the_document(installation: Installation, contract: Contract) -> None:
    """What a route answers to a method that it does not have."""
    user = installation.add_user("alice")
    documented: dict[str, set[str]] = {}
    for operation in contract.operations.values():
        documented.setdefault(operation.path.rstrip("/"), set()).add(operation.method)
    found = {}
    for path in documented:
        reply = installation.call("PATCH", path.replace("{id}", "1").replace("{name}", "a"), user)
        assert reply.status == 405, path
        found[path] = set(reply.headers["Allow"].split(", "))
    assert all(("HEAD" in methods) == ("GET" in methods) for methods in found.values())
    # It comes with GET, and the document does not repeat it.
    assert {path: methods - {"HEAD"} for path, methods in found.items()} == {
        path: methods - {"HEAD"} for path, methods in documented.items()
    }
