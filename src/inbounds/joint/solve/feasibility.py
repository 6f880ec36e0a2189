"""Whether there is a table of whole numbers that has given values in several chains of groupings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.joint.solve.network import flow, meet
from inbounds.joint.solve.solvers import MOST_FLOW, UNLIMITED, Bounds, whole_cells
from inbounds.joint.table.limits import GroupLimits
from inbounds.joint.table.tree import Tree

if TYPE_CHECKING:
    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping

SECONDS = 30.0
"""How long a solver may think about facts before anything is measured."""

Chain = list["Grouping"]


def is_possible(facts: Facts, chains: Sequence[Chain], limits: Sequence[GroupLimits], nonnegative: bool) -> bool:
    """Return whether facts that each chain allows are possible together."""
    # From the cheapest test to the dearest: totals, then chains that cannot disagree otherwise, then a flow for two
    # chains, and only then a program in whole numbers, which may take long.
    if not _totals_agree(limits, nonnegative):
        return False
    if _are_independent(facts, chains):
        return True
    small = sum(int(limit.least[-1][0]) for limit in limits) + (facts.most or 0) < MOST_FLOW // 2
    if len(chains) == 2 and nonnegative and small:
        return flow(facts.layout, chains[0], chains[1], _bounds(facts, chains)) is not None
    return _is_solvable(facts, nonnegative)


def _totals_agree(limits: Sequence[GroupLimits], nonnegative: bool) -> bool:
    fixed = {int(limit.least[-1][0]) for limit in limits if limit.is_fixed[-1][0]}
    least = max(int(limit.least[-1][0]) for limit in limits)
    return len(fixed) <= 1 and not (fixed and nonnegative and least > min(fixed))


def _are_independent(facts: Facts, chains: Sequence[Chain]) -> bool:
    """Return whether no axis is in two chains and no cell is known: then any sums with one total belong to a table.

    Fill cells from the first to the last, each with all that its groups still lack (the rule of the north-west corner):
    every cell uses up a group of some chain, and what chains lack stays equal in sum.
    """
    axes = [{place for place, level in enumerate(chain[0]) if level is not None} for chain in chains]
    return facts.layout.finest not in facts.known and sum(map(len, axes)) == len(set().union(*axes))


def _bounds(facts: Facts, chains: Sequence[Chain]) -> dict[Grouping, Bounds]:
    """Return the bounds of each group in two chains of cells that are not negative."""
    layout = facts.layout
    # Cells below a group of the meet may be known: then the group has a least value, or is fixed.
    middle = meet(chains[0][0], chains[1][0])
    below = GroupLimits.of(Tree.of(layout, [middle]), facts, nonnegative=True)
    place = min(1, len(below.least) - 1) if middle != layout.finest else 0
    known = {grouping: facts.flat(grouping) for chain in chains for grouping in chain}
    pairs = {**known, middle: known.get(middle, (below.least[place], below.is_fixed[place]))}
    pairs[layout.total] = facts.flat(layout.total)
    most = UNLIMITED if facts.most is None else facts.most
    bounds: dict[Grouping, Bounds] = {
        grouping: (values, np.where(is_known, values, UNLIMITED)) for grouping, (values, is_known) in pairs.items()
    }
    total = bounds[layout.total]
    bounds[layout.total] = total[0], np.minimum(total[1], most)
    return bounds


def _is_solvable(facts: Facts, nonnegative: bool) -> bool:
    layout = facts.layout
    least = 0 if nonnegative else -UNLIMITED
    bounds: dict[Grouping, Bounds] = {}
    for grouping in {*facts.known, layout.finest, layout.total}:
        values, is_known = facts.flat(grouping)
        most = facts.most if grouping == layout.total and facts.most is not None else UNLIMITED
        bounds[grouping] = np.where(is_known, values, least), np.where(is_known, values, most)
    solution = whole_cells(layout, bounds, np.zeros(layout.cells), SECONDS)
    if not solution.is_decided:
        raise InvalidParameter(
            "known values of many groupings that overlap must be shown to be possible, got some for which this took "
            "too long; leave out some of them"
        )
    return solution.cells is not None
