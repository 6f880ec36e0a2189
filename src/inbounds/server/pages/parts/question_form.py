"""The form for those who do not know SQL: what is chosen there, written as SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

from inbounds.exact.decimals import is_decimal
from inbounds.query.columns.column import Column, Keys
from inbounds.query.expressions.node import quote_name
from inbounds.query.tables.contract_tables import Tables

MEASURES = {
    "rows": "COUNT(*)",
    "units": "COUNT(DISTINCT {unit})",
    "sum": "SUM({column})",
    "mean": "AVG({column})",
    "median": "MEDIAN({column})",
    "spread": "STDDEV({column})",
    "quantiles": "QUANTILES({column}, 0.1, 0.25, 0.5, 0.75, 0.9)",
}
OF_A_COLUMN = tuple(name for name, sql in MEASURES.items() if "{column}" in sql)
ADDED_UP = ("rows", "units", "sum")
"""What has totals."""

COMPARISONS = {"is": "=", "is not": "<>", "is at least": ">=", "is at most": "<="}


class Lack(NamedTuple):
    """What is missing for a question: in which field, in words."""

    field: str
    words: str


@dataclass(frozen=True)
class Choices:
    """What was chosen; nothing is a choice too."""

    table: str = ""
    measure: str = ""
    column: str = ""
    where: str = ""
    compare: str = "is"
    value: str = ""
    by: str = ""
    then_by: str = ""
    totals: str = ""

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Choices:
        """Read the form."""
        return cls(**{field.name: form[field.name][:200] for field in fields(cls) if field.name in form})

    @property
    def is_wanted(self) -> bool:
        """Whether the form was sent, and is a question."""
        return self.measure in MEASURES and self.lack is None

    @property
    def lack(self) -> Lack | None:
        """What is missing, or chosen and impossible: no choice is left out in silence."""
        if self.measure not in MEASURES:
            return None  # it was not sent
        if self.measure in OF_A_COLUMN and not self.column:
            return Lack("column", "Choose a column to measure.")
        if self.where and not self.value:
            return Lack("value", f"Enter a value to compare {self.where} with, or choose “no filter”.")
        if self.value and not self.where:
            return Lack("where", "Choose a column to compare with the value, or clear the value.")
        if self.totals and self.measure not in ADDED_UP:
            return Lack(
                "totals", "Only counts and sums have totals: clear “Include totals”, or choose a count or a sum."
            )
        return None


def to_sql(tables: Tables, choices: Choices) -> str:
    """Return the question that was chosen, in SQL; nothing that it needs may be missing."""
    table = tables.private.get(choices.table, tables.main)
    groups = [quote_name(column) for column in (choices.by, choices.then_by) if column]
    measure = MEASURES[choices.measure].format(column=quote_name(choices.column), unit=quote_name(table.unit))
    parts = [f"SELECT {', '.join([*groups, measure])} FROM {quote_name(table.name)}"]
    if choices.where:
        sign = COMPARISONS.get(choices.compare, "=")
        parts.append(
            f"WHERE {quote_name(choices.where)} {sign} {sql_value(choices.value, table.columns.get(choices.where))}"
        )
    if groups:
        listed = ", ".join(groups)
        parts.append(f"GROUP BY CUBE({listed})" if choices.totals else f"GROUP BY {listed}")
    return " ".join(parts)


def sql_value(text: str, column: Column | None) -> str:
    """Return a constant: a key as the contract has it, a number as it is, anything else as a text."""
    categories = column.keys if isinstance(column, Keys) else ()
    category = next((category for category in categories if str(category) == text), None)
    if not isinstance(category, str) and is_decimal(text.strip()):
        return text.strip()
    if isinstance(category, bool):
        return str(category).upper()
    return "'" + text.replace("'", "''") + "'"
