"""Days, hours and numbers as text: the texts that there are between two ends, and the place of one among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from inbounds.errors import InvalidQuestion
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.calendar_parts import DAY_NAMES, LAST, MONTH_NAMES, PART, parts_between
from inbounds.query.columns.expression_bounds import Reading
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.columns.kind import DAY, NUMBER
from inbounds.query.columns.text_keys import Places, place_among, recode
from inbounds.query.columns.time_parts import part_of
from inbounds.query.expressions.day_form import OF_DAYS, OF_MONTHS, OF_QUARTERS, OF_WEEKS, split_form
from inbounds.query.expressions.node import Node

MOST_TEXTS = 1000
"""A day or a number is written as one of so many texts at most."""

NAMED: dict[str, tuple[str, Callable[[int], str]]] = {
    "%Y": ("YEAR", lambda year: f"{year:04}"),
    "%y": ("YEAR", lambda year: f"{year % 100:02}"),
    "%q": ("QUARTER", str),
    "%m": ("MONTH", lambda month: f"{month:02}"),
    "%-m": ("MONTH", str),
    "%B": ("MONTH", lambda month: MONTH_NAMES[month - 1]),
    "%b": ("MONTH", lambda month: MONTH_NAMES[month - 1][:3]),
    "%V": ("WEEK", lambda week: f"{week:02}"),
    "%d": ("DAY", lambda day: f"{day:02}"),
    "%-d": ("DAY", str),
    "%A": ("WEEKDAY", DAY_NAMES.__getitem__),
    "%a": ("WEEKDAY", lambda day: DAY_NAMES[day][:3]),
    "%u": ("WEEKDAY", lambda day: str(day + 1)),
    "%w": ("WEEKDAY", lambda day: str((day + 1) % 7)),
}
"""Forms that write a part of a day which has few values, however far apart the days are."""

OTHERS: dict[str, Callable[[date], str]] = {
    "%G": lambda day: f"{day.isocalendar().year:04}",
    "%j": lambda day: f"{day.timetuple().tm_yday:03}",
}
"""Forms that write another part."""


@dataclass(frozen=True)
class Stretches:
    """Equal stretches of time that the days between two ends lie in: how many, the place of one, and a day in each."""

    count: int
    place: Whole
    day_in: Callable[[int], date]


def write_day(form: str, day: Reading) -> Places:
    """Return a day as a text: one of those that the days between its ends have."""
    low, high = int(day.low), int(day.high)
    code = day.count_units(Fraction(1), Fraction(0))
    pieces = split_form(form)
    if form in NAMED:
        part, write = NAMED[form]
        values = parts_between(part, low, high)
        number = w.DayPart(values[0], values[-1], (code,), part, False)
        return _place_among(values, w.total([(number, 1)], -values[0]), write)
    found = _stretches(set(pieces), code, low, high)
    if found.count > MOST_TEXTS:
        raise InvalidQuestion(f"{form} gives more than {MOST_TEXTS} texts here; write a coarser one, such as '%Y'")
    days = [found.day_in(place) for place in range(found.count)]
    return _distinct(["".join(_write_piece(piece, one) for piece in pieces) for one in days], found.place)


def _write_piece(piece: str, day: date) -> str:
    """Return a part of a form for a day, and anything else as it stands."""
    if piece in NAMED:
        part, write = NAMED[piece]
        return write(PART[part](day))
    return OTHERS[piece](day) if piece in OTHERS else piece


def _stretches(parts: set[str], code: Whole, low: int, high: int) -> Stretches:
    """Return the longest stretches in which all days are written alike."""
    first, last = date.fromordinal(low), date.fromordinal(high)
    of_weeks = not parts.isdisjoint(OF_WEEKS)
    others = parts & {*NAMED, *OTHERS} - set(OF_WEEKS)
    if not parts.isdisjoint(OF_DAYS) or (of_weeks and others):
        return Stretches(high - low + 1, w.total([(code, 1)], -low), lambda place: date.fromordinal(low + place))
    if of_weeks:
        monday = low - (low - 1) % 7
        week = w.quotient(w.total([(code, 1)], -monday), 7)
        # The Thursday of a week is always in its year; the calendar may begin or end within the week.
        count = (high - monday) // 7 + 1
        return Stretches(count, week, lambda place: date.fromordinal(min(monday + 7 * place + 3, LAST)))
    name, a_year = ("MONTH", 12) if not parts.isdisjoint(OF_MONTHS) else ("QUARTER", 4)
    if parts.isdisjoint((*OF_MONTHS, *OF_QUARTERS)):
        name, a_year = "YEAR", 1
    start, end = _number(first, a_year), _number(last, a_year)
    terms: list[tuple[Whole, int]] = [(w.DayPart(first.year, last.year, (code,), "YEAR", False), a_year)]
    if a_year > 1:
        terms.append((w.DayPart(1, a_year, (code,), name, False), 1))
    place = replace(w.total(terms, -start - (a_year > 1)), low=0, high=end - start)
    months = 12 // a_year
    return Stretches(
        end - start + 1, place, lambda at: date((start + at) // a_year, (start + at) % a_year * months + 1, 1)
    )


def _number(day: date, a_year: int) -> int:
    """Return how many stretches of a year, of so many each, lie before a day."""
    return day.year * a_year + (day.month - 1) * a_year // 12


def write_hour(time: Reading) -> Places:
    """Return the hour of a time as a text of two digits."""
    hour = part_of("HOUR", time)
    return _place_among(_values(hour), hour.whole, "{:02}".format)


def write_value(node: Node, value: Reading | Places) -> Places:
    """Return anything as a text: a day, a whole number, or true and false."""
    if isinstance(value, Places):
        texts = [str(key).lower() if isinstance(key, bool) else str(key) for key in value.keys]
        return Places(tuple(texts), value.whole)
    if value.kind == DAY:
        return write_day("%Y-%m-%d", value)
    if value.kind != NUMBER:
        raise InvalidQuestion(
            f"{node} is {value.kind.singular}, which databases write differently; write STRFTIME({node}, '%H')"
        )
    if not value.stepped or value.low.denominator != 1 or value.unit.denominator != 1:
        raise InvalidQuestion(
            f"{node} may be a fraction, which databases write differently; round it, as in CAST(ROUND(x) AS TEXT)"
        )
    if value.steps >= MOST_TEXTS:
        raise InvalidQuestion(
            f"{node} has more than {MOST_TEXTS} possible values as text; make it coarser, as in FLOOR(x / 10) * 10"
        )
    low, step = int(value.low), int(value.unit or 1)
    places = [(number - low) // step for number in _values(value)]
    return _place_among(places, value.whole, lambda place: str(low + place * step))


def _values(numbers: Reading) -> list[int]:
    """Return the whole numbers that a reading can be."""
    if numbers.possible is not None:
        return list(map(int, numbers.possible))
    return list(range(int(numbers.low), int(numbers.high) + 1, int(numbers.unit or 1)))


def _place_among(values: list[int], above: Whole, write: Callable[[int], str]) -> Places:
    """Return numbers as texts, of which a row has the one so far above the least."""
    places = {value: place for place, value in enumerate(values)}
    codes = [places.get(value, 0) for value in range(values[0], values[-1] + 1)]
    return _distinct(list(map(write, values)), recode(above, codes))


def _distinct(texts: list[str], place: Whole) -> Places:
    """Return texts of which a row has the one at a place; some may be alike."""
    keys = tuple(dict.fromkeys(texts))
    return Places(keys, place_among(Places(tuple(texts), place), keys))
