"""Parts of days, and the first days of what they lie in: which of them occur between two days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction

LAST = date.max.toordinal()

PART: dict[str, Callable[[date], int]] = {
    "YEAR": lambda day: day.year,
    "QUARTER": lambda day: (day.month + 2) // 3,
    "MONTH": lambda day: day.month,
    "WEEK": lambda day: day.isocalendar().week,
    "WEEKDAY": lambda day: day.weekday(),
    "DAY": lambda day: day.day,
}

START: dict[str, Callable[[date], date]] = {
    "year": lambda day: day.replace(month=1, day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "month": lambda day: day.replace(day=1),
    "week": lambda day: day - timedelta(days=day.weekday()),
}

LONG = 800
"""Among so many days in a row all parts occur, but for the year and a 53rd week."""

EVERY = {"QUARTER": range(1, 5), "MONTH": range(1, 13), "WEEKDAY": range(7), "DAY": range(1, 32)}

MOST_STARTS = 1000
"""So many first days are told one by one."""


def parts_between(name: str, low: int, high: int) -> list[int]:
    """Return the values of a part that occur between two days, given by their numbers."""
    part = PART[name]
    if name == "YEAR":
        return list(range(part(date.fromordinal(low)), part(date.fromordinal(high)) + 1))
    if high - low < LONG:
        return sorted({part(date.fromordinal(day)) for day in range(low, high + 1)})
    return list(range(1, 53 + _has_week_53(low, high))) if name == "WEEK" else list(EVERY[name])


def _has_week_53(low: int, high: int) -> bool:
    """Return whether a 53rd week has a day among many days in a row; it has a Thursday at the end of its year."""
    years = range(date.fromordinal(low).year, date.fromordinal(high).year + 1)
    thursdays = (last.toordinal() for year in years if (last := date(year, 12, 28)).isocalendar().week == 53)
    last_weeks = (day - (day - 1) % 7 for day in thursdays)
    before = date.fromordinal(low).isocalendar().week == 53
    return before or any(monday <= high and monday + 6 >= low for monday in last_weeks)


def start_of(name: str, day: int) -> int:
    """Return the first day of what a day lies in, by their numbers."""
    return START[name](date.fromordinal(day)).toordinal()


def starts_between(name: str, low: int, high: int) -> tuple[Fraction, ...] | None:
    """Return the first days of what the days from one to another lie in; None if they are many."""
    starts: list[Fraction] = []
    day = start_of(name, high)
    while len(starts) <= MOST_STARTS:
        starts.append(Fraction(day))
        if day <= low:
            return tuple(reversed(starts))
        day = start_of(name, day - 1)
    return None


DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
