"""Keys are published by the optimal selection, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy import stats

from inbounds.errors import InvalidParameter
from inbounds.query.ask.discovering.key_selection import KeySelection

SETTINGS = [
    (Fraction(1, 2), Fraction(1, 10**6), 1),
    (Fraction(1), Fraction(1, 10**3), 3),
    (Fraction(5), Fraction(1, 9), 1),
]


def is_private(chances: list[float], epsilon: float, delta: float) -> bool:
    """Return whether one unit more or less moves neither publishing nor not publishing by more than that."""
    return all(
        a <= math.exp(epsilon) * b + delta and 1 - a <= math.exp(epsilon) * (1 - b) + delta
        for low, high in pairwise(chances)
        for a, b in ((low, high), (high, low))
    )


@pytest.mark.parametrize(("epsilon", "delta", "limit"), SETTINGS)
def test_nobody_is_told_by_a_key(epsilon: Fraction, delta: Fraction, limit: int) -> None:
    """By definition each key keeps its part of epsilon and delta, and would not keep nine tenths of them."""
    selection = KeySelection(epsilon, delta, limit)
    chances = [selection.chance(units) for units in range(selection.certain + 2)]
    e, d = float(epsilon) / limit, float(delta) / limit
    assert chances[0] == 0
    assert chances[-1] == 1
    assert is_private(chances, e, d * (1 + 1e-9))
    assert not is_private(chances, e, d * 0.9)
    assert not is_private(chances, e * 0.9, d)


@pytest.mark.parametrize(("epsilon", "delta", "limit"), SETTINGS)
def test_no_key_could_be_published_more_often(epsilon: Fraction, delta: Fraction, limit: int) -> None:
    """Each probability is the greatest that the one before allows: any more, and one inequality breaks."""
    selection = KeySelection(epsilon, delta, limit)
    e, d = float(epsilon) / limit, float(delta) / limit
    for units in range(1, selection.certain):
        before, here = selection.chance(units - 1), selection.chance(units) * (1 + 1e-6)
        assert here > math.exp(e) * before + d or 1 - before > math.exp(e) * (1 - here) + d


def test_keys_are_published_as_often_as_they_say() -> None:
    """Draws follow the probability, and not one that is a third off either way."""
    selection = KeySelection(Fraction(1, 2), Fraction(1, 1000))
    units = selection.even_chance
    chance, runs = selection.chance(units), 4000
    count = sum(selection.publishes(units) for _ in range(runs))
    assert stats.binomtest(count, runs, chance).pvalue > 1e-9
    assert stats.binomtest(count, runs, chance * 0.67).pvalue < 1e-9
    assert stats.binomtest(count, runs, min(chance * 1.33, 0.99)).pvalue < 1e-9
    assert not selection.publishes(0)
    assert selection.publishes(selection.certain)
    assert not any(KeySelection(Fraction(1), Fraction(1, 10**9)).publishes(1) for _ in range(50))


def test_few_units_suffice_where_epsilon_is_large() -> None:
    """With epsilon 1 and delta 1e-5, a key needs about a dozen units to be published half of the time."""
    assert 9 <= KeySelection(Fraction(1), Fraction(1, 10**5)).even_chance <= 13
    assert KeySelection(Fraction(1), Fraction(1, 10**5)).certain > KeySelection(Fraction(2), Fraction(1, 10**5)).certain


@pytest.mark.parametrize(
    ("epsilon", "delta", "limit"), [(0, 0.1, 1), (1, 0, 1), (1, 1, 1), (1, -0.5, 1), (1, 0.1, 0), (1e-8, 1e-9, 1)]
)
def test_bad_parameters_are_refused(epsilon: float, delta: float, limit: int) -> None:
    """What is out of range is refused, and so is an epsilon by which hardly any key would ever be published."""
    with pytest.raises(InvalidParameter):
        _ = KeySelection(Fraction(epsilon), Fraction(delta), limit).certain
