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
from inbounds.files.csv_text import key_text
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import Derived, DerivedKeys
from inbounds.query.custodian.figures import (
    DerivedFigures,
    KeyFigures,
    KeysFigures,
    KnownFigures,
    LimitFigures,
    NoKeysFigures,
    NumbersFigures,
    PublicFigures,
    ReferenceFigures,
    UnitsFigures,
    UnreadFigures,
    WithinFigures,
)
from inbounds.query.custodian.ownership import Ownership
from inbounds.query.custodian.statements import InspectionStatements, has_gaps, of_fields
from inbounds.query.custodian.stopwatch import Stopwatch
from inbounds.query.dataset import Dataset
from inbounds.query.engines.engine import Kind
from inbounds.query.statement.relations import TableReader
from inbounds.query.tables.column_types import check_kinds, misfits
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import ROW, Table

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
    units: UnitsFigures | None
    """None if each row is a unit of its own, or the unit does not fit."""
    public_units: int | None
    """How many units there are according to the contract, if it says so."""
    numbers: tuple[NumbersFigures, ...]
    keys: tuple[KeysFigures, ...]
    made: tuple[DerivedFigures, ...]
    """The derived columns of columns that match."""
    known: tuple[KnownFigures, ...]
    within: tuple[WithinFigures, ...]
    misfits: Mapping[str, str]
    """The columns whose types do not match the contract, and why; no other figure covers them."""
    lines: int | None
    """The number of malformed lines in csv files; None for other sources."""
    seconds: float | None
    """The time that a COUNT(*) took; None if nothing can be queried yet."""
    key: KeyFigures | None = None
    """None if the contract names no key, or it does not fit."""
    reference: ReferenceFigures | None = None
    """None if its rows do not belong to those of another table, or the columns do not fit."""
    unlinked: tuple[str, ...] = ()
    """Those of the columns that do not match by which rows are told apart or whose they are: key, on and the unit."""
    others: tuple[Inspection, ...] = ()
    """The same of each other private table of the contract."""
    public: tuple[PublicFigures, ...] = ()
    """The public tables of the contract."""

    @classmethod
    def of(cls, dataset: Dataset, *, values: bool = False) -> Inspection:
        """Inspect the tables of a dataset; with `values`, also the values not in the category list."""
        if dataset.table.relation is not None:
            raise InvalidQuestion("check inspects the tables of a contract, got a joined one; pass the dataset itself")
        is_main = dataset.table is dataset.tables.main
        try:
            found = _Inspector(dataset, values).inspection()
            if not is_main:
                return found
            others = (_Inspector(dataset.rows_of(name), values).inspection() for name in dataset.tables.others)
            return replace(found, others=tuple(others), public=tuple(map(_public, dataset.tables.public.values())))
        except EngineFailed as failure:
            kind = failure.kind
        raise EngineFailed(kind, charged=False)

    @property
    def hardly_read(self) -> tuple[UnreadFigures, ...]:
        """The columns, the unit and the lines too many of which are there and are not read, of this table."""
        columns: tuple[NumbersFigures | KeysFigures, ...] = (*self.numbers, *self.keys)
        unread = [
            UnreadFigures(column.column, column.unread, self.rows - column.missing + column.unread)
            for column in columns
            if column.unread is not None
        ]
        if self.units is not None and self.units.unread is not None:
            unread.insert(0, UnreadFigures(self.units.column, self.units.unread, self.units.rows + self.units.unread))
        if self.lines is not None:
            unread.insert(0, UnreadFigures("", self.lines, self.rows + self.lines))
        return tuple(figures for figures in unread if figures.share > TOO_MANY)

    @property
    def hardly_keys(self) -> tuple[NoKeysFigures, ...]:
        """The columns more than half of whose values are no key, of this table: on purpose, or another encoding."""
        no_keys = (NoKeysFigures(column.column, column.rows, self.rows - column.missing) for column in self.keys)
        return tuple(figures for figures in no_keys if figures.others > figures.values * MOST)

    @property
    def is_readable(self) -> bool:
        """Whether the rows of every table can be matched, and of every column at least half of the values are read."""
        tables = (self, *self.others)
        is_read = all(column.share <= MOST for table in tables for column in table.hardly_read)
        return is_read and not any(table.unlinked for table in tables)

    def data(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        others = [inspection.data() for inspection in self.others]
        hardly = {
            "hardly_read": [asdict(figures) for figures in self.hardly_read],
            "hardly_keys": [asdict(figures) for figures in self.hardly_keys],
        }
        return {**asdict(self), "misfits": dict(self.misfits), **hardly, "others": others}


class _Inspector:
    """Inspects one table: sees which columns hold what the contract says, then counts, many columns in a statement.

    A column that does not fit is known by its type alone: no statement may touch it, for it could fail on a row.
    """

    def __init__(self, dataset: Dataset, values: bool) -> None:
        self.dataset, self.table, self.values = dataset, dataset.table, values
        self.engine = dataset.engine_of(self.table.name)
        self.engines = {table.name: dataset.engine_of(table.name) for table in _path(self.table)}
        self.reader = TableReader(self.engines, dataset.engine.dialect)
        kinds = self.engine.kinds()
        self.misfits = misfits(self.table, kinds, self.engine.column_names())
        described = self._describe(self.table, self.misfits)
        self.fitting = described.stored
        self.has_unit = not described.rows_are_units
        self.statements = InspectionStatements(
            self.engine.relation(), check_kinds(described, kinds), self.engine.dialect
        )
        self.ownership = Ownership(described, self.reader)

    def _describe(self, table: Table, problems: dict[str, str]) -> Table:
        """Return a table with the columns that fit; its rows have no unit if none is found with these."""
        columns = {name: column for name, column in table.stored.items() if name not in problems}
        identifiers = {name: identifier for name, identifier in table.identifiers.items() if name not in problems}
        alone = replace(table, unit=ROW, parent=None, columns=columns, identifiers=identifiers)
        if table.parent is None:
            return alone if table.unit in problems else replace(alone, unit=table.unit)
        above = self._describe(table.parent.table, misfits(table.parent.table, self._kinds(table.parent.table)))
        for own, of in table.parent.on:
            left, right = self.reader.raw_kind(alone, own), self.reader.raw_kind(above, of)
            if left is None or right is None or above.rows_are_units:  # which is told of the column that does not fit
                return alone
            try:
                self.reader.match((exp.null(), left), (exp.null(), right), f"{table.name}.{own} and {above.name}.{of}")
            except InvalidQuestion as problem:
                problems[own] = str(problem)
                return alone
        return replace(alone, unit=above.unit, parent=replace(table.parent, table=above))

    def _kinds(self, table: Table) -> dict[str, Kind]:
        return self.engines[table.name].kinds()

    def inspection(self) -> Inspection:
        rows, numbers = self._numbers()
        lines, filled = self._fields()
        reference = self._reference()
        units = self._units(rows, filled, reference) if self.has_unit else None
        return Inspection(
            dataset=self.dataset.name,
            table=self.table.name,
            rows=rows,
            units=units,
            public_units=self.table.units,
            numbers=tuple(self._of_numbers(column, rows, filled, *figures) for column, figures in numbers),
            keys=tuple(
                self._of_keys(column, rows, filled) for column in self.fitting.values() if isinstance(column, Keys)
            ),
            made=tuple(self._derived()),
            known=(*self._known(rows), *self._over_limit(units)),
            within=tuple(self._within()),
            misfits=self.misfits,
            unlinked=tuple(name for name in self.misfits if self._links(name)),
            lines=lines,
            seconds=self._seconds() if self._is_ready else None,
            key=self._key(rows),
            reference=reference,
        )

    @property
    def _is_ready(self) -> bool:
        """Whether questions can be asked: the table fits, and those that tell whose rows they are."""
        path = _path(self.table)
        return not self.misfits and not any(misfits(table, self._kinds(table)) for table in path[1:])

    def _links(self, name: str) -> bool:
        """Return whether rows are told apart by a column, or whose they are."""
        table = self.table
        own = {*table.key, *(own for own, _ in (table.parent.on if table.parent is not None else ()))}
        known = table.identifiers.get(name)
        is_matched = known is not None and not known.is_text and known.keys_of is None
        return name in own or is_matched or (table.parent is None and name == table.unit)

    def _run(self, statement: exp.Select) -> list[tuple[Any, ...]]:
        return self.engine.run(self.engine.dialect.render(statement))

    def _figures(self, statement: exp.Select) -> list[int]:
        """Return the one row of a statement; a sum over no rows is 0."""
        ((*row,),) = self._run(statement)
        return [int(figure or 0) for figure in row]

    def _figures_together(self, statement: exp.Select) -> list[int]:
        """Return the one row of a statement that may be about several tables, which one engine reads."""
        engine = self.dataset.engine
        ((*row,),) = engine.run(engine.dialect.render(statement))
        return [int(figure or 0) for figure in row]

    def _key(self, rows: int) -> KeyFigures | None:
        key = self.table.key
        if not key or any(self.reader.raw_kind(self.ownership.table, name) is None for name in key):
            return None
        there, repeated, repeating = self._figures_together(self.ownership.of_key())
        shared = self._figures_together(self.ownership.of_shared_key())[0] if self.has_unit else None
        return KeyFigures(key, rows - there, repeated, repeating, shared, self.engine.declares_unique(key))

    def _reference(self) -> ReferenceFigures | None:
        parent = self.ownership.table.parent
        if parent is None:
            return None
        figures = self._figures_together(self.ownership.of_reference(parent))
        return ReferenceFigures(parent.table.name, parent.on, *figures)

    def _numbers(self) -> tuple[int, list[tuple[Numbers, list[int]]]]:
        """Return how many rows there are, and the figures of each column."""
        columns = [column for column in self.fitting.values() if isinstance(column, Numbers)]
        rows, numbers = 0, []
        for start in range(0, max(1, len(columns)), AT_ONCE):
            batch = columns[start : start + AT_ONCE]
            rows, *figures = self._figures(self.statements.of_numbers(batch))
            for column in batch:
                count = 4 if has_gaps(column) else 3
                numbers.append((column, figures[:count]))
                del figures[:count]
        return rows, numbers

    def _of_numbers(
        self, column: Numbers, rows: int, filled: Mapping[str, int], missing: int, below: int, above: int, *in_gaps: int
    ) -> NumbersFigures:
        # What stands in the file and yet is missing could not be read as a value.
        unread = filled[column.name] - (rows - missing) if filled else None
        gaps = in_gaps[0] if in_gaps else 0 if len(column.lattice) == 1 else None
        return NumbersFigures(column.name, column.bounds.brief(), missing, below, above, gaps, unread)

    def _of_keys(self, column: Keys, rows: int, filled: Mapping[str, int]) -> KeysFigures:
        missing, other_rows, others, used = self._figures(self.statements.of_keys(column))
        unread = filled[column.name] - (rows - missing) if filled else None
        values = None
        if self.values:
            values = tuple((value, int(n)) for value, n in self._run(self.statements.other_values(column, MOST_VALUES)))
        return KeysFigures(column.name, column.size, missing, other_rows, others, column.size - used, values, unread)

    def _fits(self, column: Column) -> bool:
        """Return whether everything fits that a column is made of, or it itself."""
        return set(column.stored) <= set(self.fitting)

    def _derived(self) -> Iterator[DerivedFigures]:
        columns = [column for column in filter(self._fits, self.table.columns.values()) if isinstance(column, Derived)]
        for start in range(0, len(columns), AT_ONCE):
            batch = columns[start : start + AT_ONCE]
            figures = iter(self._figures(self.statements.of_derived(batch)))
            for column in batch:
                missing, text = next(figures), str(column.formula)
                if isinstance(column, DerivedKeys):
                    yield DerivedFigures(column.name, text, missing, len(column.keys), len(column.keys) - next(figures))
                else:
                    yield DerivedFigures(column.name, text, missing)

    def _known(self, rows: int) -> Iterator[KnownFigures]:
        """Yield each public number of rows whose columns fit, and how many rows there are."""
        known, columns = self.table.known, self.table.columns
        if known.total is not None:
            yield KnownFigures("", known.total, rows)
        facts = [({name: code}, public) for name, by in known.by.items() for code, public in by.items()]
        facts += [(dict(zero), 0) for zero in known.zeros]
        facts = [fact for fact in facts if all(self._fits(columns[name]) for name in fact[0])]
        for start in range(0, len(facts), AT_ONCE):
            batch = facts[start : start + AT_ONCE]
            figures = self._figures(self.statements.of_facts(columns, [codes for codes, _ in batch]))
            for (codes, public), rows_there in zip(batch, figures, strict=True):
                yield KnownFigures(self._describe_keys(codes), public, rows_there)

    def _over_limit(self, units: UnitsFigures | None) -> Iterator[KnownFigures]:
        """Yield what is public of the rows over the row limit, and how many there are."""
        over = self.table.known.over_limit
        if over is None or units is None:
            return
        there = next(figures for figures in units.others if figures.limit == over.limit)
        yield KnownFigures(f"units over {over.limit}", over.units, there.units, at_most=True)
        if over.rows is not None:
            yield KnownFigures(f"rows over {over.limit}", over.rows, there.rows, at_most=True)

    def _describe_keys(self, codes: Mapping[str, int]) -> str:
        columns = self.table.columns
        keys = {name: column.keys for name in codes if isinstance(column := columns[name], Keys)}
        return ", ".join(f"{name} = {key_text(keys[name][code])}" for name, code in codes.items())

    def _within(self) -> Iterator[WithinFigures]:
        columns = self.table.columns
        for column in filter(self._fits, columns.values()):
            if isinstance(column, Keys) and column.within is not None and self._fits(columns[column.within]):
                elsewhere, nowhere = self._figures(self.statements.of_within(columns, column))
                yield WithinFigures(column.name, column.within, elsewhere, nowhere)

    def _units(self, rows: int, filled: Mapping[str, int], reference: ReferenceFigures | None) -> UnitsFigures:
        over = self.table.known.over_limit
        limits = sorted({*LIMITS, self.table.limit, *(() if over is None else (over.limit,))})
        owned_rows = replace(self.statements, relation=self.ownership.owned_rows)
        units, owned, most, *counts = self._figures_together(owned_rows.of_units(self.table.unit, limits))
        tried = [
            LimitFigures(limit, owned - left, above)
            for limit, above, left in zip(limits, counts[0::2], counts[1::2], strict=True)
        ]
        (own,) = (figures for figures in tried if figures.limit == self.table.limit)
        # Limits above the first that takes nothing away would all say the same.
        enough = next((figures.limit for figures in tried if figures.units == 0), limits[-1])
        others = tuple(figures for figures in tried if figures.limit <= max(enough, own.limit))
        without = rows - owned if reference is None else reference.missing + reference.unmatched
        unread = filled[self.table.unit] - owned if filled and reference is None else None
        return UnitsFigures(self.table.unit, units, owned, without, most, own, others, unread)

    def _fields(self) -> tuple[int | None, dict[str, int]]:
        """Return how many lines of csv files are no row, and how many rows have something in each column."""
        fields = self.engine.fields()
        if fields is None:
            return None, {}
        has_own = self.has_unit and self.table.parent is None
        names = [*self.fitting, self.table.unit] if has_own else list(self.fitting)
        lines, whole, *filled = self._figures(of_fields(fields, names))
        no_row = None if fields.lost is None else lines - whole + fields.lost
        return no_row, dict(zip(names, filled, strict=True))

    def _seconds(self) -> float:
        statement = self.dataset.count().plan(1, pooling=1).sql
        watch = Stopwatch()
        self.dataset.engine.run(statement)
        return watch.seconds


def _path(table: Table) -> list[Table]:
    """Return a table, the one that its rows belong to, and so on to the one that names their unit."""
    return [table] if table.parent is None else [table, *_path(table.parent.table)]


def _public(table: PublicTable) -> PublicFigures:
    return PublicFigures(table.name, table.count, table.key, len(table.columns), len(table.identifiers), table.digest)
