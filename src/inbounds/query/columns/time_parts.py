"""Days and times: their parts, what they are rounded down to, and how they are moved, in whole numbers.

A time is a number of seconds, counted from a midnight (`bounds.times`).  What its clock shows are quotients of that
number and what is left of them, the same on every engine.  Two days are apart in days, two times in seconds.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from fractions import Fraction
from math import floor

from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.errors import InvalidQuestion
from inbounds.query.columns import calendar_parts
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.expression_bounds import Reading, constant, gcd, linear
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.kind import CLOCK, DAY, NUMBER, TIME
from inbounds.query.expressions.arithmetic import Binary

ONE, LESS = Fraction(1), Fraction(-1)
MICROSECOND = timedelta(microseconds=1)
BY_INTERVAL = "move one by an interval, as in time + INTERVAL '6' HOUR"

PART: dict[str, tuple[int, int]] = {"HOUR": (3600, 24), "MINUTE": (60, 60), "SECOND": (1, 60)}
"""How many seconds a part has, and how many of them follow each other before they begin again."""

START = {"hour": 3600, "minute": 60, "second": 1}
"""The seconds of what a time is rounded down to."""

UNIX = date(1970, 1, 1).toordinal() * DAY_SECONDS
"""The number of the moment that EPOCH counts from."""


def read_constant(value: date | time) -> Reading:
    """Return a day, a moment or a time of day as a constant."""
    kind = CLOCK if isinstance(value, time) else TIME if isinstance(value, datetime) else DAY
    return constant(kind.literal(value, "a constant"), kind)


def part_of(name: str, time: Reading) -> Reading:
    """Return the hour, the minute or the second that a clock shows, or the seconds since 1970."""
    if name == "EPOCH":
        return linear([(ONE, time), (Fraction(-UNIX), Reading((), ONE))], NUMBER)
    seconds, count = PART[name]
    whole, _ = _count(time, seconds)
    values = _parts_between(time, seconds, count)
    if whole.high >= count:
        whole = w.remainder(whole, count, values[0], values[-1])
    has_gaps = len(values) <= values[-1] - values[0]
    return Reading(((whole, ONE),), Fraction(0), possible=tuple(map(Fraction, values)) if has_gaps else None)


def start_of(name: str, time: Reading) -> Reading:
    """Return a time rounded down to the hour, the minute or the second."""
    seconds = Fraction(START[name])
    if time.unit and (time.unit / seconds).denominator == (time.low / seconds).denominator == 1:
        return time
    whole, midnight = _count(time, START[name])
    return Reading(((whole, seconds),), midnight, kind=time.kind)


def day_of(time: Reading) -> Reading:
    """Return the day on which a moment is."""
    whole, midnight = _count(time, DAY_SECONDS)
    return Reading(((whole, ONE),), midnight / DAY_SECONDS, kind=DAY)


def clock_of(time: Reading) -> Reading:
    """Return what the clock shows at a moment; a time of day is that already."""
    if time.kind == CLOCK:
        return time
    fine = gcd(time.grain, Fraction(DAY_SECONDS))
    midnight = _midnight_before(time)
    whole, count = time.count_units(fine, midnight), int(DAY_SECONDS / fine)
    if whole.high >= count:
        whole = w.remainder(whole, count, 0, count - 1)
    return Reading(((whole, fine),), Fraction(0), kind=CLOCK)


def part_of_day(name: str, day: Reading) -> Reading:
    """Return a part of a day, such as its month."""
    values = calendar_parts.parts_between(name, int(day.low), int(day.high))
    part = w.DayPart(values[0], values[-1], (day.count_units(ONE, Fraction(0)),), name, False)
    gaps = len(values) <= values[-1] - values[0]
    return Reading(((part, ONE),), Fraction(0), possible=tuple(map(Fraction, values)) if gaps else None)


def start_of_period(name: str, day: Reading) -> Reading:
    """Return the first day of the week, month, quarter or year that a day lies in."""
    low, high = int(day.low), int(day.high)
    ends = calendar_parts.start_of(name, low), calendar_parts.start_of(name, high)
    start = w.DayPart(*ends, (day.count_units(ONE, Fraction(0)),), name, True)
    return Reading(((start, ONE),), Fraction(0), kind=DAY, possible=calendar_parts.starts_between(name, low, high))


def as_time(reading: Reading) -> Reading:
    """Return a day as the moment at which it begins, anything else as it is."""
    return linear([(Fraction(DAY_SECONDS), reading)], TIME) if reading.kind == DAY else reading


def _midnight_before(time: Reading) -> Fraction:
    """Return the midnight before the least value."""
    return Fraction(floor(time.low / DAY_SECONDS) * DAY_SECONDS)


def _count(time: Reading, seconds: int) -> tuple[Whole, Fraction]:
    """Return how many stretches of so many seconds lie between a midnight and a time, and that midnight."""
    midnight = _midnight_before(time)
    fine = gcd(time.grain, Fraction(seconds))
    return w.quotient(time.count_units(fine, midnight), int(seconds / fine)), midnight


def _parts_between(time: Reading, seconds: int, count: int) -> list[int]:
    """Return the values of a part that occur in a lattice of times."""
    first, last = floor(time.low / seconds), floor(time.high / seconds)
    if time.unit <= seconds:  # then every stretch between the first and the last has a time
        return sorted({part % count for part in range(first, min(last, first + count - 1) + 1)})
    around = int(Fraction(seconds * count) / gcd(time.unit, Fraction(seconds * count)))
    steps = range(min(time.steps + 1, around))
    return sorted({floor((time.low + step * time.unit) / seconds) % count for step in steps})


def move_or_subtract(node: Binary, left: Reading, right: Reading) -> Reading:
    """Return a day or a time moved by a number of days, or what two of them are apart; refuse anything else."""
    if node.operator == "-" and {left.kind, right.kind} == {DAY, TIME}:
        left, right = as_time(left), as_time(right)
    if node.operator == "-" and left.kind == right.kind:
        return linear([(ONE, left), (LESS, right)])
    if {left.kind, right.kind} == {TIME, NUMBER} and (left.kind == TIME or node.operator == "+"):
        time, days = (left, right) if left.kind == TIME else (right, left)
        return _move_time(node, time, _whole_days(node, days) * DAY_SECONDS)
    if not {left.kind, right.kind} <= {DAY, NUMBER}:
        raise InvalidQuestion(f"{node} is neither a time nor a duration; subtract two times, or {BY_INTERVAL}")
    return _move_day(node, left, right)


def move_by_interval(node: Binary, time: Reading, interval: timedelta) -> Reading:
    """Return a time moved by an interval; a day is the time at which it begins."""
    return _move_time(node, as_time(time), Fraction(interval // MICROSECOND, 10**6))


def _move_day(node: Binary, left: Reading, right: Reading) -> Reading:
    """Return a day and a number of days."""
    if right.kind == DAY and (left.kind == DAY or node.operator == "-"):
        raise InvalidQuestion(
            f"{node} is neither a date nor a number of days; subtract a date, or add a number of days"
        )
    days = right if left.kind == DAY else left
    if not days.stepped or days.low.denominator * days.unit.denominator != 1:
        raise InvalidQuestion(f"{node} moves a date by a fraction of a day; add whole numbers, as in FLOOR(x)")
    day = linear([(ONE, left), (ONE if node.operator == "+" else LESS, right)], DAY)
    if not 1 <= day.low <= day.high <= calendar_parts.LAST:
        raise InvalidQuestion(f"{node} can leave the calendar; add fewer days")
    return day


def _whole_days(node: Binary, days: Reading) -> Fraction:
    """Return the number of days by which a time is moved: a constant, since times are apart in seconds."""
    if days.terms or days.plus.denominator != 1:
        raise InvalidQuestion(f"{node} moves a time by what is not a whole number of days; {BY_INTERVAL}")
    return days.plus


def _move_time(node: Binary, time: Reading, seconds: Fraction) -> Reading:
    """Return a time moved by so many seconds; one that can leave the calendar, or the day, is refused."""
    if time.kind not in (TIME, CLOCK):
        raise InvalidQuestion(f"{node} moves a number by an interval; name a column whose bounds are times or dates")
    by = seconds if node.operator == "+" else -seconds
    moved = linear([(ONE, time), (ONE, constant(by))], time.kind)
    least, beyond = (0, DAY_SECONDS) if time.kind == CLOCK else (DAY_SECONDS, (calendar_parts.LAST + 1) * DAY_SECONDS)
    if not least <= moved.low <= moved.high < beyond:
        leaves = "the day" if time.kind == CLOCK else "the calendar"
        raise InvalidQuestion(f"{node} can leave {leaves}; move it less")
    return moved
