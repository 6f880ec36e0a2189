"""How epsilon is divided over the groupings that are measured, before anything is looked at.

Without a split the sum over groupings of `sqrt(number of groups) * predicted error` is made small, with something left
for every grouping (docs/decisions/0034-splitting-epsilon.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.joint.table.layout import Grouping, Layout

FACTORS = (2.0, 1.4, 1.2, 1.1, 1.05, 1.02)
"""By how much one share is tried larger or smaller, from coarse to fine."""

MOST_SWEEPS = 20
"""Sweeps over all groupings with one factor; two or three are usual."""

FLOOR = 0.75
"""Each grouping has at least this much of what it would have if groupings did not help each other: a grouping that is
hardly measured inherits the bias of cells that are made non-negative, which no prediction of noise can see."""

PARTS = 1000
"""Shares are whole thousandths of epsilon, as a reader would write them; finer where there are many groupings."""

Cost = Callable[[list[float]], float]


def best_split(epsilon: Fraction, groups: Sequence[int], cost: Cost) -> list[Fraction]:
    """Return a part of epsilon for each grouping of so many groups, for a cost of the shares.

    A search from where noises that do not help each other have their optimum: `sqrt(n)` times an error in proportion
    to `1 / share` asks for shares in proportion to the fourth root of `n`.
    """
    shares = _of_one([size**0.25 for size in groups])
    floors = [FLOOR * share for share in shares]
    if len(shares) == 1:
        return [epsilon]
    # Coordinate descent with ever finer factors.  The cost has no derivative where a floor is, and few shares: this is
    # quick enough and needs nothing smooth.
    least = cost(shares)
    for factor in FACTORS:
        for _ in range(MOST_SWEEPS):
            before = least
            for place in range(len(shares)):
                for change in (factor, 1 / factor):
                    tried = _of_one([share * (change if i == place else 1) for i, share in enumerate(shares)])
                    if any(share < floor for share, floor in zip(tried, floors, strict=True)):
                        continue
                    value = cost(tried)
                    if value < least * (1 - 1e-9):
                        shares, least = tried, value
            if least > before * (1 - 1e-6):
                break
    return [epsilon * part for part in _in_parts(shares)]


def _of_one(shares: list[float]) -> list[float]:
    whole = math.fsum(shares)
    return [share / whole for share in shares]


def _in_parts(shares: list[float]) -> list[Fraction]:
    """Round shares to whole parts that add up exactly, none of them to nothing."""
    parts = max(PARTS, 100 * len(shares))
    wanted = [share * parts for share in shares]
    whole = [max(1, math.floor(share)) for share in wanted]
    order = sorted(range(len(shares)), key=lambda place: whole[place] - wanted[place])
    for turn in range(parts - sum(whole)):
        whole[order[turn % len(order)]] += 1
    for _ in range(sum(whole) - parts):  # tiny shares were rounded up: the largest give way
        whole[whole.index(max(whole))] -= 1
    return [Fraction(number, parts) for number in whole]


def check_split(
    layout: Layout, epsilon: Fraction, measured: Sequence[Grouping], split: Mapping[Grouping, Fraction]
) -> list[Fraction]:
    """Return a split that was given, in the order of what is measured."""
    for grouping, part in split.items():
        named = layout.names(grouping)
        if grouping not in measured:
            raise InvalidParameter(
                f"the split must name groupings that are measured, got {named}, which is not asked for or is public; "
                "leave it out"
            )
        if part <= 0:
            raise InvalidParameter(f"each part of the split must be positive, got {shown(part)} for {named}; give more")
    for grouping in measured:
        if grouping not in split:
            raise InvalidParameter(
                f"the split must name every grouping that is measured, got none for {layout.names(grouping)}; "
                "give it a part, or no split at all"
            )
    together = sum(split.values(), Fraction(0))
    if together != epsilon:
        raise InvalidParameter(
            f"the split must add up to epsilon, {shown(epsilon)}, got {shown(together)}; change a part of it"
        )
    return [split[grouping] for grouping in measured]
