"""The text of bounds is the mathematics, and reads back as what was written."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from inbounds.bounds import Bounds
from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidBounds

TENTH = Fraction(1, 10)
EXACT_TENTH_FLOAT = "0.1000000000000000055511151231257827021181583404541015625"

numbers: st.SearchStrategy[Any] = st.one_of(
    st.integers(),
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("-1e99"), max_value=Decimal("1e99")),
    st.sampled_from([Fraction(1, 3**1000), 10**500, 5e-324, 1.7976931348623157e308]),
)


@st.composite
def any_bounds(draw: st.DrawFn) -> Bounds:
    """Bounds of numbers of every kind, with and without a step, or of dates."""
    if draw(st.integers(0, 4)) == 0:
        days = sorted(draw(st.lists(st.dates(), min_size=2, max_size=5)))
        return Bounds.dates(days[0], days[-1], closed=days[1:-1]) if days[0] not in days[1:] else reject()
    step = draw(st.none() | numbers.filter(lambda x: x > 0))
    offset = draw(numbers) if step is not None else 0
    ends = sorted(draw(st.lists(numbers.map(Fraction), min_size=2, max_size=8, unique=True)))
    pairs: list[Any] = [list(pair) for pair in zip(ends[::2], ends[1::2], strict=False)]
    if draw(st.booleans()):
        pairs[0][0] = None
    if draw(st.booleans()):
        pairs[-1][1] = None
    try:
        return Bounds.union(pairs, step, offset)
    except InvalidBounds:  # no lattice point in a span
        reject()


@pytest.mark.slow
@given(any_bounds())
def test_what_is_printed_parses_back(bounds: Bounds) -> None:
    """Parsing the repr of any bounds gives those bounds."""
    assert Bounds.parse(repr(bounds)) == bounds


@pytest.mark.slow
@given(any_bounds(), st.text(" \t\n", max_size=3))
def test_white_space_is_free(bounds: Bounds, space: str) -> None:
    """Any white space, or none, between the parts of a text leaves its meaning."""
    text = repr(bounds)
    for mark in "[](),|":
        text = text.replace(mark, f"{space}{mark}{space}")
    assert Bounds.parse(text) == Bounds.parse(repr(bounds).replace(" ", "")) == bounds


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (Bounds(0, 5) | Bounds(7, None), "[0, 5] | [7, inf)"),
        (Bounds(0, 120, step=1), "[0, 120] step 1"),
        (Bounds(0, None, step=1), "[0, inf) step 1"),
        (Bounds(0.5, 9.7, step=1, offset=0.5), "[0.5, 9.5] step 1 offset 0.5"),
        (Bounds.everything(), "(-inf, inf)"),
        (Bounds(None, -3), "(-inf, -3]"),
        (Bounds(Fraction(0.1), 1), f"[{EXACT_TENTH_FLOAT}, 1]"),
        (Bounds(-TENTH, TENTH), "[-0.1, 0.1]"),
        (Bounds(Fraction(-1, 3), Fraction(22, 7)), "[-1/3, 22/7]"),
        (Bounds(0, 1, step=Fraction(1, 3)), "[0, 1] step 1/3"),
        (
            Bounds.dates("2026-01-01", "2026-01-09", weekdays="Mon-Fri"),
            "[2026-01-01, 2026-01-02] | [2026-01-05, 2026-01-09]",
        ),
    ],
    ids=str,
)
def test_the_text_is_the_mathematics(bounds: Bounds, text: str) -> None:
    """Bounds print in this form, and the form reads back."""
    assert repr(bounds) == str(bounds) == text
    assert Bounds.parse(text) == bounds


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("[0.1, 1]", Bounds(TENTH, 1)),
        ("[1e-1, 1E2]", Bounds(TENTH, 100)),
        ("[-.5, +5.]", Bounds(-0.5, 5)),
        ("[-1 / 3, 2/6]", Bounds(Fraction(-1, 3), Fraction(1, 3))),
        ("[7, +inf) | [0, 5] | [4, 6]", Bounds(0, 6) | Bounds(7, None)),
        ("[0,1]step0.1", Bounds(0, 1, step=TENTH)),
        ("[0, 9] step 1 offset 5/2", Bounds(0, 9, step=1, offset=0.5)),
    ],
)
def test_numbers_in_a_text_are_read_exactly(text: str, bounds: Bounds) -> None:
    """Decimals, exponents and fractions mean what they say, so 0.1 is one tenth."""
    assert Bounds.parse(text) == bounds


@given(st.fractions())
def test_a_number_prints_exactly(x: Fraction) -> None:
    """The printed number is the number, as a decimal exactly if it is one."""
    rest = x.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    assert Fraction(write_end(x)) == x
    assert ("/" in write_end(x)) == (rest > 1)


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", 1, "'['"),
        ("0, 5", 1, "'['"),
        ("[0 5]", 4, "','"),
        ("[0, x]", 5, "a number"),
        ("[, 5]", 2, "a number"),
        ("[0, 5)", 6, "']'"),
        ("(0, 5]", 2, "'-inf'"),
        ("[-inf, 5]", 2, "'(-inf'"),
        ("(-inf, inf]", 11, "')'"),
        ("[0, nan]", 5, "a number"),
        ("[0, 5] |", 9, "'['"),
        ("[0, 5] & [7, 8]", 8, "'|', 'step' or the end"),
        ("[0, 5] step", 12, "a number"),
        ("[0, 5] step 1 offset", 21, "a number"),
        ("[0, 5] step 1 | [7, 9] step 1", 15, "'offset' or the end"),
        ("[0, 5] offset 1", 8, "'step'"),
        ("[1/0, 5]", 2, "division by 0"),
        ("[0, 1e9999999999999999999999]", 5, "600 digits"),
        (f"[0, {'9' * 6000}/7]", 5, "600 digits"),
        ("[2026-02-30, 2026-03-01]", 2, "calendar"),
        ("[2026-01-01, 5]", 14, "a date"),
        ("[0, 2026-01-01]", 5, "a number"),
        ("[2026-01-01, inf)", 14, "a date"),
        ("(-inf, 2026-01-01]", 8, "do not mix"),
        ("[2026-01-01, 2026-01-02] step 1", 26, "'|' or the end"),
    ],
)
def test_a_text_that_cannot_be_read_is_told_where_and_why(text: str, place: int, expected: str) -> None:
    """The message gives the place, what was expected there and a pattern to follow, and is short."""
    with pytest.raises(InvalidBounds) as refusal:
        Bounds.parse(text)
    message = str(refusal.value)
    assert f"at character {place}: expected" in message
    assert expected in message
    assert "write them like" in message
    assert len(message) < 300


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01 to 2026-12-31",
        "[2026-01-01, 2026-12-31",
        "[2026-1-1, 2026-12-31]",
        "[1.1.2026, 31.12.2026]",
        "[01/01/2026, 12/31/2026]",
        "[1 Jan 2026, 31 Dec 2026]",
        "[2026-01-01, inf)",
    ],
)
def test_a_text_that_seems_to_mean_days_is_shown_how_to_write_days(text: str) -> None:
    """The pattern in the message is one of days, and of nothing else, and it reads as bounds."""
    with pytest.raises(InvalidBounds) as refusal:
        Bounds.parse(text)
    patterns = re.findall(r"'(\[[^']*)'", str(refusal.value).rpartition("write them like ")[2])
    assert patterns
    assert all(Bounds.parse(pattern).is_dates for pattern in patterns)


def test_any_other_text_is_shown_numbers_and_days() -> None:
    """The patterns in the message are bounds: some of numbers, one of days."""
    with pytest.raises(InvalidBounds) as refusal:
        Bounds.parse("from zero to ten")
    patterns = re.findall(r"'(\[[^']*)'", str(refusal.value).rpartition("write them like ")[2])
    assert {Bounds.parse(pattern).is_dates for pattern in patterns} == {False, True}


@given(st.text("[](),|0123456789.-+/einfstpof \n", max_size=30))
def test_no_text_raises_anything_but_invalid_bounds(text: str) -> None:
    """Whatever the text, there are bounds or a refusal."""
    try:
        bounds = Bounds.parse(text)
    except InvalidBounds:
        return
    assert Bounds.parse(repr(bounds)) == bounds


def test_text_must_be_text() -> None:
    """Anything but a str is refused, with the remedy."""
    with pytest.raises(InvalidBounds, match=r"text of bounds must be a str, got 5; call Bounds\(low, high\)"):
        Bounds.parse(5)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.slow
@given(any_bounds())
def test_the_brief_text_is_brief(bounds: Bounds) -> None:
    """It has at most 100 characters and no number of more than 20, and is the text itself where all are short."""
    brief, text = bounds.brief(), repr(bounds)
    assert len(brief) <= 100
    assert all(len(digits) <= 20 for digits in re.findall(r"[0-9]+", brief))
    if len(bounds) < 4 and len(text) <= 100 and all(len(word) <= 20 for word in re.findall(r"[-0-9./]+", text)):
        assert brief == text


@pytest.mark.parametrize(
    ("bounds", "brief"),
    [
        (Bounds(10**400, 10**401), "[1e+400, 1e+401]"),
        (Bounds(0, 1) | Bounds(1e300, None), "[0, 1] | [1e+300, inf)"),
        (Bounds(Fraction(0.1), 1), "[0.10000000000000001, 1]"),
        (Bounds(0, 1, step=Fraction(1, 10**40)), "[0, 1] step 1e-40"),
        (Bounds(Fraction(1, 3), 1), "[1/3, 1]"),
        (Bounds.union([(i, i) for i in (0, 2, 4, 10**40)], step=1), "4 spans from 0 to 1e+40"),
        (Bounds.dates("2026-01-01", "2026-01-02"), "[2026-01-01, 2026-01-02]"),
    ],
    ids=["vast", "union", "float", "tiny step", "fraction", "spans", "days"],
)
def test_vast_numbers_are_rounded_in_a_message(bounds: Bounds, brief: str) -> None:
    """What people are to read shows a number of more than 20 characters with 17 digits."""
    assert bounds.brief() == brief
