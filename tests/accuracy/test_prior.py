"""A prior is read from whatever it is written as, has one form, and refuses what makes no sense."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InvalidParameter
from inbounds.accuracy.prior import Prior
from inbounds.bounds.lattice import Lattice
from inbounds.published import ExplicitFair, Geometric
from tests.helpers.mechanisms import ISLANDS, YEAR

TEN = Bounds(0, 9, step=1)
RANGE = Bounds(0, 1)
FINE = Fraction(1, 2**20)


def prior_of(given: Any, bounds: Bounds = TEN) -> Prior:
    """Return the prior that is written like this."""
    return Prior.of(given, bounds, Lattice.of(bounds, bounds.step or FINE))


def written_out(prior: Prior) -> dict[int, float]:
    """Return the weight of every answer that has some."""
    stretches = zip(prior.lows.tolist(), prior.highs.tolist(), prior.weights.tolist(), strict=True)
    return {index: weight / (high - low + 1) for low, high, weight in stretches for index in range(low, high + 1)}


SAME: list[tuple[Bounds, list[Any]]] = [
    (TEN, [None, [1] * 10, np.full(10, 0.3), lambda _: Fraction(2, 3), ([1, 1], [0, 5, 9]), ([7], [-3, 12.5])]),
    (RANGE, [None, [5], lambda _: 2, ([0.5], [0, 1]), np.histogram([0.2, 0.7], 1, (0, 1))]),
    (RANGE, [[1, 3], ([1, 3], [0, Fraction(1, 2), 1]), np.histogram([0.2, 0.7, 0.8, 0.9], 2, (0, 1))]),
    (
        TEN,
        [
            [0, 0, 0, 3, 3, 0, 0, 0, 0, 1],
            (Decimal(x) for x in "0003300001"),
            lambda x: {3: 3, 4: 3, 9: 1}.get(x, 0),
            ([0, 6, 0, 1], [0, 3, 5, 9, 10]),
            ([6, 0, 1], [2.5, 4.5, 8.5, 9]),
        ],
    ),
    (ISLANDS, [[0] * 6 + [1] + [0] * 18, lambda x: int(x == 9), ([1], [6, 12])]),
    (YEAR, [([1], [date(2026, 1, 1), date(2026, 1, 4)]), ([2], [np.datetime64("2026-01-01"), date(2026, 1, 2)])]),
]


@pytest.mark.parametrize(("bounds", "forms"), SAME, ids=["counts", "range", "halves", "holes", "islands", "dates"])
def test_a_prior_is_the_same_however_it_is_written(bounds: Bounds, forms: list[Any]) -> None:
    """Weights, a histogram and a function that say the same are equal, have one hash and come back from a pickle."""
    first, *others = (prior_of(form, bounds) for form in forms)
    for other in (*others, pickle.loads(pickle.dumps(first)), Prior.of(first, bounds, first.lattice)):
        assert other == first
        assert hash(other) == hash(first)
        assert repr(other) == repr(first)
    assert first != prior_of([1, *[2] * 24] if bounds == ISLANDS else None, ISLANDS)


def test_the_edges_of_a_histogram_are_those_of_numpy() -> None:
    """A part holds its lower edge and not its upper one, but the last part holds both."""
    assert written_out(prior_of(([1, 3], [1, 2, 4]))) == pytest.approx({1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25})


def test_a_function_is_asked_about_plain_numbers_days_and_possible_answers_only() -> None:
    """Functions get floats where there is no step, ints on whole numbers, days for days, and never what is in a gap."""
    asked: list[Any] = []

    def ask(answer: Any) -> int:
        asked.append(answer)
        return 1

    prior_of(ask, Bounds(0, 1) | Bounds(90, 91))
    assert {type(x) for x in asked} == {float}
    assert all(0 <= x <= 1 or 90 <= x <= 91 for x in asked)
    asked.clear()
    prior_of(ask, ISLANDS)
    assert asked == [*range(6), 9, *range(13, 31)]
    asked.clear()
    prior_of(ask, YEAR)
    assert {type(x) for x in asked} == {date}
    assert prior_of(np.sqrt, RANGE) == prior_of(sqrt, RANGE)  # which every processor rounds alike


BAD: list[tuple[Any, Bounds, str]] = [
    ([1, 1, -2, *[1] * 7], TEN, "no weight of the prior may be negative, got -2; set it to 0"),
    ([1, nan, *[1] * 8], TEN, "a weight of the prior must be a finite number, got nan"),
    ([inf, *[1] * 9], TEN, "a weight of the prior must be a finite number, got inf"),
    (["1", *[1] * 9], TEN, "a weight of the prior must be a finite number, got '1'"),
    ([True, *[1] * 9], TEN, "a weight of the prior must be a finite number, got True"),
    ([10**700, *[1] * 9], TEN, "a weight of the prior must take at most 2048 bits"),
    ([1, 1, 1], TEN, "one weight for each of 10 possible answers, got 3; give 10"),
    ([], TEN, "prior must have at least one weight, got none; leave it out"),
    ([0] * 10, TEN, "prior must have some weight above zero, got none; leave it out"),
    ([0, 0.0], RANGE, "prior must have some weight above zero, got none"),
    (lambda _: 0, TEN, "prior must have some weight above zero, got none"),
    (lambda _: -0.5, RANGE, r"no weight of the prior may be negative, got -0\.5"),
    (lambda _: nan, RANGE, "a weight of the prior must be a finite number, got nan"),
    (lambda _: None, RANGE, "a weight of the prior must be a finite number, got None"),
    (([1, 2], [0, 1]), TEN, "one more edge than weights, got 2 edges and 2 weights; give"),
    (([1, 2], [0, 5, 3]), TEN, "the edges of a prior must rise, got 5 before 3; sort them"),
    (([1, 2], [0, 5, 5]), TEN, "the edges of a prior must rise, got 5 before 5; sort them"),
    (([1, 2], [0, nan, 5]), TEN, "an edge of the prior must be a finite number, got nan"),
    (([1, 2], [0, 5, inf]), TEN, "an edge of the prior must be a finite number, got inf"),
    (([1], [1, 2]), YEAR, "an edge of the prior must be a date, got 1; give a day"),
    (([1, 1], [6, 8, 20]), ISLANDS, "no weight where no answer is possible, got some in part 1 of 2; set it to 0"),
    (([1, 1], [0, 3, 3.5]), Bounds(4, 9), "no weight where no answer is possible, got some in part 1 of 2"),
    ([1, 1, 1], Bounds(0, 1) | Bounds(8, 9), "no weight where no answer is possible, got some in part 2 of 3"),
    (3, TEN, r"prior must be a list of weights, .* got 3; put weights in \[ \]"),
    ("1111111111", TEN, "prior must be a list of weights"),
    ({1: 2}, TEN, "prior must be a list of weights"),
    ({1, 2}, TEN, "prior must be a list of weights"),
    (np.array(1.0), TEN, "prior must be a list of weights"),
    (prior_of(None, RANGE), TEN, "a prior must be about the possible answers of .*, got one about others; create"),
    ([1, 1], Bounds(0, None), r"a prior needs bounds with both ends, got .*; give both ends"),
    (None, Bounds(None, 4, step=1), r"a prior needs bounds with both ends, got .*; give both ends"),
]


@pytest.mark.parametrize(("given", "bounds", "message"), BAD)
def test_a_prior_that_makes_no_sense_is_refused(given: Any, bounds: Bounds, message: str) -> None:
    """Each refusal says the rule, what was received and what to do."""
    with pytest.raises(InvalidParameter, match=message):
        prior_of(given, bounds)


weights_of_islands = st.lists(st.integers(0, 5), min_size=25, max_size=25).filter(any)
cuts_of_islands = st.lists(st.integers(-2, 33), min_size=2, max_size=9, unique=True).map(sorted)


@given(weights_of_islands, cuts_of_islands)
def test_sums_over_a_prior_are_those_over_its_answers(weights: list[int], cuts: list[int]) -> None:
    """Mass, moment, distances and least density between cuts are sums over answers one by one."""
    prior = prior_of(weights, ISLANDS)
    single = {index: weight / sum(weights) for index, weight in zip(prior.lattice.indices(), weights, strict=True)}
    assert written_out(prior) == pytest.approx({index: weight for index, weight in single.items() if weight})
    edges, targets = np.array(cuts), np.array([0, 4, 9, 30])
    assert prior.mass(edges) == pytest.approx([sum(w for i, w in single.items() if i < cut) for cut in cuts])
    assert prior.moment(edges) == pytest.approx([sum(w * i for i, w in single.items() if i < cut) for cut in cuts])
    cells = [range(a, b) for a, b in pairwise(cuts)]
    assert prior.distances(edges, targets) == pytest.approx(
        np.array([[sum(single.get(i, 0.0) * abs(i - t) for i in cell) for t in targets] for cell in cells])
    )
    for count in (1, 2, 5):
        least = [min(single.get(i, 0.0) for i in range(edge, edge + count)) for edge in cuts]
        assert prior.least_density(edges, count) == pytest.approx(least)


@given(weights_of_islands)
def test_a_quantile_is_where_so_much_is_reached(weights: list[int]) -> None:
    """Below a quantile there is at most so much, and up to it at least; and it has weight."""
    prior = prior_of(weights, ISLANDS)
    masses = np.array([0.0, 0.01, 0.3, 0.5, 0.77, 1.0])
    found = prior.quantile(masses)
    assert (prior.mass(found) <= masses + 1e-12).all()
    assert (prior.mass(found + 1) >= masses - 1e-12).all()
    assert set(found.tolist()) <= set(written_out(prior))


def test_on_fine_lattices_far_from_zero_sums_are_as_exact() -> None:
    """A range that begins a billion above zero is cut where one that begins at zero is, to the last index."""
    far, near = Bounds(10**9, 10**9 + 1), Bounds(0, 1)
    step = Fraction(1, 2**31)
    there, here = (Prior.of([1, 2, 3], bounds, Lattice.of(bounds, step)) for bounds in (far, near))
    cuts = np.array([0, 1, 2**30 + 1, 2**31])
    assert there.mass(cuts + there.lattice.first).tolist() == here.mass(cuts).tolist()
    masses = np.linspace(0, 1, 17)
    assert (there.quantile(masses) - there.lattice.first).tolist() == here.quantile(masses).tolist()


MECHANISMS: dict[str, Callable[[], Any]] = {
    "bounded Laplace": lambda: BoundedLaplace(ISLANDS, 2, 0.7),
    "snapped geometric": lambda: Geometric(ISLANDS, 1, 0.3, ends="snap"),
    "folded geometric": lambda: Geometric(Bounds(0, 24, step=1), 1, 0.3, ends="fold"),
    "explicit fair": lambda: ExplicitFair(Bounds(0, 24, step=1), 1, 0.5),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_mean_error_over_a_prior_is_that_over_its_answers(name: str) -> None:
    """Each true answer counts with its weight, whether weights stand for one answer or for many."""
    made = MECHANISMS[name]()
    points = made._setting.lattice.indices()
    errors = np.array([made.error(point) for point in points])
    rng = np.random.default_rng(3)
    for weights in (rng.random(25), rng.integers(0, 2, 25), np.arange(25) > 17):
        prior = Prior.of(weights.astype(float), made.bounds, made._setting.lattice)
        assert prior.mean(made._distribution) == pytest.approx(float(errors @ weights / weights.sum()), rel=1e-11)


def test_over_a_fine_range_the_mean_over_a_prior_is_an_integral() -> None:
    """Over halves with weights 3 and 1 the mean error is three quarters of the one half's and a quarter of the
    other's."""
    made = BoundedLaplace(Bounds(0, 10), 1, 0.5)
    halves = made.mean_error((0, 4.9999999)), made.mean_error((5, 10))
    uneven, even = (Prior.of(given, made.bounds, made._setting.lattice) for given in ([3, 1], None))
    found = [float(made.step) * prior.mean(made._distribution) for prior in (uneven, even)]
    assert found[0] == pytest.approx(0.75 * halves[0] + 0.25 * halves[1], rel=1e-7)
    assert found[1] == pytest.approx(made.mean_error(), rel=1e-12)
