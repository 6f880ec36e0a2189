"""The functions that an expression may call: of the columns of a row, or of what was released."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from inbounds.display.suggestion import find_nearest, list_names
from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.arithmetic import Call, Chain
from inbounds.query.expressions.day_form import check_form
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.expressions.text_functions import TEXT_FUNCTIONS

PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "WEEKDAY", "DAY")
CLOCK_PARTS = ("HOUR", "MINUTE", "SECOND", "EPOCH")
TRUNCATIONS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
CLOCK_OF = "TIMEOFDAY"
"""What CAST(t AS TIME) is kept as, and written as again."""
TEXT_OF = "TEXTOF"
"""What CAST(x AS TEXT) is kept as, and written as again."""
OF_TEXT = (*TEXT_FUNCTIONS, "SUBSTR", "RIGHT", "LENGTH")
"""Functions of texts."""

MOST_CHARACTERS = 1_000_000
"""A part of a text begins and ends before so many characters."""

MOST_DIGITS = 30
"""A column is rounded to so many digits after the point at most, or before it."""

ARGUMENTS: dict[str, tuple[int, int, str]] = {
    "ABS": (1, 1, "ABS(x)"),
    "FLOOR": (1, 1, "FLOOR(x)"),
    "ROUND": (1, 2, "ROUND(x, 2)"),
    "MOD": (2, 2, "MOD(x, 10)"),
    "LEAST": (2, 20, "LEAST(x, 100)"),
    "GREATEST": (2, 20, "GREATEST(x, 0)"),
    "COALESCE": (2, 20, "COALESCE(x, 0)"),
    "DATE_TRUNC": (2, 2, "DATE_TRUNC('month', day)"),
    "STRFTIME": (2, 2, "STRFTIME(day, '%Y-%m')"),
    "SUBSTR": (2, 3, "SUBSTR(icd, 1, 3)"),
    "LEFT": (2, 2, "LEFT(icd, 3)"),
    "RIGHT": (2, 2, "RIGHT(icd, 3)"),
    "LENGTH": (1, 1, "LENGTH(icd)"),
    "NULLIF": (2, 2, "NULLIF(clinic, 'none')"),
    **{part: (1, 1, f"{part}(day)") for part in PARTS},
    **{part: (1, 1, f"{part}(time)") for part in CLOCK_PARTS},
    CLOCK_OF: (1, 1, "CAST(time AS TIME)"),
    TEXT_OF: (1, 1, "CAST(ward AS TEXT)"),
    **{name: function.counts for name, function in TEXT_FUNCTIONS.items()},
}
"""How many arguments a function of columns takes, and what it looks like."""

TIMES = ("MILLISECOND", "MICROSECOND", "NANOSECOND")
OTHER_WEEKDAYS = ("DOW", "DAYOFWEEK", "ISODOW", "DAYOFWEEK_ISO")

OTHER_NAMES = {
    "MEAN": "AVG",
    "AVERAGE": "AVG",
    "STD": "STDDEV",
    "STDEV": "STDDEV",
    "VAR": "VARIANCE",
    "SHARE": "PROPORTION",
    "PCT": "PROPORTION",
    "PERCENT": "PROPORTION",
    "PERCENTILE": "QUANTILE",
    "CORRELATION": "CORR",
    "COVARIANCE": "COVAR_SAMP",
    "TRUNC": "FLOOR",
    "INT": "FLOOR",
    "IFNULL": "COALESCE",
    "NVL": "COALESCE",
    "ISNULL": "COALESCE",
    "UCASE": "UPPER",
    "LCASE": "LOWER",
}
"""What functions are called elsewhere, and here."""

OF_MANY_ROWS: set[str] = set()
"""The names of measures, which are no functions of a row: whoever reads measures enters them here."""


def refuse_function(name: str) -> str | None:
    """Return why a function of columns cannot be used, or None if it can."""
    if name in ARGUMENTS:
        return None
    if name in TIMES:
        return f"{name} is finer than times are asked about; use one of {', '.join((*CLOCK_PARTS, *PARTS))}"
    if name in OTHER_WEEKDAYS:
        return f"{name} depends on the engine's first day of the week; write WEEKDAY(day), where Monday is 0"
    if name in OF_MANY_ROWS:
        return f"{name} combines many rows, but one row is needed here; filter on it with HAVING, or leave it out"
    return f"{name} is not supported; {suggest_function(name, (*ARGUMENTS, 'CASE', 'EXTRACT'), 'functions of columns')}"


def suggest_function(name: str, known: Iterable[str], what: str) -> str:
    """Return the remedy for a function that is not known: what it is called here, else those there are."""
    names = tuple(known)
    here = {other: own for other, own in OTHER_NAMES.items() if own in names}
    near = find_nearest(name, names, here)
    return f"did you mean {' or '.join(near)}?" if near else f"{what} are {list_names(names)}"


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
    if name == "STRFTIME":
        check_form(str(arguments[1].value) if isinstance(arguments[1], Constant) else str(arguments[1]))
    if name == "MOD" and not arguments[1].number:
        raise InvalidQuestion(f"MOD divides by {arguments[1]}, which may be zero; divide by a constant, as in {like}")
    if name in TEXT_FUNCTIONS:
        TEXT_FUNCTIONS[name].read(arguments[1:])
    if name in ("SUBSTR", "LEFT", "RIGHT"):
        return _take_part(name, *arguments)
    if name == "NULLIF" and not isinstance(arguments[1], Constant):
        raise InvalidQuestion(f"NULLIF compares with a constant, got {arguments[1]}; write it like {like}")
    return Call(name, arguments)


def chain(texts: Sequence[Node]) -> Node:
    """Return texts one after the other, in the one way that this is written."""
    return Chain(tuple(part for text in texts for part in (text.texts if isinstance(text, Chain) else (text,))))


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


def _take_part(name: str, text: Node, *places: Node) -> Node:
    """Return a part of a text by its characters; LEFT is the part from the first one on."""
    for place in places:
        if place.number is None or place.number not in range(1, MOST_CHARACTERS + 1):
            raise InvalidQuestion(
                f"{name} counts characters with whole numbers from 1 on, got {place}; write it like "
                f"{ARGUMENTS[name][2]}"
            )
    if name == "LEFT":
        return Call("SUBSTR", (text, Constant(Fraction(1)), *places))
    return Call(name, (text, *places))
