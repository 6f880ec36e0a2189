"""A text of a number is read as the number that it is, whatever its length, its exponent and its zeros."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.answers.single import Answers
from inbounds.bounds.lattice import Lattice
from inbounds.cli.files.answer_text import read_answer
from inbounds.exact.decimals import DIGITS, from_decimal, is_decimal, read_decimal, typed_decimal

LATTICES = [
    Bounds(0, 100, step=1),
    Bounds(-7, None, step=Fraction(1, 3)),
    Bounds(-9, 9, step=1, offset=Fraction(1, 2)),  # zero is half way between two points
    Bounds(None, None, step=Fraction(1, 2**2040)),
    Bounds(None, None, step=2**2040),
]


@pytest.mark.parametrize("text", ["0", "10", "-2.50", "+.5", "5.", "1e5", "1E-05", "007"])
def test_a_decimal_number_is_known(text: str) -> None:
    """Digits, with a sign, a point and an exponent where wanted, are a number, and Decimal reads it."""
    assert is_decimal(text)
    assert Decimal(text).is_finite()


@pytest.mark.parametrize(
    "text",
    ["", ".", "1_0", "1e1_0", "１０", "٣", "1,5", " 1", "1\n", "0x10", "1e", "e5", "inf", "nan", "½", "--1", "1/2"],
)
def test_what_only_python_reads_as_a_number_is_none(text: str) -> None:
    """Underscores, digits of other scripts, infinities and NaN are no way to write a number here."""
    assert not is_decimal(text)


@pytest.mark.parametrize(("text", "number"), [(" 0.5", "0.5"), ("2\t", "2"), ("1e-6", "0.000001"), ("+.5", "0.5")])
def test_blanks_around_a_typed_number_are_nothing(text: str, number: str) -> None:
    """What people type is the number that stands there, exactly."""
    assert typed_decimal(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["", " ", "1_0", "1 0", "１０", "٣", "\xa01", "\u20031", "1\n", "\x0b1", "nan", "1/2", "1e" + "9" * 30]
)
def test_nothing_else_is_typed_for_a_number(text: str) -> None:
    """Other white space, underscores, digits of other scripts and vast exponents are refused."""
    assert typed_decimal(text) is None


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, Fraction]:
    """A text, and the number that it is: any digits, any zeros around them, any place of the point, any exponent."""
    digits, zeros = draw(st.integers(0, 10**40)), draw(st.sampled_from([0, 1, 7, 999, 1_000, 1_001, 4_001]))
    place = draw(st.sampled_from([0, 1, -1, 999, -999, 1_000, -1_000, 1_001, -1_001, 4_005, -4_005]))
    negative, trailing = draw(st.booleans()), draw(st.sampled_from([0, 2, 1_500]))
    whole = str(digits) + "0" * trailing
    point = draw(st.integers(0, len(whole)))
    text = "0" * zeros + whole[:point] + "." + whole[point:]
    exponent = place - trailing + len(whole) - point
    written = f"{'-' if negative else ''}{text}" + (f"e{exponent}" if exponent else "")
    return written, (-1 if negative else 1) * digits * Fraction(10) ** place


@given(spellings())
def test_how_a_number_is_spelt_makes_no_difference(spelling: tuple[str, Fraction]) -> None:
    """Zeros before and behind, the place of the point and the exponent change no reading, and no number its index."""
    text, number = spelling
    found = read_decimal(text)
    assert found is not None
    if abs(number) < 10**DIGITS and (number * 10**DIGITS).denominator == 1:
        assert found == number
    assert (found > 0) - (found < 0) == (number > 0) - (number < 0)
    for bounds in LATTICES:
        lattice = Lattice.of(bounds, bounds.step or Fraction(1))
        assert lattice.project(lattice.index(*found.as_integer_ratio()))[0] == (
            lattice.project(lattice.index(*number.as_integer_ratio()))[0]
            if abs(number) < 10**DIGITS
            else lattice.project(lattice.index((1 if number > 0 else -1) * 10**DIGITS, 1))[0]
        )


@given(spellings(), spellings())
def test_numbers_are_read_in_their_order(first: tuple[str, Fraction], second: tuple[str, Fraction]) -> None:
    """Of two texts the one that is the lesser number never has the greater reading."""
    (one, less), (other, more) = sorted((first, second), key=lambda spelling: spelling[1])
    low, high = read_decimal(one), read_decimal(other)
    assert low is not None
    assert high is not None
    assert low <= high
    assert less != more or low == high


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from([0, 5, 990, 1_000, 1_050, -3, -990, -1_000, -1_050]),
    st.integers(-(10**9), 10**9),
    st.sampled_from([Bounds(0, 100, step=1), Bounds(-9, 9, step=1, offset=0.5), Bounds(None, None, step=0.25)]),
)
def test_neighbours_have_neighbouring_readings(digits: int, place: int, apart: int, bounds: Bounds) -> None:
    """Two texts whose numbers are so far apart are read no more steps apart than that takes, however vast or fine."""
    lattice = Lattice.of(bounds, bounds.step or Fraction(1))
    scale, distance = 10**1_100, Fraction(apart, 10**8)
    number = digits * Fraction(10) ** place
    indices = []
    for near in (number, number + distance):
        found = read_decimal(f"{near * scale // 1}e-1100")
        assert found is not None
        indices.append(lattice.index(*found.as_integer_ratio()))
    assert abs(indices[1] - indices[0]) <= math.ceil(abs(distance) / lattice.step)


@pytest.mark.parametrize("places", [999, 1_001, 2_300, 2_301, 2_900, 4_000])
@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(-9, 9, step=Fraction(1, 3)),
        Bounds(-9, 9, step=Fraction(2, 7), offset=Fraction(1, 11)),
        Bounds(0, Fraction(1, 2**950), step=Fraction(1, 2**1005)),
        Bounds(-1, 1, step=Fraction(1, 10**3 * 2**40), offset=Fraction(1, 3**1200)),
        Bounds(None, None, step=Fraction(1, 2**2040)),
    ],
    ids=["thirds", "sevenths", "2**-1005", "3**-1200", "2**-2040"],
)
def test_a_long_text_is_rounded_as_the_number_that_it_is(bounds: Bounds, places: int) -> None:
    """Just below and just above the middle between two points it goes to another one, as a text and as a Decimal."""
    assert bounds.step is not None
    lattice = Lattice.of(bounds, bounds.step)
    answers = Answers(bounds, lattice)
    for index in (-2, 0, 1, 5):
        middle = lattice.value(index) + lattice.step / 2
        below = middle * 10**places // 1
        for digits in (below - 1, below, below + 1):
            exact, text = Fraction(digits, 10**places), f"{digits}e-{places}"
            read = read_answer(text, bounds, "it")
            assert lattice.index(read.numerator, read.denominator) == lattice.index(*exact.as_integer_ratio())
            assert answers.index(Decimal(text)) == lattice.index(*exact.as_integer_ratio())


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (f"0.{'0' * 4_001}1", 0),
        (f"-0.{'0' * 4_001}1", 0),
        (f"1{'0' * 4_005}e-1", 100),
        (f"-1{'0' * 4_005}e-1", 0),
        (f"1{'0' * 4_005}e-4004", 10),
        (f"0.{'0' * 4_001}1e4003", 10),
        (f"{'0' * 4_001}10", 10),
        (f"10.{'0' * 4_001}e0", 10),
        (f"1e{'0' * 4_001}1", 10),
        (f"1e{'9' * 4_001}", 100),
        (f"-1e{'9' * 4_001}", 0),
        (f"1e-{'9' * 4_001}", 0),
        (f"0e{'9' * 4_001}", 0),
    ],
    ids=range(13),
)
def test_the_size_of_a_number_decides_where_it_goes(text: str, end: int) -> None:
    """What is fine is nearest to zero, what is vast is beyond the end on its own side, whatever its exponent's sign."""
    bounds = Bounds(0, 100, step=1)
    answers = Answers(bounds, Lattice.of(bounds, Fraction(1)))
    found = read_decimal(text)
    assert found is not None
    assert answers.project(found) == end
    assert answers.project(from_decimal(Decimal(text.replace("9" * 4_001, "9999")))) == end


@pytest.mark.parametrize(
    "text", ["1" * 10**5 + "x", "0" * 10**5 + "e", "1" * 10**5 + "e" + "1" * 10**5 + ".", "." * 10**5, "1e" * 10**5]
)
def test_a_long_text_that_is_no_number_is_refused_at_once(text: str) -> None:
    """No text is tried in more ways than one: these would take minutes."""
    assert read_decimal(text) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_a_decimal_is_the_fraction_that_it_is(number: Decimal) -> None:
    """A `Decimal` of a size that people use loses nothing."""
    if number.adjusted() > -900:
        assert from_decimal(number) == Fraction(number)
