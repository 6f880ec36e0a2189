"""What a dataset offers, for whoever asks: its columns in words, and questions that fit it.

All of it is public: it follows from the contract, and no row is looked at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Self

from inbounds.display.dataset_listing import ColumnFacts, list_columns
from inbounds.display.listing import Lines, Listing
from inbounds.display.sql_names import quote
from inbounds.display.suggestion import list_names
from inbounds.errors import InvalidQuestion
from inbounds.files.csv_text import key_text
from inbounds.query.columns.column import Column, Keys, Numbers, as_value
from inbounds.query.columns.derived_column import Derived
from inbounds.query.columns.kind import TRUTH_KEY, WHOLE_KEY
from inbounds.query.expressions.node import literal
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

MOST_GROUPS = 50
"""An example groups by a column with no more categories than this, if there is one."""


class Overview(ABC):
    """What can be asked of a dataset."""

    tables: Tables
    table: Table

    @abstractmethod
    def rows_of(self, table: str) -> Self:
        """Query another private table of the contract."""

    @abstractmethod
    def sql(self, text: str) -> object:
        """Write a query in SQL."""

    @property
    def columns(self) -> Listing:
        """The columns that can be queried, with their types and possible values; all of it is public."""
        words = {name: said.columns for name, said in self.tables.descriptions.items()}
        if self.table is not self.tables.main:
            return list_columns({self.table.name: describe_columns(self.table.columns)}, words)
        private = {name: describe_columns(table.columns) for name, table in self.tables.private.items()}
        public = {name: describe_columns(table.columns) for name, table in self.tables.public.items()}
        return list_columns(private | public, words)

    @property
    def examples(self) -> Lines:
        """Queries in SQL that fit this dataset, to start from: each is accepted by `sql`."""
        return Lines(filter(self._accepts, example_questions(self.tables)))

    def _accepts(self, text: str) -> bool:
        try:
            self.rows_of(self.tables.main.name).sql(text)
        except InvalidQuestion:  # a name that the grammar cannot take, for one
            return False
        return True


def describe_columns(columns: Mapping[str, Column]) -> list[ColumnFacts]:
    """Return what is public of each column."""
    return [
        (name, name_type(column), _write_values(column), str(column.formula) if isinstance(column, Derived) else "")
        for name, column in columns.items()
    ]


def name_type(column: Column) -> str:
    """Return the type of a column in words."""
    if not isinstance(column, Keys):
        has_whole_steps = column.kind.adds_up and column.bounds.step is not None and _is_whole(column)
        return "whole numbers" if has_whole_steps else column.kind.plural
    if column.kind == TRUTH_KEY:
        return "true or false"
    return "numbered categories" if column.kind == WHOLE_KEY else "categories"


def _is_whole(column: Numbers) -> bool:
    """Return whether all values of a column with steps are whole numbers."""
    return all(value.denominator == 1 for value in (column.value(0), column.value(1)))


def _write_values(column: Column) -> str:
    return list_names([key_text(key) for key in column.keys]) if isinstance(column, Keys) else column.bounds.brief()


def example_questions(tables: Tables) -> Iterator[str]:
    """Yield questions in SQL that fit the tables of a contract, from the simplest on."""
    main = tables.main
    yield from _ask_table(main)
    yield from _ask_units(main)
    yield from _join_public(tables)
    for table in tables.others.values():
        yield f"SELECT COUNT(*) FROM {quote(table.name)}"
        yield from list(_ask_numbers(table))[:1]


def _ask_table(table: Table) -> Iterator[str]:
    name, group = quote(table.name), _find_group(table)
    yield f"SELECT COUNT(*) FROM {name}"
    if group is not None:
        by = quote(group.name)
        yield f"SELECT {by}, COUNT(*) FROM {name} GROUP BY {by} ORDER BY 2 DESC"
        yield f"SELECT COUNT(*) FROM {name} WHERE {by} = {literal(group.keys[0])}"
    yield from _ask_numbers(table)
    truth = next((column for column in table.columns.values() if column.kind == TRUTH_KEY), None)
    if truth is not None:
        yield f"SELECT PROPORTION({quote(truth.name)}) FROM {name}"


def _ask_numbers(table: Table) -> Iterator[str]:
    name, group = quote(table.name), _find_group(table)
    numbers = [column for column in table.columns.values() if isinstance(column, Numbers)]
    if not numbers:
        return
    column = next((column for column in numbers if column.kind.adds_up), numbers[0])
    own = quote(column.name)
    measures = f"AVG({own}), MEDIAN({own})"
    if group is None:
        yield f"SELECT {measures} FROM {name}"
    else:
        yield f"SELECT {quote(group.name)}, {measures} FROM {name} GROUP BY {quote(group.name)}"
    yield f"SELECT COUNT(*) FROM {name} WHERE {own} >= {_middle(column)}"
    yield f"SELECT HISTOGRAM({own}, {min(10, column.steps + 1)}) FROM {name}"


def _ask_units(table: Table) -> Iterator[str]:
    if table.rows_are_units or table.parent is not None:
        return
    name, unit = quote(table.name), quote(table.unit)
    yield f"SELECT COUNT(DISTINCT {unit}) FROM {name}"
    if table.limit > 1:
        yield f"SELECT AVG(n) FROM (SELECT {unit}, COUNT(*) AS n FROM {name} GROUP BY {unit}) AS t"


def _join_public(tables: Tables) -> Iterator[str]:
    """Yield a question about what is public of a category: of the first table whose one key is a column's."""
    main = tables.main
    for public in tables.public.values():
        own = public.key[0] if len(public.key) == 1 else None
        fits = own is not None and isinstance(main.columns.get(own), Keys)
        known = next((column for column in public.columns.values() if isinstance(column, Keys)), None)
        if fits and known is not None and own is not None:
            ours, theirs, by = quote(main.name), quote(public.name), f"{quote(public.name)}.{quote(known.name)}"
            on = f"{ours}.{quote(own)} = {theirs}.{quote(own)}"
            yield f"SELECT {by}, COUNT(*) FROM {ours} JOIN {theirs} ON {on} GROUP BY {by}"
            return


def _find_group(table: Table) -> Keys | None:
    """Return a column to group by: the first with few categories, else with the fewest."""
    keys = [column for column in table.columns.values() if isinstance(column, Keys) and column.kind != TRUTH_KEY]
    few = [column for column in keys if len(column.keys) <= MOST_GROUPS]
    return few[0] if few else min(keys, key=lambda column: len(column.keys), default=None)


def _middle(column: Numbers) -> str:
    """Return a possible value between the least and the greatest, as SQL has it."""
    low, high = column.ends
    middle = as_value(column, (low + high) / 2 if column.bounds.step is None else column.value(column.steps // 2))
    return f"'{middle}'" if isinstance(middle, date) else str(middle)
