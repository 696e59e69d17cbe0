# SPDX-License-Identifier: Apache-2.0
"""Rows of a table that says what is answered to whom, with the requests that are such."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from client import Client
from tables import table

from installation import Reply, User

@dataclass(frozen=True)
class Call:
    """A request to an operation of the document."""

    operation: str
    body: Any = None
    query: str = ""
    user: User | None = None
    name: str = "7"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """What a row says is answered. `field` is None where it names none."""

    status: int
    field: str | None


def matched(heading: str, tried: dict[tuple[str, str], Any]) -> list[Any]:
    """Each row of a table with what tries it, which is found by the first words of its two cells: parameters of a test.

    Raises ValueError where one of the two has no other, or several.
    """
    found = []
    for first, second, status, name in table(heading):
        fitting = [words for words in tried if first.startswith(words[0]) and second.startswith(words[1])]
        if len(fitting) != 1:
            raise ValueError(f"{len(fitting)} tests of the row {first}, {second}")
        row = Row(int(status), name.strip("`") or None)
        found.append(pytest.param(row, tried[fitting[0]], id=" ".join(fitting[0])))
    if len(found) != len(tried):
        raise ValueError(f"{heading} has {len(found)} rows, and {len(tried)} are tried")
    return found


def expect(client: Client, row: Row, calls: Iterable[Call]) -> list[Reply]:
    """Makes the calls, each of which is to be answered as the row says."""
    replies = []
    for call in calls:
        reply = client.call(call.operation, row.status, call.user, call.body, call.query, call.name, **call.headers)
        assert row.status < 400 or reply.json().get("field") == row.field, (call.operation, call.body, reply.body)
        replies.append(reply)
    assert replies, "no call"
    return replies
