"""Spans of indices, and what stands for an end that there is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from inbounds import Bounds
from inbounds.bounds.index_span import EVERY_INDEX, FAR, IndexSpan
from inbounds.bounds.lattice import Lattice

UNION = Bounds(None, -5, step=1) | Bounds(0, 3, step=1) | Bounds(9, None, step=1)


def test_distances_of_one_index_are_those_of_many() -> None:
    """A span tells how far an index is from its ends as the lattice does for arrays, also where there is none."""
    lattice = Lattice.of(UNION, Fraction(1))
    for number, (index, span) in enumerate(zip((-7, 2, 11), lattice.spans, strict=True)):
        where = np.array([index]), np.array([number])
        assert [span.below(index)] == lattice.below(*where).tolist()
        assert [span.above(index)] == lattice.above(*where).tolist()
    assert [span.has_low for span in lattice.spans] == lattice.has_lows.tolist() == [False, True, True]
    assert [span.has_high for span in lattice.spans] == lattice.has_highs.tolist() == [True, True, False]


@pytest.mark.parametrize("span", [(-FAR, 3), (-2, 3), (-2, FAR), (-FAR, FAR)])
def test_an_index_is_clipped_at_the_ends_that_there_are(span: tuple[int, int]) -> None:
    """What is beyond an end goes to it, and on a side without one stays where it is, however far."""
    this = IndexSpan(*span)
    assert this.clip(0) == 0
    assert this.clip(-4 * FAR) == (this.low if this.has_low else -4 * FAR)
    assert this.clip(4 * FAR) == (this.high if this.has_high else 4 * FAR)
    assert this.bounded is (span == (-2, 3))
    assert this.is_everything is (this == EVERY_INDEX)


def test_least_greatest_and_reach_pass_over_missing_ends() -> None:
    """What stands for no end is never the least, the greatest or the farthest end."""
    lattice = Lattice.of(UNION, Fraction(1))
    assert (lattice.least, lattice.greatest, lattice.reach) == (None, None, 9)
    assert Lattice.everywhere(Fraction(1)).reach == 0
    assert EVERY_INDEX == (-FAR, FAR)


@pytest.mark.parametrize(("other", "met"), [((4, 9), True), ((5, 5), True), ((6, 9), False), ((4, 3), False)])
def test_spans_meet_where_they_share_an_index(other: tuple[int, int], met: bool) -> None:
    """Two spans meet if and only if an index is in both."""
    assert IndexSpan(0, 5).meets(IndexSpan(*other)) is met


def test_values_between_two_are_those_of_the_indices() -> None:
    """The indices between two values are those whose values are, however far the two are."""
    lattice = Lattice.of(Bounds(0, None, step=2), Fraction(2))
    assert lattice.between(Fraction(1), Fraction(7)) == (1, 3)
    assert lattice.between(Fraction(-(10**40)), Fraction(10**40)) == EVERY_INDEX
