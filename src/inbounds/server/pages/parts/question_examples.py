"""What can be asked, by examples that are made of the dataset's own tables and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from inbounds.query.columns.column import Keys, Numbers, as_value
from inbounds.query.expressions.node import quoted
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
    numbers = [one for one in table.columns.values() if isinstance(one, Numbers)]
    keys = [one for one in table.columns.values() if isinstance(one, Keys)]
    clauses = tuple(_clauses(numbers[:1], keys[:1]))
    return Examples(tuple(_measures(numbers)), clauses, _per_unit(table), table.unit)


def _measures(numbers: list[Numbers]) -> Iterator[str]:
    yield "COUNT(*)"
    added = next((quoted(one.name) for one in numbers if one.kind.adds_up), None)
    if added is not None:
        yield f"SUM({added})"
    if numbers:
        name = added or quoted(numbers[0].name)
        yield from (f"AVG({name})", f"MEDIAN({name})", f"QUANTILES({name}, 0.1, 0.5, 0.9)", f"STDDEV({name})")
        yield f"HISTOGRAM({name}, 10)"
    if len(numbers) > 1:
        yield f"CORR({quoted(numbers[0].name)}, {quoted(numbers[1].name)})"


def _clauses(numbers: list[Numbers], keys: list[Keys]) -> Iterator[str]:
    conditions = [f"{quoted(one.name)} >= {_middle(one)}" for one in numbers]
    conditions += [f"{quoted(one.name)} IN ({', '.join(_first(one))})" for one in keys]
    if conditions:
        yield f"WHERE {' AND '.join(conditions)}"
    for one in keys:
        yield from (f"GROUP BY {quoted(one.name)}", f"GROUP BY ROLLUP({quoted(one.name)})")
        yield "ORDER BY 2 DESC LIMIT 5"


def _middle(column: Numbers) -> str:
    """Return a possible value between the least and the greatest, as SQL has it."""
    low, high = column.ends
    middle = as_value(column, (low + high) / 2 if column.bounds.step is None else column.value(column.steps // 2))
    return f"'{middle}'" if isinstance(middle, date) else str(middle)


def _first(column: Keys) -> list[str]:
    return [sql_value(str(one), column) for one in column.keys[:2]]


def _per_unit(table: Table) -> str | None:
    if table.rows_are_units:
        return None
    unit = quoted(table.unit)
    return f"FROM (SELECT {unit}, COUNT(*) AS n FROM {quoted(table.name)} GROUP BY {unit}) AS p"
