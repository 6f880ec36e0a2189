"""What is left, snapped or folded at the ends is a fixed map of the integers, and its pieces are that map."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds, InvalidParameter
from inbounds.bounds.lattice import Lattice
from inbounds.mechanisms.additive.ends import BEYOND, MOST_FOLDS, Ends, EndsName, Piece
from inbounds.mechanisms.additive.far import Far
from tests.helpers.brute_force import Spans
from tests.helpers.small_lattices import spans

RULES: tuple[EndsName, ...] = get_args(EndsName)
WINDOW = 60

integers = st.integers(-WINDOW, WINDOW)
far = integers | st.integers(-(2**50), 2**50)


def ends(rule: str, some: Spans) -> Ends:
    """Return a rule over these spans of integers."""
    return Ends.of(rule, Lattice.of(Bounds.union(some, step=1), Fraction(1)))


def possible(some: Spans, index: int) -> bool:
    """Return whether an index is in one of the spans."""
    return any((low is None or low <= index) and (high is None or index <= high) for low, high in some)


def distance(span: tuple[int | None, int | None], index: int) -> int:
    """Return how far an index is from a span."""
    low, high = span
    return max(0 if low is None else low - index, 0 if high is None else index - high, 0)


def nearest_span(some: Spans, index: int) -> tuple[int | None, int | None]:
    """Return the span nearest to an index, the left one of two."""
    return min(some, key=lambda span: distance(span, index))


def by_definition(rule: str, some: Spans, index: int) -> int:
    """Return where an index goes: nowhere, to the nearest end, or back in at the end it is beyond, until it is in."""
    low, high = nearest_span(some, index)
    while rule != "leave":
        if low is not None and index < low:
            index = low if rule == "snap" or low == high else 2 * low - index
        elif high is not None and index > high:
            index = high if rule == "snap" or low == high else 2 * high - index
        else:
            break
    return index


@given(spans(), integers, st.sampled_from(RULES))
def test_every_integer_goes_where_the_definition_says(some: Spans, index: int, rule: EndsName) -> None:
    """Snapping goes to the nearest end, folding reflects at the ends of the nearest span, leaving leaves."""
    assert ends(rule, some).apply(index) == by_definition(rule, some, index)


@given(spans(), far, st.sampled_from(["snap", "fold"]))
def test_nothing_stays_outside_and_nothing_inside_moves(some: Spans, index: int, rule: EndsName) -> None:
    """What comes out is possible, a possible integer stays where it is, and so twice is once."""
    made = ends(rule, some)
    moved = made.apply(index)
    assert possible(some, moved)
    assert made.apply(moved) == moved
    assert not possible(some, index) or moved == index


@given(spans(), far)
def test_snapping_and_folding_end_in_the_same_span(some: Spans, index: int) -> None:
    """Both rules choose the nearest span, so what they do to one integer is at most its length apart."""
    snapped, folded = ends("snap", some).apply(index), ends("fold", some).apply(index)
    assert nearest_span(some, snapped) == nearest_span(some, folded) == nearest_span(some, index)


@given(spans(), st.lists(far), st.sampled_from(RULES), st.sampled_from([np.int64, np.float64]))
def test_arrays_go_where_single_integers_go(some: Spans, indices: list[int], rule: EndsName, kind: Any) -> None:
    """For int64 and for doubles that hold integers, an array is mapped element by element, and keeps its dtype."""
    made = ends(rule, some)
    moved = made.apply_many(np.array(indices, dtype=kind))
    assert moved.dtype == kind
    assert moved.tolist() == [made.apply(index) for index in indices]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "bounds",
    [Bounds(0, 2**60, step=1), Bounds(0, None, step=1), Bounds(None, 7, step=1), Bounds(-(2**60), 3, step=1)],
    ids=repr,
)
def test_integers_of_60_bits_are_mapped_exactly(bounds: Bounds, rule: EndsName) -> None:
    """Far from zero int64 arrays do what Python's integers do."""
    made = Ends.of(rule, Lattice.of(bounds, Fraction(1)))
    indices = [sign * (2**60 + off) for sign in (-1, 1) for off in (-5, -1, 0, 1, 5, 2**58)]
    assert made.apply_many(np.array(indices)).tolist() == [made.apply(index) for index in indices]


# Pieces.


@given(spans(), integers, integers, st.sampled_from(RULES))
def test_pieces_are_the_map_and_leave_nothing_out(some: Spans, one: int, other: int, rule: EndsName) -> None:
    """The pieces from one integer to another hold each integer between them once, and each goes where the rule says."""
    made, (first, last) = ends(rule, some), sorted((one, other))
    pieces = made.pieces(first, last)
    held = [index for piece in pieces for index in range(piece.start, piece.stop + 1)]
    assert sorted(held) == list(range(first, last + 1))
    for piece in pieces:
        for index in range(piece.start, piece.stop + 1):
            assert piece.intercept + piece.slope * index == made.apply(index)


@given(spans(), st.sampled_from(["leave", "snap"]))
def test_pieces_without_end_are_few_and_meet(some: Spans, rule: EndsName) -> None:
    """From beyond every index to beyond every index there are at most three pieces for a span, each after the other."""
    pieces = sorted(ends(rule, some).pieces(-BEYOND, BEYOND), key=lambda piece: piece.start)
    assert len(pieces) <= 3 * len(some)
    assert (pieces[0].start, pieces[-1].stop) == (-BEYOND, BEYOND)
    assert all(left.stop + 1 == right.start for left, right in pairwise(pieces))


@given(spans(), st.integers(-3000, 3000), st.integers(-3000, 3000), st.none() | st.integers(-3000, 3000))
def test_what_no_piece_holds_is_far(some: Spans, one: int, other: int, centre: int | None) -> None:
    """Pieces and what is far hold each integer once, and what is far is folded into its span."""
    made, (first, last) = ends("fold", some), sorted((one, other))
    all_far = made.far(first, last, centre)
    runs: list[Piece | Far] = [*made.pieces(first, last, centre), *all_far]
    held = [index for run in runs for index in range(max(run.start, first), min(run.stop, last) + 1)]
    assert sorted(held) == list(range(first, last + 1))
    for far in all_far:
        assert nearest_span(some, max(far.start, first)) == (far.low, far.high)
        assert nearest_span(some, min(far.stop, last)) == (far.low, far.high)
        assert all(made.apply(edge) == end for edge, end in far.halves)
        assert all(edge in (far.start - 1, far.stop + 1) for edge, _ in far.halves)


@given(spans(), st.sampled_from(RULES), st.none() | integers)
def test_there_are_never_more_than_so_many_pieces(some: Spans, rule: EndsName, centre: int | None) -> None:
    """However far they go, a span has at most a fixed number of pieces on each side, and beside a centre."""
    made = ends(rule, some)
    pieces, far = made.pieces(-BEYOND, BEYOND, centre), made.far(-BEYOND, BEYOND, centre)
    assert len(pieces) <= (4 * MOST_FOLDS + 2) * len(some)
    assert len(far) <= 3 * len(some)


@given(spans(), integers)
def test_images_are_the_outermost_integers_that_are_folded_to_one(some: Spans, index: int) -> None:
    """The least and the greatest image are folded to the index, and nothing beyond them between spans is."""
    made = ends("fold", some)
    released = made.apply(index)
    least, greatest = made.images(released)
    assert made.apply(least) == made.apply(greatest) == released
    first, last = made.catchment([span == nearest_span(some, released) for span in some].index(True))
    below = range(max(first, least - 50), least) if first > -BEYOND else ()
    above = range(greatest + 1, min(last, greatest + 50)) if last < BEYOND else ()
    assert all(made.apply(other) != released for other in (*below, *above))


@given(spans(), integers)
def test_a_catchment_is_what_snaps_to_a_span(some: Spans, index: int) -> None:
    """An integer is in the catchment of the span that it snaps to, and in no other."""
    made = ends("snap", some)
    catchments = [made.catchment(number) for number in range(len(some))]
    caught = [span for span, (first, last) in zip(some, catchments, strict=True) if first <= index <= last]
    assert caught == [nearest_span(some, index)]


# What folding does to a law.


@given(st.integers(-9, 9), st.integers(1, 7), integers)
def test_folding_hits_every_place_twice_and_the_ends_once(low: int, length: int, start: int) -> None:
    """Over one period, two lengths, each inner place is hit twice and each end once, so that no end is favoured."""
    made = ends("fold", [(low, low + length)])
    hit = [made.apply(index) for index in range(start, start + 2 * length)]
    expected = {index: 1 if index in (low, low + length) else 2 for index in range(low, low + length + 1)}
    assert {index: hit.count(index) for index in set(hit)} == expected


@given(integers, integers)
def test_a_half_line_is_folded_once(end: int, index: int) -> None:
    """Beside a half-line an integer is reflected at the end, however far it is."""
    assert ends("fold", [(end, None)]).apply(index) == end + abs(index - end)
    assert ends("fold", [(None, end)]).apply(index) == end - abs(index - end)


@given(far)
def test_a_single_place_takes_all(index: int) -> None:
    """Where one answer is possible, snapping and folding both give it."""
    assert ends("fold", [(4, 4)]).apply(index) == ends("snap", [(4, 4)]).apply(index) == 4


@given(integers)
def test_the_whole_line_stays_as_it_is(index: int) -> None:
    """Without an end nothing is outside."""
    assert all(ends(rule, [(None, None)]).apply(index) == index for rule in RULES)


@pytest.mark.parametrize("wrong", ["clip", "Snap", "", None, 1, ["snap"], np.array(["snap"])])
def test_other_rules_are_refused(wrong: Any) -> None:
    """What is none of the three names is refused, and the message lists them."""
    with pytest.raises(InvalidParameter, match="ends must be 'leave', 'snap' or 'fold', got "):
        ends(wrong, [(0, 5)])
