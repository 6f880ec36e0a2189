"""Rows that stand for points farther apart than the sensitivity, interpolated: docs/mathematics.md, "Coarse points".

Everything is in fractions: rows next to each other differ by a factor of at most `ratio` in every output, and answers
the share `a` of the way from point to point then by at most `1 + a * (ratio - 1)`.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

Table = list[list[Fraction]]

PARTS = 8
"""Answers are looked at so many times between two points."""

RATIOS = (Fraction(11, 10), Fraction(3), Fraction(20))


def random_table(ratio: Fraction, rng: random.Random) -> Table:
    """Return a few rows of probabilities, each of which uses up the ratio to the one before in some output."""
    outputs = rng.randint(2, 5)
    weights = [rng.randint(1, 9) for _ in range(outputs)]
    rows = [[Fraction(weight, sum(weights)) for weight in weights]]
    for _ in range(rng.randint(1, 4)):
        last, raised = rows[-1], rng.sample(range(outputs), rng.randint(1, outputs - 1))
        mass = sum(last[output] for output in raised)
        up = min(ratio, (1 - (1 - mass) / ratio) / mass)
        down = (1 - up * mass) / (1 - mass)
        rows.append([up * p if output in raised else down * p for output, p in enumerate(last)])
    return rows


def interpolated(table: Table) -> Table:
    """Return the laws of answers from the first point to the last, `PARTS` to an interval."""
    laws = [
        [near + Fraction(part, PARTS) * (far - near) for near, far in zip(row, after, strict=True)]
        for row, after in pairwise(table)
        for part in range(PARTS)
    ]
    return [*laws, table[-1]]


def greatest_ratio(laws: Table, apart: int) -> Fraction:
    """Return the greatest ratio of probabilities of an output between answers up to so many parts apart."""
    return max(
        max(p / q, q / p)
        for i, law in enumerate(laws)
        for other in laws[i + 1 : i + 1 + apart]
        for p, q in zip(law, other, strict=True)
    )


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_a_share_of_the_way_costs_that_share_of_the_ratio(ratio: Fraction) -> None:
    """Answers a share of an interval apart, a point between them or not, lose what the lemma says at most, exactly."""
    rng = random.Random(20)
    for _ in range(15):
        table = random_table(ratio, rng)
        assert all(sum(row) == 1 for row in table)
        assert greatest_ratio(table, 1) <= ratio
        laws = interpolated(table)
        for apart in (1, 3, PARTS - 1, PARTS):
            assert greatest_ratio(laws, apart) <= 1 + Fraction(apart, PARTS) * (ratio - 1)


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_no_smaller_ratio_would_do(ratio: Fraction) -> None:
    """The bound is met, so 0.99 of what it adds is exceeded, and so is the power of the ratio that one would guess."""
    table = [[1 / (1 + ratio), ratio / (1 + ratio)], [ratio / (1 + ratio), 1 / (1 + ratio)]]
    assert greatest_ratio(table, 1) == ratio
    for apart in (1, 3, PARTS - 1):
        share = Fraction(apart, PARTS)
        found = greatest_ratio(interpolated(table), apart)
        assert found == 1 + share * (ratio - 1)
        assert found > 1 + Fraction(99, 100) * share * (ratio - 1)
        assert found > float(ratio) ** float(share)
