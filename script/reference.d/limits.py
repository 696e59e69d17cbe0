# SPDX-License-Identifier: Apache-2.0
"""How much is stored, and how often a client may ask: from the sources of the store, and from the files for nginx."""

import re

from swift import body, cell, head, source, table

PURPOSE = """
How much the server stores, how many requests it accepts, and which limits you can change. For example, this changes the limits for
the sends of one user:

```json
{ "limits": { "sendsPerMinute": 600, "sendsAtOnce": 1200 } }
```

Above a limit of a rate, a client gets 429 with `Retry-After`.
"""
QUOTAS = "Sources/Store/Quotas.swift"


def quotas() -> list[tuple[str, str]]:
    """Each with its value."""
    code = body(source(QUOTAS), "package struct Quotas: Sendable {")
    found = []
    for comment, name, value in re.findall(r"((?: +///.*\n)+) +package var (\w+)(?:: Int64)? = ([^\n{]+)\n", code):
        words = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
        words = re.sub(r" ?\(`[^`]*`\)", "", words)
        found.append((cell(words), shown(name, value)))
    return found


def shown(name: str, value: str) -> str:
    """With its unit."""
    number = 1
    for factor in value.replace("_", "").split(" * "):
        number *= eval_shift(factor)
    if name.endswith("Seconds"):
        return f"{number // 86400} days"
    if "ytes" in name:
        return f"{number >> 20} MiB" if number % (1 << 20) == 0 else f"{number >> 10} KiB"
    return f"{number:,}"


def eval_shift(text: str) -> int:
    first, _, by = text.partition(" << ")
    return int(first) << int(by or 0)


def rates() -> list[tuple[str, str, str]]:
    """Of nginx: whose requests, rate and burst."""
    upstream = source("nginx/app-backend-upstream.conf")
    zones = re.findall(r"limit_req_zone \S+ zone=app_backend_(\w+):\S+ rate=(\d+)r/s;", upstream)
    bursts = dict(re.findall(r"zone=app_backend_(\w+) burst=(\d+)", source("nginx/app-backend-api.conf")))
    names = {"calls": "all requests of one network", "sends": "sends of one network"}
    return [(names[zone], f"{rate} per second", bursts[zone]) for zone, rate in zones]


def page() -> str:
    parts = [
        head("Limits", PURPOSE),
        "\n## Requests of one network\n\nnginx checks these limits first. Change `rate=` in `conf.d/app-backend-upstream.conf`, and\n"
        "`burst=` in `snippets/app-backend-api.conf`.\n\n",
        table(("requests", "rate", "burst"), rates()),
        "\n## Requests of one user\n\nThe keys `limits.*` of the [settings](settings.md#limits-of-requests-and-users) set these limits. Each process counts\n"
        "for itself.\n",
        "\n## Stored data\n\nYou cannot change these limits. From half of a limit that all users share, one sender may use only a part of it:\n"
        "an eighth of the queue and of the webhook events, and 1/256 of the scheduled messages.\n\n",
        table(("limit", "value"), quotas()),
    ]
    return "".join(parts)
