"""What was measured of a table: every grouping with exact noise, in grains.

This is all that is taken from the data.  Whatever is made of it afterwards costs nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.public_groups import known_groups
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**60
"""No sum is measured beyond this: each cell is clamped to it, and then each sum of them, which brings no two tables
farther apart."""

MOST_STEPS = 2**50
"""What was measured of a grouping is brought to so many steps in all, if it is more, which is free afterwards: up to
there doubles hold every whole number, and tables that add up can be found."""

HALF = 30
"""Sums are added up in two halves, each of which is far below 2**63 however many cells there are."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Noisy sums of every measured grouping; the groups that are public have the value that is known."""

    plan: JointPlan
    grains: Mapping[Grouping, NDArray[np.int64]]
    """Whole numbers of grains, in the shape of the grouping."""

    def __post_init__(self) -> None:
        for values in self.grains.values():
            values.setflags(write=False)

    def in_steps(self, grouping: Grouping) -> NDArray[Any]:
        """Return what was measured in steps: whole numbers if a grain is a step, else doubles."""
        if self.plan.grain == 1:
            return self.grains[grouping]
        return self.grains[grouping].astype(np.float64) * float(self.plan.grain)

    def as_floats(self) -> dict[Grouping, NDArray[np.float64]]:
        """Return everything in steps, as doubles: what is projected."""
        return {grouping: self.in_steps(grouping).astype(np.float64) for grouping in self.grains}


def checked_cells(plan: JointPlan, cells: object) -> NDArray[np.int64]:
    """Return cells as 64-bit integers; only of which kind and shape they are is looked at, for the rest is secret."""
    try:
        given = np.asarray(cells)
    except ValueError:
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "iu":
        raise InvalidParameter(
            f"counts must be an array of whole numbers, got one of the kind {given.dtype}; convert it to integers"
        )
    shape = plan.layout.shape
    if given.shape != shape:
        raise InvalidParameter(f"counts must have the shape {shape} of their axes, got {given.shape}; give the axes")
    # Clamped before anything is added: a count as large as that must not be told by an error, or by a sum that wraps.
    if given.dtype.kind == "u":
        return np.minimum(given, np.uint64(MOST)).astype(np.int64)
    return np.clip(given.astype(np.int64), -MOST, MOST)


def measure(plan: JointPlan, cells: object, entropy: Entropy = system) -> Measurements:
    """Measure every grouping of a plan once; `cells` are the true ones, in grains.  Costs the plan's epsilon.

    The noise of every group is drawn by itself, and exactly by the law that was proved.
    """
    truth = checked_cells(plan, cells)
    return Measurements(
        plan, {grouping: _measure_grouping(plan, truth, grouping, entropy) for grouping in plan.measured}
    )


def _measure_grouping(
    plan: JointPlan, truth: NDArray[np.int64], grouping: Grouping, entropy: Entropy
) -> NDArray[np.int64]:
    sums = clamped_sums(plan.layout, truth, grouping)
    drawn = plan.mechanism(grouping)._release_array(sums, entropy)
    values, known = known_groups(plan.facts, grouping)
    grains: NDArray[np.int64] = np.where(known, values * plan.grain.denominator, drawn).astype(np.int64)
    # Noise can be vast where epsilon is tiny.  What is projected later must stay within 64 bits, whatever was drawn.
    most = min(2 * MOST, MOST_STEPS * plan.grain.denominator)
    if np.abs(grains.astype(np.float64)).sum() > most:
        grains = np.clip(grains, -(most // grains.size), most // grains.size)
    return grains.reshape(plan.layout.sizes(grouping))


def clamped_sums(layout: Layout, cells: NDArray[np.int64], grouping: Grouping) -> NDArray[np.int64]:
    """Return the sum of each group, flat and clamped; nothing overflows, however many cells are as far as they can."""
    # Halves of words are added separately, so that sums of billions of cells do not wrap; then both are put together,
    # clamped.
    low = np.asarray(layout.sum(cells & (2**HALF - 1), grouping), dtype=np.int64).reshape(-1)
    high = np.asarray(layout.sum(cells >> HALF, grouping), dtype=np.int64).reshape(-1) + (low >> HALF)
    most = MOST >> HALF
    is_within = (-most <= high) & (high < most)
    return (np.clip(high, -most, most) << HALF) + np.where(is_within, low & (2**HALF - 1), 0)
