"""How many people's data an answer takes to be off by 1 % only: the question that comes before all others."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from inbounds.bounds import Bounds
from inbounds.choosing.recommendation import recommend
from inbounds.display.progress import silent

PART = Fraction(1, 100)
"""Of the range: how far off the answer may be on average."""

ROUNDS = 6
DIGITS = 2


def people_needed(bounds: Bounds, epsilon: Decimal) -> int | None:
    """Return for how many people a mean in these bounds is off by 1 % of the range on average, None without two ends.

    One of n people moves a mean by the n-th part of the range.  The number is rounded up to two digits, and the error
    was evaluated there; that it falls with more people is assumed.
    """
    if bounds.step is not None or bounds.least is None or bounds.greatest is None:
        return None
    spread = bounds.greatest - bounds.least
    if spread == 0:
        return None
    # The error is about the range over n times epsilon: that gives the first guess, and the ratio to the next one.
    people = Fraction(1) / (PART * Fraction(epsilon))
    for _ in range(ROUNDS):
        count = _round_up(people)
        error = recommend(bounds, spread / count, epsilon, even_timing=True, optimum=False, progress=silent).error
        over = Fraction(error) / (PART * spread)
        if over <= 1:
            return count
        people = count * over
    return None


def _round_up(value: Fraction) -> int:
    whole = max(1, -(-value.numerator // value.denominator))
    unit = 10 ** max(0, len(str(whole)) - DIGITS)
    return -(-whole // unit) * unit
