"""The columns of a table as integers: steps above the least value, places in the list of keys, numbers of bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from inbounds.query.columns.column import Column, Key, Keys, Numbers
from inbounds.query.columns.derived_column import Derived, DerivedKeys, DerivedNumbers
from inbounds.query.columns.kind import DAY
from inbounds.query.engines.engine import Dialect, Kind
from inbounds.query.question.group import Bins, Group
from inbounds.query.statement.expressions import (
    INFINITY,
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


@dataclass(frozen=True)
class Codes:
    """Writes columns as integers, in the dialect of an engine."""

    columns: dict[str, Column]
    kinds: dict[str, Kind]
    dialect: Dialect

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
        return column(code_name(field.name) if self._is_code(field) else field.name)

    def _is_code(self, field: Column) -> bool:
        """Return whether a column is an integer already, as all columns of tables made of tables are."""
        return self.kinds.get(field.name) is Kind.CODE

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
        constants = [whole(i) if is_code else key_constant(key, self.dialect) for i, key in enumerate(keys.keys)]
        tests = zip(constants, codes or range(len(constants)), strict=True)
        return case([(compare(value, "=", constant), whole(code)) for constant, code in tests])

    def has_key(self, name: str, code: int) -> Expression:
        """Return whether a column of keys holds the one with this code."""
        keys = self.columns[name]
        assert isinstance(keys, Keys)
        if self._is_code(keys) or isinstance(keys, DerivedKeys):
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
        """Return the steps of a code, of what is computed, of a day or an integer; None for what has to be rounded."""
        if self._is_code(numbers):
            return self.stored(numbers)
        if isinstance(numbers, DerivedNumbers):
            return self.wholes.value(numbers.whole)
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
        value = self.dialect.as_double(column(numbers.name), self.kinds[numbers.name])
        within = clip(value, double(numbers.low), double(numbers.high))
        shifted = exp.paren(exp.Add(this=within, expression=double(numbers.step / 2 - numbers.low)))
        scale = 1 / numbers.step
        if scale.denominator == 1:
            return exp.Floor(this=exp.Mul(this=shifted, expression=double(scale)))
        return exp.Floor(this=exp.Div(this=shifted, expression=double(numbers.step), typed=True))

    def _day(self, numbers: Numbers) -> Expression:
        """Return a day itself, clipped; what is far off, even infinitely, is compared and not converted."""
        if self._is_code(numbers):
            number = exp.Add(this=self.stored(numbers), expression=whole(int(numbers.low)))
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
