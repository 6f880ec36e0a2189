"""Which groupings lie in one another: as few chains of nested groupings as there can be.

One chain is a tree.  Two chains are a network: the matrix of two families of nested sets is totally unimodular, so
what has a solution has one in whole numbers.  From three chains on nothing of the kind holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inbounds.joint.table.layout import Grouping, Layout


def chains(layout: Layout, groupings: Iterable[Grouping]) -> list[list[Grouping]]:
    """Return the groupings in as few chains as possible, each from fine to coarse; what fits in any is in the first.

    The cells and the total fit in every chain.  The others are chained by a greatest matching of groupings with coarser
    ones, which leaves the fewest that have none coarser (Dilworth 1950, Fulkerson 1956).
    """
    given = set(groupings)
    ends = given & {layout.finest, layout.total}
    inner = sorted(given - ends, key=lambda grouping: (-_fineness(layout, grouping), str(grouping)))
    # Each grouping without a finer one begins a chain, which is followed upwards from match to match.
    coarser = _match(layout, inner)
    nested = [[grouping] for grouping in inner if grouping not in coarser.values()] or ([[]] if ends else [])
    for chain in nested:
        while chain and chain[-1] in coarser:
            chain.append(coarser[chain[-1]])
    nested.sort(key=len, reverse=True)
    if nested:
        nested[0] = _with_ends(layout, nested[0], ends)
    return nested


def _fineness(layout: Layout, grouping: Grouping) -> int:
    return sum(
        len(axis.levels) + 1 - level for axis, level in zip(layout.axes, grouping, strict=True) if level is not None
    )


def _with_ends(layout: Layout, chain: list[Grouping], ends: set[Grouping]) -> list[Grouping]:
    first = [layout.finest] if layout.finest in ends else []
    last = [layout.total] if layout.total in ends and layout.total != layout.finest else []
    return first + chain + last


def _match(layout: Layout, inner: list[Grouping]) -> dict[Grouping, Grouping]:
    """Return for as many groupings as possible a coarser one of their own, by augmenting paths."""
    options = {
        finer: [other for other in inner if other != finer and layout.is_within(finer, other)] for finer in inner
    }
    finer_of: dict[Grouping, Grouping] = {}

    def augment(finer: Grouping, tried: set[Grouping]) -> bool:
        for other in options[finer]:
            if other in tried:
                continue
            tried.add(other)
            if other not in finer_of or augment(finer_of[other], tried):
                finer_of[other] = finer
                return True
        return False

    for finer in inner:
        augment(finer, set())
    return {finer: other for other, finer in finer_of.items()}
