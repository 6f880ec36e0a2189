"""How many keys have a row: each counts as the weight of the units in it, and never as more than one key.

A unit with rows in more keys than its limit counts as a part in each of them.  So one unit changes the weights by at
most its limit in all, and a number that takes each of them up to 1 by no more.  Keys that have a unit within the limit,
or enough of the others, count in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from inbounds.display.progress import Progress
from inbounds.query.methods.method import Answered, OneNumber
from inbounds.sampling.entropy import Entropy, system


@dataclass(frozen=True)
class KeysPresent(OneNumber):
    """A number of keys, for each group: one draw in bounds from 0 to all of them."""

    unit_weight: int
    """What a unit that counts in full weighs."""
    of_each: tuple[int, ...]
    """How many keys there are in each group."""

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return how many keys have a row in each group, from the totals of all groups and keys."""
        ends = list(accumulate(self.of_each, initial=0))
        keys = [
            [sum(min(total, self.unit_weight) for (total,) in totals[first:last])] for first, last in pairwise(ends)
        ]
        answers = super().answer_all(keys, confidence, report, entropy)
        return [(_at_most(answered, most),) for (answered,), most in zip(answers, self.of_each, strict=True)]


def _at_most(answered: Answered, most: int) -> Answered:
    """Return an answer with nothing above the keys that a group can have: a key that lies within another has fewer."""
    assert isinstance(answered.value, int)
    assert answered.interval is not None
    low, high = (min(end, most) for end in answered.interval)
    return replace(answered, value=min(answered.value, most), interval=(low, high))
