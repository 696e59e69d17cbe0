# SPDX-License-Identifier: Apache-2.0
"""A client of the API that knows its operations by their ids in the document."""

from typing import Any

from contract import Contract

from installation import Installation, Reply, User


class Client:
    """Expects each answer to fit the document."""

    def __init__(self, installation: Installation, contract: Contract):
        self._installation, self._contract = installation, contract

    def call(
        self,
        id: str,
        status: int,
        user: User | None = None,
        body: Any = None,
        query: str = "",
        name: str | int = "",
        of: str = "1",
        **headers: str,
    ) -> Reply:
        """`name` stands for `{id}` in the path, `of` for the `{name}` of a user."""
        operation = self._contract.operations[id]
        path = operation.path.replace("{id}", str(name)).replace("{name}", of) + (f"?{query}" if query else "")
        reply = self._installation.call(operation.method, path, user, body, **headers)
        assert (reply.status, self._contract.faults(id, reply)) == (status, []), reply.body
        return reply
