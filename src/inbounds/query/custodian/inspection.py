"""What a contract does to the real table, for the custodian's eyes only: exact figures, without any noise.

Nothing here is charged, released or recorded, and no ledger is opened.  Whoever shows these figures to others gives
away what the budget is there to protect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from inbounds.errors import EngineFailed, InvalidQuestion
from inbounds.query.columns.column import Column, Keys, Numbers, key_text
from inbounds.query.columns.derived_column import Derived, DerivedKeys, stored_columns
from inbounds.query.custodian.figures import (
    KeysFound,
    KnownFound,
    LimitFound,
    MadeFound,
    NoKeysFound,
    NumbersFound,
    UnitsFound,
    UnreadFound,
    WithinFound,
)
from inbounds.query.custodian.statements import Inspecting, has_gaps, of_fields
from inbounds.query.custodian.stopwatch import Stopwatch
from inbounds.query.dataset import Dataset
from inbounds.query.tables.column_types import checked_kinds, misfits
from inbounds.query.tables.table import ROW

LIMITS = (*(digit * 10**power for power in range(6) for digit in (1, 2, 3, 5)), 10**6)
"""The row limits that are tried beside the contract's."""

MOST_VALUES = 20
"""So many values that are no key are shown."""

TOO_MANY, MOST = Fraction(5, 100), Fraction(50, 100)
"""If a larger part of a column's values is not read, the custodian is warned; and if more than half, check fails.

If more than half is no key, there is a warning alone: contracts may list some keys only."""

AT_ONCE = 100
"""So many columns, or public numbers, are looked at by one statement."""


@dataclass(frozen=True)
class Inspection:
    """True figures that tell a custodian how a contract affects its table."""

    dataset: str
    table: str
    """Which table of the dataset it is about."""
    rows: int
    units: UnitsFound | None
    """None if each row is a unit of its own, or the unit does not fit."""
    public_units: int | None
    """How many units there are according to the contract, if it says so."""
    numbers: tuple[NumbersFound, ...]
    keys: tuple[KeysFound, ...]
    made: tuple[MadeFound, ...]
    """The derived columns of columns that match."""
    known: tuple[KnownFound, ...]
    within: tuple[WithinFound, ...]
    misfits: Mapping[str, str]
    """The columns whose types do not match the contract, and why; no other figure covers them."""
    lines: int | None
    """The number of malformed lines in csv files; None for other sources."""
    seconds: float | None
    """The time that a COUNT(*) took; None if nothing can be queried yet."""
    others: tuple[Inspection, ...] = ()
    """The same of each other private table of the contract."""

    @classmethod
    def of(cls, dataset: Dataset, *, values: bool = False) -> Inspection:
        """Inspect the tables of a dataset; with `values`, also the values not in the category list."""
        if dataset.table.relation is not None:
            raise InvalidQuestion("check inspects the tables of a contract, got a joined one; pass the dataset itself")
        tables = dataset.tables.others if dataset.table is dataset.tables.main else ()
        try:
            others = tuple(_Looking(dataset.rows_of(name), values).inspection() for name in tables)
            return replace(_Looking(dataset, values).inspection(), others=others)
        except EngineFailed as failure:
            kind = failure.kind
        raise EngineFailed(kind, charged=False)

    @property
    def hardly_read(self) -> tuple[UnreadFound, ...]:
        """The columns, the unit and the lines too many of which are there and are not read, of this table."""
        columns: tuple[NumbersFound | KeysFound, ...] = (*self.numbers, *self.keys)
        found = [
            UnreadFound(one.column, one.unread, self.rows - one.missing + one.unread)
            for one in columns
            if one.unread is not None
        ]
        if self.units is not None and self.units.unread is not None:
            found.insert(0, UnreadFound(self.units.column, self.units.unread, self.units.rows + self.units.unread))
        if self.lines is not None:
            found.insert(0, UnreadFound("", self.lines, self.rows + self.lines))
        return tuple(one for one in found if one.share > TOO_MANY)

    @property
    def hardly_keys(self) -> tuple[NoKeysFound, ...]:
        """The columns more than half of whose values are no key, of this table: on purpose, or another encoding."""
        found = (NoKeysFound(one.column, one.rows, self.rows - one.missing) for one in self.keys)
        return tuple(one for one in found if one.others > one.values * MOST)

    @property
    def is_readable(self) -> bool:
        """Whether of every column of every table at least half of the values are read."""
        tables = (self, *self.others)
        return all(one.share <= MOST for table in tables for one in table.hardly_read)

    def data(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        others = [one.data() for one in self.others]
        hardly = {
            "hardly_read": [asdict(one) for one in self.hardly_read],
            "hardly_keys": [asdict(one) for one in self.hardly_keys],
        }
        return {**asdict(self), "misfits": dict(self.misfits), **hardly, "others": others}


class _Looking:
    def __init__(self, dataset: Dataset, values: bool) -> None:
        self.dataset, self.table, self.values = dataset, dataset.table, values
        self.engine = dataset.engine_of(self.table.name)
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
            table=self.table.name,
            rows=rows,
            units=self._units(rows, filled) if self.has_unit else None,
            public_units=self.table.units,
            numbers=tuple(self._of_numbers(one, rows, filled, *found) for one, found in numbers),
            keys=tuple(self._of_keys(one, rows, filled) for one in self.fitting.values() if isinstance(one, Keys)),
            made=tuple(self._made()),
            known=tuple(self._known(rows)),
            within=tuple(self._within()),
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

    def _fits(self, column: Column) -> bool:
        """Return whether everything fits that a column is made of, or it itself."""
        return set(stored_columns(column)) <= set(self.fitting)

    def _made(self) -> Iterator[MadeFound]:
        columns = [one for one in self.table.columns.values() if isinstance(one, Derived) and self._fits(one)]
        for start in range(0, len(columns), AT_ONCE):
            some = columns[start : start + AT_ONCE]
            figures = iter(self._figures(self.inspecting.of_made(some)))
            for one in some:
                missing, text = next(figures), str(one.formula)
                if isinstance(one, DerivedKeys):
                    yield MadeFound(one.name, text, missing, len(one.keys), len(one.keys) - next(figures))
                else:
                    yield MadeFound(one.name, text, missing)

    def _known(self, rows: int) -> Iterator[KnownFound]:
        """Yield each public number of rows whose columns fit, and how many rows there are."""
        known, columns = self.table.known, self.table.columns
        if known.total is not None:
            yield KnownFound("", known.total, rows)
        facts = [({name: code}, said) for name, by in known.by.items() for code, said in by.items()]
        facts += [(dict(zero), 0) for zero in known.zeros]
        facts = [one for one in facts if all(self._fits(columns[name]) for name in one[0])]
        for start in range(0, len(facts), AT_ONCE):
            some = facts[start : start + AT_ONCE]
            found = self._figures(self.inspecting.of_facts(columns, [of for of, _ in some]))
            for (of, said), counted in zip(some, found, strict=True):
                yield KnownFound(self._told(of), said, counted)

    def _told(self, of: Mapping[str, int]) -> str:
        columns = [self.table.columns[name] for name in of]
        return ", ".join(f"{one.name} = {key_text(one.keys[of[one.name]])}" for one in columns if isinstance(one, Keys))

    def _within(self) -> Iterator[WithinFound]:
        columns = self.table.columns
        for one in columns.values():
            if isinstance(one, Keys) and one.within is not None and self._fits(one) and self._fits(columns[one.within]):
                elsewhere, nowhere = self._figures(self.inspecting.of_within(columns, one))
                yield WithinFound(one.name, one.within, elsewhere, nowhere)

    def _units(self, rows: int, filled: Mapping[str, int]) -> UnitsFound:
        limits = sorted({*LIMITS, self.table.limit})
        units, owned, most, *figures = self._figures(self.inspecting.of_units(self.table.unit, limits))
        found = [
            LimitFound(limit, owned - left, above)
            for limit, above, left in zip(limits, figures[0::2], figures[1::2], strict=True)
        ]
        (own,) = (one for one in found if one.limit == self.table.limit)
        enough = next((one.limit for one in found if one.units == 0), limits[-1])
        others = tuple(one for one in found if one.limit <= max(enough, own.limit))
        unread = filled[self.table.unit] - owned if filled else None
        return UnitsFound(self.table.unit, units, owned, rows - owned, most, own, others, unread)

    def _fields(self) -> tuple[int | None, dict[str, int]]:
        """Return how many lines of csv files are no row, and how many rows have something in each column."""
        fields = self.engine.fields()
        if fields is None:
            return None, {}
        names = [*self.fitting, self.table.unit] if self.has_unit else list(self.fitting)
        lines, whole, *filled = self._figures(of_fields(fields, names))
        no_row = None if fields.lost is None else lines - whole + fields.lost
        return no_row, dict(zip(names, filled, strict=True))

    def _seconds(self) -> float:
        statement = self.dataset.count().plan(1, pooling=1).sql
        watch = Stopwatch()
        self.dataset.engine.run(statement)
        return watch.seconds
