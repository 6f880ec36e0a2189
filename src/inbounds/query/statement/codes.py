"""The columns of a table as integers: steps above the least value, places in the list of keys, numbers of bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.bounds.times import UNITS, moment_at
from inbounds.query.columns.column import Column, Key, Keys, Numbers
from inbounds.query.columns.derived_column import Derived, DerivedKeys, DerivedNumbers
from inbounds.query.columns.kind import CLOCK, DAY, TIME
from inbounds.query.columns.raw_keys import RawKeys
from inbounds.query.columns.zone import offsets
from inbounds.query.engines.engine import Dialect, Kind
from inbounds.query.expressions.raw import Raw
from inbounds.query.question.group import Bins, Group
from inbounds.query.statement.expressions import (
    INFINITY,
    MOST_BRANCHES,
    Expression,
    bigint,
    case,
    clip,
    code_name,
    column,
    compare,
    day,
    double,
    present,
    whole,
)
from inbounds.query.statement.wholes import Wholes

MICROSECONDS = 10**6
"""In a second."""

FARTHEST_OFFSET = timedelta(days=1)
"""No clock is farther from UTC."""


@dataclass(frozen=True)
class Codes:
    """Writes columns as integers, in the dialect of an engine."""

    columns: dict[str, Column]
    kinds: dict[str, Kind]
    dialect: Dialect
    places: Mapping[str, Expression] = field(default_factory=dict)
    """Where codes are, if not in columns of their own names: in which of several tables."""

    def code(self, name: str) -> Expression:
        """Return a column as an integer, NULL if it is missing."""
        field = self.columns[name]
        # A table made of tables has codes already; other columns are computed, looked up or measured.
        if self._is_code(field):
            return self.stored(field)
        if isinstance(field, Derived):
            return self.wholes.code(field.whole)
        if isinstance(field, Keys):
            return self.key(field, self.stored(field))
        return case([(self.is_known(field), self.steps(field))])

    def stored(self, field: Column) -> Expression:
        """Return a column as it is: what a table holds, or the integer that a statement has made of it."""
        if self._is_code(field):
            return self.places.get(field.name) or column(code_name(field.name))
        return self._raw(field.raw) if isinstance(field, RawKeys) else column(field.name)

    def _raw(self, raw: Raw) -> Expression:
        """Return what a text or an identifier says of a row, NULL where it is missing."""
        value = self.dialect.plain_text(column(raw.column)) if raw.function != "PRESENT" else column(raw.column)
        match raw.function:
            case "PRESENT":
                return case([(present(value), exp.true())])
            case "IN":
                texts = [self.dialect.text(str(text)) for text in raw.arguments]
                return exp.paren(exp.In(this=value, expressions=texts))
            case "PART":
                return self.dialect.part_of_text(value, raw.arguments) if raw.arguments else value
        pattern = str(raw.arguments[0])
        if raw.function == "ILIKE":
            return exp.paren(self.dialect.like(exp.Lower(this=value), pattern.lower()))
        return exp.paren(self.dialect.like(value, pattern))

    def _is_code(self, field: Column) -> bool:
        """Return whether a column is an integer already, as all columns of tables made of tables are."""
        return self.kinds.get(field.raw.column if isinstance(field, RawKeys) else field.name) is Kind.CODE

    @cached_property
    def wholes(self) -> Wholes:
        """Writes what columns made of columns are computed with."""
        return Wholes(self.dialect, self.steps, self.is_known, self._key_as, self._day)

    def _key_as(self, keys: Keys, codes: tuple[int, ...]) -> Expression:
        return bigint(self.key(keys, self.stored(keys), codes))

    def is_known(self, numbers: Numbers) -> Expression:
        """Return whether a value is neither NULL nor NaN, which is above infinity or not comparable with it."""
        if self._is_code(numbers):
            return present(self.stored(numbers))
        if isinstance(numbers, DerivedNumbers):
            known = self.wholes.known(numbers.whole)
            return exp.and_(*known) if known else exp.true()
        kind, value = self.kinds[numbers.name], column(numbers.name)
        if kind is Kind.FLOAT:
            return compare(value, "<=", INFINITY)
        if kind is Kind.TIMESTAMP:
            return present(self.dialect.as_timestamp(value))
        return present(self.dialect.as_double(value, kind) if kind is Kind.WIDE_DECIMAL else value)

    def key(self, keys: Keys, value: Expression, codes: tuple[int, ...] = ()) -> Expression:
        """Return the place of a key in the list, or another number for each, NULL for what is no key."""
        is_code = self._is_code(keys)
        if is_code and not codes:
            return value
        if len(keys.keys) > MOST_BRANCHES:
            return self._look_up(keys, value, codes)
        constants = [whole(i) if is_code else key_constant(key, self.dialect) for i, key in enumerate(keys.keys)]
        tests = zip(constants, codes or range(len(constants)), strict=True)
        return case([(compare(value, "=", constant), whole(code)) for constant, code in tests])

    def _look_up(self, keys: Keys, value: Expression, codes: tuple[int, ...]) -> Expression:
        """Return the same by a list: a test for each key would make every row wait for all of them."""
        place = value
        if not self._is_code(keys):
            text = value if isinstance(keys.keys[0], str) else exp.cast(value.copy(), "TEXT")
            place = self.dialect.find_text(text, list(map(str, keys.keys)))
        return self.dialect.pick_number(place, codes) if codes else place

    def has_key(self, name: str, code: int) -> Expression:
        """Return whether a column of keys holds the one with this code."""
        keys = self.columns[name]
        assert isinstance(keys, Keys)
        if self._is_code(keys) or isinstance(keys, DerivedKeys | RawKeys):
            return compare(self.code(name), "=", whole(code))
        return compare(column(name), "=", key_constant(keys.keys[code], self.dialect))

    def steps(self, numbers: Numbers) -> Expression:
        """Return a value that is not missing in steps above the least, clipped, as an integer.

        Every engine passes over NULL in LEAST and GREATEST, and takes NaN for the greatest: rows with either were left
        out before.
        """
        steps = self._integer_steps(numbers)
        return bigint(self._round(numbers)) if steps is None else steps

    def steps_as_double(self, numbers: Numbers) -> Expression:
        """Return the same integer as a double."""
        steps = self._integer_steps(numbers)
        return self._round(numbers) if steps is None else exp.cast(steps, "DOUBLE")

    def _integer_steps(self, numbers: Numbers) -> Expression | None:
        """Return the steps of a code, of what is computed, a day, a time or an integer; None for what is rounded."""
        if self._is_code(numbers):
            return self.stored(numbers)
        if isinstance(numbers, DerivedNumbers):
            return self.wholes.value(numbers.whole)
        if numbers.kind in (TIME, CLOCK) or numbers.zone is not None:
            return bigint(_count_steps(numbers, self.time(numbers), self.kinds[numbers.name], self.dialect))
        if numbers.kind == DAY:
            return bigint(self.dialect.days(self._day(numbers), day(numbers.low)))
        if self.kinds[numbers.name] is not Kind.INTEGER or numbers.step != 1 or numbers.low.denominator != 1:
            return None
        low, high = int(numbers.low), int(numbers.high)
        value = clip(column(numbers.name), whole(low), whole(high))
        return exp.Sub(this=bigint(value), expression=whole(low)) if low else value

    def _round(self, numbers: Numbers) -> Expression:
        """Return the nearest step, half up, of a value clipped to the bounds, as a double.

        Half a step is added before anything is scaled: then nothing is so small that PostgreSQL refuses the product.
        """
        value = self.number(numbers)
        within = clip(value, double(numbers.low), double(numbers.high))
        shifted = exp.paren(exp.Add(this=within, expression=double(numbers.step / 2 - numbers.low)))
        scale = 1 / numbers.step
        if scale.denominator == 1:
            return exp.Floor(this=exp.Mul(this=shifted, expression=double(scale)))
        return exp.Floor(this=exp.Div(this=shifted, expression=double(numbers.step), typed=True))

    def number(self, numbers: Numbers) -> Expression:
        """Return a number of the table as a double; an interval in the unit that the contract says."""
        kind, value = self.kinds[numbers.name], column(numbers.name)
        if kind is not Kind.INTERVAL:
            return self.dialect.as_double(value, kind)
        unit = UNITS[numbers.duration or "s"] * MICROSECONDS
        counted = exp.cast(self.dialect.interval_microseconds(value), "DOUBLE")
        return exp.paren(exp.Div(this=counted, expression=double(unit), typed=True))

    def time(self, numbers: Numbers) -> Expression:
        """Return a time of the table, as it can be compared."""
        return self.dialect.stored_time(numbers.name, self.kinds[numbers.name], in_zone=numbers.zone is not None)

    def _day(self, numbers: Numbers) -> Expression:
        """Return a day itself, clipped; what is far off, even infinitely, is compared and not converted."""
        if self._is_code(numbers) or numbers.zone is not None:
            number = exp.Add(this=self.steps(numbers), expression=whole(int(numbers.low)))
            return self.dialect.day_at(number)
        value, low, high = column(numbers.name), day(numbers.low), day(numbers.high)
        if self.kinds[numbers.name] is not Kind.TIMESTAMP:
            return clip(value, low, high)
        time = self.dialect.as_timestamp(value)
        on = exp.cast(time.copy(), "DATE")
        return case([(compare(time, "<", low), low), (compare(time, "<", high), on)], high)

    def bin(self, group: Group, steps: Expression) -> Expression:
        """Return the number of the bin that a value is in, given in steps as a double.

        Of `b` bins as equal as can be, the value `v` of `n` is in bin `floor((b v + b - 1) / n)`.  The dividend is an
        integer below 2**46, so no quotient is rounded up to an integer: each engine's doubles give the same bin.
        """
        assert isinstance(group, Bins)
        if not group.is_equal:
            return _search_bin(steps, group.starts, 0)
        values = group.column.steps + 1
        scaled = exp.Mul(this=steps, expression=double(group.size))
        dividend = exp.paren(exp.Add(this=scaled, expression=double(group.size - 1)))
        quotient = exp.Div(this=dividend, expression=double(values), typed=True)
        return self.dialect.small(exp.Floor(this=quotient), group.size)


def key_constant(key: Key, dialect: Dialect) -> Expression:
    """Return a key as a constant."""
    if isinstance(key, bool):
        return exp.Boolean(this=key)
    return dialect.text(key) if isinstance(key, str) else whole(key)


def _search_bin(steps: Expression, starts: tuple[int, ...], first: int) -> Expression:
    """Return the number of the bin that a value is in, found by halving."""
    if len(starts) == 1:
        return whole(first)
    half = len(starts) // 2
    below, above = _search_bin(steps, starts[:half], first), _search_bin(steps, starts[half:], first + half)
    return exp.Case(ifs=[exp.If(this=compare(steps, "<", whole(starts[half])), true=below)], default=above)


# Times.  A time is clipped while it is still a time, so that nothing far off or infinite is converted.  Then it is a
# whole number of microseconds since a moment that is not after it, and a division rounds it down to a step.  The clock
# of a zone is read by the offsets that it had, as constants of the statement.


def _count_steps(numbers: Numbers, value: Expression, kind: Kind, dialect: Dialect) -> Expression:
    """Return how many steps a time that is not missing is above the least, clipped; a day of a zone in days."""
    seconds = DAY_SECONDS if numbers.kind == DAY else 1
    low, step = numbers.low * seconds, int(numbers.step * seconds * MICROSECONDS)
    if numbers.kind == CLOCK:
        return _divide_within(dialect.clock_microseconds(value), int(low * MICROSECONDS), numbers.steps, step, dialect)
    first, last = moment_at(low), moment_at(low + Fraction(numbers.steps * step, MICROSECONDS))
    if numbers.zone is None:
        inside = _between(value, first, last, kind, dialect)
        return dialect.divide(exp.paren(dialect.microseconds(inside, first, kind)), whole(step))
    earliest, latest = _widen(first, last)
    inside = _between(value, earliest, latest, kind, dialect)
    ahead = _ahead(value, offsets(numbers.zone, earliest, latest), kind, dialect)
    local = exp.Add(this=exp.paren(dialect.microseconds(inside, earliest, kind)), expression=exp.paren(ahead))
    return _divide_within(
        exp.paren(local), (first - earliest) // timedelta(microseconds=1), numbers.steps, step, dialect
    )


def _widen(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """Return two moments between which UTC is whenever a clock is between two others."""
    earliest = first - FARTHEST_OFFSET if first - datetime.min > FARTHEST_OFFSET else datetime.min
    latest = last + FARTHEST_OFFSET if datetime.max - last > FARTHEST_OFFSET else datetime.max.replace(microsecond=0)
    return earliest, latest


def _between(value: Expression, first: datetime, last: datetime, kind: Kind, dialect: Dialect) -> Expression:
    """Return a time brought to the nearest of two ends."""
    low, high = dialect.moment(first, kind), dialect.moment(last, kind)
    return case([(compare(value, "<", low), low), (compare(value, "<", high), value)], high)


def _divide_within(number: Expression, low: int, steps: int, step: int, dialect: Dialect) -> Expression:
    """Return how many steps a number is above the least, clipped."""
    above = exp.Sub(this=number, expression=whole(low)) if low else number
    return dialect.divide(clip(above, whole(0), whole(steps * step)), whole(step))


def _ahead(value: Expression, changes: Sequence[tuple[datetime, int]], kind: Kind, dialect: Dialect) -> Expression:
    """Return the microseconds that a clock is ahead of UTC at a moment, found by halving."""
    if len(changes) == 1:
        return whole(changes[0][1] * MICROSECONDS)
    half = len(changes) // 2
    before = compare(value, "<", dialect.moment(changes[half][0], kind))
    earlier, later = (_ahead(value, part, kind, dialect) for part in (changes[:half], changes[half:]))
    return case([(before, earlier)], later)
