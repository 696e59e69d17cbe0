# SPDX-License-Identifier: Apache-2.0
"""Every family of `/metrics`, as the sources name and explain it."""

import re

from swift import body, cell, head, sources, table, texts_in

PURPOSE = """
Every metric that `GET /metrics` returns, in Prometheus' text format. [Monitoring](../operate/monitor.md#metrics) shows how Prometheus
collects them, and the [alert rules](../operate/alerts.yml) use them. For example, this rule fires if a message waits for five minutes:

```yaml
expr: app_backend_hub_queue_oldest_age_seconds > 300
```
"""
NAMES = {"NoLabels": ""}
DECLARED = (
    r"(?:struct|enum|extension) (\w+)[^{\n]*\bLabelSet\b[^{\n]*\{(.*?names: \[StaticString\] = \[.*?\])"
)


def label_names() -> dict[str, str]:
    """The labels of each set, as a cell."""
    found = dict(NAMES)
    for _, code in sources():
        for kind, rest in re.findall(DECLARED, code, re.S):
            values = [f"`{value}`" for value in cases(code, kind)]
            names = ", ".join(f"`{name}`" for name in texts_in(rest.rpartition("=")[2]))
            found[kind] = f"{names}: {', '.join(values)}" if values else names
    return found


def cases(code: str, kind: str) -> list[str]:
    """The values of an enumeration of texts, which are all that its one label has."""
    declared = re.search(rf"enum {kind}: String, .*?\n\}}", code, re.S)
    found = []
    for names in re.findall(r"^    case ([^.\n].*)$", declared[0], re.M) if declared else []:
        for name in names.split(", "):
            found.append(name.partition(" = ")[2].strip('"') or name)
    return found


def families() -> list[tuple[str, str, str, str]]:
    """Name, labels, kind and explanation."""
    found, labels = [], label_names()
    for _, code in sources():
        for match in re.finditer(r"MetricName\(\s*\"", code):
            texts = texts_in(body(code[match.start() :], "MetricName("))
            found.append((texts[0], *kind_of(code, match.start(), labels), texts[1]))
    return sorted(found)


def kind_of(code: str, at: int, labels: dict[str, str]) -> tuple[str, str]:
    """Labels and kind of the family whose name is made at `at`."""
    before = code[:at].rstrip()
    if family := re.search(r"(Counter|Histogram)Family<(\w+)>\($", before):
        return labels[family[2]], family[1].lower()
    name = re.search(r"let (\w+) =$", before)
    if name is None:
        raise ValueError(f"no family of {code[at : at + 80]}")
    use = rf"\((?:Self\.)?{name[1]}\b"
    if plain := re.search(rf"\b(gauge|counter){use}", code):
        return "", plain[1]
    kind = re.search(rf"\bfamily{use}, \.(\w+)", code)
    sample = re.search(rf"\bsample{use}, (\w+)\(", code)
    return labels[sample[1]] if sample else "", kind[1] if kind else "gauge"


def page() -> str:
    rows = [(f"`{name}`", kind, labels, cell(text)) for name, labels, kind, text in families()]
    return head("Metrics", PURPOSE) + "\n" + table(("name", "type", "labels", "meaning"), rows)
