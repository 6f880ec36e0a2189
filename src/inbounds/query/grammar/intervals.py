"""Intervals: by how much a day or a time is moved, as in DATE '1994-01-01' + INTERVAL '1' YEAR."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.node import INTERVALS, Constant
from inbounds.query.grammar.text import SqlText, kind

DAYS_OF = {"DAY": 1, "WEEK": 7}
MONTHS_OF = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
SIXTEEN_MONTHS = 487
"""So many days have sixteen months, if every fourth year is a leap year."""
LONGEST = 9
"""No interval has more digits."""


def read_interval(text: SqlText, node: exp.Interval) -> tuple[int, str]:
    """Return how many of which unit an interval is."""
    text.take(node, "this", "unit")
    number, unit = node.this, node.args.get("unit")
    sign = 1
    if isinstance(number, exp.Neg):
        text.take(number, "this")
        number, sign = number.this, -1
    name = "" if unit is None else str(unit.name).upper().removesuffix("S")
    digits = str(number.this) if isinstance(number, exp.Literal) else ""
    if digits.startswith("-"):
        digits, sign = digits[1:], -sign
    if not digits.isdigit() or len(digits) > LONGEST or name not in (*INTERVALS, *DAYS_OF, *MONTHS_OF):
        known = ", ".join((*INTERVALS, *DAYS_OF, *MONTHS_OF))
        text.refuse(node, f"an interval is a whole number of {known}, got {kind(node)}; write INTERVAL '3' MONTH")
    text.take(number, "this", "is_string")
    assert unit is not None
    for part in unit.walk():  # INTERVAL '90' DAY (3) says how many digits there may be
        text.take(part, *part.args)
    if "start" in number.meta or not text.take_after("INTERVAL", f"{number.this} {unit.name}"):  # '3 days', as one text
        text.take_word(str(unit.name))
        text.take_after("INTERVAL", str(number.this))  # 3, of which sqlglot keeps no place
    return sign * int(digits), name


def move_day(day: Constant, number: int, unit: str) -> Constant:
    """Return a day or a time moved by an interval; to the last of a month where the month is shorter.

    A day that is moved by less than days is the time at which it begins.
    """
    start = day.value
    if isinstance(start, time):
        return _move_clock(day, start, number, unit)
    if not isinstance(start, date):
        raise InvalidQuestion(f"an interval moves a date, got {day}; write DATE '2026-12-31' before it")
    try:
        if unit in INTERVALS:
            moment = start if isinstance(start, datetime) else datetime.combine(start, time())
            return Constant(moment + number * INTERVALS[unit])
        if unit in DAYS_OF:
            return Constant(start + timedelta(days=number * DAYS_OF[unit]))
        months = start.year * 12 + start.month - 1 + number * MONTHS_OF[unit]
        year, month = divmod(months, 12)
        last = monthrange(year, month + 1)[1]
        return Constant(start.replace(year=year, month=month + 1, day=min(start.day, last)))
    except (ValueError, OverflowError):
        raise InvalidQuestion(f"{day} moved by {number} {unit} leaves the calendar; move it less") from None


def _move_clock(clock: Constant, start: time, number: int, unit: str) -> Constant:
    """Return a time of day moved within its day."""
    day = date(2000, 1, 1)
    try:
        moved = datetime.combine(day, start) + number * INTERVALS.get(unit, timedelta(days=1))
    except OverflowError:
        moved = datetime.max
    if moved.date() != day:
        raise InvalidQuestion(f"{clock} moved by {number} {unit} leaves the day; move it less")
    return Constant(moved.time())
