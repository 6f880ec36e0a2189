"""How epsilon is divided over the groupings that are asked for, before anything is looked at.

Without a split the sum over groupings of `sqrt(number of groups) * predicted error` is made small.  A grouping may get
nothing: then it is not measured, and its sums are those of finer ones (docs/decisions/0084-who-gets-epsilon.md).
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

WORTH = 0.01
"""A grouping gets nothing only where the cost falls by this part of it: one that is measured is spared some of the bias
of cells that are made non-negative, which no prediction of noise can see."""

PARTS = 1000
"""Shares are whole thousandths of epsilon, as a reader would write them; finer where there are many groupings."""

ROUNDING = Fraction(1, 10**12)
"""Floats that were computed may miss epsilon by this part of it; the largest of them makes up for it."""

Cost = Callable[[list[float]], float]


def best_split(epsilon: Fraction, groups: Sequence[int], is_finest: Sequence[bool], cost: Cost) -> list[Fraction]:
    """Return a part of epsilon for each grouping of so many groups, 0 for some, for a cost of the shares.

    Those that no other grouping lies within have more than nothing, so that each is measured or a sum of what is.
    """
    if len(groups) == 1:
        return [epsilon]
    # One search from where noises that do not help each other have their optimum: `sqrt(n)` times an error in
    # proportion to `1 / share` asks for shares in proportion to the fourth root of `n`.  Beside it, all on the finest.
    alone = _of_one([size**0.25 for size in groups])
    on_finest = _of_one([share * finest for share, finest in zip(alone, is_finest, strict=True)])
    parts, others = (_in_parts(_descend(start, is_finest, cost)) for start in (alone, on_finest))
    if cost(list(map(float, others))) < (1 - WORTH) * cost(list(map(float, parts))):
        parts = others
    return [epsilon * part for part in parts]


def finest_of(layout: Layout, groupings: Sequence[Grouping]) -> list[bool]:
    """Return for each grouping whether no other one lies within it."""
    return [not any(other != one and layout.is_within(other, one) for other in groupings) for one in groupings]


def _descend(shares: list[float], is_finest: Sequence[bool], cost: Cost) -> list[float]:
    """Change one share after the other, by ever finer factors or to nothing, for as long as the cost falls."""
    # The cost has no derivative where a share becomes nothing, and few shares: this is quick enough and needs nothing
    # smooth.
    least = cost(shares)
    for factor in FACTORS:
        for _ in range(MOST_SWEEPS):
            before = least
            for place in range(len(shares)):
                for change in (factor, 1 / factor) if is_finest[place] else (factor, 1 / factor, 0.0):
                    if shares[place] == 0:
                        break
                    tried = _of_one([share * (change if i == place else 1) for i, share in enumerate(shares)])
                    value = cost(tried)
                    if value < least * (1 - (1e-9 if change else WORTH)):
                        shares, least = tried, value
            if least > before * (1 - 1e-6):
                break
    return shares


def _of_one(shares: list[float]) -> list[float]:
    whole = math.fsum(shares)
    return [share / whole for share in shares]


def _in_parts(shares: list[float]) -> list[Fraction]:
    """Round shares to whole parts that add up exactly, none to nothing but what is nothing."""
    parts = max(PARTS, 100 * len(shares))
    wanted = [share * parts for share in shares]
    whole = [max(1, math.floor(share)) if share else 0 for share in wanted]
    order = sorted((i for i, share in enumerate(shares) if share), key=lambda place: whole[place] - wanted[place])
    for turn in range(parts - sum(whole)):
        whole[order[turn % len(order)]] += 1
    for _ in range(sum(whole) - parts):  # tiny shares were rounded up: the largest give way
        whole[whole.index(max(whole))] -= 1
    return [Fraction(number, parts) for number in whole]


def settle_floats(epsilon: Fraction, split: Mapping[Grouping, Fraction]) -> dict[Grouping, Fraction]:
    """Return parts that were written as floats so that they add up exactly, if rounding is all that they miss."""
    missing = epsilon - sum(split.values())
    if not split or abs(missing) > ROUNDING * epsilon:
        return dict(split)
    largest = max(split, key=lambda grouping: split[grouping])
    return {**split, largest: split[largest] + missing}


def check_split(
    layout: Layout,
    epsilon: Fraction,
    asked: Sequence[Grouping],
    public: Sequence[Grouping],
    split: Mapping[Grouping, Fraction],
) -> list[Fraction]:
    """Return a split that was given, in the order of what is asked for; 0 is for what is not measured."""
    for grouping, part in split.items():
        named = layout.names(grouping)
        if part < 0:
            raise InvalidParameter(
                f"each part of the split must be 0 or more, got {shown(part)} for {named}; 0 leaves it unmeasured"
            )
        if grouping not in asked and not (grouping in public and part == 0):
            raise InvalidParameter(
                f"the split must name groupings that are measured, got {named}, which is not asked for or is public; "
                "leave it out"
            )
    for grouping in asked:
        if grouping not in split:
            raise InvalidParameter(
                f"the split must name every grouping that is asked for, got none for {layout.names(grouping)}; "
                "give it a part, or 0 to leave it unmeasured, or give no split at all"
            )
    together = sum(split.values(), Fraction(0))
    if together != epsilon:
        raise InvalidParameter(
            f"the split must add up to epsilon, {shown(epsilon)}, got {shown(together)}; change a part of it"
        )
    measured = [grouping for grouping in asked if split[grouping]]
    for grouping in asked:
        if not any(layout.is_within(source, grouping) for source in measured):
            raise InvalidParameter(
                f"each grouping must be measured or contain one that is, got 0 for {layout.names(grouping)} and for "
                "all that lie within it; give it a part"
            )
    return [split[grouping] for grouping in asked]
