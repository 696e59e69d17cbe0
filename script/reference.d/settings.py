# SPDX-License-Identifier: Apache-2.0
"""Every key of the configuration."""

import re
import tomllib
from pathlib import Path
from typing import Any

from swift import body, cell, head, source, table, texts_in

PURPOSE = """
Every setting of the configuration file, with its default. [Configuration](../operate/configuration.md) explains where the file is,
and how environment variables and credentials set the same keys. For example, this file stores the state in a folder and keeps
plain messages for a week:

```json
{ "store": { "path": "/var/lib/app-backend" }, "inbox": { "plainDays": 7 } }
```

`app-backend config show` prints the value of each key and its source. **Secret** keys belong in a credential or an environment
variable. **Restart** marks keys that a reload does not change: restart the service after you change them.
"""
VALUES = "Tests/ServerTests/ConfigurationValueTests.swift"
READING = "Sources/Server/Configuration/SiteConfiguration+Reading.swift"
RELOAD = "Sources/Server/Site/ReloadableSite.swift"


def described() -> dict[str, dict[str, dict[str, Any]]]:
    """The words for each key, by group."""
    return tomllib.loads(Path(__file__).with_name("settings.toml").read_text())


def tested() -> dict[str, tuple[str, str]]:
    """Default and range of each key, as the tests hold the program to them."""
    code = source(VALUES)
    named = dict(re.findall(r"static let (\w+) = (\d[\d_]*\.\.\.\d[\d_]*)", code))
    rows = re.findall(r'Row\(\s*"([\w.]+)", "([^"\n]*)"((?:(?!Row\().)*?)\{', code, re.S)
    found = {}
    for key, by_default, rest in rows:
        given = re.search(r"in: ([\w.]+)", rest)
        found[key] = (by_default, ranged(named.get(given[1], given[1])) if given else "", '"[' in rest or '#"[' in rest)
    return {key: (shown(by_default, is_list), limits) for key, (by_default, limits, is_list) in found.items()}


def ranged(text: str) -> str:
    first, last = text.replace("_", "").split("...")
    return f"{first} to {last}"


def shown(by_default: str, is_list: bool) -> str:
    if is_list or "," in by_default:
        return "`[" + ", ".join(f'"{one}"' for one in by_default.split(",") if one) + "]`"
    return by_default if by_default == "none" or by_default.isdigit() else f"`{by_default}`"


def secrets() -> set[str]:
    return set(texts_in(body(source(READING), "static let secretKeys = [")))


def restarts() -> set[str]:
    """`keep(store.key, …)` has no key in quotation marks, so the keys of the store are listed here."""
    return set(re.findall(r'keep\("([\w.]+)"', source(RELOAD))) | {"store.path", "store.url", "store.connections"}


def page() -> str:
    values, secret, restart = tested(), secrets(), restarts()
    parts = [head("Settings", PURPOSE)]
    for group, keys in described().items():
        rows = []
        for key, words in keys.items():
            by_default, limits = values.get(key, ("", ""))
            limits = words.get("range", limits)
            marks = [mark for mark, marked in (("Secret.", secret), ("Restart.", restart)) if key in marked]
            first = words.get("default", by_default) + (f" ({limits})" if limits else "")
            rows.append((f"`{key}`", first, cell(" ".join([*marks, words["about"]]))))
        parts.append(f"\n## {group}\n\n" + table(("key", "default", "meaning"), rows))
    return "".join(parts)
