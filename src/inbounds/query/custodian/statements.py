"""Statements that count what a contract does to a table, for the custodian's eyes: aggregates only, no row is fetched.

As in the statements of questions, nothing here can fail on any row: values are compared before they are converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from inbounds.bounds import Bounds
from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.query.columns.calendar_parts import LAST
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import Derived
from inbounds.query.columns.kind import CLOCK, DAY, TIME
from inbounds.query.engines.engine import Dialect, Fields, Kind
from inbounds.query.statement.codes import Codes
from inbounds.query.statement.expressions import (
    Expression,
    case,
    column,
    compare,
    day,
    double,
    grouped,
    named,
    present,
    whole,
)

MISSING, BELOW, ABOVE, WITHIN = range(4)
"""Where a value is, seen from the ends of its column."""

MOST_SPANS = 5000
"""Values in gaps are counted up to so many spans: each has its place in the statement."""


@dataclass(frozen=True)
class InspectionStatements:
    """Writes statements about a relation in the dialect of an engine."""

    relation: Expression
    kinds: Mapping[str, Kind]
    dialect: Dialect

    def of_numbers(self, columns: Sequence[Numbers]) -> exp.Select:
        """Return one row: how many rows; for each column how many are missing, below, above, and in gaps."""
        codes = Codes({numbers.name: numbers for numbers in columns}, dict(self.kinds), self.dialect)
        # The inner SELECT places each value once; the outer one counts places.
        selected: list[Expression] = [named(whole(1), "one")]
        counts: list[Expression] = [exp.Count(this=exp.Star())]
        for i, numbers in enumerate(columns):
            selected.append(named(self._place(codes, numbers), f"p{i}"))
            place = exp.column(f"p{i}")
            counts += [count_rows(compare(place, "=", whole(at))) for at in (MISSING, BELOW, ABOVE)]
            if has_gaps(numbers):
                selected.append(named(case([(codes.is_known(numbers), codes.steps(numbers))]), f"s{i}"))
                in_gap = _in_gap(exp.column(f"s{i}"), _spans(numbers))
                counts.append(count_rows(exp.and_(compare(place, "=", whole(WITHIN)), exp.paren(in_gap))))
        inner = exp.select(*selected).from_(self.relation.copy()).subquery("r")
        return exp.select(*number_counts(counts)).from_(inner)

    def of_keys(self, keys: Keys) -> exp.Select:
        """Return one row: how many rows are missing or hold another value, how many others, and how many keys occur."""
        this, rows, code = exp.column("x"), exp.column("n"), exp.column("k")
        missing = exp.Is(this=this.copy(), expression=exp.Null())
        other = exp.and_(present(this), exp.Is(this=code.copy(), expression=exp.Null()))
        counts = [
            self.dialect.total(case([(missing, rows)], whole(0))),
            self.dialect.total(case([(other, rows)], whole(0))),
            count_rows(other),
            exp.Count(this=exp.Distinct(expressions=[code])),
        ]
        return exp.select(*number_counts(counts)).from_(self._by_key(keys))

    def other_values(self, keys: Keys, most: int) -> exp.Select:
        """Return the most frequent values that are no key, and how many rows each has."""
        other = exp.and_(present(exp.column("x")), exp.Is(this=exp.column("k"), expression=exp.Null()))
        select = exp.select("x", "n").from_(self._by_key(keys)).where(other)
        return select.order_by(exp.Ordered(this=exp.column("n"), desc=True), "x").limit(most)

    def _by_key(self, keys: Keys) -> exp.Subquery:
        """Return each value with how many rows have it, and which key it is: comparing each value once is quicker."""
        select = exp.select(named(column(keys.name), "x"), named(exp.Count(this=exp.Star()), "n"))
        values = grouped(select.from_(self.relation.copy()), 1).subquery("v")
        codes = Codes({keys.name: keys}, dict(self.kinds), self.dialect)
        code = named(codes.key(keys, exp.column("x")), "k")
        return exp.select("x", "n", code).from_(values).subquery("c")

    def of_derived(self, columns: Sequence[Derived]) -> exp.Select:
        """Return one row: for each column made of columns how many rows have none; of keys also how many occur."""
        codes = Codes({derived.name: derived for derived in columns}, dict(self.kinds), self.dialect)
        selected = [named(codes.code(derived.name), f"m{i}") for i, derived in enumerate(columns)]
        counts: list[Expression] = []
        for i, derived in enumerate(columns):
            code = exp.column(f"m{i}")
            counts.append(count_rows(exp.Is(this=code, expression=exp.Null())))
            if isinstance(derived, Keys):
                counts.append(exp.Count(this=exp.Distinct(expressions=[code.copy()])))
        return exp.select(*number_counts(counts)).from_(exp.select(*selected).from_(self.relation.copy()).subquery("r"))

    def of_facts(self, columns: Mapping[str, Column], facts: Sequence[Mapping[str, int]]) -> exp.Select:
        """Return one row: for each combination of keys, given by their codes, how many rows have it."""
        codes = Codes(dict(columns), dict(self.kinds), self.dialect)
        tests = [exp.and_(*(codes.has_key(name, code) for name, code in fact.items())) for fact in facts]
        return exp.select(*number_counts(map(count_rows, tests))).from_(self.relation.copy())

    def of_within(self, columns: Mapping[str, Column], keys: Keys) -> exp.Select:
        """Return one row: how many rows with a key have another key in the column that theirs lie in, or none there."""
        assert keys.within is not None
        codes = Codes(dict(columns), dict(self.kinds), self.dialect)
        expected, actual = exp.column("s"), exp.column("p")
        selected = [named(codes.key(keys, column(keys.name), keys.parents), "s"), named(codes.code(keys.within), "p")]
        nowhere = exp.and_(present(expected), exp.Is(this=actual, expression=exp.Null()))
        counts = [count_rows(compare(expected.copy(), "<>", actual.copy())), count_rows(nowhere)]
        return exp.select(*number_counts(counts)).from_(exp.select(*selected).from_(self.relation.copy()).subquery("r"))

    def of_units(self, unit: str, limits: Iterable[int]) -> exp.Select:
        """Return one row: units, their rows, the most of one; for each limit the units above it and the rows left."""
        rows = exp.column("n")
        select = exp.select(named(column(unit), "u"), named(exp.Count(this=exp.Star()), "n"))
        # First the rows of each unit, then the units by these: one above a limit keeps as many rows as the limit says.
        of_each = grouped(select.from_(self.relation.copy()).where(present(column(unit))), 1).subquery("w")
        counts: list[Expression] = [exp.Count(this=exp.Star()), self.dialect.total(rows), exp.Max(this=rows.copy())]
        for limit in limits:
            above = compare(rows, ">", whole(limit))
            counts += [count_rows(above), self.dialect.total(case([(above, whole(limit))], rows))]
        return exp.select(*number_counts(counts)).from_(of_each)

    def _place(self, codes: Codes, numbers: Numbers) -> Expression:
        if numbers.kind in (TIME, CLOCK) or numbers.zone is not None:
            return self._time_place(codes, numbers)
        value, low, high = self._comparable(codes, numbers)
        tests = [(compare(value, "<", low), whole(BELOW)), (compare(value, ">", high), whole(ABOVE))]
        return case([(codes.is_known(numbers), case(tests, whole(WITHIN)))], whole(MISSING))

    def _time_place(self, codes: Codes, numbers: Numbers) -> Expression:
        """Return where a time is: a step more on each side shows what is beyond."""
        wider = replace(numbers, bounds=wider_bounds(numbers))
        steps, below = codes.steps(wider), wider.steps - numbers.steps - (wider.high > numbers.high)
        above = numbers.steps + below
        tests = [(compare(steps, "<", whole(below)), whole(BELOW)), (compare(steps, ">", whole(above)), whole(ABOVE))]
        return case([(codes.is_known(numbers), case(tests, whole(WITHIN)))], whole(MISSING))

    def _comparable(self, codes: Codes, numbers: Numbers) -> tuple[Expression, Expression, Expression]:
        """Return a value and both ends of its column, as they can be compared."""
        kind, this = self.kinds[numbers.name], column(numbers.name)
        low, high = numbers.ends
        if numbers.kind == DAY:
            on = exp.cast(self.dialect.as_timestamp(this), "DATE") if kind is Kind.TIMESTAMP else this
            return on, day(low), day(high)
        if kind is Kind.INTEGER and low.denominator == high.denominator == 1:
            return this, whole(int(low)), whole(int(high))
        return codes.number(numbers), double(low), double(high)


def of_fields(fields: Fields, names: Iterable[str]) -> exp.Select:
    """Return one row: how many lines, how many of them are rows, and how many rows have something in each column."""
    is_row = exp.column("w")
    counts: list[Expression] = [exp.Count(this=exp.Star()), count_rows(is_row)]
    counts += [count_rows(exp.and_(is_row, present(exp.column(fields.names[name])))) for name in names]
    return exp.select(*number_counts(counts)).from_(fields.relation.copy())


def wider_bounds(numbers: Numbers) -> Bounds:
    """Return the bounds of a column of times with a step more on each side, as far as there is one."""
    scale = DAY_SECONDS if numbers.kind == DAY else 1
    first, beyond = (0, DAY_SECONDS) if numbers.kind == CLOCK else (DAY_SECONDS, (LAST + 1) * DAY_SECONDS)
    low, high = numbers.low - numbers.step, numbers.high + numbers.step
    least = low if low * scale >= first else numbers.low
    return numbers.kind.between(least, high if high * scale < beyond else numbers.high, numbers.step)


def has_gaps(numbers: Numbers) -> bool:
    """Return whether values can be in gaps of a column, and these are few enough to be looked into."""
    return 1 < len(numbers.lattice) <= MOST_SPANS


def _spans(numbers: Numbers) -> list[tuple[int, int]]:
    """Return the first and the last step of each span."""
    return [(low - numbers.first, high - numbers.first) for low, high in numbers.lattice.spans]


def _in_gap(steps: Expression, spans: Sequence[tuple[int, int]]) -> Expression:
    """Return whether a value between the ends is in none of the spans, found by halving."""
    if len(spans) == 1:
        return compare(steps, ">", whole(spans[0][1]))
    half = len(spans) // 2
    before = compare(steps, "<", whole(spans[half][0]))
    return case([(before, _in_gap(steps, spans[:half]))], _in_gap(steps, spans[half:]))


def count_rows(test: Expression) -> Expression:
    """Return how many rows pass a test."""
    return exp.Count(this=case([(test, whole(1))]))


def number_counts(counts: Iterable[Expression]) -> list[Expression]:
    """Return counts under names of our own."""
    return [named(count, f"t{i}") for i, count in enumerate(counts)]
