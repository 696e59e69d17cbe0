# SPDX-License-Identifier: Apache-2.0
"""The schema of the configuration file is one of JSON Schema, takes the configurations that are shipped and documented, and
refuses the mistakes of which an editor should tell."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built import ROOT
from jsonschema import Draft7Validator

SCHEMA = json.loads((ROOT / "docs" / "reference" / "settings.schema.json").read_text())
SHIPPED = [ROOT / "systemd" / "app-backend.json", ROOT / "hosting" / "app-backend.json"]


def documented() -> Iterator[tuple[str, dict[str, Any]]]:
    """The configurations in the pages for operators: each block of JSON that begins with a group of settings."""
    groups = {name for name in SCHEMA["properties"] if "." not in name}
    for page in sorted((ROOT / "docs").glob("*/*.md")):
        for block in re.findall(r"^```json\n(.*?)^```", page.read_text(), re.M | re.S):
            try:
                value = json.loads(block)
            except ValueError:
                continue
            if isinstance(value, dict) and value.keys() and {name.split(".")[0] for name in value} <= groups:
                yield f"{page.name}: {' '.join(value)}", value


def faults(value: object) -> list[str]:
    return [error.message for error in Draft7Validator(SCHEMA).iter_errors(value)]


def test_the_schema_is_valid() -> None:
    Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name)
def test_a_shipped_configuration_is_valid(file: Path) -> None:
    assert faults(json.loads(file.read_text())) == []


def test_every_documented_configuration_is_valid() -> None:
    found = dict(documented())
    assert len(found) > 5
    assert {name: errors for name, value in found.items() if (errors := faults(value))} == {}


@pytest.mark.parametrize(
    "value",
    [
        {"workers": 0}, {"workers": "many"}, {"hub": {"nmae": "x"}}, {"hub.timeout": 121}, {"log": {"level": "loud"}},
        {"auth": {"methods": ["ldap"]}}, {"roles": [{"name": "a", "adminster": True}]}, {"apns": {"topics": "a"}},
        {"inbox": {"badges": "perhaps"}}, {"unknown": {}},
    ],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_refused(value: object) -> None:
    assert faults(value)


@pytest.mark.parametrize(
    "value",
    [
        {"$schema": "settings.schema.json", "store.path": "/s"}, {"roles": {"name": "a"}}, {"roles": [{"name": "a"}]},
        {"auth": {"issuers": [{"issuer": "https://id.example", "prefix": "id", "audience": ["backend"]}]}},
        {"auth.issuers": {"prefix": "id"}, "apns": [{"topic": "a.b"}, {"topic": "a.c"}], "limits": {}},
    ],
    ids=str,
)  # fmt: skip
def test_each_form_of_a_group_is_taken(value: object) -> None:
    assert faults(value) == []
