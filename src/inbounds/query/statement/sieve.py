"""What rows must be like to meet a condition, told by their columns as they are: most fail before any code is computed.

A sieve lets all rows through that meet the condition, and some more, for the condition is asked of codes afterwards.
So it decides nothing but how long a statement takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from inbounds.bounds.times import moment_at
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.derived_column import Derived, codes_of
from inbounds.query.columns.kind import CLOCK, DAY, TIME
from inbounds.query.columns.raw_keys import RawKeys
from inbounds.query.engines.engine import Kind
from inbounds.query.expressions.condition import And, Compare, Condition, In, Or, Predicate, join_conditions
from inbounds.query.expressions.node import Node
from inbounds.query.statement.codes import Codes, key_constant
from inbounds.query.statement.expressions import MOST_SINGLE, Expression, column, compare, day, double, whole


def narrow(condition: Condition | None, own: Callable[[Node], Node | None]) -> Condition | None:
    """Return what must be true of some columns where a condition is: what `own` calls them, None for all others.

    None if nothing must.  What is returned is true of no column that is missing.
    """
    match condition:
        case Compare() | In():
            node = own(condition.this)
            return None if node is None else replace(condition, this=node)
        case And():
            parts = [part for part in (narrow(part, own) for part in condition.all) if part is not None]
            return join_conditions(And, *parts) if parts else None
        case Or():
            branches = [narrow(part, own) for part in condition.any]
            known = [branch for branch in branches if branch is not None]
            return join_conditions(Or, *known) if len(known) == len(branches) else None
    return None


def build_sieve(condition: Condition | None, codes: Codes) -> list[Expression]:
    """Return what rows of a stored table must pass to meet a condition, if anything."""
    test = _sieve(condition, codes)
    return [] if test is None else [test]


def _sieve(condition: Condition | None, codes: Codes) -> Expression | None:
    match condition:
        case Predicate():
            return _test(condition, codes)
        case And():
            tests = [test for test in (_sieve(part, codes) for part in condition.all) if test is not None]
            return exp.and_(*tests) if tests else None
        case Or():
            branches = [_sieve(part, codes) for part in condition.any]
            known = [branch for branch in branches if branch is not None]
            return exp.paren(exp.or_(*known)) if len(known) == len(branches) else None
    return None


def _test(predicate: Predicate, codes: Codes) -> Expression | None:
    field = codes.columns.get(predicate.this.name)
    if field is None or isinstance(field, Derived | RawKeys) or not predicate.constants:
        return None
    if codes.kinds.get(field.name) in (None, Kind.CODE):
        return None
    operator, numbers = codes_of(predicate, field)
    if isinstance(field, Keys):
        return _one_of(field, numbers, codes) if operator == "=" and len(numbers) <= MOST_SINGLE else None
    least = {"=": min(numbers), ">=": numbers[0], ">": numbers[0] + 1}.get(operator, 0)
    most = {"=": max(numbers), "<=": numbers[0], "<": numbers[0] - 1}.get(operator, field.steps)
    tests = _between(field, max(least, 0), min(most, field.steps), codes)
    return exp.and_(*tests) if tests else None


def _one_of(keys: Keys, numbers: tuple[int, ...], codes: Codes) -> Expression:
    constants = [key_constant(keys.keys[number], codes.dialect) for number in numbers]
    if len(constants) == 1:
        return compare(column(keys.name), "=", constants[0])
    return exp.In(this=column(keys.name), expressions=constants)


def _between(numbers: Numbers, least: int, most: int, codes: Codes) -> list[Expression]:
    """Return tests of a value whose code is from `least` to `most`, each only if the column has codes beyond."""
    value, kind = column(numbers.name), codes.kinds[numbers.name]
    above: tuple[str, Callable[[int], Expression]]
    below: tuple[str, Callable[[int], Expression]]
    if numbers.kind == CLOCK or numbers.zone is not None:
        return []
    if numbers.kind == TIME:
        value = codes.time(numbers)
        above = ">=", lambda place: codes.dialect.moment(moment_at(numbers.value(place)), kind)
        below = "<", lambda place: codes.dialect.moment(moment_at(numbers.value(place) + numbers.step), kind)
    elif numbers.kind == DAY:
        value = codes.dialect.as_timestamp(value) if kind is Kind.TIMESTAMP else value
        above = ">=", lambda place: day(numbers.low + place)
        below = "<", lambda place: day(numbers.low + place + 1)
    elif kind is Kind.INTEGER and numbers.step == 1 and numbers.low.denominator == 1:
        above = ">=", lambda place: whole(int(numbers.low) + place)
        below = "<=", above[1]
    else:  # a whole step farther than it need be, whatever rounding does
        value = codes.number(numbers)
        above = ">=", lambda place: double(numbers.low + (place - 1) * numbers.step)
        below = "<=", lambda place: double(numbers.low + (place + 1) * numbers.step)
    tests = [compare(value, above[0], above[1](least))] if least > 0 else []
    return [*tests, compare(value, below[0], below[1](most))] if most < numbers.steps else tests
