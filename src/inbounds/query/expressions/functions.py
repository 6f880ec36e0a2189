"""The functions that an expression may call: of the columns of a row, or of what was released."""

from __future__ import annotations

from fractions import Fraction

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.arithmetic import Call
from inbounds.query.expressions.node import Constant, Node

PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "WEEKDAY", "DAY")
TRUNCATIONS = ("year", "quarter", "month", "week")
CASES = ("UPPER", "LOWER")

MOST_DIGITS = 30
"""A column is rounded to so many digits after the point at most, or before it."""

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
"""How many arguments a function of columns takes, and what it looks like."""

TIMES = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "EPOCH")
OTHER_WEEKDAYS = ("DOW", "DAYOFWEEK", "ISODOW", "DAYOFWEEK_ISO")

OF_MANY_ROWS: set[str] = set()
"""The names of measures, which are no functions of a row: whoever reads measures enters them here."""


def refuse_function(name: str) -> str | None:
    """Return why a function of columns cannot be used, or None if it can."""
    if name in ARGUMENTS:
        return None
    if name in TIMES:
        return f"{name} needs times of day, but columns hold dates only; use one of {', '.join(PARTS)}"
    if name in OTHER_WEEKDAYS:
        return f"{name} depends on the engine's first day of the week; write WEEKDAY(day), where Monday is 0"
    if name in OF_MANY_ROWS:
        return f"{name} combines many rows, but one row is needed here; filter on it with HAVING, or leave it out"
    return f"{name} is not supported; functions of columns are {', '.join(ARGUMENTS)}, CASE and EXTRACT"


def call(name: str, *arguments: Node) -> Node:
    """Return a function of columns, in the one way that it is written."""
    if (problem := refuse_function(name)) is not None:
        raise InvalidQuestion(problem)
    least, most, like = ARGUMENTS[name]
    if not least <= len(arguments) <= most:
        raise InvalidQuestion(f"{name} cannot take {len(arguments)} arguments; write it like {like}")
    if name == "ROUND":
        return _round(arguments[0], arguments[1] if len(arguments) == 2 else Constant(Fraction(0)))
    if name == "DATE_TRUNC":
        return _truncate(*arguments)
    return Call(name, arguments)


def _round(this: Node, digits: Node) -> Node:
    number = digits.number
    if number not in range(-MOST_DIGITS, MOST_DIGITS + 1):
        raise InvalidQuestion(
            f"ROUND takes a whole number of digits up to {MOST_DIGITS}, got {digits}; write it like ROUND(x, 2)"
        )
    return Call("ROUND", (this, digits)) if number else Call("ROUND", (this,))


def _truncate(part: Node, day: Node) -> Node:
    word = part.value if isinstance(part, Constant) else None
    if not isinstance(word, str) or word.lower() not in TRUNCATIONS:
        raise InvalidQuestion(
            f"DATE_TRUNC goes to a {', '.join(TRUNCATIONS)}, got {part}; write it like DATE_TRUNC('month', day)"
        )
    return Call("DATE_TRUNC", (Constant(word.lower()), day))
