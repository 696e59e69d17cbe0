# SPDX-License-Identifier: Apache-2.0
"""The document by itself, and beside the sources and the pages."""

import re
from typing import Any

from built import ROOT
import pytest
import routes
from contract import Contract
from openapi_spec_validator import OpenAPIV31SpecValidator



def test_the_document_is_openapi_3_1(contract: Contract) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(contract.document).iter_errors()] == []


def test_its_version_is_the_programs(contract: Contract) -> None:
    source = (ROOT / "Sources/Server/Process/Version.swift").read_text()
    assert re.findall(r'static let text = "([^"]+)"', source) == [contract.document["info"]["version"]]


def test_every_example_fits_its_schema(contract: Contract) -> None:
    examples: list[tuple[str, Any, Any]] = []
    for place, media in contract.media():
        values = [one["value"] for one in media.get("examples", {}).values()]
        values += [media["example"]] if "example" in media else []
        examples += [(place, media["schema"], value) for value in values]
    for name, parameter in contract.document["components"]["parameters"].items():
        examples += [(name, parameter["schema"], parameter["example"])] if "example" in parameter else []
    assert len(examples) > 20
    faults = {place: contract.schema_faults(schema, value) for place, schema, value in examples}
    assert {place: fault for place, fault in faults.items() if fault} == {}


def test_the_routes_are_those_of_the_sources(contract: Contract) -> None:
    expect_same(contract.routes, routes.of_sources(ROOT))


def test_the_routes_are_those_of_the_page(contract: Contract) -> None:
    expect_same(contract.routes, routes.of_page(ROOT / "docs" / "reference" / "routes.md"))


def expect_same(documented: routes.Routes, there: routes.Routes) -> None:
    """Each of the two may lack what the other has."""
    assert {"not in the document": there - documented, "only in the document": documented - there} == {
        "not in the document": set(),
        "only in the document": set(),
    }


@pytest.mark.parametrize("name", ["parameters", "headers", "responses", "schemas"])
def test_every_component_is_used(contract: Contract, name: str) -> None:
    text = contract.file.read_text()
    assert [one for one in contract.document["components"][name] if f'"#/components/{name}/{one}"' not in text] == []
