"""A dataset on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from inbounds.client.remote_query import RemoteQuery
from inbounds.display.facts import FactSheet
from inbounds.query.answer.answer_json import read_answer

if TYPE_CHECKING:
    from inbounds.client.connection import Connection
    from inbounds.query import Answer


class RemoteDataset:
    """A dataset on a server: its description, and queries against it."""

    def __init__(self, connection: Connection, described: dict[str, Any]) -> None:
        self.connection = connection
        self.description = described
        """Tables and columns with their bounds and categories, as the server describes them."""

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.description["name"])

    @property
    def path(self) -> str:
        """Its path on the server."""
        return f"/v1/datasets/{quote(self.name, safe='')}"

    def sql(self, text: str) -> RemoteQuery:
        """Write a query in SQL.  The server reads it when it is explained or asked."""
        return RemoteQuery(self, text)

    def budget(self, analyst: str | None = None) -> dict[str, Any]:
        """Return what you have asked and spent, and what is left, in epsilon as decimal texts.

        A custodian may name any analyst.
        """
        return dict(self.connection.get(f"{self.path}/budget", analyst=analyst))

    def answer(self, request_id: str) -> Answer:
        """Return an earlier answer of yours, with everything that was released for it, for free."""
        return read_answer(self.connection.get(f"/v1/answers/{quote(request_id, safe='')}"))

    def __repr__(self) -> str:
        return f"<RemoteDataset {self.name} on {self.connection.url}>"

    def __str__(self) -> str:
        rows = []
        for table in self.description["tables"]:
            rows.append((table["name"], "public table" if table["public"] else f"unit {table['unit']}"))
            rows += [(f"  {column['name']}", _describe_values(column)) for column in table["columns"]]
        return str(FactSheet(rows))


def _describe_values(column: dict[str, Any]) -> str:
    return column["bounds"] or ", ".join(map(str, column["keys"]))
