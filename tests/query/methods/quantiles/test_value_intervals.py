"""Intervals of quantiles in values: other quantiles of the answer hold the true ones as often as is said."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from inbounds import Bounds
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.method import write_value
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.methods.quantiles.ordered import Branch, OrderedQuantiles
from inbounds.query.methods.quantiles.value_intervals import Miss, misses, rows_needed, value_intervals
from inbounds.sampling.entropy import system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = NDArray[np.float64]

RISK = 0.05
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
DECILES = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
AROUND = (Fraction(9, 20), Fraction(1, 2), Fraction(11, 20))


def law_of(
    bounds: str, levels: tuple[Fraction, ...], epsilon: Any = 1, limit: int = 1, width: int = 1
) -> OrderedQuantiles:
    """Return the law of some quantiles of a column."""
    buckets = Buckets(Numbers("x", Bounds.parse(bounds)), width)
    return OrderedQuantiles(buckets, levels, Fraction(epsilon), limit, 1)


@cache
def table(kind: str, rows: int) -> Weights:
    """Return how many rows have each of 101 values: normal, skewed, with two modes, with ties, or all at the ends."""
    draw = np.random.default_rng(7)
    if kind == "normal":
        values = draw.normal(50, 12, rows)
    elif kind == "skewed":
        values = draw.lognormal(2.5, 0.8, rows)
    elif kind == "two modes":
        values = np.where(draw.random(rows) < 0.5, draw.normal(15, 4, rows), draw.normal(85, 4, rows))
    elif kind == "ties":
        values = draw.choice([10, 11, 60], rows, p=[0.45, 0.15, 0.4])
    else:
        values = draw.choice([0, 100], rows)
    return np.bincount(np.clip(values, 0, 100).astype(int), minlength=101).astype(float)


def draw_values(law: OrderedQuantiles, rows: Weights, runs: int) -> NDArray[np.int64]:
    """Return released values in many runs, in doubles and by the definition: a value and a place, then both halves."""
    random, places = np.random.default_rng(11), 2**law.halvings

    def masses(branch: Branch, weights: Weights, parts: int) -> Weights:
        starts = np.cumsum(weights) - weights
        at = starts[:, None] + weights[:, None] * np.arange(parts + 1) / parts
        wanted = float(branch.level) * weights.sum()
        missed = np.maximum(0, np.maximum(at[:, :-1] - wanted, wanted - at[:, 1:]))
        sums: Weights = np.cumsum(np.exp(-float(branch.rate(law.limit)) * (missed - missed.min())))
        return sums

    def draws(branch: Branch, first: int, weights: Weights, sums: Weights | None = None) -> list[int]:
        if not branch.levels:
            return []
        parts = 1 if branch.is_last else places
        sums = masses(branch, weights, parts) if sums is None else sums
        value, place = divmod(int(np.searchsorted(sums, random.random() * sums[-1])), parts)
        if branch.is_last:
            return [first + value]
        share = (place + float(branch.level)) / places
        below, above = weights[: value + 1].copy(), weights[value:].copy()
        below[-1], above[0] = share * weights[value], (1 - share) * weights[value]
        low, high = branch.halves
        return [*draws(low, first, below), first + value, *draws(high, first + value, above)]

    known = masses(law.whole, rows, 1 if law.whole.is_last else places)
    return np.array([draws(law.whole, 0, rows, known) for _ in range(runs)])


def held(law: OrderedQuantiles, rows: Weights, runs: int, *, told: float = 1.0) -> tuple[int, int]:
    """Return in how many runs all intervals hold every true quantile, and how many intervals there were.

    Ranks are said to be `told` times as far off as they are.
    """
    off = [Miss(told * miss.rows, told * miss.part) for miss in misses(law, RISK)]
    up_to, whole, good, found = np.cumsum(rows), rows.sum(), 0, 0
    for values in draw_values(law, rows, runs):
        ends: list[Any] = value_intervals(law, off, whole, [int(value) for value in values])
        found += sum(end is not None for end in ends)
        good += all(
            end is None or all(end[0] <= value <= end[1] for value in true_values(up_to, float(level) * whole))
            for end, level in zip(ends, law.levels, strict=True)
        )
    return good, found


def true_values(up_to: Weights, wanted: float) -> tuple[int, int]:
    """Return the least and the greatest value that is a quantile: all between them are."""
    slack = 1e-9 * up_to[-1]
    least = int(np.argmax(up_to >= wanted - slack))
    return least, int(np.flatnonzero(np.concatenate([[0.0], up_to[:-1]]) <= wanted + slack)[-1])


def fewest(runs: int) -> int:
    """Return how many of some runs are good but once in 10^9 times, if each is with 95 %."""
    return int(stats.binom.ppf(1e-9, runs, 1 - RISK))


CASES = [
    ("normal", 200, 5, QUARTILES, 1),
    ("ties", 2000, 1, QUARTILES, 1),
    ("two modes", 20_000, 0.1, QUARTILES, 1),
    ("skewed", 2000, 1, AROUND, 1),
    ("normal", 2000, 5, DECILES, 1),
    ("ends", 2000, 1, AROUND, 1),
    ("skewed", 20_000, 0.5, QUARTILES, 3),
    ("two modes", 2000, 2, AROUND, 2),
    ("ties", 20_000, 0.5, AROUND, 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rows", "epsilon", "levels", "limit"), CASES)
def test_intervals_of_a_group_hold_at_once(
    kind: str, rows: int, epsilon: float, levels: tuple[Fraction, ...], limit: int
) -> None:
    """All quantiles lie in their intervals at once with 95 %, whatever the rows; in rows of weight below one, too."""
    law = law_of("[0, 100] step 1", levels, epsilon=str(epsilon), limit=limit)
    runs = 80 if len(levels) > 3 else 300
    weights = table(kind, rows) * (1 if limit == 1 else np.random.default_rng(3).uniform(0.3, 1, 101))
    good, found = held(law, weights, runs)
    assert good >= fewest(runs)
    assert found >= runs * (len(levels) - 2)


def far_table(whole: float) -> Weights:
    """Return so many rows of which the greatest value is the quantile at 0.3: all others are as far from the median."""
    rows = np.zeros(4001)
    rows[0], rows[-1] = 0.3 * whole - 1, 0.7 * whole + 1
    return rows


@pytest.mark.slow
def test_half_the_radius_is_too_little() -> None:
    """Where thousands of values miss by as much as there is between two levels, half of that much does not hold."""
    law, runs = law_of("[0, 4000] step 1", (Fraction(3, 10), Fraction(1, 2)), epsilon=1), 300
    need = rows_needed(law, misses(law, RISK))[0][1]
    assert held(law, far_table(0.55 * need), runs, told=0.5)[0] < fewest(runs)
    assert held(law, far_table(0.55 * need), runs) == (runs, 0)  # by the whole radius there are too few rows
    assert held(law, far_table(1.05 * need), runs)[0] >= fewest(runs)


@pytest.mark.slow
def test_draws_of_this_test_are_those_of_the_product() -> None:
    """The exact law and the one of this test release the same values on average."""
    law, rows = law_of("[0, 100] step 1", QUARTILES), table("skewed", 200)
    exact = np.array([[float(value) for value in law.draw([int(row) for row in rows], system)] for _ in range(60)])
    fast = draw_values(law, rows, 600)
    for place in range(3):
        assert stats.ks_2samp(exact[:, place], fast[:, place]).pvalue > 1e-9


@pytest.mark.parametrize("levels", [QUARTILES, DECILES, AROUND])
@pytest.mark.parametrize("rows", [10, 1000, 10**6])
def test_radii_are_never_below_those_for_known_ties(levels: tuple[Fraction, ...], rows: int) -> None:
    """However many of the rows have one value, a radius is at least the one that is stated for that many."""
    law = law_of("[0, 1000] step 1", levels, epsilon="0.3", limit=4)
    for miss, stated in zip(misses(law, RISK), law.rank_error(1 - RISK, rows), strict=True):
        assert miss.rows + miss.part * rows >= stated * (1 - 1e-12)


def test_ends_are_the_nearest_quantiles_that_are_far_enough() -> None:
    """An end is the nearest released value with enough rows between, and the column's where there is none."""
    law = law_of("[0, 100] step 1", DECILES)
    off, values = [Miss(100.0, 0.0)] * 9, [10, 20, 30, 40, 50, 60, 70, 80, 90]
    (first, *_, middle, _, _, _, _) = value_intervals(law, off, 1001, values)
    assert (first, middle) == ((0, 20), (40, 60))
    assert value_intervals(law, off, 600, values)[4] == (30, 70)
    assert value_intervals(law, off, 100, values) == [None] * 9
    assert value_intervals(law, off, 0, values) == [None] * 9


COLUMNS: dict[str, tuple[str, int, list[Any], list[Any]]] = {
    "days": (
        "[2026-01-01, 2026-12-31]",
        1,
        [date(2026, 3, 1), date(2026, 6, 1), date(2026, 9, 1)],
        [(date(2026, 1, 1), date(2026, 6, 1)), (date(2026, 3, 1), date(2026, 9, 1))],
    ),
    "times": (
        "[2026-01-01 00:00:00, 2026-01-02 00:00:00] step 1h",
        1,
        [datetime(2026, 1, 1, hour) for hour in (6, 12, 18)],
        [(datetime(2026, 1, 1), datetime(2026, 1, 1, 12)), (datetime(2026, 1, 1, 6), datetime(2026, 1, 1, 18))],
    ),
    "clocks": (
        "[08:00:00, 18:00:00] step 15min",
        1,
        [time(9, 15), time(12), time(15, 45)],
        [(time(8), time(12)), (time(9, 15), time(15, 45))],
    ),
    "a coarse step": ("[0, 1000] step 50", 1, [100, 500, 900], [(0, 500), (100, 900)]),
    "tenths": ("[0, 1] step 0.1", 1, [0.1, 0.5, 0.9], [(0.0, 0.5), (0.1, 0.9)]),
    "buckets": ("[0, 99] step 1", 10, [17, 50, 83], [(0, 59), (10, 89)]),
    "gaps": ("[0, 9] | [15, 29] step 1", 10, [3, 16, 22], [(0, 19), (0, 29)]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_ends_are_possible_values(name: str) -> None:
    """Ends are written as the values of the column are; where values share a bucket, they are those of the bucket."""
    bounds, width, values, expected = COLUMNS[name]
    law = law_of(bounds, QUARTILES, width=width)
    found = value_intervals(law, misses(law, RISK), 10**6, values)
    assert found[:2] == expected
    column = law.buckets.column
    for low, high in filter(None, found):
        for end in (low, high):
            assert end == write_value(column.bounds, column.literal(end))


def test_without_a_step_ends_are_a_step_further() -> None:
    """Values without a step are rounded before they are ranked, so an end leaves room for that."""
    law = law_of("[0, 10]", QUARTILES)
    law = replace(law, buckets=Buckets.of(law.buckets.column))
    middle: Any = value_intervals(law, misses(law, RISK), 10**6, [2.0, 5.0, 7.5])[1]
    wide = float(law.buckets.width * law.buckets.column.step)
    assert 2.0 - 2 * wide < middle[0] < 2.0
    assert 7.5 < middle[1] < 7.5 + 2 * wide


def test_intervals_hold_their_own_quantile_and_rise_with_levels() -> None:
    """A released value lies in its own interval, and ends never fall from one level to the next."""
    law = law_of("[0, 100] step 1", DECILES)
    found: list[Any] = value_intervals(law, misses(law, RISK), 2000, list(range(5, 50, 5)))
    assert None not in found
    assert all(low <= value <= high for value, (low, high) in zip(range(5, 50, 5), found, strict=True))
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(found))
