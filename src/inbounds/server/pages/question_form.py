"""The form for those who do not know SQL: what is chosen there, written as SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from inbounds.exact.decimals import is_decimal
from inbounds.query.column import Column, Keys
from inbounds.query.tables import Tables

MEASURES = {
    "rows": "COUNT(*)",
    "units": "COUNT(DISTINCT {unit})",
    "sum": "SUM({column})",
    "mean": "AVG({column})",
    "median": "MEDIAN({column})",
    "spread": "STDDEV({column})",
    "quantiles": "QUANTILES({column}, 0.1, 0.25, 0.5, 0.75, 0.9)",
}
COMPARISONS = {"is": "=", "is not": "<>", "is at least": ">=", "is at most": "<="}


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
    def of(cls, sent: Mapping[str, str]) -> Choices:
        """Read the form."""
        return cls(**{one.name: sent[one.name][:200] for one in fields(cls) if one.name in sent})

    @property
    def is_wanted(self) -> bool:
        """Whether the form was sent."""
        return self.measure in MEASURES


def written(tables: Tables, choices: Choices) -> str:
    """Return the question that was chosen, in SQL; what is missing shows when it is explained."""
    table = tables.private.get(choices.table, tables.main)
    groups = [_name(one) for one in (choices.by, choices.then_by) if one]
    measure = MEASURES[choices.measure].format(column=_name(choices.column), unit=_name(table.unit))
    parts = [f"SELECT {', '.join([*groups, measure])} FROM {_name(table.name)}"]
    if choices.where and choices.value:
        sign = COMPARISONS.get(choices.compare, "=")
        parts.append(f"WHERE {_name(choices.where)} {sign} {_value(choices.value, table.columns.get(choices.where))}")
    if groups:
        listed = ", ".join(groups)
        totals = choices.totals == "yes" and choices.measure in ("rows", "units", "sum")
        parts.append(f"GROUP BY CUBE({listed})" if totals else f"GROUP BY {listed}")
    return " ".join(parts)


def _name(text: str) -> str:
    plain = text.isascii() and text.replace("_", "a").isalnum() and not text[:1].isdigit()
    return text if plain else '"' + text.replace('"', '""') + '"'


def _value(text: str, column: Column | None) -> str:
    """Return a constant: a key as the contract has it, a number as it is, anything else as a text."""
    key = next((one for one in column.keys if str(one) == text), None) if isinstance(column, Keys) else None
    if not isinstance(key, str) and is_decimal(text.strip()):
        return text.strip()
    if isinstance(key, bool):
        return str(key).upper()
    return "'" + text.replace("'", "''") + "'"
