"""The least epsilon with a wanted error: found among decimals of three digits, by halving, and never by the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidParameter
from inbounds.exact.amount import fraction
from inbounds.privacy.claim import GREATEST_EPSILON
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.predicted_error import PredictedError, predict_errors
from inbounds.results.found_epsilon import FoundEpsilon
from inbounds.results.row_counts import read_assumed_rows
from inbounds.results.wanted_error import Wanted

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

LEAST = Fraction(1, 10**6)
"""Less epsilon is not tried: hardly any answer is nearer than a guess there."""

PER_DECADE = 900
"""How many numbers of three digits there are before the next power of ten."""

NOT_A_BOUND = "An average is not a bound: an answer can be further off."


@dataclass(frozen=True)
class Cap:
    """The most that one question can cost, and why."""

    most: Fraction
    what: str
    """What has this end, for a sentence."""

    @classmethod
    def of(cls, dataset: Dataset) -> Cap:
        """Return what one analyst can pay at once by the contract, and by who asks."""
        own = dataset.total if dataset.per_analyst is None else dataset.per_analyst
        budget = cls(fraction(own), "the budget")
        limit = dataset.price_limit
        return budget if limit is None or limit.most >= budget.most else cls(limit.most, "what a query may cost")


def search_epsilon(plans: Callable[[Fraction], Sequence[Plan]], error: Any, rows: Any, cap: Cap) -> FoundEpsilon:
    """Return the least epsilon up to a cap for which what is predicted of every measure is within a wanted error.

    The error of a mechanism falls with epsilon, but for how its search is rounded; what is returned was seen to be
    within, and one step of three digits less was seen not to be.  At most 14 plans are made of each question.
    """
    # Halve the decimals of three digits; the first that is within stands at the end of those that were not.
    wanted, assumed = Wanted.read(error), read_assumed_rows(rows)
    beyond, seen = _index_at_most(cap) + 1, dict[int, tuple[PredictedError, ...]]()
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
            f"no epsilon within {cap.what}, which is at most {write_end(cap.most)}, has an expected error of {wanted}; "
            f"the best is {worst} at epsilon {write_end(decimal_at(beyond - 1))}; accept a larger error"
        )
    epsilon = decimal_at(low)
    return FoundEpsilon(epsilon, _in_words(epsilon, wanted, seen[low]))


def decimal_at(index: int) -> Fraction:
    """Return a decimal of three digits: the first is the least that is tried."""
    decade, step = divmod(index, PER_DECADE)
    return LEAST * 10**decade * Fraction(100 + step, 100)


def _index_at_most(cap: Cap) -> int:
    """Return where the greatest decimal stands that is not above a cap."""
    most = min(cap.most, GREATEST_EPSILON)
    if most < LEAST:
        raise InvalidParameter(
            f"{cap.what} is {write_end(most)} at most, too little to look for an epsilon; give an epsilon instead"
        )
    decade = 0
    while LEAST * 10 ** (decade + 1) <= most:
        decade += 1
    return decade * PER_DECADE + int(most / (LEAST * 10**decade) * 100) - 100


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
