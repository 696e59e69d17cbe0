# SPDX-License-Identifier: Apache-2.0
"""Every route and every JSON object of the API, from the OpenAPI document that a site serves."""

import json
from collections.abc import Iterator
from typing import Any

from swift import cell, head, source, table

PURPOSE = """
Every route of the API, with its parameters, its bodies and its responses. The [HTTP API](http-api.md) explains credentials, errors and
retries, and shows a command for each route. Your site serves the same as an OpenAPI 3.1 document, for generators of clients:

```sh
curl https://push.example.com/openapi.json
```

Names of fields and parameters in requests are compared without case. `?` marks an optional field.
"""
DOCUMENT = "nginx/html/openapi.json"
METHODS = ("get", "put", "post", "delete")
CREDENTIALS = {
    "password": "password",
    "token": "app token",
    "apiKey": "app token in `apikey`",
    "identityProvider": "token of an identity provider",
    "session": "session",
}
Schema = dict[str, Any]
SPEC: dict[str, Any] = json.loads(source(DOCUMENT))


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for."""
    while "$ref" in part:
        found: Any = SPEC
        for name in part["$ref"].split("/")[1:]:
            found = found[name]
        part = found
    return part


def anchor(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def type_of(schema: Schema) -> str:
    """As a cell: a link for an object that has a name."""
    if "$ref" in schema:
        return anchor(schema["$ref"].rpartition("/")[2])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[key]))
    if "allOf" in schema:
        return ", ".join(type_of(one) for one in schema["allOf"])
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any")
    if kind == "array":
        return "array of " + type_of(schema.get("items", {}))
    kinds = [kind] if isinstance(kind, str) else kind
    bounds = [schema.get(key) for key in ("minimum", "maximum")]
    limits = f", {bounds[0]} to {bounds[1]}" if None not in bounds else ""
    longest = f", at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    return " or ".join(kinds) + limits + longest


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in SPEC["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                shared = item.get("parameters", [])
                yield method.upper(), path, operation | {"parameters": [*shared, *operation.get("parameters", [])]}


def credentials(operation: dict[str, Any]) -> str:
    allowed = operation.get("security", SPEC.get("security", []))
    names = [" and ".join(CREDENTIALS[name] for name in one) or "none" for one in allowed] or ["none"]
    return ", ".join(names)


def content(part: dict[str, Any]) -> tuple[str, list[Any]]:
    """The type of a body, and its examples."""
    types, examples = [], []
    for media in part.get("content", {}).values():
        if "schema" in media:
            types.append(type_of(media["schema"]))
        examples += [media["example"]] if "example" in media else []
        examples += [resolved(one).get("value") for one in media.get("examples", {}).values()]
    return " or ".join(dict.fromkeys(types)), examples


def shown(example: Any) -> str:
    line = json.dumps(example, ensure_ascii=False)
    return "\n```json\n" + (line if len(line) < 100 else json.dumps(example, ensure_ascii=False, indent=2)) + "\n```\n"


def name(reference: dict[str, Any]) -> str:
    """Of what it stands for."""
    return str(reference["$ref"].rpartition("/")[2])


def is_shared_header(reference: dict[str, Any]) -> bool:
    return "$ref" in reference and resolved(reference)["in"] == "header"


def parameter(one: dict[str, Any]) -> tuple[str, ...]:
    mark = "" if one.get("required") else "?"
    return f"`{one['name']}`{mark}", one["in"], type_of(one.get("schema", {})), cell(one.get("description", ""))


def shared_parts() -> Iterator[str]:
    """The headers and the errors that several routes have."""
    headers = [one for one in SPEC["components"]["parameters"].values() if one["in"] == "header"]
    yield "\n## Headers\n\n" + table(("header", "in", "type", "meaning"), map(parameter, headers))
    yield "\n## Errors\n\nThe body of each error is a [Problem](#problem) (`application/problem+json`).\n"
    for key, answer in SPEC["components"]["responses"].items():
        yield f"\n### {key}\n\n{answer['description']}\n"


def described(operation: dict[str, Any]) -> Iterator[str]:
    """The parts of a route's section."""
    yield " ".join(text.rstrip(".") + "." for text in (operation["summary"], operation.get("description", "")) if text) + "\n"
    yield f"\nCredentials: {credentials(operation)}.\n"
    own = [one for one in operation["parameters"] if not is_shared_header(one)]
    if own:
        yield "\n" + table(("parameter", "in", "type", "meaning"), map(parameter, map(resolved, own)))
    if shared := [one for one in operation["parameters"] if is_shared_header(one)]:
        yield "\nHeaders: " + ", ".join(f"[`{resolved(one)['name']}`](#headers)" for one in shared) + ".\n"
    if "requestBody" in operation:
        wanted = resolved(operation["requestBody"])
        kind, examples = content(wanted)
        yield f"\nBody: {kind}. {wanted.get('description', '')}".rstrip() + "\n"
        yield from map(shown, examples[:2])
    own = {status: one for status, one in operation["responses"].items() if "$ref" not in one}
    contents = {status: content(one) for status, one in own.items()}
    rows = [(status, contents[status][0], cell(one["description"])) for status, one in own.items()]
    yield "\n" + table(("status", "body", "meaning"), rows)
    yield from map(shown, [one for status, (_, good) in contents.items() if status.startswith("2") for one in good][:1])
    shared = {status: name(one) for status, one in operation["responses"].items() if status not in own}
    yield "\nErrors: " + ", ".join(f"[{status}](#{one.lower()})" for status, one in shared.items()) + ".\n"


def fields(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Those of an object, with those of the objects that it is made of."""
    for part in schema.get("allOf", []):
        yield from fields(resolved(part))
    needed = schema.get("required", [])
    for name, inner in schema.get("properties", {}).items():
        words = inner.get("description") or (resolved(inner).get("description", "") if "$ref" in inner else "")
        yield f"`{name}`" + ("" if name in needed else "?"), type_of(inner), cell(words)


def page() -> str:
    parts = [head("Routes", PURPOSE)]
    for tag in SPEC["tags"]:
        mine = [one for one in operations() if tag["name"] in one[2]["tags"]]
        parts.append(f"\n## {tag['name']}\n\n{tag['description']}\n\n")
        parts.append(table(("route", "purpose"), [(f"`{method} {path}`", cell(one["summary"])) for method, path, one in mine]))
        for method, path, operation in mine:
            parts += [f"\n### `{method} {path}`\n\n", *described(operation)]
    parts += shared_parts()
    parts.append("\n## JSON objects\n")
    for name, schema in SPEC["components"]["schemas"].items():
        parts.append(f"\n### {name}\n\n{schema.get('description', '')}\n")
        rows = list(fields(schema))
        parts.append("\n" + table(("field", "type", "meaning"), rows) if rows else f"\nType: {type_of(schema)}.\n")
    return "".join(parts)
