# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document as tests use it: its operations, and what of an answer does not fit it."""

import copy
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openapi_schema_validator import OAS31Validator, oas31_format_checker

from installation import Reply

METHODS = ("get", "head", "post", "put", "delete", "options", "patch", "trace")


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    definition: dict[str, Any]

    @property
    def route(self) -> tuple[str, str]:
        """The names of a path's parameters do not count, nor does a slash at the end, which a route's other call has."""
        return self.method, nameless(self.path).rstrip("/")


def nameless(path: str) -> str:
    """`/api/register/{id}` as `/api/register/{}`."""
    return re.sub(r"\{[^}]*\}", "{}", path)


class Contract:
    def __init__(self, file: Path):
        self.file = file
        self.document: dict[str, Any] = json.loads(file.read_text())
        self.operations = {
            item[method]["operationId"]: Operation(method.upper(), path, item[method])
            for path, item in self.document["paths"].items()
            for method in METHODS
            if method in item
        }

    @property
    def routes(self) -> set[tuple[str, str]]:
        return {operation.route for operation in self.operations.values()}

    @property
    def codes(self) -> list[str]:
        """The codes of problems."""
        return self.document["components"]["schemas"]["ProblemCode"]["x-extensible-enum"]

    def tagged(self, tag: str) -> dict[str, Operation]:
        return {id: one for id, one in self.operations.items() if tag in one.definition["tags"]}

    def untagged(self, tag: str) -> dict[str, Operation]:
        return {id: one for id, one in self.operations.items() if tag not in one.definition["tags"]}

    def closed(self) -> dict[str, Any]:
        """The document, where an answer has no member that is not described. Requests may have more."""
        document = self._merged(copy.deepcopy(self.document))
        open_names = self._names_in([operation.definition.get("requestBody") for operation in self.operations.values()])
        for name, schema in document["components"]["schemas"].items():
            if name not in open_names:
                _close(schema)
        return document

    def _merged(self, item: Any) -> Any:
        """Where objects are put together of several (`allOf`), the one that they are together: closed, none has room for another."""
        if isinstance(item, list):
            return [self._merged(one) for one in item]
        if not isinstance(item, dict):
            return item
        if "allOf" not in item:
            return {name: self._merged(one) for name, one in item.items()}
        parts = [self._resolved(one) for one in item["allOf"]]
        required = [name for part in parts for name in part["required"]]
        properties = {name: one for part in parts for name, one in part["properties"].items()}
        return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}

    def faults(self, id: str, reply: Reply) -> list[str]:
        """What of an answer does not fit the operation: status, header fields, media type, body."""
        answers = self.operations[id].definition["responses"]
        if str(reply.status) not in answers:
            return [f"{id} has no {reply.status}"]
        answer = self._resolved(answers[str(reply.status)])
        faults = self._of_fields(answer, reply) + self._of_body(answer, reply) + self._of_problem(reply)
        return [f"{id} {reply.status}: {fault}" for fault in faults]

    def schema_faults(self, schema: dict[str, Any], value: Any) -> list[str]:
        """Why a value does not fit a schema of the document, whose answers have no more members than are described."""
        whole = {**self._merged(schema), "components": self.closed()["components"]}
        validator = OAS31Validator(whole, format_checker=oas31_format_checker)
        return [fault.message for fault in validator.iter_errors(value)]

    def media(self) -> list[tuple[str, dict[str, Any]]]:
        """Every body of the document, of requests and of answers, with where it is."""
        found = []
        for id, operation in self.operations.items():
            bodies = {**operation.definition["responses"], "request": operation.definition.get("requestBody", {})}
            for name, body in bodies.items():
                found += [(f"{id} {name}", media) for media in self._resolved(body).get("content", {}).values()]
        return found

    def _of_fields(self, answer: dict[str, Any], reply: Reply) -> list[str]:
        faults = []
        for name, reference in answer.get("headers", {}).items():
            field, value = self._resolved(reference), reply.headers.get(name)
            if value is not None:
                faults += [f"{name}: {fault}" for fault in self.schema_faults(field["schema"], value)]
            elif field.get("required"):
                faults.append(f"{name} is missing")
        return faults

    def _of_body(self, answer: dict[str, Any], reply: Reply) -> list[str]:
        content = answer.get("content", {})
        if not content:
            return [f"a body of {len(reply.body)} bytes"] if reply.body else []
        kind = reply.headers.get_content_type()
        if kind not in content:
            return [f"the body is {kind}"]
        return self.schema_faults(content[kind]["schema"], reply.json()) if kind.endswith("json") else []

    def _of_problem(self, reply: Reply) -> list[str]:
        """A problem's code is one of the document's list, which its schema leaves open, and its type has it too."""
        if reply.headers.get_content_type() != "application/problem+json":
            return []
        problem = reply.json()
        code = problem.get("code")
        if code in self.codes and problem["type"] == f"urn:app-backend:problem:{code}":
            return []
        return [f"the code {code} of the type {problem['type']}"]

    def _resolved(self, item: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in item:
            return item
        found: Any = self.document
        for name in item["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return self._resolved(found)

    def _names_in(self, item: Any) -> set[str]:
        """The schemas that an item refers to, and those that these refer to."""
        names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(item)))
        for name in list(names):
            names |= self._names_in(self.document["components"]["schemas"][name])
        return names


def _close(schema: Any) -> None:
    if isinstance(schema, list):
        for item in schema:
            _close(item)
    elif isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for item in schema.values():
            _close(item)
