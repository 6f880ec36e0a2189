"""What a statement is to compute."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from inbounds.query.columns.column import Column, Numbers
from inbounds.query.columns.derived_column import DerivedNumbers
from inbounds.query.engines.engine import Kind
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.question.group import Group
from inbounds.query.statement.row_weights import RowWeights


@dataclass(frozen=True)
class Total:
    """A sum over rows, to which each row adds `rows` for itself, and `steps` times its value in steps."""

    rows: int
    steps: int


@dataclass(frozen=True)
class Parts:
    """Whole numbers from 0 that a value is cut into, by its place in the range; they add up to `whole` for every value.

    A value of `v` steps out of `steps` is first counted in units of `width` steps, to the nearest.  Two parts are `v`
    and the rest; three are the squares of the distances from the greatest value and from the least, and twice their
    product between them, which is the rest.  All of it is divided by `divisor`, downwards, before the rest is taken.
    """

    column: Numbers
    width: int
    steps: int
    """From the least to the greatest value, in units."""
    divisor: int
    is_square: bool
    """Whether there are three parts."""

    @property
    def count(self) -> int:
        """How many parts there are."""
        return 3 if self.is_square else 2

    @property
    def whole(self) -> int:
        """What the parts of a value add up to."""
        if self.is_square:
            return self.steps**2 // self.divisor
        return (self.steps + self.divisor // 2) // self.divisor


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
    parts: tuple[Parts, ...] = ()
    """If any: what is added up instead of `totals`, every product of a part of each of them."""

    @property
    def needed(self) -> set[Node]:
        """The columns that it looks at."""
        nodes = {node for group in self.groups for node in group.nodes} | {part.column.node for part in self.parts}
        if isinstance(self.value, Numbers):
            nodes.add(self.value.node)
        elif self.value is not None:
            nodes.update(self.value.columns())
        return nodes | set(self.condition.columns() if self.condition is not None else ())

    @property
    def must_be_there(self) -> dict[str, Numbers]:
        """The numbers without which a row does not count, by their names."""
        columns = [group.column for group in self.groups] + [part.column for part in self.parts]
        if isinstance(self.value, Numbers) and not self.skips_missing:
            columns.append(self.value)
        if self.condition is not None:
            required = (self.columns[name] for name in sorted(self.condition.required()))
            # of others, such as COALESCE, a row may count although something in them is missing
            columns += [column for column in required if isinstance(column, Numbers) and column.is_plain]
        return {column.name: column for column in columns if isinstance(column, Numbers)}

    @property
    def skips_missing(self) -> bool:
        """Whether adding up passes over values that are missing: to look for them before would compute them twice."""
        is_null_if_missing = isinstance(self.value, DerivedNumbers) and self.value.whole.is_null_if_missing
        return is_null_if_missing and self.unit is None and not self.bucket

    @property
    def sums(self) -> bool:
        """Whether values are added up, and not only rows counted."""
        return any(total.steps for total in self.totals)

    @property
    def products(self) -> list[tuple[int, ...]]:
        """Which part of each is multiplied for each sum of products, in order."""
        return list(product(*(range(part.count) for part in self.parts))) if self.parts else []

    @property
    def width(self) -> int:
        """How many numbers are added up."""
        return len(self.products) or len(self.totals)
