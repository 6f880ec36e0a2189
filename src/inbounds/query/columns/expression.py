"""Columns made of columns: arithmetic, parts of days, choices, all within bounds that follow.

    column("age") // 10 * 10
    column("price") * column("quantity")
    expression("CASE WHEN age < 18 THEN 0 ELSE price END")

An expression stands for its text in SQL, which is the name that a question knows it by (`Formula`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import as_decimal, as_written, has_decimals, shown
from inbounds.query.columns.column import Comparison
from inbounds.query.columns.condition import (
    MOST_NODES,
    And,
    Compare,
    Condition,
    Formula,
    In,
    Like,
    Missing,
    literal,
    quoted,
)
from inbounds.query.columns.kind import ISO_DAY

MOST_PARTS = 100
"""An expression may have so many parts."""

PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "WEEKDAY", "DAY")
TRUNCATIONS = ("year", "quarter", "month", "week")
CASES = ("UPPER", "LOWER")

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
MOST_DIGITS = 30


class Expression:
    """A value computed from the columns of a row."""

    def parts(self) -> tuple[Expression, ...]:
        """Return the expressions that it is made of."""
        return ()

    def walk(self) -> Iterator[Expression]:
        """Yield this expression and all that it is made of."""
        waiting: list[Expression] = [self]
        while waiting:
            yield (found := waiting.pop())
            waiting.extend(found.parts())

    @property
    def name(self) -> str:
        """Its name in a query: a column's name, or the text of an expression."""
        if sum(1 for _ in self.walk()) > MOST_PARTS:
            raise InvalidQuestion(f"an expression may have at most {MOST_PARTS} parts, got more; ask something simpler")
        return Formula.of(self)

    def __add__(self, other: object) -> Expression:
        return binary("+", self, operand(other))

    def __radd__(self, other: object) -> Expression:
        return binary("+", operand(other), self)

    def __sub__(self, other: object) -> Expression:
        return binary("-", self, operand(other))

    def __rsub__(self, other: object) -> Expression:
        return binary("-", operand(other), self)

    def __mul__(self, other: object) -> Expression:
        return binary("*", self, operand(other))

    def __rmul__(self, other: object) -> Expression:
        return binary("*", operand(other), self)

    def __truediv__(self, other: object) -> Expression:
        return binary("/", self, operand(other))

    def __rtruediv__(self, other: object) -> Expression:
        return binary("/", operand(other), self)

    def __floordiv__(self, other: object) -> Expression:
        return call("FLOOR", self / other)

    def __neg__(self) -> Expression:
        return binary("*", Constant(Fraction(-1)), self)

    def __abs__(self) -> Expression:
        return call("ABS", self)

    def __floor__(self) -> Expression:
        return call("FLOOR", self)

    def __ceil__(self) -> Expression:
        return -call("FLOOR", -self)

    def __round__(self, digits: int = 0) -> Expression:
        return call("ROUND", self, operand(digits))

    # Comparisons.

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return compared(self, "=", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return compared(self, "<>", value)

    def __lt__(self, value: object) -> Condition:
        return compared(self, "<", value)

    def __le__(self, value: object) -> Condition:
        return compared(self, "<=", value)

    def __gt__(self, value: object) -> Condition:
        return compared(self, ">", value)

    def __ge__(self, value: object) -> Condition:
        return compared(self, ">=", value)

    __hash__ = None  # type: ignore[assignment]

    def is_in(self, values: Iterable[object]) -> Condition:
        """Return the condition that it is one of some constants."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidQuestion(f"is_in takes a list of constants, got {shown(values)}; put them in [ ]")
        return In(self.name, tuple(values))

    def between(self, low: object, high: object) -> Condition:
        """Return the condition that it is from `low` to `high`, both included."""
        return And((compared(self, ">=", low), compared(self, "<=", high)))

    def is_missing(self) -> Condition:
        """Return the condition that it is NULL or NaN, or not in the category list."""
        return Missing(self.name)

    def like(self, pattern: str, *, any_case: bool = False) -> Condition:
        """Return the condition that a category matches a pattern: `%` for any characters, `_` for one."""
        return Like(self.name, pattern, any_case)

    # What days and keys have, and what fills gaps.

    def part(self, name: str) -> Expression:
        """Return a part of a day: year, quarter, month, week (ISO), weekday (Monday is 0) or day."""
        return call(str(name).upper(), self)

    def truncated(self, name: str) -> Expression:
        """Return the first day of the year, quarter, month or week (from Monday) that a day lies in."""
        return call("DATE_TRUNC", operand(name), self)

    def upper(self) -> Expression:
        """Return a category in upper case."""
        return call("UPPER", self)

    def lower(self) -> Expression:
        """Return a category in lower case."""
        return call("LOWER", self)

    def or_else(self, other: object) -> Expression:
        """Return it, or where it is missing, something else."""
        return call("COALESCE", self, operand(other))

    def at_least(self, other: object) -> Expression:
        """Return the greater of it and another value."""
        return call("GREATEST", self, operand(other))

    def at_most(self, other: object) -> Expression:
        """Return the lesser of it and another value."""
        return call("LEAST", self, operand(other))


@dataclass(frozen=True, eq=False)
class Named(Expression):
    """A column of the contract."""

    column: str

    @property
    def name(self) -> str:
        """What the contract calls it."""
        return self.column

    def __str__(self) -> str:
        return quoted(self.column)


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """A number, a text, a day or a truth value."""

    value: Any

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return isinstance(self.value, Fraction)

    def __str__(self) -> str:
        if type(self.value) is date:
            return f"DATE '{self.value.isoformat()}'"
        if not isinstance(self.value, Fraction):
            return literal(self.value)
        if self.value.denominator == 1:
            return str(self.value)
        if has_decimals(self.value.denominator):
            return f"{as_decimal(*self.value.as_integer_ratio()):f}"
        return f"({self.value.numerator} / {self.value.denominator})"


@dataclass(frozen=True, eq=False)
class Binary(Expression):
    """Two expressions added, subtracted, multiplied; or one divided by a constant."""

    operator: str
    left: Expression
    right: Expression

    def parts(self) -> tuple[Expression, ...]:
        """Return both sides."""
        return self.left, self.right

    def __str__(self) -> str:
        here = PRECEDENCE[self.operator]
        left, right = (str(part) for part in self.parts())
        if isinstance(self.left, Binary) and PRECEDENCE[self.left.operator] < here:
            left = f"({left})"
        if isinstance(self.right, Binary) and PRECEDENCE[self.right.operator] <= here:
            right = f"({right})"
        return f"{left} {self.operator} {right}"


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A function of expressions."""

    function: str
    arguments: tuple[Expression, ...]

    def parts(self) -> tuple[Expression, ...]:
        """Return what it is given."""
        return self.arguments

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, eq=False)
class Case(Expression):
    """The expression of the first condition that is true, or another one, or nothing."""

    branches: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression | None = None

    def parts(self) -> tuple[Expression, ...]:
        """Return what it chooses from."""
        found = tuple(then for _, then in self.branches)
        return found if self.otherwise is None else (*found, self.otherwise)

    def walk(self) -> Iterator[Expression]:
        """Yield this expression and all that it is made of; each part of a condition counts as one, too."""
        yield from super().walk()
        for test, _ in self.branches:
            for _ in test.walk():
                yield self

    def __str__(self) -> str:
        branches = " ".join(f"WHEN {test} THEN {then}" for test, then in self.branches)
        return f"CASE {branches}{'' if self.otherwise is None else f' ELSE {self.otherwise}'} END"


def choices(name: str) -> Iterator[tuple[Condition, ...]]:
    """Yield the conditions of each CASE in what a column is made of, if it is made of columns by a question."""
    if isinstance(name, Formula):
        for part in Expression.walk(name.expression):
            if isinstance(part, Case):
                yield tuple(test for test, _ in part.branches)


def column(name: str) -> Named:
    """Return a column, to be compared or computed with: `column("age") >= 65`, `column("age") // 10`."""
    if not isinstance(name, str):
        raise InvalidQuestion(f"the name of a column must be text, got {shown(name)}; name one from the contract")
    return Named(name)


def operand(given: object) -> Expression:
    """Return an expression, or a constant as one."""
    if isinstance(given, Expression):
        return given
    if isinstance(given, str) and ISO_DAY.fullmatch(given):
        try:
            return Constant(date.fromisoformat(given))
        except ValueError:
            raise InvalidQuestion(f"{given} is not a date of the calendar; write it like '2026-12-31'") from None
    if isinstance(given, bool | str) or type(given) is date:
        return Constant(given)
    if isinstance(given, int | float | Decimal | Fraction):
        return Constant(_number(given))
    raise InvalidQuestion(f"columns can be computed with columns and constants, got {shown(given)}; give one of these")


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    """Return two expressions joined by + - * or /; constants are computed at once."""
    if operator == "/":
        if not isinstance(right, Constant) or not right.is_number:
            raise InvalidQuestion(
                f"{left} / {right} divides by a value that may be zero; divide by a constant, or ask for the two sums"
            )
        if right.value == 0:
            raise InvalidQuestion(f"{left} / 0 divides by zero; divide by another constant")
    if not (isinstance(left, Constant) and left.is_number and isinstance(right, Constant) and right.is_number):
        return Binary(operator, left, right)
    a, b = left.value, right.value
    found = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[operator]()
    return Constant(_number(found))


ARGUMENTS: dict[str, tuple[int, int, str]] = {
    "ABS": (1, 1, "ABS(x)"),
    "FLOOR": (1, 1, "FLOOR(x)"),
    "ROUND": (1, 2, "ROUND(x, 2)"),
    "LEAST": (2, 20, "LEAST(x, 100)"),
    "GREATEST": (2, 20, "GREATEST(x, 0)"),
    "COALESCE": (2, 20, "COALESCE(x, 0)"),
    "DATE_TRUNC": (2, 2, "DATE_TRUNC('month', day)"),
    **{part: (1, 1, f"{part}(day)") for part in PARTS},
    **{case: (1, 1, f"{case}(clinic)") for case in CASES},
}
"""How many arguments a function takes, and what it looks like."""

TIMES = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "EPOCH")
OTHER_WEEKDAYS = ("DOW", "DAYOFWEEK", "ISODOW", "DAYOFWEEK_ISO")

OF_MANY_ROWS: set[str] = set()
"""The names of measures, which are no functions of a row: whoever reads measures enters them here."""


def refuse_function(name: str) -> str | None:
    """Return why a function cannot be used, or None if it can."""
    if name in ARGUMENTS:
        return None
    if name in TIMES:
        return f"{name} needs times of day, but columns hold dates only; use one of {', '.join(PARTS)}"
    if name in OTHER_WEEKDAYS:
        return f"{name} depends on the engine's first day of the week; write WEEKDAY(day), where Monday is 0"
    if name in OF_MANY_ROWS:
        return f"{name} combines many rows, but one row is needed here; filter on it with HAVING, or leave it out"
    return f"{name} is not supported; functions of columns are {', '.join(ARGUMENTS)}, CASE and EXTRACT"


def call(name: str, *arguments: Expression) -> Expression:
    """Return a function of expressions, in the one way that it is written."""
    if (problem := refuse_function(name)) is not None:
        raise InvalidQuestion(problem)
    least, most, like = ARGUMENTS[name]
    if not least <= len(arguments) <= most:
        raise InvalidQuestion(f"{name} cannot take {len(arguments)} arguments; write it like {like}")
    if name == "ROUND":
        return _rounded(arguments[0], arguments[1] if len(arguments) == 2 else Constant(Fraction(0)))
    if name == "DATE_TRUNC":
        return _truncated(*arguments)
    return Call(name, arguments)


def _rounded(this: Expression, digits: Expression) -> Expression:
    given = digits.value if isinstance(digits, Constant) else None
    if not isinstance(given, Fraction) or given.denominator != 1 or abs(given) > MOST_DIGITS:
        raise InvalidQuestion(
            f"ROUND takes a whole number of digits up to {MOST_DIGITS}, got {digits}; write it like ROUND(x, 2)"
        )
    return Call("ROUND", (this, digits)) if given else Call("ROUND", (this,))


def _truncated(part: Expression, day: Expression) -> Expression:
    given = part.value if isinstance(part, Constant) else None
    if not isinstance(given, str) or given.lower() not in TRUNCATIONS:
        raise InvalidQuestion(
            f"DATE_TRUNC goes to a {', '.join(TRUNCATIONS)}, got {part}; write it like DATE_TRUNC('month', day)"
        )
    return Call("DATE_TRUNC", (Constant(given.lower()), day))


def compared(left: Expression, operator: Comparison, right: object) -> Condition:
    """Return a comparison with a constant; one of two columns compares their difference with zero."""
    if isinstance(right, Constant):
        right = right.value
    if not isinstance(right, Expression):
        return Compare(left.name, operator, right)
    if isinstance(left, Constant):
        return Compare(right.name, MIRRORED[operator], left.value)
    return Compare((left - right).name, operator, Fraction(0))


def case(*branches: tuple[Condition, object], otherwise: object = None) -> Expression:
    """Return the expression of the first condition that is true: `case((column("age") < 18, 0), otherwise=1)`."""
    for one in branches or (None,):
        pair: object = one
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Condition):
            raise InvalidQuestion(
                f"case takes pairs of a condition and an expression, got {shown(one)}; write them like "
                "(column('age') < 18, 0)"
            )
    if len(branches) > MOST_NODES:
        raise InvalidQuestion(f"case may have at most {MOST_NODES} branches, got {len(branches)}; give fewer")
    found = tuple((test, operand(then)) for test, then in branches)
    return Case(found, None if otherwise is None else operand(otherwise))


def indicated(name: str) -> Condition | None:
    """Return the condition of `CASE WHEN condition THEN 1 ELSE 0 END`, the mean of which is a proportion."""
    found = name.expression if isinstance(name, Formula) else None
    if not isinstance(found, Case) or len(found.branches) != 1:
        return None
    ((test, then),) = found.branches
    ends = [one.value if isinstance(one, Constant) else None for one in (then, found.otherwise)]
    return test if ends == [1, 0] and not any(isinstance(end, bool) for end in ends) else None


MIRRORED: dict[Comparison, Comparison] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _number(given: Any) -> Fraction:
    found = as_written(given, "a constant", InvalidQuestion)
    if max(abs(found.numerator), found.denominator) > 10**400:
        raise InvalidQuestion("a constant may have at most 400 digits; round it")
    return found
