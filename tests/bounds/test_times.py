"""Bounds of times: written and read again, on steps from midnight."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds
from inbounds.bounds import times
from inbounds.errors import InvalidBounds, InvalidParameter

YEAR = "[2025-01-01 00:00:00, 2025-12-31 23:59:59] step 1s"
STEPS = st.sampled_from(["1ms", "20ms", "1s", "30s", "1min", "15min", "1h", "6h", "1d"])


@given(st.datetimes())
def test_a_moment_is_a_number_of_seconds(moment: datetime) -> None:
    """The whole days of a moment's number are its day number, the rest is what the clock shows; it is read back."""
    number = times.moment_number(moment)
    assert number // times.DAY == moment.toordinal()
    assert number % times.DAY == times.clock_number(moment.time())
    assert times.moment_at(number) == moment
    assert times.clock_at(number % times.DAY) == moment.time()


@given(st.datetimes(), st.datetimes(), STEPS)
def test_bounds_of_times_are_read_as_they_are_written(one: datetime, other: datetime, step: str) -> None:
    """Parsing the text of bounds gives the same bounds, whose ends are on a step and inside."""
    low, high = sorted((one, other))
    try:
        bounds = Bounds.times(low, high, step)
    except InvalidBounds:
        assert high - low < timedelta(days=1)  # no step between them
        return
    assert Bounds.parse(str(bounds)) == bounds
    assert isinstance(bounds.low, datetime)
    assert isinstance(bounds.high, datetime)
    assert low <= bounds.low <= bounds.high <= high
    assert bounds.low in bounds
    pitch = times.read_duration(step, "step")
    assert bounds.low - low < timedelta(seconds=float(pitch))
    assert (times.moment_number(bounds.low) / pitch).denominator == 1


@given(st.times(), st.times(), STEPS)
def test_bounds_of_times_of_day_are_read_as_they_are_written(one: time, other: time, step: str) -> None:
    """Parsing the text of bounds of times of day gives the same bounds."""
    low, high = sorted((one, other))
    try:
        bounds = Bounds.clock(low, high, step)
    except InvalidBounds:
        return
    assert Bounds.parse(str(bounds)) == bounds
    assert isinstance(bounds.low, time)
    assert low <= bounds.low


def test_what_is_within_bounds_of_times() -> None:
    """A time is possible if it is on a step within; a day, a number and a time with a zone are not asked about."""
    bounds = Bounds.parse("[2025-01-01 06:00, 2025-01-01 12:00] | [2025-01-02 00:00, 2025-01-02 01:00] step 30min")
    assert datetime(2025, 1, 1, 6, 30) in bounds
    assert datetime(2025, 1, 1, 6, 31) not in bounds
    assert datetime(2025, 1, 1, 18) not in bounds
    assert 5 not in bounds
    with pytest.raises(TypeError, match="ask for a datetime"):
        assert datetime(2025, 1, 1, 6, 30, tzinfo=UTC) in bounds
    with pytest.raises(TypeError, match="ask for a datetime"):
        assert date(2025, 1, 1) in bounds
    assert time(6) in Bounds.clock("06:00", "12:00", "1h")


def test_times_are_united_and_left_out_as_numbers_are() -> None:
    """Bounds of times with the same step are united, intersected and cut."""
    morning, noon = Bounds.clock("06:00", "11:00", "1h"), Bounds.clock("10:00", "13:00", "1h")
    assert morning | noon == Bounds.clock("06:00", "13:00", "1h")
    assert morning & noon == Bounds.clock("10:00", "11:00", "1h")
    assert Bounds.parse(YEAR).excluding(("2025-03-01", "2025-04-01 12:00")) == Bounds.parse(
        "[2025-01-01 00:00, 2025-03-01 00:00] | [2025-04-01 12:00, 2025-12-31 23:59:59] step 1s"
    )
    with pytest.raises(InvalidBounds, match="times of day in steps of 1h"):
        assert morning | Bounds.clock("06:00", "11:00", "30min")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("[2025-01-01 00:00, 2025-12-31 23:59:59] step 1s", YEAR),
        ("[2025-01-01T00:00, 2025-12-31T23:59:59]", YEAR),
        ("[2025-01-01 00:00,2025-12-31 23:59:59]step 1000ms", YEAR),
        ("[00:00, 23:59] step 15min", "[00:00:00, 23:45:00] step 15min"),
        ("[00:00, 23:59] step 3600s", "[00:00:00, 23:00:00] step 1h"),
        ("[2025-01-01 00:00, 2025-01-09 00:00] step 24h", "[2025-01-01 00:00:00, 2025-01-09 00:00:00] step 1d"),
        ("[2025-01-01 00:07, 2025-01-01 01:00] step 15min offset 7min",
         "[2025-01-01 00:07:00, 2025-01-01 00:52:00] step 15min offset 7min"),
    ],
)  # fmt: skip
def test_a_text_has_one_form(written: str, canonical: str) -> None:
    """Whatever way bounds of times are written in, they are shown in one."""
    assert str(Bounds.parse(written)) == canonical


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[2025-01-01 00:00, 2025-12-31] step 1s", "expected a date with a time"),
        ("[2025-01-01, 2025-12-31 12:00]", "expected a date"),
        ("[06:00, 5] step 1h", "expected a time of day"),
        ("[2025-02-30 00:00, 2025-12-31 12:00]", "a day of the calendar"),
        ("[25:00, 26:00]", "expected a time of day"),
        ("[06:00, 12:00] step 1", "a duration, such as 1s or 15min"),
        ("[06:00, 12:00] step 1 week", "a duration"),
        ("[06:00, 12:00] step 0s", "step must be above 0"),
        ("[06:10, 06:20] step 1h", "must hold a point of the lattice"),
        ("(-inf, 2025-12-31 12:00]", "expected a number"),
    ],
)
def test_what_is_no_bounds_of_times_is_refused(text: str, why: str) -> None:
    """A text that mixes kinds, or has no such day, time or step, is refused with an example of times."""
    with pytest.raises(InvalidBounds, match=why):
        Bounds.parse(text)


def test_a_mechanism_takes_seconds() -> None:
    """Mechanisms release numbers and days, and say so."""
    with pytest.raises(InvalidParameter, match="give it seconds as numbers"):
        BoundedLaplace(Bounds.parse(YEAR), 1, 1)


def test_durations_are_whole_numbers_of_a_unit() -> None:
    """A duration is read in any unit, and written in the largest that it is a multiple of."""
    assert times.read_duration("90min", "step") == Fraction(5400)
    assert times.write_duration(Fraction(5400)) == "90min"
    assert times.write_duration(Fraction(172_800)) == "2d"
    for wrong in ("1.5h", "h", "", "15 min", "10 000s", 5, None, "9" * 30 + "s"):
        with pytest.raises(InvalidBounds, match="whole number and one of us, ms, s, min, h, d"):
            times.read_duration(wrong, "step")
