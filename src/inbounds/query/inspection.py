"""What a contract does to the real table, for the custodian's eyes only: exact figures, without any noise.

Nothing here is charged, released or recorded, and no ledger is opened.  Whoever shows these figures to others gives
away what the budget is there to protect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlglot import exp

from inbounds.errors import EngineFailed
from inbounds.query.column import Keys, Numbers
from inbounds.query.column_types import checked_kinds, misfits
from inbounds.query.dataset import Dataset
from inbounds.query.statement.inspecting import Inspecting, has_gaps, of_fields
from inbounds.query.stopwatch import Stopwatch
from inbounds.query.table import ROW

LIMITS = (*(digit * 10**power for power in range(6) for digit in (1, 2, 3, 5)), 10**6)
"""The row limits that are tried beside the contract's."""

MOST_VALUES = 20
"""So many values that are no key are shown."""

AT_ONCE = 100
"""So many columns are looked at by one statement."""


@dataclass(frozen=True)
class LimitFound:
    """What a row limit takes away."""

    limit: int
    rows: int
    """How many rows are beyond it: what they would add to a count, and do not."""
    units: int
    """How many units have more rows."""


@dataclass(frozen=True)
class UnitsFound:
    """Whose rows they are, and what limits on their number do."""

    column: str
    units: int
    rows: int
    """How many rows have a unit."""
    rows_without: int
    """How many rows have no unit; they never count."""
    most: int
    """How many rows the unit has that has most."""
    limit: LimitFound
    """What the contract's limit does."""
    others: tuple[LimitFound, ...]
    """What other limits would do, up to the first that takes nothing away."""


@dataclass(frozen=True)
class NumbersFound:
    """The values of a column of numbers or days."""

    column: str
    bounds: str
    missing: int
    below: int
    """So many values are clipped to the least possible one."""
    above: int
    in_gaps: int | None
    """So many are between possible ones; None if there are too many gaps to look into."""
    unread: int | None = None
    """How many of the missing ones are fields of a file that are no number or day; None where a table has types."""


@dataclass(frozen=True)
class KeysFound:
    """The values of a column of keys."""

    column: str
    keys: int
    missing: int
    rows: int
    """How many rows hold another value than a key; they fall in no group."""
    others: int
    """How many such values there are."""
    unused: int
    """How many keys have no row."""
    values: tuple[tuple[Any, int], ...] | None = None
    """The most frequent of the other values and their rows, if they were asked for."""
    unread: int | None = None


@dataclass(frozen=True)
class Inspection:
    """What a custodian should know of a table and its contract before others ask."""

    dataset: str
    rows: int
    units: UnitsFound | None
    """None if each row is a unit of its own, or the unit does not fit."""
    public_units: int | None
    """How many units there are according to the contract, if it says so."""
    numbers: tuple[NumbersFound, ...]
    keys: tuple[KeysFound, ...]
    misfits: Mapping[str, str]
    """The columns that do not hold what the contract says, which no other figure is about, and why."""
    lines: int | None
    """How many lines of csv files are no row; None where there are no lines."""
    seconds: float | None
    """How long the statement of a COUNT(*) took; None if nothing can be asked yet."""

    @classmethod
    def of(cls, dataset: Dataset, *, values: bool = False) -> Inspection:
        """Look at the table of a dataset; with `values`, also at the values that are no key."""
        try:
            return _Looking(dataset, values).inspection()
        except EngineFailed as failure:
            kind = failure.kind
        raise EngineFailed(kind, charged=False)

    def data(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return {**asdict(self), "misfits": dict(self.misfits)}


class _Looking:
    def __init__(self, dataset: Dataset, values: bool) -> None:
        self.dataset, self.table, self.engine, self.values = dataset, dataset.table, dataset.engine, values
        found = self.engine.kinds()
        self.misfits = misfits(self.table, found)
        self.fitting = {name: one for name, one in self.table.stored.items() if name not in self.misfits}
        self.has_unit = not self.table.rows_are_units and self.table.unit not in self.misfits
        described = replace(self.table, unit=self.table.unit if self.has_unit else ROW, columns=self.fitting)
        self.inspecting = Inspecting(self.engine.relation(), checked_kinds(described, found), self.engine.dialect)

    def inspection(self) -> Inspection:
        rows, numbers = self._numbers()
        lines, filled = self._fields()
        return Inspection(
            dataset=self.dataset.name,
            rows=rows,
            units=self._units(rows) if self.has_unit else None,
            public_units=self.table.units,
            numbers=tuple(self._of_numbers(one, rows, filled, *found) for one, found in numbers),
            keys=tuple(self._of_keys(one, rows, filled) for one in self.fitting.values() if isinstance(one, Keys)),
            misfits=self.misfits,
            lines=lines,
            seconds=None if self.misfits else self._seconds(),
        )

    def _run(self, statement: exp.Select) -> list[tuple[Any, ...]]:
        return self.engine.run(self.engine.dialect.render(statement))

    def _figures(self, statement: exp.Select) -> list[int]:
        """Return the one row of a statement; a sum over no rows is 0."""
        ((*found,),) = self._run(statement)
        return [int(figure or 0) for figure in found]

    def _numbers(self) -> tuple[int, list[tuple[Numbers, list[int]]]]:
        """Return how many rows there are, and the figures of each column."""
        columns = [one for one in self.fitting.values() if isinstance(one, Numbers)]
        rows, found = 0, []
        for start in range(0, max(1, len(columns)), AT_ONCE):
            some = columns[start : start + AT_ONCE]
            rows, *figures = self._figures(self.inspecting.of_numbers(some))
            for one in some:
                count = 4 if has_gaps(one) else 3
                found.append((one, figures[:count]))
                del figures[:count]
        return rows, found

    def _of_numbers(
        self, one: Numbers, rows: int, filled: Mapping[str, int], missing: int, below: int, above: int, *in_gaps: int
    ) -> NumbersFound:
        unread = filled[one.name] - (rows - missing) if filled else None
        gaps = in_gaps[0] if in_gaps else 0 if len(one.lattice) == 1 else None
        return NumbersFound(one.name, one.bounds.brief(), missing, below, above, gaps, unread)

    def _of_keys(self, one: Keys, rows: int, filled: Mapping[str, int]) -> KeysFound:
        missing, other_rows, others, used = self._figures(self.inspecting.of_keys(one))
        unread = filled[one.name] - (rows - missing) if filled else None
        values = None
        if self.values:
            values = tuple((value, int(n)) for value, n in self._run(self.inspecting.other_values(one, MOST_VALUES)))
        return KeysFound(one.name, len(one.keys), missing, other_rows, others, len(one.keys) - used, values, unread)

    def _units(self, rows: int) -> UnitsFound:
        limits = sorted({*LIMITS, self.table.limit})
        units, owned, most, *figures = self._figures(self.inspecting.of_units(self.table.unit, limits))
        found = [
            LimitFound(limit, owned - left, above)
            for limit, above, left in zip(limits, figures[0::2], figures[1::2], strict=True)
        ]
        (own,) = (one for one in found if one.limit == self.table.limit)
        enough = next((one.limit for one in found if one.units == 0), limits[-1])
        others = tuple(one for one in found if one.limit <= max(enough, own.limit))
        return UnitsFound(self.table.unit, units, owned, rows - owned, most, own, others)

    def _fields(self) -> tuple[int | None, dict[str, int]]:
        """Return how many lines of csv files are no row, and how many rows have something in each column."""
        fields = self.engine.fields()
        if fields is None:
            return None, {}
        lines, whole, *filled = self._figures(of_fields(fields, self.fitting))
        return lines - whole, dict(zip(self.fitting, filled, strict=True))

    def _seconds(self) -> float:
        statement = self.dataset.count().plan(1, pooling=1).sql
        watch = Stopwatch()
        self.engine.run(statement)
        return watch.seconds
