"""Amounts of budget are exact: what is written is what is counted."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import LIMIT, UNIT, change, format_amount, fraction, units

amounts = st.integers(1, LIMIT)


@pytest.mark.slow
@given(amounts)
def test_every_way_to_write_an_amount_counts_the_same(amount: int) -> None:
    """A fraction, a decimal and a text of the same number are the same units, and come back as that number."""
    exact = Fraction(amount, UNIT)
    text = format_amount(amount)
    assert units(exact) == units(text) == units(Decimal(text)) == amount
    assert fraction(amount) == exact == Fraction(text)
    assert change(f"-{text}") == change(-exact) == -amount
    assert format_amount(-amount) == f"-{text}"


@given(st.integers(0, 10**6 - 1), st.integers(1, 999_999))
def test_a_float_is_read_as_it_is_written(whole: int, millionths: int) -> None:
    """A float with a short decimal text is exactly that decimal: ten times 0.1 is 1."""
    text = f"{whole}.{millionths:06d}"
    assert units(float(text)) == units(text)


def test_ten_tenths_are_one() -> None:
    """The sum that floats get wrong is right."""
    assert sum(units(0.1) for _ in range(10)) == units(1) == UNIT
    assert units(1e-12) == 1
    assert units(10**6) == LIMIT


@given(amounts)
def test_an_amount_is_written_plainly(amount: int) -> None:
    """No exponent, no needless zero, at most twelve decimals."""
    whole, _, decimals = format_amount(amount).partition(".")
    assert whole == str(amount // UNIT)
    assert len(decimals) <= 12
    assert not decimals.endswith("0")
    assert format_amount(0) == "0"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (0, ("must not be 0", "give")),
        (-1, ("above 0", "-1")),
        ("-0.5", ("above 0", "'-0.5'")),
        (0.1 + 0.2, ("12 decimals", "0.30000000000000004", "round it")),
        (Fraction(1, 3), ("12 decimals", "1/3", "round")),
        ("0.0000000000001", ("12 decimals", "round")),
        (1e-300, ("12 decimals", "1e-300", "round")),
        (1_000_001, ("at most 1000000", "less")),
        (1e300, ("at most 1000000", "less")),
        (10**6000, ("at most 1000000", "vast", "less")),
        (float("nan"), ("finite", "nan", "write")),
        (float("-inf"), ("finite", "-inf", "write")),
        (Decimal("NaN"), ("finite", "NaN", "write")),
        (Decimal("1e999999"), ("finite", "write")),
        (True, ("finite", "True", "write")),
        (None, ("finite", "None", "write")),
        (b"1", ("finite", "write")),
        ("", ("finite", "write")),
        (" 1", ("finite", "write")),
        ("1_0", ("finite", "write")),
        ("१", ("finite", "write")),
        ("1/4", ("finite", "'1/4'", "write")),
        ("1e9999", ("finite", "write")),
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) or abs(value) < 10**9 else "vast",
)
def test_what_is_no_amount_is_refused(bad: Any, words: tuple[str, ...]) -> None:
    """The message names the rule, what was given and the remedy."""
    with pytest.raises(InvalidParameter) as refused:
        units(bad, "amount")
    assert str(refused.value).startswith("amount must")
    for word in words:
        assert word in str(refused.value)
