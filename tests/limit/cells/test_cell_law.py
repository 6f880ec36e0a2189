"""A law on cells is private for what its setting says, in exact integers, or it is refused."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InboundsError, InvalidParameter, NotPrivate, Optimal
from inbounds.accuracy.prior import Prior
from inbounds.limit.cells.cell_law import CellLaw, row_epsilon
from inbounds.limit.cells.cells import Cells, interpolated_cells, rounded_cells
from inbounds.limit.cells.exact_table import TOTAL
from inbounds.limit.cells.kernel import TableKernel
from inbounds.limit.goal import Minimise as Goal
from inbounds.limit.program.deadline import Deadline
from inbounds.limit.search import Search
from inbounds.mechanisms.setting import Setting
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.exact_optimum import GOALS, PATIENT, answers_of, below_exp, exact_row, made
from tests.helpers.scripted_entropy import Script, word
from tests.helpers.sparing import sparing

Row = dict[int, int]


def searched(setting: Setting, goal: Goal, cells: Cells) -> CellLaw:
    """Return the law that a search finds for these cells, whether it is the best or not."""
    search = Search(setting, goal, Prior.uniform(setting.lattice), Deadline.after(PATIENT), lambda text: None)
    (search._try_points if cells.interpolated else search._try_rounded)(cells)
    assert isinstance(search.law, CellLaw)
    return search.law


@cache
def without_step(bounds: Bounds, epsilon: float, goal: Goal) -> Optimal:
    """Return a mechanism on bounds without a step: eight cells or points to the sensitivity, which is 1."""
    setting = Setting.of(bounds, 1, epsilon)
    make = rounded_cells if goal == "mean" else interpolated_cells
    law = searched(setting, goal, make(setting.lattice.first, setting.lattice.width, setting.distance, 8))
    found = object.__new__(Optimal)
    found._settle(setting, law, goal, (1.0, 0.0))
    return found


def keeps(one: Row, other: Row, epsilon: Any) -> bool:
    """Return whether no release is more than exp(epsilon) times as probable for one as for the other, in integers."""
    over, under = below_exp(epsilon).as_integer_ratio()
    pairs = [*((one[k], other[k]) for k in one), *((other[k], one[k]) for k in one)]
    return all(a * under <= over * b for a, b in pairs)


def all_kept(law: CellLaw, epsilon: Any) -> bool:
    """Compare every pair of answers up to a sensitivity apart."""
    lattice, distance = law.setting.lattice, law.setting.distance
    rows = [exact_row(law, index) for index in range(lattice.first, lattice.last + 1)]
    return all(
        keeps(rows[i], rows[j], epsilon)
        for i in range(len(rows))
        for j in range(i + 1, min(i + distance, len(rows) - 1) + 1)
    )


@st.composite
def asked(draw: st.DrawFn) -> tuple[Setting, Cells, Goal]:
    """Bounds of one or two spans, and cells or points for them that are wider than a step, or coarse points."""
    ends = [(0, draw(st.integers(6, 18)))]
    if draw(st.booleans()):
        low = ends[0][1] + draw(st.integers(2, 6))
        ends.append((low, low + draw(st.integers(0, 6))))
    sensitivity = draw(st.integers(1, 12))
    epsilon = draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3)]))
    setting = Setting.of(Bounds.union(ends, step=1), sensitivity, epsilon)
    width, distance = setting.lattice.width, setting.distance
    reach = draw(st.integers(1, distance))
    kind = draw(st.sampled_from(["rounded", "points", "coarse"]))
    if kind == "rounded":
        return setting, rounded_cells(0, width, distance, reach), "mean"
    if kind == "points":
        return setting, interpolated_cells(0, width, distance, reach), "worst"
    apart = distance + draw(st.integers(1, 7))
    return setting, Cells(0, apart, -(-width // apart) + 1, 1, interpolated=True), "worst"


@pytest.mark.slow
@given(asked())
@settings(max_examples=12)
def test_every_pair_of_answers_is_kept_in_integers(given: tuple[Setting, Cells, Goal]) -> None:
    """On cells or points wider than a step, or wider than the sensitivity, no release tells more than epsilon."""
    setting, cells, goal = given
    law = searched(setting, goal, cells)
    certificate = law.certify()
    assert certificate.holds
    assert all_kept(law, setting.epsilon)
    if not all_kept(law, setting.epsilon * Fraction(999, 1000)):
        assert certificate.bound > setting.epsilon * Fraction(999, 1000)


def test_coarse_points_use_all_of_epsilon() -> None:
    """Where points are farther apart than the sensitivity, rows next to each other may lose more than epsilon."""
    cells = Cells(0, 10, 5, 1, interpolated=True)
    share = Fraction(4, 10)
    assert float(row_epsilon(cells, 4, Fraction(1))) == pytest.approx(math.log(1 + (math.e - 1) / share), rel=1e-9)
    setting = Setting.of(Bounds(0, 40, step=1), 4, 1)
    law = searched(setting, "worst", cells)
    assert law.certify().holds
    assert all_kept(law, 1)
    assert not all_kept(law, Fraction(99, 100))


@pytest.mark.parametrize("goal", GOALS)
def test_a_law_for_more_epsilon_is_refused_for_less(goal: Goal) -> None:
    """A table that was solved for epsilon is no law for nine tenths of it, and no mechanism is made of it."""
    bounds = Bounds(0, 12, step=1)
    law = made(bounds, 3, 1, goal)._law
    assert isinstance(law, CellLaw)
    claimed = replace(law, setting=Setting.of(bounds, 3, 0.9))
    assert law.certify().holds
    assert not claimed.certify().holds
    with pytest.raises(NotPrivate, match="could not be proved to keep epsilon"):
        object.__new__(Optimal)._settle(claimed.setting, claimed, goal, (1.0, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_real_answers_a_sensitivity_apart_are_kept(goal: Goal, epsilon: float) -> None:
    """Without a step: pairs at random, at edges of cells, a fine step apart, and exactly the sensitivity apart."""
    law = without_step(Bounds(0, 3), epsilon, goal)._law
    assert isinstance(law, CellLaw)
    lattice, distance = law.setting.lattice, law.setting.distance
    edges = [law.cells.starts[k] for k in range(0, len(law.cells.starts), 7)]
    generator = np.random.default_rng(4)
    firsts = [*edges, *generator.integers(lattice.first, lattice.last, 6).tolist()]
    for first in firsts:
        for past in (-1, 0, 1):
            for apart in (1, distance - 1, distance, int(generator.integers(1, distance))):
                one, other = (min(max(at, lattice.first), lattice.last) for at in (first + past, first + past + apart))
                assert keeps(exact_row(law, one), exact_row(law, other), epsilon)
    near, far = (exact_row(law, at) for at in (lattice.first, lattice.last))
    assert not keeps(near, far, Fraction(1, 100))


# Tampered pickles.


def tampered(found: Optimal, **changes: Any) -> Optimal:
    """Return what is unpickled where parts of the pickle were changed."""
    restore, (bounds, given, pickled, *rest) = found.__reduce__()
    cells, kind, weights, targets = pickled
    parts = {"cells": cells, "kind": kind, "weights": weights, "targets": targets} | changes
    return restore(bounds, given, tuple(parts.values()), *rest)


@pytest.mark.parametrize("goal", GOALS)
def test_a_tampered_pickle_is_refused(goal: Goal) -> None:
    """Cells that are narrower than the sensitivity needs, a reach too short, or another table are no optimum."""
    found = without_step(Bounds(0, 3), 1, goal)
    assert isinstance(found._law, CellLaw)
    cells, _, weights, targets = found._law.pickle_parts()
    assert tampered(found) == found
    steep = tuple(
        tuple(TOTAL if k == row % len(one) else 0 for k in range(len(one))) for row, one in enumerate(weights)
    )
    wrong: list[dict[str, Any]] = [
        {"cells": replace(cells, width=cells.width - 1)},
        {"cells": replace(cells, width=cells.width // 2, rows=2 * cells.rows)},
        {"cells": replace(cells, reach=cells.reach - 1)},
        {"cells": replace(cells, reach=1)},
        {"cells": replace(cells, reach=0)},
        {"cells": replace(cells, start=cells.start + cells.width)},
        {"weights": steep},
        {"weights": tuple((one[0] + 1, *one[1:]) for one in weights)},
        {"weights": weights[:-1]},
        {"targets": targets[::-1]},
        {"targets": targets[:-1]},
        {"targets": (*targets[:-1], targets[-1] + 10**9)},
    ]
    for change in wrong:
        with pytest.raises(InboundsError):
            pytest.fail(f"accepted: {tampered(found, **change)} {list(change)}")


def test_narrow_points_are_no_coarse_points() -> None:
    """Points nearer to each other than the sensitivity, of which only the next are compared, are refused."""
    wide = searched(Setting.of(Bounds(0, 8, step=1), 2, 1), "worst", Cells(0, 2, 5, 1, interpolated=True))
    assert wide.certify().holds
    claimed = replace(wide, setting=Setting.of(Bounds(0, 8, step=1), 4, 1))
    assert not all_kept(claimed, Fraction(3, 2))
    with pytest.raises(InvalidParameter, match="cells must hold all answers"):
        claimed.certify()


def test_a_mechanism_in_a_pickle_must_be_for_what_the_pickle_says() -> None:
    """A mechanism of one scale for more epsilon, or for other bounds, is not restored as an optimum."""
    restore, (bounds, given, _, *rest) = without_step(Bounds(0, 3), 1, "mean").__reduce__()
    for other in (BoundedLaplace(bounds, 1, 10), BoundedLaplace(Bounds(0, 4), 1, 1), BoundedLaplace(bounds, 0.5, 1)):
        with pytest.raises(InboundsError):
            restore(bounds, given, other, *rest)
    assert restore(bounds, given, BoundedLaplace(bounds, 1, 1), *rest).epsilon == 1


# Draws.


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", [Bounds(0, 3), Bounds(0, 1) | Bounds(2, 3)], ids=str)
def test_a_draw_alone_is_a_draw_in_an_array(bounds: Bounds, goal: Goal) -> None:
    """With the same words, at the ends, at edges of cells and anywhere, one answer and an array have one release."""
    law = without_step(bounds, 1, goal)._law
    assert isinstance(law, CellLaw)
    assert isinstance(law.kernel, TableKernel)
    lattice, generator = law.setting.lattice, np.random.default_rng(8)
    edges = np.clip(np.array([*law.cells.starts, *[at - 1 for at in law.cells.starts]]), lattice.first, lattice.last)
    indices = np.concatenate([edges, generator.integers(lattice.first, lattice.last + 1, 200)])
    words = generator.integers(0, 2**64, (2, len(indices)), dtype=np.uint64)
    played = words.tobytes() if law.cells.interpolated else words[1].tobytes()
    [(_, many)] = law.draw_parts(lambda part: indices[part], len(indices), Script(played))
    for index, first, second, released in zip(indices.tolist(), *words.tolist(), many.tolist(), strict=True):
        both = word(first, 64) * law.cells.interpolated + word(second, 64)
        entropy = Script(both)
        assert law.draw(index, entropy) == released
        assert sum(entropy.asked) == len(both)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_releases_follow_the_law_between_points(goal: Goal) -> None:
    """On bounds without a step releases fit the probabilities that are told, and not those of another answer."""
    found, count = without_step(Bounds(0, 3), 1, goal), 20_000
    assert isinstance(found._law, CellLaw)
    targets = sorted({float(k * found.step) for k in found._law.targets.tolist()})
    for answer, other in ((0.7321, 2.6), (0.0, 1.9)):
        chances, false = (np.array([found.pmf(k, truth) for k in targets]) for truth in (answer, other))
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        counts = Counter(found.release([answer] * count).tolist())
        assert set(counts) <= set(targets)
        assert p_value([counts[k] for k in targets], chances) > FLOOR
        assert p_value([counts[k] for k in targets], np.maximum(false, 1e-300)) < FLOOR


def test_told_probabilities_are_the_exact_ones() -> None:
    """The probability of a release is the exact one, summed over outcomes with the same target, on a lattice."""
    setting = Setting.of(Bounds.union([(0, 9), (14, 20)], step=1), 5, 1)
    for goal, cells in (("mean", rounded_cells(0, 20, 5, 2)), ("worst", interpolated_cells(0, 20, 5, 2))):
        law = searched(setting, goal, cells)  # type: ignore[arg-type]
        for index in answers_of(setting.bounds):
            exact = exact_row(law, index)
            released = np.array(list(exact))
            told = law.distribution.probability(released, np.full(len(released), index))
            assert told == pytest.approx([float(Fraction(w, TOTAL**2)) for w in exact.values()], rel=1e-12)
            far = law.distribution.error(np.array([index]), np.zeros(1))[0]
            assert far == pytest.approx(sum(w / TOTAL**2 * abs(k - index) for k, w in exact.items()), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("goal", sparing(["mean", "worst"]))
def test_intervals_hold_the_truth_as_often_as_they_say(goal: Any) -> None:
    """On a range without a step, at cell borders, at points and between them; and not all of the time."""
    found = Optimal(Bounds(0, 5), 1, 2, minimise=goal, time_limit=30)
    law = found._law
    assert isinstance(law, CellLaw)
    releases = np.unique(law.targets)
    low, high = found._intervals.around(releases, 0.9)
    starts = np.array(law.cells.starts)
    lattice = found._setting.lattice
    third = int(law.cells.typical_width) // 3
    truths = np.clip(np.concatenate([starts, starts - 1, starts + third]), lattice.first, lattice.last)
    chances = law.distribution.probability(releases[None, :], truths[:, None])
    held = (low <= truths[:, None]) & (truths[:, None] <= high)
    covered = (chances * held).sum(axis=1)
    assert covered.min() >= 0.9
    assert covered.mean() < 0.99
    assert found.expected_width(0.9) < 5 * 0.6
