"""The law of a private quantile: its probabilities, what neighbours learn from them, and its draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.exact.balls import lock, workprec
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.quantiles import quantiles
from inbounds.query.methods.quantiles.law import MOST_BUCKETS, Buckets, QuantileLaw, rank_misses
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.sampling.entropy import system
from tests.helpers.chi_square import FLOOR, p_value

DRAWS = 20_000
ROUNDING = 1e-12


def numbers(text: str) -> Numbers:
    """Return a column of numbers with these bounds."""
    return Numbers("x", Bounds.parse(text))


def possible(column: Numbers) -> list[Fraction]:
    """Return the possible values of a column, in order."""
    return [column.lattice.value(index) for index in column.lattice.indices()]


def probabilities(law: QuantileLaw) -> list[float]:
    """Return the probabilities of all possible values, as differences of what the law draws by."""
    count = law.buckets.before[-1]
    with lock(), workprec(200):
        below = [law.below(index, 200) for index in range(-1, count)]
        return [float((b - a).mid()) for a, b in pairwise(below)]


def by_definition(column: Numbers, width: int, weights: list[int], part: Fraction, rate: Fraction) -> list[float]:
    """Return the probabilities of all possible values, from the definition of the law."""
    whole = sum(weights)
    found = []
    for value in possible(column):
        bucket = int((value - column.low) / column.step) // width
        lower, here = sum(weights[:bucket]), weights[bucket]
        missed = max(Fraction(0), lower - part * whole, part * whole - lower - here)
        found.append(float(-rate * part.denominator * missed))
    most = max(found)
    masses = [math.exp(log - most) for log in found]
    return [mass / sum(masses) for mass in masses]


@pytest.fixture
def law_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[QuantileByRank, list[int]], QuantileLaw]:
    """Return what finds the law that a ranking draws from."""
    made: list[QuantileLaw] = []

    class Noted(QuantileLaw):
        def __init__(self, buckets: Buckets, missed: tuple[int, ...], rate: Fraction) -> None:
            super().__init__(buckets, missed, rate)
            made.append(self)

    monkeypatch.setattr(quantiles, "QuantileLaw", Noted)

    def found(ranking: QuantileByRank, totals: list[int]) -> QuantileLaw:
        ranking.answer(totals)
        return made.pop()

    return found


@pytest.mark.slow
@given(
    weights=st.lists(st.integers(0, 9), min_size=10, max_size=10),
    part=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    rate=st.fractions(0, 3, max_denominator=100),
)
def test_probabilities_are_those_of_the_definition(weights: list[int], part: Fraction, rate: Fraction) -> None:
    """The law gives each possible value its probability, gaps or not, and all of them together 1."""
    for text in ("[0, 9] step 1", "[0, 2] | [5, 5] | [8, 9] step 1"):
        column = numbers(text)
        law = QuantileLaw(Buckets.of(column), rank_misses(weights, part), rate)
        assert probabilities(law) == pytest.approx(by_definition(column, 1, weights, part, rate), rel=1e-9, abs=1e-50)
        assert sum(probabilities(law)) == pytest.approx(1, abs=ROUNDING)


@given(width=st.integers(2, 7), weights=st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_values_of_a_bucket_are_alike(width: int, weights: list[int]) -> None:
    """Where buckets are wide, every possible value has the probability that the definition gives its bucket."""
    column = numbers("[0, 3] | [9, 19] step 1")
    buckets = Buckets(column, width)
    rows = (weights * 2)[: buckets.count]
    law = QuantileLaw(buckets, rank_misses(rows, Fraction(1, 4)), Fraction(1, 7))
    defined = by_definition(column, width, rows, Fraction(1, 4), Fraction(1, 7))
    assert probabilities(law) == pytest.approx(defined, rel=1e-9)
    assert [buckets.value(number) for number in range(buckets.before[-1])] == possible(column)


def neighbours(values: int, limit: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield small histograms and what one unit adds to each: up to so many rows, anywhere."""
    for rows in product(range(3), repeat=values):
        for added in product(range(limit + 1), repeat=values):
            if 0 < sum(added) <= limit:
                yield list(rows), list(added)


def worst(law_of: Callable[[QuantileByRank, list[int]], QuantileLaw], ranking: QuantileByRank, epsilon: float) -> float:
    """Return the greatest loss between neighbours, as a part of what their difference in weight allows."""
    cache: dict[tuple[int, ...], list[float]] = {}

    def logs(rows: list[int]) -> list[float]:
        key = tuple(rows)
        if key not in cache:
            cache[key] = [
                math.log(one) for one in probabilities(law_of(ranking, [n * ranking.row_weight for n in rows]))
            ]
        return cache[key]

    found = 0.0
    for rows, added in neighbours(ranking.column.points, ranking.limit):
        pairs = zip(logs(rows), logs([a + b for a, b in zip(rows, added, strict=True)]), strict=True)
        found = max(found, max(abs(a - b) for a, b in pairs) / (epsilon * sum(added) / ranking.limit))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("limit", [1, 2])
def test_neighbours_lose_in_proportion_to_weight(
    law_of: Callable[[QuantileByRank, list[int]], QuantileLaw], limit: int, part: Fraction
) -> None:
    """For all small tables, rows of weight w lose at most epsilon w / k; at twice the rate they lose more."""
    column = numbers("[0, 3] step 1")
    ranking = QuantileByRank(column, part, Fraction(3), limit, 2**10, "distance")
    assert worst(law_of, ranking, 3.0) <= 1 + ROUNDING
    doubled = QuantileByRank(column, part, Fraction(6), limit, 2**10, "distance")
    assert worst(law_of, doubled, 3.0) > 1.01


CASES = {
    "few values": ("[0, 5] step 1", [3, 0, 2, 4, 1, 1], Fraction(1, 2), Fraction(1, 3)),
    "gaps": ("[0, 1] | [4, 4] | [6, 8] step 1", [1, 2, 9, 9, 2, 3, 1, 0, 1], Fraction(1, 4), Fraction(1, 20)),
    "no rows": ("[0, 9] step 1", [0] * 10, Fraction(1, 2), Fraction(1, 2)),
    "very slow": ("[0, 9] step 1", list(range(10)), Fraction(1, 2), Fraction(1, 10**15)),
    "very fast": ("[0, 9] step 1", [0, 1, 0, 0, 1, 0, 0, 0, 0, 0], Fraction(1, 2), Fraction(10**9)),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_draws_follow_the_law(case: str) -> None:
    """Draws have the probabilities of the definition, and only possible values are drawn."""
    text, weights, part, rate = CASES[case]
    column = numbers(text)
    law = QuantileLaw(Buckets.of(column), rank_misses(weights, part), rate)
    drawn = Counter(law.draw(system) for _ in range(DRAWS))
    values = possible(column)
    assert set(drawn) <= set(values)
    counts, expected = [drawn[value] for value in values], by_definition(column, 1, weights, part, rate)
    assert all(count == 0 for count, one in zip(counts, expected, strict=True) if one < 1e-15)
    assert p_value(counts, expected) > FLOOR


@pytest.mark.slow
def test_a_law_a_little_off_is_seen() -> None:
    """The check can fail: draws at a rate a third higher do not fit."""
    text, weights, part, rate = CASES["few values"]
    column = numbers(text)
    law = QuantileLaw(Buckets.of(column), rank_misses(weights, part), rate * Fraction(4, 3))
    drawn = Counter(law.draw(system) for _ in range(DRAWS))
    counts = [drawn[value] for value in possible(column)]
    assert p_value(counts, by_definition(column, 1, weights, part, rate)) < FLOOR


@pytest.mark.slow
@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 1000), Fraction(10**6)])
def test_wide_buckets_are_drawn_from_evenly(rate: Fraction) -> None:
    """Of more values than there are buckets, only possible ones are drawn, by the law of their buckets."""
    column = numbers("[0, 1000000] | [3000000, 4000000] step 1")
    buckets = Buckets.of(column)
    assert buckets.count <= MOST_BUCKETS
    weights = [5 if 100 <= bucket < 200 else 0 for bucket in range(buckets.count)]
    law = QuantileLaw(buckets, rank_misses(weights, Fraction(1, 2)), rate)
    drawn = [law.draw(system) for _ in range(5000)]
    assert all(value.denominator == 1 and value in column.bounds for value in drawn)
    sizes = [b - a for a, b in pairwise(buckets.before)]
    logs = [float(-law.rate * missed) for missed in law.misses]
    masses = [size * math.exp(log) for size, log in zip(sizes, logs, strict=True)]
    seen = Counter(int(value) // buckets.width for value in drawn)
    counts = [seen[bucket] for bucket in range(buckets.count)]
    assert p_value(counts, [mass / sum(masses) for mass in masses]) > FLOOR


def test_rows_where_nothing_is_possible_do_not_stop_a_draw() -> None:
    """Where all rows lie in a gap, even at an extreme rate, a draw is one of the ends of the gap."""
    column = numbers("[0, 3] | [7, 9] step 1")
    law = QuantileLaw(Buckets.of(column), rank_misses([0, 0, 0, 0, 0, 8, 0, 0, 0, 0], Fraction(1, 2)), Fraction(10**7))
    assert {law.draw(system) for _ in range(200)} <= set(possible(column))
