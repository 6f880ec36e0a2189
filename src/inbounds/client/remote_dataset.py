"""A dataset on a server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as quote_path

from inbounds.client.remote_query import RemoteQuery
from inbounds.client.remote_questions import ROW, RemoteQuestions
from inbounds.client.written_select import WrittenSelect, write_condition
from inbounds.display.dataset_listing import ColumnFacts, list_columns, list_tables
from inbounds.display.facts import FactSheet
from inbounds.display.listing import Lines, Listing
from inbounds.display.sql_names import quote
from inbounds.display.suggestion import list_names, suggest
from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.files.csv_text import key_text
from inbounds.results.answer import Answer
from inbounds.results.answer_json import read_answer

if TYPE_CHECKING:
    from inbounds.client.connection import Connection
    from inbounds.query.expressions.condition import Condition
    from inbounds.query.expressions.expression import Expression


class RemoteDataset(RemoteQuestions):
    """A dataset on a server: its description, and queries against it."""

    def __init__(
        self,
        connection: Connection,
        described: dict[str, Any],
        table: RemoteTable | None = None,
        *,
        is_practice: bool = False,
    ) -> None:
        self.connection = connection
        self.is_practice = is_practice
        """Whether questions are asked of made-up rows, for free."""
        self.description = described
        """Tables and columns with their bounds and categories, as the server describes them."""
        self._given = table

    @cached_property
    def _table(self) -> RemoteTable:
        return self._given or _find_table(self.description, self.name)

    @property
    def source(self) -> str:
        """What stands after FROM."""
        return self._table.source

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.description["name"])

    # What can be asked.

    @property
    def columns(self) -> Listing:
        """The columns that can be queried, with their types and possible values; all of it is public."""
        tables = self.description["tables"]
        if self._table.is_main:
            return list_columns(
                {table["name"]: _describe_columns(table) for table in tables},
                {table["name"]: _find_words(table) for table in tables},
            )
        words = {quote(table["name"]): _find_words(table) for table in tables}
        return list_columns({self._table.source: self._table.columns}, words)

    @property
    def tables(self) -> Listing:
        """The tables, for people: whose privacy is protected, and by what rows of a public table are matched."""
        tables = self.description["tables"]
        described = {table["name"]: table.get("description") for table in tables}
        return list_tables(tuple(map(_describe_table, tables)), described)

    @property
    def examples(self) -> Lines:
        """Queries in SQL that fit this dataset, to start from: each is accepted by `sql`."""
        return Lines(self.description.get("examples", ()))

    @property
    def unit(self) -> str:
        """The column that tells whose rows they are, or "row"."""
        return self._table.unit

    def rows_of(self, table: str) -> RemoteDataset:
        """Query another private table of the contract: `clinic.rows_of("prescriptions").count()`."""
        return self._with_table(_find_table(self.description, table))

    def per_unit(
        self, *, where: Condition | str | None = None, having: Condition | str | None = None, **measures: str
    ) -> RemoteDataset:
        """Query units, one row for each: `visits.per_unit(n="COUNT(*)", oldest="MAX(age)").mean("n")`.

        Each measure of a unit's rows is written as in SQL.  With `where`, units are those that have such rows; with
        `having`, those whose measures meet it.
        """
        return self.per(self.unit, where=where, having=having, **measures)

    def per(
        self,
        *keys: str | Expression,
        where: Condition | str | None = None,
        having: Condition | str | None = None,
        **measures: str,
    ) -> RemoteDataset:
        """Query groups of a unit's rows, one row for each: `measurements.per("stay_id", top="MAX(value)").mean("top")`.

        Keys are identifiers that say whose rows they are, or the unit itself, and any other columns beside them.  Each
        group is of one unit.
        """
        grouped = tuple(quote(self.unit) if key == self.unit else self.write_column(key) for key in keys)
        named = tuple(f"{measure} AS {quote(name)}" for name, measure in measures.items())
        conditions = () if where is None else (write_condition(where),)
        select = WrittenSelect(self.source, named, conditions, grouped)
        text, facts = str(select), [(name, "", "", measure) for name, measure in measures.items()]
        if having is not None:
            text = f"SELECT * FROM ({text}) AS grouped WHERE {write_condition(having)}"
        made = RemoteTable(f"({text}) AS units", self.unit, tuple(facts), is_main=False)
        return self._with_table(made)

    def practice(self) -> RemoteDataset:
        """Return the same dataset with made-up rows, to try questions on: free, and they tell nothing about anybody."""
        return RemoteDataset(self.connection, self.description, self._given, is_practice=True)

    def _with_table(self, table: RemoteTable) -> RemoteDataset:
        return RemoteDataset(self.connection, self.description, table, is_practice=self.is_practice)

    def _known(self) -> RemoteDataset:
        return self

    def _names(self) -> tuple[str, ...]:
        return tuple(facts[0] for facts in self._table.columns)

    def _categorical(self, column: str) -> bool:
        return column in self._table.categorical

    @property
    def path(self) -> str:
        """Its path on the server."""
        return f"/v1/datasets/{quote_path(self.name, safe='')}"

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
        return read_answer(self.connection.get(f"/v1/answers/{quote_path(request_id, safe='')}"))

    def __repr__(self) -> str:
        return f"<RemoteDataset {self.name} on {self.connection.url}>"

    def __str__(self) -> str:
        rows = []
        for table in self.description["tables"]:
            rows.append((table["name"], "public table" if table["public"] else f"unit {table['unit']}"))
            rows += [(f"  {column['name']}", _describe_values(column)) for column in table["columns"]]
        return str(FactSheet(rows))


@dataclass(frozen=True)
class RemoteTable:
    """A table to query: what stands after FROM, and what is known of its columns."""

    source: str
    unit: str
    columns: tuple[ColumnFacts, ...]
    categorical: frozenset[str] = frozenset()
    is_main: bool = True


def _find_table(described: dict[str, Any], name: str) -> RemoteTable:
    """Return a private table that the server describes."""
    private = {table["name"]: table for table in described["tables"] if not table["public"]}
    if name not in private:
        raise InvalidQuestion(f"there is no private table {shown(name)}; {suggest(name, private, 'there are')}")
    table = private[name]
    categorical = frozenset(column["name"] for column in table["columns"] if column["keys"] is not None)
    columns = tuple(_describe_columns(table))
    return RemoteTable(quote(name), table["unit"], columns, categorical, is_main=name == described["name"])


def _describe_columns(table: dict[str, Any]) -> list[ColumnFacts]:
    return [
        (column["name"], column.get("type", ""), _describe_values(column), column.get("made_of") or "")
        for column in table["columns"]
    ]


def _find_words(table: dict[str, Any]) -> dict[str, str]:
    """Return what is said of columns in words; an older server says nothing."""
    return {column["name"]: words for column in table["columns"] if (words := column.get("description"))}


def _describe_table(table: dict[str, Any]) -> tuple[str, ...]:
    if table["public"]:
        return table["name"], "public", "", "", table["key"] or ""
    unit = "each row" if table["unit"] == ROW else table["unit"]
    return table["name"], "private", unit, str(table["max_rows_per_unit"]), ""


def _describe_values(column: dict[str, Any]) -> str:
    return str(column["bounds"] or list_names([key_text(key) for key in column["keys"]]))
