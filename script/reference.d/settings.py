# SPDX-License-Identifier: Apache-2.0
"""Every key of the configuration, from the schema that the program makes of its table of settings."""

import json
import subprocess
from typing import Any

from swift import ROOT, cell, head, table

PURPOSE = """
Every setting of the configuration file, with its default. [Configuration](../operate/configuration.md) explains where the file is,
and how environment variables and credentials set the same keys. For example, this file stores the state in a folder and keeps
plain messages for a week:

```json
{ "store": { "path": "/var/lib/app-backend" }, "inbox": { "plainDays": 7 } }
```

`app-backend config show` prints the value of each key and its source, and `app-backend config list` prints this page.
[settings.schema.json](settings.schema.json) completes keys and checks values in an editor: see
[configuration](../operate/configuration.md#in-an-editor). **Secret** keys belong in a credential or an environment
variable. **Restart** marks keys that a reload does not change: restart the service after you change them.
"""
SCHEMA = ROOT / "docs" / "reference" / "settings.schema.json"
PROGRAM = ROOT / ".build" / "debug" / "app-backend"


def write_schema() -> None:
    """The file of the schema, by the program of the last `swift build`. A test holds the file to the program."""
    if PROGRAM.exists():
        made = subprocess.run([PROGRAM, "config", "schema"], check=True, capture_output=True, text=True).stdout
        SCHEMA.write_text(by_line(json.loads(made)) + "\n")


def by_line(value: dict[str, Any], depth: int = 0) -> str:
    """Each key of the configuration on one line, which a comparison of versions shows whole."""
    if depth == 2:
        return json.dumps(value, ensure_ascii=False)
    pad = "  " * (depth + 1)
    members = [
        f"{pad}{json.dumps(name)}: {by_line(one, depth + 1) if isinstance(one, dict) else json.dumps(one)}"
        for name, one in value.items()
    ]
    return "{\n" + ",\n".join(members) + f"\n{pad[2:]}}}"


def rows() -> list[tuple[str, dict[str, Any]]]:
    """Each key and its row of the program's table, in the order of the table."""
    return [(key, row) for key, row in json.loads(SCHEMA.read_text())["properties"].items() if "x-section" in row]


def by_default(row: dict[str, Any]) -> str:
    if "x-default" in row:
        return str(row["x-default"])
    if "default" not in row:
        return "none"
    value = row["default"]
    return str(value) if row.get("type") == "integer" else f"`{value if isinstance(value, str) else json.dumps(value)}`"


def line(key: str, row: dict[str, Any]) -> tuple[str, str, str]:
    limits = f" ({row['minimum']} to {row['maximum']})" if "minimum" in row else ""
    marks = [mark for mark, name in (("Secret.", "writeOnly"), ("Restart.", "x-restart")) if name in row]
    return f"`{key}`", by_default(row) + limits, cell(" ".join([*marks, row.get("x-about", row["description"])]))


def page() -> str:
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for key, row in rows():
        sections.setdefault(row["x-section"], []).append(line(key, row))
    columns = ("key", "default", "meaning")
    return head("Settings", PURPOSE) + "".join(f"\n## {title}\n\n{table(columns, lines)}" for title, lines in sections.items())
