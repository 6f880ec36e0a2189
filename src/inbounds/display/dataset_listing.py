"""What a dataset has, as tables for people: its tables, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from inbounds.display.listing import Listing

TABLES_HEAD = ("table", "kind", "unit", "max rows per unit", "join key")

COLUMNS_HEAD = ("table", "column", "type", "values", "made of")

DESCRIPTION = "description"
"""The head of a last column, if something is said of any of them in words."""

ColumnFacts = tuple[str, str, str, str]
"""What a column is called, its type in words, its values and what it is made of."""


def list_tables(rows: Sequence[tuple[str, ...]], described: Mapping[str, str | None]) -> Listing:
    """Return tables as a table for people, with what is said of them in words if there is anything."""
    if not any(described.values()):
        return Listing(TABLES_HEAD, tuple(rows))
    return Listing((*TABLES_HEAD, DESCRIPTION), tuple((*row, described.get(row[0]) or "") for row in rows))


def list_columns(columns: Mapping[str, Iterable[ColumnFacts]], words: Mapping[str, Mapping[str, str]]) -> Listing:
    """Return the columns of some tables, by name, as a table for people; one table need not be named.

    What is said of them in words stands beside them, if there is anything.
    """
    several = len(columns) > 1
    head: tuple[str, ...] = COLUMNS_HEAD
    rows: list[tuple[str, ...]] = [(table, *facts) for table, known in columns.items() for facts in known]
    if any(words.get(table) for table in columns):
        head, rows = (*head, DESCRIPTION), [(*row, words.get(row[0], {}).get(row[1], "")) for row in rows]
    return Listing(head, tuple(rows)) if several else Listing(head[1:], tuple(row[1:] for row in rows))
