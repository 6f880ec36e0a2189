"""A release is of the kind and shape of its answer, and what cannot be released is refused before anything is drawn."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inbounds
from inbounds import BoundedLaplace, Bounds, InvalidAnswer, InvalidParameter, LatticeTooFine
from inbounds.published import Laplace, Staircase
from inbounds.sampling.array import CHUNK
from tests.helpers.caller_settings import SURROUNDINGS
from tests.helpers.mechanisms import KINDS, mechanism
from tests.helpers.scripted_entropy import Script

inf, nan = math.inf, math.nan
TENTH, THIRD = Fraction(1, 10), Fraction(1, 3)

WIDE = 2**61 - 2**11

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS = ("f2", "f4", "f8", "g")


def no_entropy(size: int) -> bytes:
    """Fail: nothing may be drawn."""
    raise AssertionError(f"{size} bytes were drawn")


@pytest.fixture(scope="module")
def faithful() -> BoundedLaplace:
    """Integers of any size, with so little noise that what comes out is what went in."""
    return BoundedLaplace(Bounds(None, None, step=1), 1, 1000)


@pytest.fixture(scope="module")
def capped() -> BoundedLaplace:
    """Integers within nearly 62 bits, without noise to speak of."""
    return BoundedLaplace(Bounds(-WIDE, WIDE, step=1), 1, 1000)


# Kinds.


@pytest.mark.parametrize(
    ("bounds", "answer", "kind"),
    [
        (Bounds(0, 9, step=1), 5, int),
        (Bounds(0, 9, step=1), 5.0, int),
        (Bounds(0, 9, step=1), np.int64(5), int),
        (Bounds(0, 9, step=1), np.uint8(5), int),
        (Bounds(0, 9, step=1), np.float64(5), int),
        (Bounds(0, 9, step=1), np.float32(5), int),
        (Bounds(0, 9, step=1), np.longdouble(5), int),
        (Bounds(0, 9, step=1), Fraction(5), Fraction),
        (Bounds(0, 9, step=1), Decimal(5), Decimal),
        (Bounds(0, 9, step=3), 6, int),
        (Bounds(0, 9, step=TENTH), 5, float),
        (Bounds(0, 9, step=TENTH), 5.0, float),
        (Bounds(0, 9, step=TENTH), np.float64(5), float),
        (Bounds(0, 9, step=TENTH), Fraction(5), Fraction),
        (Bounds(0, 9, step=TENTH), Decimal("5.1"), Decimal),
        (Bounds(0, 9, step=THIRD), Fraction(5), Fraction),
        (Bounds(0, 9, step=THIRD), 5, float),
        (Bounds(0.5, 9.5, step=1, offset=0.5), 5, float),
        (Bounds(0, 9), 5, float),
        (Bounds(0, 9), 5.0, float),
        (Bounds(0, 9), np.int64(5), float),
        (Bounds(0, 9), Fraction(5), Fraction),
        (Bounds(0, 9), Decimal(5), Decimal),
        (Bounds.dates("2026-01-01", "2026-12-31"), date(2026, 3, 4), date),
        (Bounds.dates("2026-01-01", "2026-12-31"), np.datetime64("2026-03-04"), np.datetime64),
    ],
)
def test_one_answer_gives_one_of_its_kind(bounds: Bounds, answer: Any, kind: type) -> None:
    """An int on an integer lattice, a Fraction, Decimal or date for such, else a float; and always possible."""
    made = BoundedLaplace(bounds, 1, 1)
    for _ in range(20):
        released = made.release(answer)
        assert type(released) is kind
        assert (released.item() if isinstance(released, np.datetime64) else released) in bounds


def test_fractions_and_decimals_are_written_exactly() -> None:
    """A Fraction is a multiple of the step, a Decimal the same number, and a float the double nearest to it."""
    made = mechanism("tenths")
    for seed in range(30):
        fraction = made._release_one(Fraction(3, 2), Script(seed=seed))
        decimal = made._release_one(Decimal("1.5"), Script(seed=seed))
        assert fraction % TENTH == 0
        assert Fraction(decimal) == fraction
        assert made._release_one(1.5, Script(seed=seed)) == float(fraction)
        assert len(str(decimal)) <= 3


def test_a_decimal_that_cannot_hold_the_lattice_is_refused() -> None:
    """Thirds have no finite decimals, so a Decimal is refused with the remedy, and nothing is drawn."""
    made = BoundedLaplace(Bounds(0, 9, step=THIRD), 1, 1)
    with pytest.raises(
        InvalidAnswer, match="cannot hold the multiples of 1/3; pass the answer as a Fraction or a float"
    ):
        made._release_one(Decimal(5), no_entropy)


def test_a_decimal_in_an_array_is_refused_before_the_draw() -> None:
    """An array that holds a Decimal on a lattice of thirds is refused, and nothing is drawn."""
    made = BoundedLaplace(Bounds(0, 9, step=THIRD), 1, 1)
    with pytest.raises(InvalidAnswer, match="cannot hold the multiples of 1/3"):
        made._release_array([Fraction(1), Decimal(5)], no_entropy)


@pytest.mark.parametrize("context", [Decimal("1.23456789012345678901234567890123456789"), Decimal(10) ** 30])
def test_the_decimal_context_of_the_caller_is_not_used(context: Decimal) -> None:
    """Decimals of more digits than the caller's context keeps go in and come out whole."""
    made = BoundedLaplace(Bounds(None, None, step=Fraction(1, 10**38)), Fraction(1, 10**38), 1000)
    assert made.release(context) == context


# Arrays.


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if name != "dates"])
@pytest.mark.parametrize(
    "answers",
    [
        np.array(3.0),
        np.array(3),
        np.zeros((0,)),
        np.zeros((3, 0, 2)),
        np.arange(24.0).reshape(2, 3, 4),
        np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
        np.arange(48.0)[::2],
        np.arange(24).reshape(4, 6).T[::-1, 1:],
        np.broadcast_to(np.float64(3), (5, 2)),
        [1, 2.5, 3],
        ((1, 2), (3, 4)),
        [],
    ],
    ids=[
        "0-d",
        "0-d int",
        "empty",
        "empty 3-d",
        "3-d",
        "Fortran",
        "strided",
        "reversed",
        "broadcast",
        "list",
        "tuples",
        "[]",
    ],
)
def test_an_array_gives_one_of_its_shape(name: str, answers: Any) -> None:
    """Any shape and layout gives an array of the same shape, every element possible, and leaves its answers alone."""
    made, before = mechanism(name), copy.deepcopy(answers)
    released = made.release(answers)
    assert isinstance(released, np.ndarray)
    assert released.shape == np.shape(answers)
    assert released.dtype in (np.int64, np.float64)
    assert all(x in made.bounds for x in released.ravel().tolist())
    assert np.array_equal(np.asarray(before), np.asarray(answers))


@pytest.mark.parametrize("order", ["C", "F"])
def test_each_element_is_released_in_its_place(faithful: BoundedLaplace, order: Any) -> None:
    """Whatever the layout in memory, the release of an element is where the element was."""
    answers = np.arange(-60, 60).reshape(4, 5, 6)
    for view in (np.array(answers, order=order), answers.T, answers[::-1, ::2], answers[1]):
        assert np.array_equal(faithful.release(view), view)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_every_dtype_of_numbers_is_read_exactly(faithful: BoundedLaplace, capped: BoundedLaplace, dtype: str) -> None:
    """Integers and floats of every width keep their values."""
    answers = np.array([0, 1, 2, 3, 5, 100, 127], dtype=dtype)
    for made in (faithful, capped):
        released = made.release(answers)
        assert released.dtype == np.int64
        assert released.tolist() == [0, 1, 2, 3, 5, 100, 127]
    halves = BoundedLaplace(Bounds(0, 127, step=0.5), 0.5, 1000)
    assert halves.release(answers).tolist() == [0, 1, 2, 3, 5, 100, 127]
    thirds = BoundedLaplace(Bounds(0, 127, step=THIRD), THIRD, 1000)
    assert thirds.release(answers).tolist() == [0, 1, 2, 3, 5, 100, 127]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_extremes_of_every_integer_dtype_are_read(capped: BoundedLaplace, dtype: str) -> None:
    """The least and the greatest integer of a dtype are projected into the bounds like any other answer."""
    info = np.iinfo(dtype)
    expected = [max(int(info.min), -WIDE), min(int(info.max), WIDE)]
    assert capped.release(np.array([info.min, info.max], dtype=dtype)).tolist() == expected
    assert [capped.release(info.dtype.type(end)) for end in (info.min, info.max)] == expected
    unit = BoundedLaplace(Bounds(0, 1), 1, 1000)
    assert unit.release(np.array([info.max], dtype=dtype)).tolist() == pytest.approx([1], abs=0.1)


@pytest.mark.parametrize("answers", [np.array([4, 8]), np.array([4.0, 8.0])], ids=["int64", "float64"])
@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(0, 10**9, step=1),
        Bounds(0, 10**9, step=1000),
        Bounds(None, None, step=1),
        Bounds(0, None, step=2),
        Bounds(None, None, step=1000),
    ],
    ids=repr,
)
def test_arrays_on_a_lattice_of_integers_are_of_integers(bounds: Bounds, answers: Any) -> None:
    """Whatever the step, an array on an integer lattice is of int64."""
    assert BoundedLaplace(bounds, 1, 1).release(answers).dtype == np.int64


def test_objects_are_released_each_as_its_kind() -> None:
    """An array of objects gives each answer back in its own kind."""
    made = mechanism("tenths")
    answers = [Fraction(1, 2), Decimal("0.5"), 0.5, 1, np.float64(1.5), np.int64(2)]
    released = made.release(np.array(answers, dtype=object))
    assert released.dtype == object
    assert [type(x) for x in released] == [Fraction, Decimal, float, float, float, float]
    assert all(x in made.bounds for x in released)
    assert made.release(np.array([[Fraction(1)], [Fraction(2)]])).shape == (2, 1)


def test_arrays_of_dates_are_released_as_dates() -> None:
    """Days as datetime64 give datetime64[D], date objects give date objects, in any shape."""
    bounds = mechanism("dates").bounds
    made = BoundedLaplace(bounds, 1, 1000)
    days = np.array([["2026-03-02", "2026-03-03"], ["2026-03-07", "2026-12-25"]], dtype="datetime64[D]")
    released = made.release(days)
    assert released.dtype == np.dtype("datetime64[D]")
    assert released.astype(str).tolist() == [["2026-03-02", "2026-03-03"], ["2026-03-06", "2026-12-24"]]
    assert made.release(days.astype(object)).tolist() == released.astype(object).tolist()
    assert made.release([date(1, 1, 1), date(9999, 12, 31)]).tolist() == [date(2026, 1, 1), date(2026, 12, 31)]
    vast = np.array([-(2**62), 2**62], dtype="datetime64[D]")
    assert made.release(vast).astype(object).tolist() == [date(2026, 1, 1), date(2026, 12, 31)]
    assert made.release(np.array([], dtype="datetime64[D]")).shape == (0,)


def test_days_counted_in_other_units_are_refused() -> None:
    """A datetime64 of two days, or of weeks, is not a day."""
    made = mechanism("dates")
    for unit in ("2D", "W", "7D"):
        with pytest.raises(InvalidAnswer):
            made.release(np.datetime64("2026-03-04").astype(f"datetime64[{unit}]"))
        with pytest.raises(InvalidAnswer):
            made.release(np.array(["2026-03-04"], dtype=f"datetime64[{unit}]"))


UNITS = ("h", "m", "s", "ms", "us", "ns")


@pytest.mark.parametrize("unit", UNITS)
def test_a_moment_counts_as_the_day_it_is_on(unit: str) -> None:
    """A datetime64 finer than a day is its day, before 1970 too, alone and in an array, and its releases are days."""
    made = BoundedLaplace(Bounds.dates("1969-01-01", "2026-12-31"), 1, 1000)
    moments = np.array(["1969-07-20T20:00", "2026-03-04T00:00", "2026-03-04T23:00"], dtype=f"datetime64[{unit}]")
    days = [date(1969, 7, 20), date(2026, 3, 4), date(2026, 3, 4)]
    released = made.release(moments)
    assert released.dtype == np.dtype("datetime64[D]")
    assert released.tolist() == [made.release(moment).item() for moment in moments] == days
    assert made.error(moments).tolist() == [made.error(day) for day in days]
    assert made.cdf(moments, days[0]).tolist() == [made.cdf(day, days[0]) for day in days]
    with pytest.raises(InvalidAnswer, match="NaT"):
        made._release_array(np.array(["NaT"], dtype=moments.dtype), no_entropy)


def test_a_series_of_moments_or_days_is_released_as_one() -> None:
    """What pandas and polars hold days in is taken as it is; a missing one is refused."""
    made = BoundedLaplace(Bounds.dates("2026-01-01", "2026-12-31"), 1, 1000)
    days = [date(2026, 3, 4), date(2026, 5, 6)]
    series = pandas.Series(pandas.to_datetime(days), index=["a", "b"], name="visit")
    released = made.release(series)
    assert (list(released.index), released.name, list(released.dt.date)) == (["a", "b"], "visit", days)
    assert list(made.release(series.dt.date)) == days
    for kind in (polars.Date, polars.Datetime("us"), polars.Datetime("ns")):
        column = polars.Series("visit", days).cast(kind)
        assert made.release(column).to_list() == days
        with pytest.raises(InvalidAnswer, match="NaT"):
            made.release(polars.Series([None, days[0]]).cast(kind))
    with pytest.raises(InvalidAnswer, match="NaT"):
        made.release(pandas.Series([pandas.NaT, pandas.Timestamp("2026-03-04")]))


def test_moments_in_a_time_zone_are_refused_whatever_holds_them() -> None:
    """Half past midnight and the next evening are a day apart in New York, and two in UTC; none are refused too."""
    made = BoundedLaplace(Bounds.dates("2026-01-01", "2026-12-31"), 1, 1000)
    plain = pandas.Series([datetime(2026, 5, 5, 0, 30), datetime(2026, 5, 6, 23, 30)], dtype="datetime64[us]")
    zoned = plain.dt.tz_localize("America/New_York")
    column = polars.Series("visit", plain.tolist()).dt.replace_time_zone("America/New_York")
    kind = pyarrow.timestamp("us", "America/New_York")
    arrow = pyarrow.array(plain.tolist(), type=pyarrow.timestamp("us")).cast(kind)
    held = [zoned, column, arrow, pyarrow.chunked_array([arrow]), zoned.astype(pandas.ArrowDtype(kind)), zoned.array]
    for answers in [*held, *(one[:0] for one in held), pandas.DatetimeIndex(zoned)]:
        for ask in (made.release, made.error):
            with pytest.raises(InvalidAnswer, match=r"time zone.*\.dt\.date"):
                ask(answers)
    assert made.release(column.dt.date()).to_list() == [date(2026, 5, 5), date(2026, 5, 6)]


def test_what_is_no_day_is_called_what_it_is() -> None:
    """A missing day is told from a moment, and a month from an hour, each with its own remedy."""
    made = mechanism("dates")
    with pytest.raises(InvalidAnswer, match="must not be NaT"):
        made.release(pandas.NaT)
    with pytest.raises(InvalidAnswer, match=r"got datetime64\[M\]; say which day is meant"):
        made.release(np.datetime64("2026-05"))
    with pytest.raises(InvalidAnswer, match="got datetime; drop the time of day"):
        made.release(datetime(2026, 5, 5))


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "O"])
def test_whole_numbers_are_read_in_their_unit_where_steps_are_large(dtype: str) -> None:
    """Ends beyond 2**53 are reached by arrays of integers as by floats, where the chosen step is more than 1."""
    made = BoundedLaplace(Bounds(0, 2**60), 2**40, 1)
    assert made.step > 1
    released = made.release(np.array([2**59, 2**59 + 2**58], dtype=dtype))
    assert abs(released - [2**59, 2**59 + 2**58]).max() < 2**47  # more once in e**100


# Values that doubles cannot hold.


def test_large_integers_are_not_rounded(faithful: BoundedLaplace, capped: BoundedLaplace) -> None:
    """2**60 + 1 comes back as itself, alone and in arrays."""
    large = [2**60 + 1, -(2**60) - 1, 2**53 + 1, WIDE - 1]
    for made in (faithful, capped):
        assert [made.release(answer) for answer in large] == large
        assert made.release(np.array(large)).tolist() == large
        assert made.release(large).tolist() == large
        assert made.release(np.array(large, dtype=object)).tolist() == large
        assert [made.release(Fraction(answer)) for answer in large] == large


def test_any_number_is_released_alone_where_there_is_no_end(faithful: BoundedLaplace) -> None:
    """Numbers beyond 64 bits, and beyond doubles on an integer lattice, are released exactly."""
    for answer in (2**70 + 1, -(2**70) - 1, 10**400, int(1e300), 10**999):
        assert faithful.release(answer) == answer
        assert faithful.release(Fraction(answer)) == answer
    assert faithful.release(1e300) == int(1e300)
    smooth = BoundedLaplace(Bounds.everything(), 1, 1)
    for large in (1e300, -1e300, 1e17, 2.0**70):
        assert smooth.release(large) == pytest.approx(large, rel=1e-13)
    assert smooth.release(2**70 + 1) == 2.0**70
    assert abs(smooth.release(Fraction(10**400)) - 10**400) < 100


@pytest.mark.parametrize(
    "bounds", [Bounds.everything(), Bounds(0, None), Bounds(None, None, step=Fraction(1, 3 * 10**9))]
)
def test_large_numbers_in_arrays_are_released_as_alone(bounds: Bounds) -> None:
    """On a fine lattice without an end, arrays hold large numbers as single answers do."""
    made = BoundedLaplace(bounds, 1, 1)
    answers = [1e15, 2.0**60, 1e100, 1e280]
    assert made.release(np.array(answers)).tolist() == pytest.approx(answers, rel=1e-12)
    assert made.release(np.array([2**60 + 1, 2**63 - 1])).tolist() == pytest.approx([2**60, 2**63], rel=1e-12)
    assert made.release(np.array([2**64 - 1], dtype=np.uint64)).tolist() == pytest.approx([2**64], rel=1e-12)
    assert made.release([2**70 + 1]).tolist() == pytest.approx([2**70], rel=1e-12)


def test_arrays_on_an_open_side_hold_what_doubles_can() -> None:
    """On an open side an array takes answers as a single release does, also where doubles cannot count its steps."""
    made = BoundedLaplace(Bounds.everything(), 1, 1)
    assert made.release(np.array([1e290, -1e290])).tolist() == [1e290, -1e290]
    assert made.release(np.array([1e308, -1e308])).tolist() == [1e308, -1e308]


def test_integers_beyond_62_bits_in_arrays_are_released_as_alone(faithful: BoundedLaplace) -> None:
    """However large the integers of a list are, their releases are int64, lest the dtype tell; at most its largest."""
    assert faithful.release([2**62 + 1]).tolist() == [2**62 + 1]
    for released in (faithful.release([2**70 + 1]), faithful.release([1, 2])):
        assert released.dtype == np.int64
    assert faithful.release([2**70 + 1]).tolist() == [2**63 - 1]
    assert faithful.release(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**61 - 2**10]


@pytest.mark.parametrize("bounds", [Bounds.everything(), Bounds(0, None, step=TENTH)])
def test_an_int_beyond_all_doubles_is_written_as_the_largest(bounds: Bounds) -> None:
    """An int that no double can hold has a release like any other, for no size may decide whether there is one."""
    made = BoundedLaplace(bounds, 1, 1)
    largest = np.finfo(np.float64).max
    assert made.release(10**400) == largest
    assert made.release([10**400, 3])[0] == largest


@pytest.mark.parametrize("step", [Fraction(1, 3), Fraction(1, 3 * 10**9), Fraction(7, 10**6), Fraction(1, 2**40)])
def test_fine_steps_that_are_not_dyadic_are_kept_exactly(step: Fraction) -> None:
    """On an open lattice of any step, a release is a multiple of the step, and a float the double nearest to one."""
    made = BoundedLaplace(Bounds(None, None, step=step), 1, 10)
    answers = [0.1, -12345.678, 1e9]
    for answer in answers:
        assert made.release(Fraction(answer)) % step == 0
    for released in [*made.release(np.array(answers)).tolist(), *map(made.release, answers)]:
        nearest = round(Fraction(released) / step) * step
        assert released == float(nearest)


@pytest.mark.parametrize("far", [0, 10**6, 10**9, 10**11, 10**12, 10**13, 10**15, 10**18])
@pytest.mark.parametrize("width", [Fraction(1, 4), 5, 10**6])
def test_a_float_is_possible_even_where_doubles_are_scarce(far: int, width: Any) -> None:
    """Far from zero, where doubles are few, releases are still in the bounds, or the bounds are refused."""
    bounds = Bounds(far + THIRD, far + THIRD + width)
    try:
        made = BoundedLaplace(bounds, 1, 1)
    except LatticeTooFine:
        assert far > 2**40 * min(1, width)
        return
    for extreme in (b"\0", b"\xff"):
        entropy = extreme * 50 + b"\1" * 50
        assert made._release_one(float(far), Script(entropy)) in bounds
        with np.errstate(all="ignore"):
            assert made._release_array(np.array([float(far)] * 2), Script(entropy))[0] in bounds


def test_noise_beyond_64_bits_is_refused_where_no_end_stops_it() -> None:
    """Noise too wide to be counted in 64 bits is refused on open bounds, and drawn on closed ones."""
    with pytest.raises(LatticeTooFine, match="needs more than 62 bits"):
        BoundedLaplace(Bounds(0, None, step=1), 2**60, 1e-3)
    made = BoundedLaplace(Bounds(0, 2**60, step=1), 2**60, 1e-3)
    assert len({made.release(0) for _ in range(20)} | set(made.release(np.zeros(20)).tolist())) > 30


@pytest.mark.parametrize("form", [np.array, list, lambda answers: np.array(answers, dtype=object)])
def test_the_widest_bounds_can_be_reached_in_arrays(form: Callable[[list[int]], Any]) -> None:
    """Up to the last integer that bounds can hold, arrays release what single answers release."""
    made = BoundedLaplace(Bounds(2**61 - 1000, 2**61 - 1, step=1), 1, 1000)
    assert made.release(2**61 - 1) == 2**61 - 1
    assert made.release(form([2**61 - 1])).tolist() == [2**61 - 1]


# What is refused.

NUMBERS = "an answer must be an int, float, Fraction or Decimal, or an array of them, got "
ARRAYS = "an array of answers must hold numbers or dates, got "


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one span", "islands", "tenths", "no step", "no step, whole line"])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("5", NUMBERS + "str"),
        (b"5", NUMBERS + "bytes"),
        (True, NUMBERS + "bool"),
        (np.True_, NUMBERS + "bool"),
        (5j, NUMBERS + "complex"),
        (np.complex128(5), NUMBERS + "complex128"),
        (None, NUMBERS + "NoneType"),
        ({5}, NUMBERS + "set"),
        (range(5), NUMBERS + "range"),
        (timedelta(5), NUMBERS + "timedelta"),
        (date(2026, 1, 1), NUMBERS + "date"),
        (np.datetime64("2026-01-01"), NUMBERS + "datetime64"),
        (nan, "must not be NaN"),
        (np.float64(nan), "must not be NaN"),
        (np.float32(nan), "must not be NaN"),
        (Decimal("NaN"), "must not be NaN"),
        (Decimal("sNaN"), "must not be NaN"),
        (["5"], NUMBERS + "str"),
        (np.array(["5"]), ARRAYS),
        (np.array([b"5"]), ARRAYS),
        (np.array([True]), ARRAYS + "bool"),
        ([True, False], NUMBERS + "bool"),
        ([1, True], NUMBERS + "bool"),
        (np.array([5j]), ARRAYS + "complex128"),
        (np.array([5], dtype="m8[D]"), ARRAYS),
        (np.array([(5, 5)], dtype="i4,i4"), ARRAYS),
        (np.array([None, 5]), NUMBERS + "NoneType"),
        (np.array([True, 5], dtype=object), NUMBERS + "bool"),
        (np.array(["5", 5], dtype=object), NUMBERS + "str"),
        (np.array([1.0, nan]), "must not be NaN"),
        (np.array([[1.0], [nan]], dtype=np.float32), "must not be NaN"),
        (np.array([1.0, nan], dtype=np.longdouble), "must not be NaN"),
        ([1, nan], "must not be NaN"),
        (np.array([Fraction(1), Decimal("NaN")]), "must not be NaN"),
        (np.array(nan), "must not be NaN"),
        (np.r_[np.zeros(3 * CHUNK), nan], "must not be NaN"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "must not be masked; fill it or compress it first"),
        (np.ma.masked_array([1.0, 2.0]), "must not be masked"),
    ],
)
def test_what_is_no_number_is_refused_and_nothing_is_drawn(name: str, answer: Any, message: str) -> None:
    """Texts, truth values, complex numbers, NaN and masks are refused with their kind, before anything is drawn."""
    made = mechanism(name)
    with pytest.raises(InvalidAnswer, match=message):
        made.release(answer)
    draw = made._release_array if isinstance(answer, np.ndarray | list) else made._release_one
    with pytest.raises(InvalidAnswer, match=message):
        draw(answer, no_entropy)


@pytest.mark.parametrize(
    "answer",
    [
        5,
        5.0,
        nan,
        "2026-03-04",
        datetime(2026, 3, 4, 5, 6),
        np.datetime64("2026-03"),
        np.datetime64("NaT", "D"),
        None,
        [5],
        [5.0],
        ["2026-03-04"],
        np.array(["2026-03"], dtype="datetime64[M]"),
        np.array(["2026-03-04", "NaT"], dtype="datetime64[D]"),
        [date(2026, 3, 4), datetime(2026, 3, 4)],
        [date(2026, 3, 4), None],
    ],
    ids=repr,
)
def test_what_is_no_day_is_refused_and_nothing_is_drawn(answer: Any) -> None:
    """Questions about dates take days: neither numbers, nor Python's datetimes, nor months, nor NaT."""
    made = mechanism("dates")
    draw = made._release_array if isinstance(answer, np.ndarray | list) else made._release_one
    with pytest.raises(InvalidAnswer, match=r"must be|must not be NaT|must hold"):
        draw(answer, no_entropy)


@pytest.mark.parametrize("answer", [np.timedelta64(5, "D"), np.timedelta64(5, "s"), np.timedelta64("NaT", "D")])
def test_a_duration_is_refused(answer: Any) -> None:
    """A number of days is neither a number nor a day."""
    for name in ("one span", "no step"):
        with pytest.raises(InvalidAnswer):
            mechanism(name).release(answer)


def test_ragged_lists_are_refused() -> None:
    """A list whose rows differ in length is no array, and the error says so in the package's own words."""
    with pytest.raises(InvalidAnswer):
        mechanism("one span").release([[1, 2], [3]])


def test_things_that_are_arrays_at_heart_are_released_as_arrays() -> None:
    """Whatever converts itself to an array, like a column of a data frame, is released as one."""

    class Column:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1, 2, 3])

    column: Any = Column()
    released = mechanism("one span").release(column)
    assert isinstance(released, np.ndarray)
    assert released.shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SURROUNDINGS)
def test_settings_of_the_caller_make_no_difference(setting: str) -> None:
    """Everything goes through where the caller has told NumPy, warnings or decimals to raise whatever they can."""
    with SURROUNDINGS[setting]():
        for kind in KINDS.values():
            made = BoundedLaplace(kind.bounds, 1, kind.epsilon, pooling=kind.pooling)
            made.release(np.array(kind.answers, dtype="datetime64[D]" if made.bounds.is_dates else None))
            for answer in kind.answers:
                made.release(answer)
                made.interval(answer)
                made.error(answer)
            if not made.bounds.is_dates:
                for answer in (Fraction(22, 7), Decimal("3.14159265358979323846264338327950288"), 10**400, 1e308):
                    made.release(answer)


# A mechanism is a value.


def test_a_mechanism_is_frozen() -> None:
    """Nothing that a mechanism says of itself can be set or deleted, so that what was proved stays true."""
    made = mechanism("one span")
    for name in ("epsilon", "sensitivity", "scale", "bounds", "claim", "certificate", "label", "pooling", "step"):
        with pytest.raises(AttributeError, match=f"'{name}' of 'BoundedLaplace' object has no setter"):
            setattr(made, name, 1)
        with pytest.raises(AttributeError, match=f"'{name}' of 'BoundedLaplace' object has no deleter"):
            delattr(made, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_a_copy_is_equal_and_draws_the_same(name: str, again: Callable[[BoundedLaplace], BoundedLaplace]) -> None:
    """A mechanism that was pickled or copied is equal, has the same text, and draws the same of the same bits."""
    made, answer = mechanism(name), KINDS[name].answers[0]
    copied = again(made)
    assert (copied, hash(copied), repr(copied), copied.scale) == (made, hash(made), repr(made), made.scale)
    assert copied.certificate == made.certificate
    assert copied._release_one(answer, Script(seed=3)) == made._release_one(answer, Script(seed=3))


def test_mechanisms_are_equal_if_they_promise_the_same() -> None:
    """Equality is that of bounds, sensitivity, epsilon, guarantee, pooling and trust, however they were written."""
    made = BoundedLaplace(Bounds(0, 9, step=1), 1, 0.5)
    assert made == BoundedLaplace(Bounds(0.0, 9.5, step=1), Fraction(1), Decimal("0.5"), pooling=0)
    others = [
        BoundedLaplace(Bounds(0, 8, step=1), 1, 0.5),
        BoundedLaplace(Bounds(0, 9), 1, 0.5),
        BoundedLaplace(Bounds(0, 9, step=1), 2, 0.5),
        BoundedLaplace(Bounds(0, 9, step=1), 1, 0.25),
        BoundedLaplace(Bounds(0, 9, step=1), 1, 0.5, pooling=0.5),
        BoundedLaplace(Bounds(0, 9, step=1), 1, 0.5, guarantee="distance"),
        BoundedLaplace(Bounds(0, 9, step=1), 1, 0.5, trusted=True),
    ]
    assert all(made != other for other in others)
    assert len({made, *others}) == len(others) + 1
    assert made != "a mechanism"


def test_the_text_of_a_mechanism_is_short_and_tells_what_was_asked_for() -> None:
    """repr names the bounds, what differs from the defaults, the scale and the proof, on one line."""
    text = repr(BoundedLaplace(Bounds(0, 100, step=1), 1, 0.5, pooling=1))
    assert text.startswith("<BoundedLaplace([0, 100] step 1, sensitivity=1, epsilon=0.5, pooling=1): scale 2, ")
    assert text.endswith(" ε = 0.5>")
    many = Bounds.union([(2 * n, 2 * n) for n in range(1000)], step=1)
    text = repr(BoundedLaplace(many, 1, 0.5, guarantee="distance", trusted=True))
    assert "1000 spans" in text
    assert "guarantee='distance', trusted=True" in text
    assert all(len(repr(mechanism(name))) < 250 and "\n" not in repr(mechanism(name)) for name in KINDS)
    assert len(text) < 250


def test_what_was_given_can_be_read_back() -> None:
    """Parameters come back as they were given, the scale as the double that is used, the step as a fraction."""
    made = BoundedLaplace(Bounds.dates("2026-01-01", "2026-12-31"), timedelta(days=2), Decimal("0.5"), pooling=1)
    assert (made.sensitivity, made.epsilon, made.pooling) == (timedelta(days=2), Decimal("0.5"), 1)
    assert (made.guarantee, made.trusted, made.scale, made.step) == ("standard", False, 4.0, Fraction(1))


@settings(max_examples=20)
@given(st.sampled_from([nan, inf, -inf, 0, -1, "1", None, 1j, [1], 10**400, Decimal("1e-20")]))
def test_parameters_that_make_no_sense_are_refused(wrong: Any) -> None:
    """A sensitivity or an epsilon that is not a sensible positive number is refused by name."""
    with pytest.raises(InvalidParameter, match="epsilon"):
        BoundedLaplace(Bounds(0, 1), 1, wrong)
    if wrong != Decimal("1e-20"):
        with pytest.raises(InvalidParameter, match="sensitivity"):
            BoundedLaplace(Bounds(0, 1), wrong, 1)


def test_all_that_is_public_is_listed() -> None:
    """`__all__` names what the package exports, no more and no less, in order."""
    public = [n for n in dir(inbounds) if n[0] != "_" and not isinstance(getattr(inbounds, n), ModuleType)]
    assert sorted(public) == inbounds.__all__ == sorted(inbounds.__all__)


@pytest.mark.parametrize("bounds", [Bounds.everything(), Bounds(0, None), Bounds(0, 1e15)])
def test_without_a_step_releases_are_floats_however_wide_the_noise(bounds: Bounds) -> None:
    """A chosen step may be a whole number; releases are floats all the same, alone and in arrays."""
    made = BoundedLaplace(bounds, 2**45, 1)
    assert made.step >= 1
    assert type(made.release(2**40)) is float
    for answers in ([2.0**40], [2**40], np.array([2**40]), np.array([2.0**40], dtype=np.float32)):
        assert made.release(answers).dtype == np.float64


def test_steps_beyond_int64_give_integers_all_the_same() -> None:
    """Where no int64 could hold a neighbour of 0, arrays are of Python's integers."""
    made = BoundedLaplace(Bounds(None, None, step=2**70), 2**70, 1)
    for answers in ([0, 2**71], np.zeros(3), np.zeros(3, dtype=np.int64)):
        released = made.release(answers)
        assert released.dtype == object
        assert all(type(answer) is int and answer % 2**70 == 0 for answer in released.tolist())


def test_what_int64_does_not_hold_is_the_last_possible_answer_that_fits() -> None:
    """A list of whole numbers gives an array of int64, and every element of it is on the step."""
    made = BoundedLaplace(Bounds(0, None, step=1000), 1000, 1)
    released = made.release([2**63, 10**30, 5000])
    assert released.dtype == np.int64
    assert (released % 1000 == 0).all()
    assert released[1] == (2**63 - 1) // 1000 * 1000


@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds.everything()])
def test_no_answer_decides_whether_there_is_a_warning(bounds: Bounds) -> None:
    """Vast answers are released without a complaint of NumPy, also where the caller wants to hear of all."""
    for kind in (Laplace, Staircase):
        with np.errstate(all="raise"):
            assert np.isfinite(kind(bounds, 1, 1, ends="fold").release(np.array([1e308, -1e308, 3.0]))).all()


@pytest.mark.parametrize("kind", [BoundedLaplace, Laplace, Staircase])
def test_noise_beyond_all_doubles_is_the_largest_double(kind: Any) -> None:
    """Whether an answer and its noise go beyond all doubles decides neither an error nor an infinity."""
    with pytest.raises(InvalidParameter, match="from 2"):
        kind(Bounds(0, None), 2**2000, 0.5)
    wide = kind(Bounds(0, None), 1e280, 1e-8)
    assert all(math.isfinite(wide.release(1.7976931348623157e308)) for _ in range(40))


def test_a_polars_series_of_decimals_is_refused_before_anything_is_drawn() -> None:
    """How many places its releases need would decide its type, so it is refused whatever it holds."""
    answers = polars.Series("x", [Decimal(3), Decimal("4.5")])
    with pytest.raises(InvalidAnswer, match="cast it to Float64"):
        BoundedLaplace(Bounds(0, 100), 1, 1).release(answers)


@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(None, None, step=0.25), Bounds(0, None, step=0.1)])
@pytest.mark.parametrize("answer", [2.0**60, 1e200, 1e300, 1.7e308])
def test_a_vast_double_is_read_alike_alone_and_in_an_array(bounds: Bounds, answer: float) -> None:
    """A double far out, where there is no end, counts as the same index by itself, in a list and in an array."""
    made = BoundedLaplace(bounds, sensitivity=1, epsilon=1)
    index = made._answers.index(answer)
    read = made._arrays.reader(np.array([answer]))
    assert abs(index * made.step - Fraction(answer)) <= made.step / 2
    assert (read if isinstance(read, list) else read(slice(0, 1)).tolist()) == [index]
    for many in ([answer], np.array([answer])):
        assert made.release(many)[0] == pytest.approx(made.release(answer), rel=1e-12)


@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(None, None, step=1), Bounds(0, None, step=Fraction(1, 3))])
@pytest.mark.parametrize("answer", [2**1023, 10**400, 10**5000, Fraction(10**5000, 7), Decimal("1E99999")], ids=type)
def test_every_number_has_a_release_and_an_error(bounds: Bounds, answer: Any) -> None:
    """No size of a number is refused where the bounds have no end, be it released or asked about."""
    made = BoundedLaplace(bounds, sensitivity=1, epsilon=1)
    if not (isinstance(answer, Decimal) and made.step == Fraction(1, 3)):  # which has no decimals
        assert made.release(answer) >= 2**1022
        assert len(made.release([answer])) == 1
    assert not np.isnan([made.error(answer), made.bias(answer), made.variance(answer)]).any()


@pytest.mark.parametrize(
    "answer", [10**5000, -(10**5000), Decimal("1E10001"), inf, -inf, Decimal("-Infinity")], ids=type
)
def test_what_can_be_released_can_be_asked_about(answer: Any) -> None:
    """An answer beyond an end counts as that end, and its error is its distance, infinite beyond all doubles."""
    made = BoundedLaplace(Bounds(0, 100), sensitivity=1, epsilon=1)
    end = 100 if answer > 0 else 0
    assert 0 <= made.release(answer) <= 100
    assert made.error(answer) == inf
    assert made.bias(answer) == (-inf if answer > 0 else inf)
    assert (made.mean(answer), made.variance(answer)) == (made.mean(end), made.variance(end))


@pytest.mark.parametrize("step", [10**200, 2**70])
def test_one_point_on_a_vast_step_is_released_in_a_list(step: int) -> None:
    """A list on a lattice whose step is beyond int64 is released as single answers are."""
    made = BoundedLaplace(Bounds(0, 7, step=step), sensitivity=1, epsilon=1)
    assert made.release([1.5, 3]).tolist() == [made.release(1.5), made.release(3)] == [0, 0]
    for many in ([1.5, 3.0], [1, 3], np.array([1.5, 3.0]), np.array([1, 3])):
        assert made.release(many).tolist() == [0, 0]


@pytest.mark.parametrize("released", [-1e300, 1e300, 1.7e308])
def test_a_release_far_beyond_the_ends_can_be_asked_about(released: float) -> None:
    """It has no probability, and all of it is on one side, also where its index is beyond all doubles."""
    made = BoundedLaplace(Bounds(0, 1, step=Fraction(1, 10**9)), sensitivity=1, epsilon=1)
    assert made.cdf(released, 0.5) == float(released > 0)
    assert made.pmf(released, 0.5) == 0
