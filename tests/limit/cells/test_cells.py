"""Which row an answer goes to: neighbours' rows are close, and every word of a draw is accounted for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inbounds.limit.cells.cells import Cells, interpolated_cells, rounded_cells
from tests.helpers.scripted_entropy import Script, word

WORDS = 2**64


@st.composite
def cells(draw: st.DrawFn, widest: int = 2**40) -> Cells:
    """Cells or points anywhere, of any width."""
    width = draw(st.integers(1, 9) | st.integers(1, widest))
    start = draw(st.integers(-(2**45), 2**45) | st.integers(-9, 9))
    return Cells(start, width, draw(st.integers(2, 60)), 1, interpolated=draw(st.booleans()))


@st.composite
def places(draw: st.DrawFn, of: Cells) -> int:
    """An index that the cells hold: at an edge of a cell, beside one, or anywhere."""
    last = (of.rows - of.interpolated) * of.width - (not of.interpolated)
    edge = draw(st.integers(0, of.rows)) * of.width + draw(st.integers(-1, 1))
    return of.start + min(max(draw(st.sampled_from([edge, draw(st.integers(0, last))])), 0), last)


WORD = st.integers(0, WORDS - 1) | st.sampled_from([0, 1, WORDS // 2 - 1, WORDS // 2, WORDS - 2, WORDS - 1])


def row_of(of: Cells, index: int, drawn: int) -> int:
    """Return the row in integers."""
    return (index - of.start + (drawn * of.width // WORDS if of.interpolated else 0)) // of.width


@given(st.data())
@settings(max_examples=100)
def test_every_way_to_draw_a_row_is_integer_arithmetic(data: st.DataObject) -> None:
    """Alone, in doubles and in an array, an index with a word goes to the row that integers say, which exists."""
    of = data.draw(cells())
    index, drawn = data.draw(places(of)), data.draw(WORD)
    expected = row_of(of, index, drawn)
    assert 0 <= expected < of.rows
    assert of.draw(index, Script(word(drawn, 64))) == expected
    in_array = of.draw_many(np.array([index]), Script(np.uint64(drawn).tobytes()))
    assert in_array.tolist() == [expected]
    if of.in_doubles:
        assert of.draw_in_doubles(float(index), Script(word(drawn, 64))) == expected


@given(st.data())
def test_the_share_of_the_next_row_is_that_of_its_words(data: st.DataObject) -> None:
    """Exactly the words from one on lead to the next row, and that many of all words is the share."""
    of = data.draw(cells())
    assume(of.interpolated)
    past = data.draw(st.integers(0, of.width - 1))
    first = WORDS - of.share(past) * WORDS
    assert first.denominator == 1
    at = int(first)
    for drawn, row in ((at - 1, 0), (at, 1)):
        if 0 <= drawn < WORDS:
            assert of.draw(of.start + past, Script(word(drawn, 64))) == row
    assert 0 <= Fraction(past, of.width) - of.share(past) < Fraction(1, WORDS)


@given(st.data())
def test_the_mixture_in_doubles_is_the_share(data: st.DataObject) -> None:
    """What accuracy is computed from is what is drawn, but for the last digits of a double."""
    of = data.draw(cells())
    assume(of.interpolated)
    index = data.draw(places(of))
    rows, shares = of.mixture(np.array([index - of.start]))
    row, past = divmod(index - of.start, of.width)
    assert rows[0] == row
    assert shares[0] == pytest.approx(float(of.share(past)), rel=1e-12, abs=1e-18)


@given(
    st.integers(-5, 5),
    st.integers(0, 40),
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from([rounded_cells, interpolated_cells]),
    st.data(),
)
def test_neighbours_go_to_rows_in_reach(
    first: int, width: int, distance: int, reach: int, make: object, data: st.DataObject
) -> None:
    """Whatever range is cut, it is all held, and answers a sensitivity apart go to rows in reach for every word."""
    reach = min(reach, distance)
    of = make(first, width, distance, reach)  # type: ignore[operator]
    assert of.reach == reach
    drawn = data.draw(WORD)
    rows = [row_of(of, index, drawn) for index in range(first, first + width + 1)]
    assert min(rows) >= 0
    assert max(rows) < of.rows
    for apart in range(1, min(distance, width) + 1):
        assert max(high - low for low, high in zip(rows, rows[apart:], strict=False)) <= reach
    assert of.width >= math.ceil(distance / reach)


def test_rounded_cells_are_their_own_mirror_image() -> None:
    """Where the range is no whole number of cells, what is left over is shared by both ends, but for one step."""
    for width in range(30):
        of = rounded_cells(0, width, 4, 1)
        low, high = -of.start, of.starts[-1] - (width + 1)
        assert 0 <= high - low <= 1
