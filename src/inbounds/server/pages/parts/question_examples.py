"""What can be asked, by examples that are made of the dataset's own tables and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time

from inbounds.query.columns.column import Keys, Numbers, as_value
from inbounds.query.expressions.node import quote_name
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table
from inbounds.server.pages.parts.question_form import sql_value


@dataclass(frozen=True)
class Examples:
    """Parts of questions; where no column fits, there are fewer of them."""

    measures: tuple[str, ...]
    clauses: tuple[str, ...]
    """Conditions and groups."""
    per_unit: str | None
    """A table with one row for each unit, where a unit may have several."""
    unit: str


def examples(tables: Tables) -> Examples:
    """Return examples of what can be asked of the main table."""
    table = tables.main
    numbers = [column for column in table.columns.values() if isinstance(column, Numbers)]
    keys = [column for column in table.columns.values() if isinstance(column, Keys)]
    clauses = tuple(_clauses(numbers[:1], keys[:1]))
    return Examples(tuple(_measures(numbers)), clauses, _per_unit(table), table.unit)


def _measures(numbers: list[Numbers]) -> Iterator[str]:
    yield "COUNT(*)"
    added = next((quote_name(column.name) for column in numbers if column.kind.adds_up), None)
    if added is not None:
        yield f"SUM({added})"
    if numbers:
        name = added or quote_name(numbers[0].name)
        yield from (f"AVG({name})", f"MEDIAN({name})", f"QUANTILES({name}, 0.1, 0.5, 0.9)", f"STDDEV({name})")
        yield f"HISTOGRAM({name}, 10)"
    if len(numbers) > 1:
        yield f"CORR({quote_name(numbers[0].name)}, {quote_name(numbers[1].name)})"


def _clauses(numbers: list[Numbers], keys: list[Keys]) -> Iterator[str]:
    conditions = [f"{quote_name(column.name)} >= {_middle(column)}" for column in numbers]
    conditions += [f"{quote_name(column.name)} IN ({', '.join(_first(column))})" for column in keys]
    if conditions:
        yield f"WHERE {' AND '.join(conditions)}"
    for column in keys:
        yield from (f"GROUP BY {quote_name(column.name)}", f"GROUP BY ROLLUP({quote_name(column.name)})")
        yield "ORDER BY 2 DESC LIMIT 5"


def _middle(column: Numbers) -> str:
    """Return a possible value between the least and the greatest, as SQL has it."""
    low, high = column.ends
    middle = as_value(column, (low + high) / 2 if column.bounds.step is None else column.value(column.steps // 2))
    return f"'{middle}'" if isinstance(middle, date | time) else str(middle)


def _first(column: Keys) -> list[str]:
    return [sql_value(str(category), column) for category in column.keys[:2]]


def _per_unit(table: Table) -> str | None:
    if table.rows_are_units:
        return None
    unit = quote_name(table.unit)
    return f"FROM (SELECT {unit}, COUNT(*) AS n FROM {quote_name(table.name)} GROUP BY {unit}) AS p"
