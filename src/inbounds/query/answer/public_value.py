"""A value that is public before anything is asked: exact, and free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from inbounds.query.answer.released.expression import Ends, Exact, Kind, Released, ReleasedRow, exactly
from inbounds.query.question.measure import Measure, Quantile, as_decimal_text


@dataclass(frozen=True)
class PublicValue(Released):
    """What a measure must be in each group, whatever the table holds."""

    measure: Measure
    values: Mapping[tuple[Any, ...], Any] = field(compare=False, repr=False)
    """By the keys of the group; None, or nothing, where there can be no value."""
    kind: Kind = "number"
    has_namesake: bool = False
    """Whether another public measure would be called the same: another quantile of the column."""
    varies = True

    @property
    def name(self) -> str:
        """What its column is called: a quantile beside another of its column by its level, too."""
        measure = self.measure
        if self.has_namesake and isinstance(measure, Quantile):
            return f"quantile_{as_decimal_text(measure.level)}_{measure.column}"
        return measure.public_name

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the value."""
        return exactly(self._value(row))

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the value itself, if it is a number."""
        found = self.evaluate(row)
        return (found, found) if self.kind == "number" and isinstance(found, int | Fraction) else None

    def cell(self, row: ReleasedRow) -> tuple[Any, float | None, tuple[Any, Any] | None]:
        """Return the value as it is shown, that it has no noise, and where it lies: there."""
        value = self._value(row)
        return (None, None, None) if value is None else (value, 0.0, (value, value))

    def _value(self, row: ReleasedRow) -> Any:
        return self.values.get(tuple(row.keys.values()))

    def __str__(self) -> str:
        return str(self.measure)
