# SPDX-License-Identifier: Apache-2.0
"""The document is one of which generators make clients that compile, with names that a person would choose."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from contract import METHODS, Contract

# What has a type of its own in no language: a text or a list of texts.
ANY = {"MessageObject.To"}
# In answers: a key that may be none.
NULLABLE = {"PublicConfiguration.VapidPublicKey"}
VERBS = (
    "add|cancel|change|create|delete|disable|enable|end|list|log|mark|put|read|register|remove|request|revoke|send|unregister"
)

Named = tuple[str, dict[str, Any]]


@pytest.fixture
def schemas(contract: Contract) -> list[Named]:
    """Every schema of the document, with its place."""
    components = contract.document["components"]
    places = list(components["schemas"].items())
    places += [(name, one["schema"]) for kind in ("parameters", "headers") for name, one in components[kind].items()]
    places += [(place, media["schema"]) for place, media in contract.media()]
    return [one for name, schema in places for one in within(name, schema)]


def within(name: str, schema: dict[str, Any]) -> Iterator[Named]:
    """The schema itself, and those in it."""
    yield name, schema
    for part in [*schema.get("allOf", []), schema]:
        for member, one in part.get("properties", {}).items():
            yield from within(f"{name}.{member}", one)
    for kind in ("items", "additionalProperties"):
        if isinstance(schema.get(kind), dict):
            yield from within(f"{name}[]", schema[kind])


def test_no_value_is_of_one_of_several_kinds(schemas: list[Named]) -> None:
    kinds = {"oneOf", "anyOf", "not", "const", "if"}
    assert [name for name, schema in schemas if kinds & set(schema)] == []
    assert {name for name, schema in schemas if isinstance(schema.get("type"), list)} == NULLABLE
    assert {name for name, schema in schemas if not {"type", "$ref", "allOf"} & set(schema)} == ANY
    assert [name for name, schema in schemas if "enum" in schema and schema["type"] != "string"] == []


def test_every_object_has_a_name(schemas: list[Named]) -> None:
    assert [name for name, schema in schemas if "properties" in schema and not name.isalnum()] == []


def test_an_operation_takes_no_field_that_browsers_set(contract: Contract) -> None:
    names = {one["name"] for one in contract.document["components"]["parameters"].values()}
    assert {"Idempotency-Key", "If-None-Match"} == {name for name in names if name[0].isupper()}


def test_the_names_of_operations_begin_with_verbs(contract: Contract) -> None:
    assert [id for id in contract.operations if not re.fullmatch(rf"({VERBS})[A-Z][A-Za-z]*", id)] == []


def test_the_paths_come_in_the_order_of_the_tags_and_these_in_the_order_of_an_app(contract: Contract) -> None:
    operations = [next(one for name, one in item.items() if name in METHODS) for item in contract.document["paths"].values()]
    tags = list(dict.fromkeys(tag for one in operations for tag in one["tags"]))
    assert tags == [one["name"] for one in contract.document["tags"]]
    assert tags[:6] == ["Login", "App tokens", "Devices", "Sending", "Inbox", "Delivery"]


def test_no_object_has_a_member_of_its_own_name(contract: Contract) -> None:
    schemas = contract.document["components"]["schemas"].items()
    assert [name for name, one in schemas if name.lower() in map(str.lower, one.get("properties", {}))] == []
