"""What half-widths prove is below what is possible, on every lattice; and near it where epsilon is large."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import Bounds, Optimal
from inbounds.accuracy.prior import Prior
from inbounds.bounds.lattice import Lattice
from inbounds.limit.widths.blocks import Blocks
from inbounds.limit.widths.half_widths import half_widths
from inbounds.limit.widths.width_bound import Columns, proved_by_widths
from inbounds.limit.widths.width_search import worst_by_widths
from inbounds.mechanisms.setting import Setting
from inbounds.published import Staircase
from tests.helpers.exact_optimum import least, neighbours

EPSILONS = st.sampled_from([0.1, 0.5, 1, 2, 3, 5, 8, 12])


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Bounds, int, float, list[int]]:
    """Up to three spans on a dozen points, a sensitivity, an epsilon and a prior."""
    ends = [(0, draw(st.integers(1, 6)))]
    for _ in range(draw(st.integers(0, 2))):
        low = ends[-1][1] + draw(st.integers(2, 4))
        ends.append((low, low + draw(st.integers(0, 3))))
    bounds = Bounds.union(ends, step=1)
    points = Lattice.of(bounds, Fraction(1)).points
    alike = st.just([1] * points)
    prior = draw(alike | st.lists(st.integers(0, 5), min_size=points, max_size=points).filter(any))
    return bounds, draw(st.integers(1, ends[-1][1])), draw(EPSILONS), prior


@pytest.mark.slow
@given(lattices(), st.sampled_from([1, 2, 3, 1000]))
@settings(max_examples=40)
def test_no_bound_is_above_what_is_possible(given: tuple[Bounds, int, float, list[int]], most: int) -> None:
    """Under any prior, with every answer in a block of its own or many in one, it is below the linear program's."""
    bounds, distance, epsilon, prior = given
    lattice = Lattice.of(bounds, Fraction(1))
    exact = least(bounds, distance, epsilon, "mean", np.array(prior) / sum(prior))
    found = proved_by_widths(Blocks.of(Prior.of(prior, bounds, lattice), most), distance, epsilon).bound
    assert 0 <= found <= exact * (1 + 1e-6) + 1e-12


@pytest.mark.slow
@given(lattices())
@settings(max_examples=20)
def test_no_bound_of_the_worst_error_is_above_what_is_possible(given: tuple[Bounds, int, float, list[int]]) -> None:
    """Whatever prior is found for it, a mean error under it is no worst one."""
    bounds, distance, epsilon, prior = given
    exact = least(bounds, distance, epsilon, "worst", np.array(prior))
    assert 0 <= worst_by_widths(Setting.of(bounds, distance, epsilon)).bound <= exact * (1 + 1e-6) + 1e-12


def test_a_short_span_behind_a_gap_bounds_as_much_as_any() -> None:
    """Widths that differ from span to span are compared within spans only, so no bound is lost between them."""
    setting = Setting.of(Bounds.union([(0, 3.3), (4.1, 7), (9, 9.5), (20, 21.7)]), 1, 8)
    found = proved_by_widths(Blocks.of(Prior.uniform(setting.lattice), 400), setting.distance, 8)
    assert found.bound * float(setting.lattice.step) > 0.0145


@pytest.mark.parametrize(("epsilon", "width"), [(8, 10), (12, 50), (20, 500)])
def test_the_staircase_is_near_the_least_worst_error_of_a_wide_range(epsilon: int, width: int) -> None:
    """What is proved for the worst error on ten sensitivities is within 4 % of noise of one scale."""
    setting = Setting.of(Bounds(0, width), 1, epsilon)
    staircase = Staircase(Bounds(0, width), 1, epsilon, ends="snap")
    assert staircase.worst_error() <= 1.04 * worst_by_widths(setting).bound * float(setting.lattice.step)


@given(lattices(), st.integers(1, 4), st.data())
@settings(max_examples=60)
def test_the_inequality_is_checked_for_every_column(
    given: tuple[Bounds, int, float, list[int]], most: int, data: st.DataObject
) -> None:
    """Where no excess is told, random columns that keep epsilon gain nothing at any release; else some are refused."""
    bounds, distance, epsilon, prior = given
    lattice = Lattice.of(bounds, Fraction(1))
    blocks = Blocks.of(Prior.of(prior, bounds, lattice), most)
    half = half_widths(blocks, distance, epsilon) * data.draw(st.sampled_from([0.3, 0.6, 0.9, 1.0, 3.0]))
    half = half * np.array(data.draw(st.lists(st.floats(0.5, 2), min_size=len(half), max_size=len(half))))
    excess = Columns(blocks, half, distance, epsilon).excess()
    places = np.arange(lattice.width + 1)
    worth, density = blocks.sums(half * blocks.density), blocks.sums(blocks.density)
    worths, densities = (np.diff(sums.below(np.append(places, len(places)).astype(float))) for sums in (worth, density))
    near = neighbours(bounds, distance)
    for _ in range(20):
        levels = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(places), max_size=len(places))))
        for _ in places:  # no level is more than one above that of a neighbour
            levels = np.minimum(levels, np.where(near, levels[None, :] + 1, 99).min(axis=1))
        column = np.exp(-epsilon * levels)
        gains = [(column * (worths - densities * abs(places - x))).sum() for x in places[densities > 0]]
        if (excess <= 0).all():
            assert max(gains) <= 1e-12


@pytest.mark.parametrize(
    ("epsilon", "width", "least_share"), [(5, 1, 0.985), (8, 5, 0.98), (12, 2, 0.985), (20, 1, 0.99)]
)
def test_for_a_large_epsilon_the_bound_is_near_what_is_possible(epsilon: int, width: int, least_share: float) -> None:
    """On one interval it is within a few hundredths of the error of a mechanism that is proved to be private."""
    setting = Setting.of(Bounds(0, width), 1, epsilon)
    found = proved_by_widths(Blocks.of(Prior.uniform(setting.lattice), 1500), setting.distance, epsilon).bound
    reached = Optimal(Bounds(0, width), 1, epsilon).optimality
    assert found * float(setting.lattice.step) >= least_share * reached.error
    assert reached.ratio <= 1.05


def test_too_wide_is_told() -> None:
    """Half-widths that are twice as wide as is best break the inequality, everywhere."""
    setting = Setting.of(Bounds(0, 2), 1, 8)
    blocks = Blocks.of(Prior.uniform(setting.lattice), 200)
    half = half_widths(blocks, setting.distance, 8)
    assert (Columns(blocks, 2 * half, setting.distance, 8).excess() > 0).all()
    assert (Columns(blocks, half / 2, setting.distance, 8).excess() < 0).all()


def test_the_limit_for_a_large_epsilon_is_the_known_one() -> None:
    """On one sensitivity the error falls like 0.574 times exp(-epsilon / 2), the mean root of what is next to it."""
    setting = Setting.of(Bounds(0, 1), 1, 20)
    found = proved_by_widths(Blocks.of(Prior.uniform(setting.lattice), 1500), setting.distance, 20).bound
    places = (np.arange(100_000) + 0.5) / 100_000
    known = float(np.sqrt((places**2 + (1 - places) ** 2) / 2).mean()) * math.exp(-10)
    assert found * float(setting.lattice.step) == pytest.approx(known, rel=0.01)
