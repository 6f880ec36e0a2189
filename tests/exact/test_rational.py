"""Numbers come in without loss and go out by a named rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.errors import InvalidBounds, InvalidParameter
from inbounds.exact.rational import (
    as_written,
    concise,
    exact,
    infinity,
    is_power_of_two,
    round_down,
    round_nearest,
    round_up,
    rounded,
    shown,
)

MOST = Fraction(math.nextafter(math.inf, 0))
LEAST = Fraction(math.nextafter(0.0, 1))
TALL = Fraction(2) ** 2000
NO_NUMBERS = [True, np.bool_(True), "1", b"1", 1j, None, [1], np.array([1.0])]
NO_FINITE_DECIMALS = [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")]


@given(st.one_of(st.floats(-1e250, 1e250), st.floats(-1e4, 1e4), st.integers(-(2**60), 2**60).map(float)))
def test_a_float_that_people_write_is_the_decimal_that_it_prints_as(x: float) -> None:
    """Whole or not, with an exponent or without, a parameter is the decimal that its repr is."""
    assert as_written(x, "x") == Fraction(repr(x))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_dyadic_rational_that_it_is(x: float) -> None:
    """Reading a float and rounding it any way gives the float back."""
    assert round_up(exact(x, "x")) == round_down(exact(x, "x")) == round_nearest(exact(x, "x")) == x


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (7, Fraction(7)),
        (-2.5, Fraction(-5, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.int8(-5), Fraction(-5)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (np.float16(0.5), Fraction(1, 2)),
        (np.float32(0.1), Fraction(13421773, 134217728)),
        (np.float64(0.25), Fraction(1, 4)),
        (np.longdouble(0.75), Fraction(3, 4)),
    ],
)
def test_every_kind_of_number_is_kept_exactly(number: object, value: Fraction) -> None:
    """The fraction equals the number."""
    assert exact(number, "x") == value


@pytest.mark.parametrize(
    "number", [*NO_NUMBERS, math.nan, -math.inf, np.float32("nan"), np.longdouble("inf"), *NO_FINITE_DECIMALS], ids=repr
)
def test_what_is_no_finite_number_is_refused_by_name(number: object) -> None:
    """The message names the parameter and what it may be, and the caller chooses the exception."""
    with pytest.raises(InvalidBounds, match=r"width must be a finite number, got .*; give a number"):
        exact(number, "width")
    with pytest.raises(InvalidParameter, match="width"):
        exact(number, "width", InvalidParameter)


@pytest.mark.parametrize("read", [exact, as_written])
@pytest.mark.parametrize(
    "number",
    [10**5000, Fraction(1, 10**700), Decimal("1e999999999"), Decimal("1e-999999999"), np.longdouble("1e4000")],
    ids=["int", "fraction", "large decimal", "small decimal", "longdouble"],
)
def test_a_vast_number_is_refused_briefly(number: object, read: Callable[[object, str], Fraction]) -> None:
    """A number that would take kilobytes is refused, at once and in a short message, as an answer or a parameter."""
    with pytest.raises(InvalidBounds, match="2048 bits") as refusal:
        read(number, "x")
    assert len(str(refusal.value)) < 200


def test_a_message_about_an_answer_holds_no_answer() -> None:
    """Without echo only the kind of the value is told."""
    with pytest.raises(InvalidParameter, match="type str") as refusal:
        exact("a secret", "answer", InvalidParameter, echo=False)
    assert "secret" not in str(refusal.value)


def wide_fractions() -> st.SearchStrategy[Fraction]:
    """Fractions of every size, near to doubles and far from them."""
    near = st.floats(allow_nan=False, allow_infinity=False).map(Fraction)
    shift = st.sampled_from([Fraction(0), LEAST, LEAST / 2, -LEAST / 3, 1 / TALL, -1 / TALL, MOST / 2**60])
    return st.fractions() | st.builds(lambda x, more: x + more, near, shift)


@given(wide_fractions())
def test_rounding_up_gives_the_smallest_double_above(x: Fraction) -> None:
    """The double is at least x, and the next one below is not."""
    up = round_up(x)
    assert up >= x > math.nextafter(up, -math.inf)


@given(wide_fractions())
def test_rounding_down_gives_the_largest_double_below(x: Fraction) -> None:
    """The double is at most x, and the next one above is not."""
    down = round_down(x)
    assert down <= x < math.nextafter(down, math.inf)


@pytest.mark.parametrize(
    ("rounding", "x", "result"),
    [
        (round_up, TALL, math.inf),
        (round_up, -TALL, -float(MOST)),
        (round_up, MOST + 1, math.inf),
        (round_down, TALL, float(MOST)),
        (round_down, MOST + 1, float(MOST)),
        (round_down, -TALL, -math.inf),
        (round_nearest, TALL, math.inf),
        (round_nearest, -TALL, -math.inf),
        (round_up, 1 / TALL, float(LEAST)),
        (round_down, -1 / TALL, -float(LEAST)),
    ],
)
def test_rounding_beyond_the_doubles(rounding: Callable[[Fraction], float], x: Fraction, result: float) -> None:
    """Outside the finite doubles the nearest in the named direction is an infinity or the last double."""
    assert rounding(x) == result


@pytest.mark.parametrize("rounding", [round_up, round_down, round_nearest])
def test_rounding_gives_no_negative_zero(rounding: Callable[[Fraction], float]) -> None:
    """Zero is written in one way."""
    for x in (Fraction(0), 1 / TALL, -1 / TALL):
        assert rounding(x) != 0 or math.copysign(1, rounding(x)) == 1


@given(st.integers(-3000, 3000), st.integers(3, 99).filter(lambda n: n & (n - 1) != 0))
def test_powers_of_two_are_told_from_other_numbers(k: int, other: int) -> None:
    """2**k is one for every k; its negative and other multiples are not."""
    power = Fraction(2) ** k
    assert is_power_of_two(power)
    assert not any(map(is_power_of_two, (-power, power * other, power / other, Fraction(0))))


@pytest.mark.parametrize("kind", [float, np.float32, np.longdouble, Decimal])
def test_infinities_of_every_kind_are_known(kind: Callable[[str], object]) -> None:
    """Each kind's infinities have a sign, and its finite numbers and NaN have none."""
    assert [infinity(kind(text)) for text in ("inf", "-inf", "nan", "1e30", "0")] == [1, -1, 0, 0, 0]
    assert infinity(None) == infinity("inf") == infinity(10**400) == 0


@given(st.fractions() | st.builds(lambda k, n: Fraction(2) ** k * n, st.integers(-3000, 3000), st.integers(-9, 9)))
def test_a_number_for_people_is_short_and_right(x: Fraction) -> None:
    """What is written is right to 17 digits, exactly if it is short itself, and never long, also beyond the doubles."""
    for text in (rounded(x, 17), concise(x)):
        assert len(text) <= 26
        assert abs(Fraction(text) - x) <= abs(x) * Fraction(1, 10**16)
    if len(str(x)) <= 20:
        assert concise(x) == str(x)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(days=3), "3 days"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=-3), "-3 days"),
        (timedelta(hours=36), "1.5 days"),
        (timedelta(0), "0 days"),
    ],
)
def test_a_duration_is_shown_in_days(duration: timedelta, text: str) -> None:
    """A message says how many days, not how Python writes them."""
    assert shown(duration) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 10**10), "1e-10"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 2), "1/2"),
        (Fraction(5), "5"),
        (Fraction(1, 3 * 10**9), "1/3000000000"),
    ],
)
def test_a_long_fraction_is_shown_as_the_decimal_that_it_is(number: Fraction, text: str) -> None:
    """Nobody has to count zeros below a line, and no digit is lost."""
    assert shown(number) == text
