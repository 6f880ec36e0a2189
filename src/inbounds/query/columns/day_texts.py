"""Days and hours as text: the texts that the days between two ends have, and the place of one among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction

from inbounds.errors import InvalidQuestion
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.calendar_parts import DAY_NAMES, MONTH_NAMES, parts_between
from inbounds.query.columns.expression_bounds import Reading
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.text_keys import Places, recode
from inbounds.query.columns.time_parts import part_of

MOST_TEXTS = 1000
"""A day is written as one of so many texts at most."""

PARTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "%Y": ("YEAR", lambda year: f"{year:04}"),
    "%m": ("MONTH", lambda month: f"{month:02}"),
    "%d": ("DAY", lambda day: f"{day:02}"),
    "%A": ("WEEKDAY", DAY_NAMES.__getitem__),
    "%a": ("WEEKDAY", lambda day: DAY_NAMES[day][:3]),
    "%B": ("MONTH", lambda month: MONTH_NAMES[month - 1]),
    "%b": ("MONTH", lambda month: MONTH_NAMES[month - 1][:3]),
}
"""Forms that write a part of a day."""

HOUR = "%H"
"""The form that writes the hour of a time."""


def write_day(form: str, day: Reading) -> Places:
    """Return a day as a text: one of those that the days between its ends have."""
    low, high = int(day.low), int(day.high)
    code = day.count_units(Fraction(1), Fraction(0))
    if form in PARTS:
        return _write_part(*PARTS[form], code, low, high)
    if form == "%Y-%m-%d":
        days = [date.fromordinal(number).isoformat() for number in range(low, min(high, low + MOST_TEXTS) + 1)]
        return _few(form, days, w.total([(code, 1)], -low))
    first, last = (date.fromordinal(number) for number in (low, high))
    start, months = first.year * 12 + first.month - 1, (last.year - first.year) * 12 + last.month - first.month
    year = w.DayPart(first.year, last.year, (code,), "YEAR", False)
    month = w.DayPart(1, 12, (code,), "MONTH", False)
    place = replace(w.total([(year, 12), (month, 1)], -start - 1), low=0, high=months)
    texts = [f"{(start + i) // 12:04}-{(start + i) % 12 + 1:02}" for i in range(min(months, MOST_TEXTS) + 1)]
    return _few(form, texts, place)


def write_hour(time: Reading) -> Places:
    """Return the hour of a time as a text of two digits."""
    hour = part_of("HOUR", time)
    values = list(range(int(hour.low), int(hour.high) + 1)) if hour.possible is None else list(map(int, hour.possible))
    return _place_among(values, hour.whole, "{:02}".format)


def _write_part(part: str, write: Callable[[int], str], code: Whole, low: int, high: int) -> Places:
    values = parts_between(part, low, high)
    number = w.DayPart(values[0], values[-1], (code,), part, False)
    return _place_among(values, w.total([(number, 1)], -values[0]), write)


def _place_among(values: list[int], above: Whole, write: Callable[[int], str]) -> Places:
    """Return numbers as texts, of which a row has the one so far above the least."""
    places = {value: place for place, value in enumerate(values)}
    codes = [places.get(value, 0) for value in range(values[0], values[-1] + 1)]
    return Places(tuple(map(write, values)), recode(above, codes))


def _few(form: str, texts: list[str], place: Whole) -> Places:
    if len(texts) > MOST_TEXTS:
        raise InvalidQuestion(f"{form} gives more than {MOST_TEXTS} texts here; write a coarser one, such as '%Y'")
    return Places(tuple(texts), place)
