"""The possible table that is nearest to what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import ProjectionFailed
from inbounds.joint.solve.general_projection import project_any
from inbounds.joint.solve.tree_projection import project_tree
from inbounds.joint.table.chains import chains
from inbounds.joint.table.tree import Tree
from inbounds.limit.program.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping, Layout

    Floats = NDArray[np.float64]


def project(
    layout: Layout,
    measured: Mapping[Grouping, Floats],
    weights: Mapping[Grouping, float],
    facts: Facts,
    *,
    nonnegative: bool = True,
    deadline: Deadline = NEVER,
) -> Floats:
    """Return the real cells with the least weighted squared distance to all measurements that agree with the facts.

    Facts hold up to about 10^-6; `round_cells` makes that exact.  Raise `ProjectionFailed` if the time is over before.
    """
    nested = chains(layout, [*measured, *facts.known])
    if len(nested) <= 1:
        return project_tree(Tree.of(layout, nested[0] if nested else []), measured, weights, facts, nonnegative)
    cells = project_any(layout, measured, weights, facts, nonnegative, deadline)
    if cells is None:
        raise ProjectionFailed(
            "the nearest possible table was not found in the time allowed; the measurements remain valid: allow more "
            "time, or make a table from fewer of them"
        )
    return cells


def quick(
    layout: Layout,
    measured: Mapping[Grouping, Floats],
    weights: Mapping[Grouping, float],
    facts: Facts,
    *,
    nonnegative: bool = True,
) -> Floats:
    """Return cells that are near to the measurements of one chain, and agree with the facts in it; this is always fast.

    The chain is that of the most facts, with the measured groupings that fit in.  Facts in other chains are left to
    rounding.
    """
    chain = extend_chain(layout, facts.chains()[0], measured)
    return project_tree(Tree.of(layout, chain), measured, weights, facts, nonnegative)


def extend_chain(
    layout: Layout, chain: list[Grouping], others: Mapping[Grouping, object] | list[Grouping]
) -> list[Grouping]:
    """Return a chain with those of other groupings that fit in, from fine to coarse."""
    members = list(chain)
    for grouping in others:
        if grouping not in members and all(
            layout.is_within(grouping, other) or layout.is_within(other, grouping) for other in members
        ):
            members.append(grouping)
    inner = [grouping for grouping in members if grouping not in (layout.finest, layout.total)]
    nested = chains(layout, inner)
    return nested[0] if nested else []
