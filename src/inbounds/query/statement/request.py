"""What a statement is to compute."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.query.column import Column, Numbers
from inbounds.query.condition import Condition
from inbounds.query.engines.engine import Kind
from inbounds.query.group import Group
from inbounds.query.row_weights import RowWeights


@dataclass(frozen=True)
class Total:
    """A sum over rows, to which each row adds `rows` for itself, and `steps` times its value in steps."""

    rows: int
    steps: int


@dataclass(frozen=True)
class Request:
    """What a statement is to compute."""

    columns: dict[str, Column]
    kinds: dict[str, Kind]
    groups: tuple[Group, ...]
    condition: Condition | None
    value: Numbers | Condition | None
    """What is added up: a column, or 1 for each row for which a condition is true, or nothing but the rows."""
    bucket: int
    """If positive: rows are also told apart by their value, in buckets of so many steps."""
    unit: str | None
    """The column that tells whose rows they are; None if each row is a unit of its own."""
    distinct: bool
    """Whether a unit's rows in a group count once."""
    totals: tuple[Total, ...]
    weights: RowWeights

    @property
    def sums(self) -> bool:
        """Whether values are added up, and not only rows counted."""
        return any(total.steps for total in self.totals)
