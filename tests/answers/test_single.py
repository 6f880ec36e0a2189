"""One answer is read onto the lattice exactly, whatever it is."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidAnswer

inf, nan = math.inf, math.nan

GROUNDS = {
    "whole numbers": (Bounds(0, 100, step=1), Fraction(1)),
    "no step": (Bounds(0, 100), Fraction(1, 2**33)),
    "no step, islands": (Bounds(-0.3, 0.7) | Bounds(5, None), Fraction(1, 2**40)),
    "tenths": (Bounds(-3, 3, step=0.1), Fraction(1, 10)),
    "tenths without ends": (Bounds(None, None, step=0.1), Fraction(1, 10)),
    "thirds off zero": (Bounds(0, None, step=Fraction(1, 3), offset=Fraction(1, 7)), Fraction(1, 3)),
    "halves off zero": (Bounds(-9.5, 9.5, step=1, offset=0.5), Fraction(1)),
    "vast": (Bounds(None, 2**1200, step=2**1150), Fraction(2**1150)),
    "fine": (Bounds(0, Fraction(1, 2**1150), step=Fraction(1, 2**1200)), Fraction(1, 2**1200)),
}

doubles = st.floats(allow_nan=False, allow_infinity=False)
near_middles = st.builds(
    lambda n, up: math.nextafter(n / 20, up), st.integers(-200, 2200), st.sampled_from([-inf, inf])
)
small = st.integers(-200, 2200).map(lambda n: n / 20)


@pytest.fixture(params=GROUNDS)
def answers(request: pytest.FixtureRequest) -> Answers:
    """Return what reads answers on one of the grounds."""
    bounds, step = GROUNDS[request.param]
    return Answers(bounds, Lattice.of(bounds, step))


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUNDS)
@given(doubles | near_middles | small)
def test_a_double_is_rounded_and_projected_as_the_number_that_it_is(name: str, x: float) -> None:
    """Every double goes where exact arithmetic puts it, also a hair beside the middle between two points."""
    bounds, step = GROUNDS[name]
    lattice = Lattice.of(bounds, step)
    exactly = math.floor((Fraction(x) - lattice.offset) / lattice.step + Fraction(1, 2))
    assert Answers(bounds, lattice).project(x) == lattice.project(exactly)[0]


def test_an_infinity_goes_to_an_end_or_nowhere(answers: Answers) -> None:
    """An infinite float is projected to the end on its side, and refused where there is none; NaN is refused."""
    lattice = answers.lattice
    for x, end, missing in (
        (-inf, lattice.first, lattice.unbounded_below),
        (inf, lattice.last, lattice.unbounded_above),
    ):
        if missing:
            with pytest.raises(InvalidAnswer, match="infinite only"):
                answers.project(x)
        else:
            assert answers.project(x) == end
    with pytest.raises(InvalidAnswer, match="NaN"):
        answers.project(nan)


def test_a_release_beyond_the_ends_is_read_where_it_is() -> None:
    """A true answer far out counts as one beside the end; a release that noise left there does not."""
    bounds, step = GROUNDS["whole numbers"]
    answers = Answers(bounds, Lattice.of(bounds, step))
    assert answers.index(150.0) == 101
    assert answers.index_of_release(150.0) == answers.point(150.0) == 150


def test_no_double_between_finite_ends_takes_another_way(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both ends are finite every double is read by the same few operations, however vast or fine it is."""
    if not answers.lattice.bounded or answers.lattice.step < Fraction(1, 2**900):
        return
    monkeypatch.setattr(answers, "_number", lambda _: pytest.fail("took the long way"))
    for x in (0.0, -0.0, 5e-324, 0.1, 99.95, 1e199, 1e201, -1e201, 1.7e308, inf, -inf):
        assert answers.lattice.first <= answers.project(x) <= answers.lattice.last


@pytest.mark.parametrize("released", [-1.0, 101.0, -0.5, 2000.25])
def test_a_release_beyond_the_ends_is_a_point(released: float) -> None:
    """Noise that is left as it is leaves the bounds, so what is beyond their ends has an index of its own."""
    answers = Answers(Bounds(0, 100), Lattice.of(Bounds(0, 100), Fraction(1, 2**33)))
    index = answers.point(released)
    assert index is not None
    assert answers.lattice.value(index) == released
