"""Days a thing can happen on: weekdays and closed days become runs of day numbers (`date.toordinal()`)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import TypeAlias

import numpy as np

from inbounds.errors import InvalidBounds
from inbounds.exact.rational import shown

Day: TypeAlias = "date | str | np.datetime64"
Weekdays: TypeAlias = "str | Iterable[str | int]"
Closed: TypeAlias = "Iterable[Day | tuple[Day, Day]]"

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
EPOCH = date(1970, 1, 1).toordinal()
"""The day number of NumPy's day 0."""

_LAST = date.max.toordinal()


def day_number(value: object) -> int | None:
    """Return the day number of a date or a datetime64[D], None for anything else; a datetime is not a date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal()
    if isinstance(value, np.datetime64) and value.dtype == np.dtype("datetime64[D]"):
        return int(value.astype(np.int64)) + EPOCH
    return None


def read_day(day: object, name: str) -> int:
    """Return the day number of a date, a datetime64[D] or an ISO text; `name` is what a message calls it."""
    number = day_number(_from_text(day) if isinstance(day, str) else day)
    if number is None or not 1 <= number <= _LAST:
        remedy = "drop its time of day" if isinstance(day, datetime) else "give a date, such as '2026-12-31'"
        raise InvalidBounds(f"{name} must be a day of the calendar, got {shown(day)}; {remedy}")
    return number


def open_runs(first: Day, last: Day, weekdays: Weekdays | None, closed: Closed) -> list[tuple[int, int]]:
    """Return the runs of open days from `first` to `last`, in order, as pairs of day numbers, both ends open."""
    start, stop = _read_stretch(first, last, "first", "last")
    is_open = bytearray(b"\1") * (stop - start + 1)
    if weekdays is not None:
        wanted = _read_weekdays(weekdays)
        for number in set(range(7)) - wanted:
            skip = (number + 1 - start) % 7  # day number 1 was a Monday
            is_open[skip::7] = bytes(len(range(skip, len(is_open), 7)))
    for shut, reopened in _read_closed(closed):
        left, right = max(shut, start) - start, min(reopened, stop) - start + 1
        if left < right:
            is_open[left:right] = bytes(right - left)
    runs = [(start + left, start + right) for left, right in _runs(is_open)]
    if not runs:
        raise InvalidBounds(
            f"dates must leave an open day, got none from {shown(first)} to {shown(last)}; "
            "allow more weekdays or close fewer days"
        )
    return runs


def _runs(flags: bytearray) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of each run of ones."""
    left = flags.find(1)
    while left >= 0:
        right = flags.find(0, left)
        right = len(flags) if right < 0 else right
        yield left, right - 1
        left = flags.find(1, right)


def _from_text(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _read_stretch(first: object, last: object, first_name: str, last_name: str) -> tuple[int, int]:
    start, stop = read_day(first, first_name), read_day(last, last_name)
    if start > stop:
        raise InvalidBounds(
            f"{first_name} must not come after {last_name}, got {shown(first)} and {shown(last)}; swap them"
        )
    return start, stop


def _read_closed(closed: Closed) -> Iterator[tuple[int, int]]:
    """Yield each closed day or stretch as a pair of day numbers."""
    if isinstance(closed, str) or not isinstance(closed, Iterable):
        raise InvalidBounds(f"closed must be a list of days or (first, last) pairs, got {shown(closed)}; put it in [ ]")
    for entry in closed:
        if isinstance(entry, tuple | list) and len(entry) == 2:
            yield _read_stretch(*entry, "first of a closed pair", "last of a closed pair")
        else:
            yield _read_stretch(entry, entry, "closed", "closed")


def _read_weekdays(weekdays: Weekdays) -> set[int]:
    """Return the numbers, Monday 0, of the weekdays in a text like "Mon-Fri" or "Mon, Wed", or in a list."""
    if isinstance(weekdays, str):
        weekdays = weekdays.split(",")
    if not isinstance(weekdays, Iterable):
        raise _bad_weekday(weekdays)
    return {number for entry in weekdays for number in _read_weekday_range(entry)}


def _read_weekday_range(entry: str | int) -> list[int]:
    if not isinstance(entry, str):
        return [_weekday(entry)]
    first, dash, last = entry.partition("-")
    start = _weekday(first)
    length = (_weekday(last) - start) % 7 if dash else 0
    return [(start + more) % 7 for more in range(length + 1)]


def _weekday(weekday: object) -> int:
    """Return the number of a weekday given by its number or by three or more first letters of its name."""
    if isinstance(weekday, str):
        start = weekday.strip().lower()
        matches = [number for number, name in enumerate(_NAMES) if len(start) >= 3 and name.startswith(start)]
        if matches:
            return matches[0]
    elif isinstance(weekday, int | np.integer) and not isinstance(weekday, bool) and 0 <= weekday <= 6:
        return operator.index(weekday)
    raise _bad_weekday(weekday)


def _bad_weekday(got: object) -> InvalidBounds:
    return InvalidBounds(
        f"weekdays must name days of the week, got {shown(got)}; give 'Mon-Fri', 'Mon,Wed' or a list of names or of "
        "numbers from 0 for Monday to 6"
    )
