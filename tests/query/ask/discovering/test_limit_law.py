"""A limit for the least error is drawn by its law, and one unit moves that by epsilon at most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest
from scipy import stats

from inbounds.exact.balls import lock, workprec
from inbounds.query.ask.discovering.limit_law import LimitLaw
from inbounds.query.methods.quantiles.law import RankLaw

BITS = 256
EPSILON = Fraction(1, 2)
LAW = LimitLaw(EPSILON, 4 * EPSILON, 8)
"""Limits of 1, 2, 4 and 8, of which a quarter of a unit may have more rows at no penalty."""

Rows = tuple[int, ...]
"""How many rows each unit has."""


def histogram(law: LimitLaw, rows: Rows) -> list[int]:
    """Return how many units have one row, two, and so on up to the cap."""
    counts = Counter(min(count, law.cap) for count in rows if count)
    return [counts[count] for count in range(1, law.cap + 1)]


def logarithms(law: LimitLaw, rows: Rows) -> list[float]:
    """Return the logarithm of the probability of each limit, from the law that is drawn from."""
    drawn = law.of(histogram(law, rows))
    with lock(), workprec(BITS):
        ends = [drawn.below(end - 1, BITS) for end in drawn.before]
        return [float((high - low).log().mid()) for low, high in pairwise(ends)]


def stated(law: LimitLaw, rows: Rows) -> list[float]:
    """Return the same from the formula, in doubles."""
    above = [sum(count > limit for count in rows) for limit in law.limits]
    weights = [
        limit**-2 * math.exp(-float(law.epsilon) * max(0.0, count - float(law.tolerated)))
        for limit, count in zip(law.limits, above, strict=True)
    ]
    return [math.log(weight / sum(weights)) for weight in weights]


def neighbours() -> Iterator[tuple[Rows, Rows]]:
    """Yield small tables, with one unit less and with one unit's rows instead of another's."""
    sizes = (0, 1, 2, 3, 4, 5, 8, 9, 20)
    for others in (rows for count in range(4) for rows in combinations_with_replacement(sizes[1:], count)):
        yield from (((*others, a), (*others, b)) for a in sizes for b in sizes if a < b)


def greatest_loss(law: LimitLaw) -> float:
    """Return by how much the logarithm of any probability differs between neighbours, at most."""
    laws: dict[Rows, list[float]] = {}
    greatest = 0.0
    for pair in neighbours():
        one, other = (laws.setdefault(tuple(sorted(rows)), logarithms(law, rows)) for rows in pair)
        greatest = max(greatest, *(abs(a - b) for a, b in zip(one, other, strict=True)))
    return greatest


def test_one_unit_moves_no_probability_by_more_than_epsilon() -> None:
    """Over all neighbours of small tables the loss is at most epsilon, and more than nine tenths of it."""
    assert 0.9 * float(EPSILON) < greatest_loss(LAW) <= float(EPSILON) * (1 + 1e-12)


def test_two_penalties_that_move_apart_would_cost_twice() -> None:
    """Negative control: with a penalty for units that have fewer rows, too, the same search finds more than epsilon."""

    class Apart(LimitLaw):
        def of(self, units: Sequence[int]) -> RankLaw:
            law = super().of(units)
            fewer = [sum(units[: limit - 1]) for limit in self.limits]
            grown = zip(law.misses, fewer, strict=True)
            return type(law)(
                law.before, tuple(miss + self.tolerated.denominator * low for miss, low in grown), law.rate
            )

    assert greatest_loss(Apart(EPSILON, 4 * EPSILON, 8)) > 1.1 * float(EPSILON)


@pytest.mark.parametrize("rows", [(), (1,), (2, 2, 3), (1, 4, 5, 9, 9), (3,) * 40 + (100,) * 3])
def test_the_law_is_the_stated_one(rows: Rows) -> None:
    """What is drawn from has the probabilities of the formula; with another epsilon it would not."""
    for law in (LAW, LimitLaw(Fraction(1, 5), Fraction(3, 7), 1024)):
        assert logarithms(law, rows) == pytest.approx(stated(law, rows), abs=1e-9)
    if len(rows) > 2:
        other = LimitLaw(EPSILON * Fraction(11, 10), 4 * EPSILON, 8)
        assert logarithms(LAW, rows) != pytest.approx(stated(other, rows), abs=1e-3)


def test_draws_follow_the_law() -> None:
    """The limits of many draws fit the law, and not one at nine tenths of epsilon."""
    rows, runs = (1, 3, 3, 3, 5, 5, 9, 9), 20_000
    units = histogram(LAW, rows)
    counts = Counter(LAW.draw(units) for _ in range(runs))
    seen = [counts[limit] for limit in LAW.limits]

    def p_value(law: LimitLaw) -> float:
        expected = [runs * math.exp(of) for of in stated(law, rows)]
        return float(stats.chisquare(seen, expected, sum_check=False).pvalue)

    assert sum(seen) == runs
    assert p_value(LAW) > 1e-9
    assert p_value(LimitLaw(EPSILON * Fraction(3, 4), 4 * EPSILON, 8)) < 1e-9


def test_few_units_have_more_rows_than_the_limit() -> None:
    """A limit with more units above it than it says is drawn with less probability than 5 %, whatever the table is."""
    law = LimitLaw(Fraction(1, 5), Fraction(4, 5), 64)
    worst = 0.0
    for count in range(0, 400, 4):
        for rows in (1, 2, 3, 5, 9, 17, 33, 64):
            units = (rows,) * count + (1,) * 50
            above = [sum(one > limit for one in units) for limit in law.limits]
            odds = [math.exp(of) for of in stated(law, units)]
            wrong = (n > law.units_above(limit) for limit, n in zip(law.limits, above, strict=True))
            worst = max(worst, sum(p for p, is_wrong in zip(odds, wrong, strict=True) if is_wrong))
    assert 1e-4 < worst <= 0.05
