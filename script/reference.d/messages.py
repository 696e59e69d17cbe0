# SPDX-License-Identifier: Apache-2.0
"""Every message of the program, its meaning and its fix, from messages.toml.

Tests/BrowserTests/test_troubleshooting.py holds the messages to the sources.
"""

import tomllib
from pathlib import Path
from typing import Any

from swift import cell, code, head, table

PURPOSE = """
Every message of AppBackend, and what to do about it. Search this page for some words of the message. `…` stands for a value.
If there is no message, or if there are many, begin with the [symptoms](../operate/troubleshoot.md) and with these commands:

```sh
app-backend doctor --url https://push.example.com      # checks all parts, and prints a fix for each problem
journalctl -u app-backend -p warning                   # warnings and errors of the service
```

A response of status 500 contains the ID of its request, and the log has the same ID after `request=`. After you change the
configuration, run `systemctl reload app-backend`. [Some settings](settings.md), and credentials, need `systemctl restart app-backend`.
"""
COLUMNS = ("message", "meaning", "fix")


def sections() -> list[dict[str, Any]]:
    return list(tomllib.loads(Path(__file__).with_name("messages.toml").read_text())["sections"])


def page() -> str:
    parts = [head("Messages and their fixes", PURPOSE)]
    for section in sections():
        parts.append(f"\n{'#' * section.get('level', 2)} {section['title']}\n" if "title" in section else "")
        parts.append(f"\n{section['intro']}\n" if "intro" in section else "")
        entries = section.get("entries", [])
        columns = [name for name in COLUMNS[1:] if any(name in one for one in entries)]
        rows = [
            (one.get("shown") or ", ".join(map(code, one["messages"])), *(cell(one.get(name, "")) for name in columns)) for one in entries
        ]
        if rows:
            parts.append("\n" + table((section.get("of", "message"), *columns), rows))
    return "".join(parts)
