"""The least epsilon with a wanted error: found among decimals of three digits, by halving, and never by the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidParameter
from inbounds.exact.amount import fraction
from inbounds.privacy.claim import GREATEST_EPSILON
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.predicted_error import PredictedError, predict_errors
from inbounds.results.found_epsilon import FoundEpsilon
from inbounds.results.row_counts import read_assumed_rows
from inbounds.results.wanted_error import Wanted

LEAST = Fraction(1, 10**6)
"""Less epsilon is not tried: hardly any answer is nearer than a guess there."""

PER_DECADE = 900
"""How many numbers of three digits there are before the next power of ten."""

NOT_A_BOUND = "An average is not a bound: an answer can be further off."


def search_epsilon(plans: Callable[[Fraction], Sequence[Plan]], error: Any, rows: Any, cap: Fraction) -> FoundEpsilon:
    """Return the least epsilon up to a cap for which what is predicted of every measure is within a wanted error.

    The error of a mechanism falls with epsilon, but for how its search is rounded; what is returned was seen to be
    within, and one step of three digits less was seen not to be.  At most 14 plans are made of each question.
    """
    # Halve the decimals of three digits; the first that is within stands at the end of those that were not.
    wanted, assumed = Wanted.read(error), read_assumed_rows(rows)
    beyond, seen = _index_at_most(min(cap, GREATEST_EPSILON)) + 1, dict[int, tuple[PredictedError, ...]]()
    low, high = 0, beyond
    while low < high:
        middle = (low + high) // 2
        seen[middle] = _predicted(plans, decimal_at(middle), wanted, assumed)
        if all(one.ratio <= 1 for one in seen[middle]):
            high = middle
        else:
            low = middle + 1
    if low == beyond:
        worst = max(seen[beyond - 1], key=lambda one: one.ratio)
        raise InvalidParameter(
            f"no epsilon within the budget, which is at most {write_end(cap)}, has an expected error of {wanted}; "
            f"the best is {worst} at epsilon {write_end(decimal_at(beyond - 1))}; accept a larger error"
        )
    epsilon = decimal_at(low)
    return FoundEpsilon(epsilon, _in_words(epsilon, wanted, seen[low]))


def cap_of(total: int, per_analyst: int | None) -> Fraction:
    """Return the most that one analyst can pay by the contract, of amounts as a ledger counts them."""
    return fraction(total if per_analyst is None else per_analyst)


def decimal_at(index: int) -> Fraction:
    """Return a decimal of three digits: the first is the least that is tried."""
    decade, step = divmod(index, PER_DECADE)
    return LEAST * 10**decade * Fraction(100 + step, 100)


def _index_at_most(cap: Fraction) -> int:
    """Return where the greatest decimal stands that is not above a cap."""
    if cap < LEAST:
        raise InvalidParameter(
            f"the budget is {write_end(cap)} at most, too little to look for an epsilon; give an epsilon instead"
        )
    decade = 0
    while LEAST * 10 ** (decade + 1) <= cap:
        decade += 1
    return decade * PER_DECADE + int(cap / (LEAST * 10**decade) * 100) - 100


def _predicted(
    plans: Callable[[Fraction], Sequence[Plan]], epsilon: Fraction, wanted: Wanted, rows: int | None
) -> tuple[PredictedError, ...]:
    predicted = predict_errors(plans(epsilon), wanted, rows)
    if not predicted:
        raise InvalidParameter(
            "the answer is public and exact, so no error can be wanted of it; give any epsilon, and it is free"
        )
    return predicted


def _in_words(epsilon: Fraction, wanted: Wanted, predicted: Sequence[PredictedError]) -> str:
    listed = "; ".join(dict.fromkeys(map(str, predicted)))
    caution = f". {NOT_A_BOUND}" if any(one.is_mean for one in predicted) else ""
    return f"ε = {write_end(epsilon)} is the least for an error of {wanted}: {listed}{caution}"
