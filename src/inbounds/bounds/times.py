"""Times as numbers of seconds, and how times and durations are written.

A moment is the number of seconds since the midnight before the first of the calendar, so that its whole days are day
numbers (`date.toordinal()`); a time of day is the number of seconds since midnight.  Neither has a time zone.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Literal, TypeAlias

from inbounds.errors import InvalidBounds
from inbounds.exact.rational import cut, shown

Values: TypeAlias = Literal["number", "day", "time", "clock"]
"""What lies within bounds: numbers, days, moments of a calendar and its clock, or times of day."""

DAY = 86_400
"""The seconds of a day."""

UNITS = {
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(DAY),
}
"""The units of durations in seconds, as they are written behind a number."""

CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
MOMENT = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{CLOCK}"
DURATION = rf"[0-9]+(?:{'|'.join(UNITS)})(?![A-Za-z])"
"""How they are written, as regular expressions."""

_MICROSECOND = timedelta(microseconds=1)


def moment_number(moment: datetime) -> Fraction:
    """Return the seconds of a moment without a zone."""
    return DAY + Fraction((moment - datetime.min) // _MICROSECOND, 10**6)


def moment_at(number: Fraction) -> datetime:
    """Return the moment of a number of seconds, microseconds rounded down."""
    return datetime.min + _MICROSECOND * int((number - DAY) * 10**6)


def clock_number(clock: time) -> Fraction:
    """Return the seconds since midnight of a time of day without a zone."""
    return Fraction((datetime.combine(date.min, clock) - datetime.min) // _MICROSECOND, 10**6)


def clock_at(number: Fraction) -> time:
    """Return the time of day of a number of seconds since midnight."""
    return moment_at(DAY + number % DAY).time()


def parse_moment(text: str) -> Fraction:
    """Read a moment such as 2026-12-31 23:59:59, or a day as its midnight; raises ValueError."""
    if not re.fullmatch(rf"{MOMENT}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}", text):
        raise ValueError("not a time of the calendar")
    return moment_number(datetime.fromisoformat(text))


def parse_clock(text: str) -> Fraction:
    """Read a time of day such as 23:59:59; raises ValueError."""
    if not re.fullmatch(CLOCK, text):
        raise ValueError("not a time of day")
    return clock_number(time.fromisoformat(text))


def read_moment(given: object, name: str) -> Fraction:
    """Return the seconds of a moment, a day or a text of either; `name` is what a message calls it."""
    try:
        if isinstance(given, str):
            return parse_moment(given.strip())
        if isinstance(given, datetime) and given.tzinfo is None:
            return moment_number(given)
        if type(given) is date:
            return Fraction(given.toordinal() * DAY)
    except ValueError:
        pass
    remedy = "drop its time zone" if isinstance(given, datetime) else "give a datetime, such as '2026-12-31 23:59:59'"
    raise InvalidBounds(f"{name} must be a time of the calendar, got {shown(given)}; {remedy}")


def read_clock(given: object, name: str) -> Fraction:
    """Return the seconds since midnight of a time of day or its text; `name` is what a message calls it."""
    try:
        if isinstance(given, str):
            return parse_clock(given.strip())
        if isinstance(given, time) and given.tzinfo is None:
            return clock_number(given)
    except ValueError:
        pass
    raise InvalidBounds(f"{name} must be a time of day, got {shown(given)}; give one, such as '23:59:59'")


def read_duration(text: object, name: str) -> Fraction:
    """Return the seconds of a duration such as 15min; `name` is what a message calls it."""
    written = text.strip() if isinstance(text, str) else ""
    if not re.fullmatch(DURATION, written) or len(written) > 20:
        units = ", ".join(UNITS)
        raise InvalidBounds(
            f"{name} must be a whole number and one of {units}, got {cut(shown(text))}; write it like '15min'"
        )
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) * UNITS[written[len(digits) :]]


def write_duration(seconds: Fraction) -> str:
    """Return a duration in the largest unit that it is a multiple of."""
    for name, unit in reversed(UNITS.items()):
        if (seconds / unit).denominator == 1:
            return f"{seconds / unit}{name}"
    return f"{seconds}s"


def write_number(seconds: Fraction, values: Values) -> str:
    """Return the time that a number of seconds is, as it is written in a message."""
    return str(moment_at(seconds) if values == "time" else clock_at(seconds))
