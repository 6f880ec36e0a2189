"""Bounds of dates are the days that a calendar leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.bounds import Bounds
from inbounds.errors import InvalidBounds

START = date(2023, 12, 20)

near_days = st.integers(-10, 80).map(lambda n: START + timedelta(n))
stretches = st.tuples(near_days, near_days).map(lambda pair: tuple(sorted(pair)))


def calendar(first: date, last: date) -> Iterable[date]:
    """Every day from first to last."""
    return (first + timedelta(n) for n in range((last - first).days + 1))


@given(stretches, st.none() | st.sets(st.integers(0, 6)), st.lists(near_days | stretches, max_size=6))
def test_dates_agree_with_a_calendar(
    stretch: tuple[date, date], weekdays: set[int] | None, closed: list[date | tuple[date, date]]
) -> None:
    """A day is possible exactly if it is in the stretch, on one of the weekdays, and not closed."""
    shut = {day for entry in closed for day in (calendar(*entry) if isinstance(entry, tuple) else [entry])}
    wanted = range(7) if weekdays is None else weekdays
    days = {day for day in calendar(*stretch) if day.weekday() in wanted and day not in shut}
    if not days:
        with pytest.raises(InvalidBounds, match=r"must leave an open day, got none .*; allow more weekdays"):
            Bounds.dates(*stretch, weekdays=weekdays, closed=closed)
        return
    bounds = Bounds.dates(*stretch, weekdays=weekdays, closed=closed)
    around = calendar(START - timedelta(20), START + timedelta(100))
    assert {day for day in around if day in bounds} == days
    assert (bounds.low, bounds.high) == (min(days), max(days))
    assert bounds == Bounds.parse(repr(bounds))


@pytest.mark.parametrize(
    ("weekdays", "numbers"),
    [
        ("Mon-Fri", {0, 1, 2, 3, 4}),
        ("mon,WED , friday", {0, 2, 4}),
        ("Sat-Mon", {5, 6, 0}),
        ("Mon-Tue, Thurs", {0, 1, 3}),
        ("Sunday - sunday", {6}),
        (["Mon", "Wednesday"], {0, 2}),
        ([0, 2, np.int64(4)], {0, 2, 4}),
        (("Mon-Wed", 6), {0, 1, 2, 6}),
        (None, set(range(7))),
    ],
)
def test_weekdays_are_read_as_people_write_them(weekdays: Any, numbers: set[int]) -> None:
    """Ranges, lists, abbreviations, full names and numbers name the same days."""
    fortnight = list(calendar(START, START + timedelta(13)))
    bounds = Bounds.dates(fortnight[0], fortnight[-1], weekdays=weekdays)
    assert {day.weekday() for day in fortnight if day in bounds} == numbers


def test_days_come_as_dates_texts_and_numpy_days() -> None:
    """The ways to write a day give equal bounds."""
    ways: list[Any] = [date(2026, 8, 3), "2026-08-03", np.datetime64("2026-08-03", "D")]
    bounds = [Bounds.dates(day, "2026-08-14", closed=[(day, "2026-08-04")]) for day in ways]
    assert bounds == [Bounds.dates("2026-08-05", "2026-08-14")] * 3


@pytest.mark.slow
def test_the_whole_calendar_is_possible() -> None:
    """The first and the last day that Python knows are good ends, and weekdays line up over all of it."""
    assert len(Bounds.dates(date.min, date.max)) == 1
    sundays = Bounds.dates(date.min, date.max, weekdays="Sun")
    assert (sundays.low, sundays.high) == (date(1, 1, 7), date(9999, 12, 26))
    assert len(sundays) == date.max.toordinal() // 7


def test_dates_are_a_lattice_of_days() -> None:
    """Ends are proleptic ordinals in steps of one day, and read as dates."""
    bounds = Bounds.dates("2026-01-01", "2026-01-09", weekdays="Mon-Fri")
    assert bounds.step == bounds.unit == 1
    assert bounds.offset == 0
    assert bounds.is_dates
    assert bounds.bounded
    assert bounds.ends[:2] == (date(2026, 1, 1).toordinal(), date(2026, 1, 2).toordinal())
    assert [span.high for span in bounds] == [date(2026, 1, 2), date(2026, 1, 9)]


def test_membership_of_days() -> None:
    """Dates and numpy days are asked exactly; numbers and no-date are not members; other kinds are an error."""
    bounds = Bounds.dates("2026-01-01", "2026-01-09", weekdays="Mon-Fri")
    assert date(2026, 1, 2) in bounds
    assert date(2026, 1, 3) not in bounds
    assert np.datetime64("2026-01-02", "D") in bounds
    assert np.datetime64("NaT", "D") not in bounds
    assert date(2026, 1, 2).toordinal() not in bounds
    for other in ("2026-01-02", datetime(2026, 1, 2), np.datetime64("2026-01-02T00", "h"), None):
        with pytest.raises(TypeError, match="bounds of dates hold no"):
            other in bounds  # noqa: B015 - the question is the test


def test_dates_unite_intersect_and_exclude_like_numbers() -> None:
    """Neighbouring runs merge, and a gap's ends stay open."""
    august = Bounds.dates("2026-08-01", "2026-08-15") | Bounds.dates("2026-08-16", "2026-08-31")
    assert august == Bounds.dates("2026-08-01", "2026-08-31")
    assert august & Bounds.dates("2026-08-30", "2026-09-30") == Bounds.dates("2026-08-30", "2026-08-31")
    shut = august.excluding(("2026-08-03", date(2026, 8, 14)), (None, "2026-08-02"))
    assert shut == Bounds.dates("2026-08-02", "2026-08-31", closed=[("2026-08-04", "2026-08-13")])


def test_dates_and_numbers_do_not_mix() -> None:
    """The same ends are different bounds as days and as numbers, and cannot be combined."""
    days = Bounds.dates("2026-01-01", "2026-01-09")
    assert days.ends[0] is not None
    numbers = Bounds(days.ends[0], days.ends[1], step=1)
    assert days != numbers
    for combine in (days.__or__, days.__and__):
        with pytest.raises(InvalidBounds, match=r"must be dates, or numbers .* got dates and step 1; build both"):
            combine(numbers)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"first": "2026-01-32"}, ("first", "'2026-01-32'", "such as '2026-12-31'")),
        ({"first": "soon"}, ("first", "'soon'", "such as '2026-12-31'")),
        ({"first": None}, ("first", "None", "give a date")),
        ({"last": 20260101}, ("last", "20260101", "give a date")),
        ({"last": datetime(2026, 1, 9)}, ("last", "datetime", "drop its time of day")),
        ({"last": np.datetime64("NaT", "D")}, ("last", "NaT", "give a date")),
        ({"last": np.datetime64("12026-01-01", "D")}, ("last", "12026", "give a date")),
        ({"last": "2025-12-31"}, ("first", "last", "'2025-12-31'", "swap")),
        ({"weekdays": "Mon-Fry"}, ("weekdays", "'Fry'", "'Mon-Fri'")),
        ({"weekdays": "Mo"}, ("weekdays", "'Mo'", "'Mon-Fri'")),
        ({"weekdays": ""}, ("weekdays", "''", "'Mon-Fri'")),
        ({"weekdays": 3}, ("weekdays", "3", "a list")),
        ({"weekdays": [7]}, ("weekdays", "7", "0 for Monday")),
        ({"weekdays": [True]}, ("weekdays", "True", "0 for Monday")),
        ({"weekdays": []}, ("open day", "none", "more weekdays")),
        ({"closed": "2026-01-01"}, ("closed", "'2026-01-01'", "[ ]")),
        ({"closed": 5}, ("closed", "5", "[ ]")),
        ({"closed": [5]}, ("closed", "5", "give a date")),
        ({"closed": [("2026-01-02", "2026-01-01")]}, ("first of a closed pair", "'2026-01-02'", "swap")),
        ({"closed": [("2026-01-01", "2026-01-02", "2026-01-03")]}, ("closed", "2026-01-03", "give a date")),
    ],
    ids=str,
)
def test_bad_dates_are_refused_with_a_remedy(arguments: dict[str, Any], words: tuple[str, ...]) -> None:
    """Each message names the parameter, what was received and what to do."""
    with pytest.raises(InvalidBounds) as refusal:
        Bounds.dates(**({"first": "2026-01-01", "last": "2026-01-09"} | arguments))
    for word in words:
        assert word in str(refusal.value)
