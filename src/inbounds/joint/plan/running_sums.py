"""How exact running sums along an axis will be: of the cells up to each key, where blocks of keys are measured too.

Blocks lie in blocks, so least squares go up a tree.  For each key three things are carried along, of the block that
it is in: the variance of the block's sum by what is measured inside, that of the sum up to the key, and the covariance
of the two.  Sums of neighbours are independent and add up; a block's own measurement is then taken in as one more
observation of its sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.plan.plan import NORMAL, variance
from inbounds.joint.table.axis import Axis, Level, Name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.plan import JointPlan
    from inbounds.joint.table.layout import Grouping

    Floats = NDArray[np.float64]


def running_variances(
    size: int, widths: Sequence[int], noise: Sequence[float], *, parts: int = 1, of_total: float = inf
) -> Floats:
    """Return the variance of the least-squares sum up to each of so many keys.

    Measured are blocks of all `widths`, from single keys up, each width a multiple of the one before, with this
    variance of the noise on each block.  There may be several such `parts`, and noise on the total of all of them.
    """
    keys = np.arange(size)
    block = np.full(size, noise[0])
    up_to, shared = block.copy(), block.copy()
    for width, outer, own in zip(widths, [*widths[1:], size], [*noise[1:], inf], strict=True):
        # What lies before each block in the block around it; sums of those; then what was measured of that one.
        around = np.arange(len(block)) * width // outer
        before = np.cumsum(block) - block
        before -= before[around * outer // width]
        here = before[keys // width]
        up_to, shared = up_to + here, shared + here
        block = np.bincount(around, block)
        if isfinite(own):
            both = (block + own)[keys // outer]
            up_to, shared = up_to - shared**2 / both, shared * own / both
            block = block * own / (block + own)
    return up_to - shared**2 / (parts * block[0] + of_total) if isfinite(of_total) else up_to


def block_widths(size: int, branching: int) -> list[int]:
    """Return how many keys blocks have of which so many make one of the next, as long as there are two of them."""
    widths = [1]
    while widths[-1] * branching < size:
        widths.append(widths[-1] * branching)
    return widths


def blocked_axis(axis: Axis, widths: Sequence[int], taken: Iterable[Name]) -> Axis:
    """Return an axis with blocks of its keys as levels, none of which is called as something else is."""
    levels, names = [], set(taken)
    for width in widths[1:]:
        name = f"{axis.name} in blocks of {width}"
        while name in names:  # a column may be called anything
            name += "_"
        levels.append(Level(name, tuple(key // width for key in range(axis.size))))
    return Axis(axis.name, axis.size, tuple(levels))


def blocks_along(plan: JointPlan, place: int) -> tuple[list[Grouping], list[int]]:
    """Return the measured groupings by blocks of an axis, from single keys up, and how wide their blocks are."""
    axis, cells = plan.layout.axes[place], plan.layout.finest
    levels = [(*cells[:place], level, *cells[place + 1 :]) for level in range(len(axis.levels) + 1)]
    measured = [level for level in levels if level in plan.split]
    return measured, [axis.keys_at(grouping[place] or 0).count(0) for grouping in measured]


def running_errors(plan: JointPlan, place: int) -> Floats:
    """Return how far off the sum up to each key of an axis is predicted to be, in steps; nothing is public."""
    groupings, widths = blocks_along(plan, place)
    size, total = plan.layout.shape[place], plan.layout.total
    variances = running_variances(
        size,
        widths,
        [variance(plan.rate(grouping)) for grouping in groupings],
        parts=plan.layout.cells // size,
        of_total=variance(plan.rate(total)) if total in plan.split else inf,
    )
    return np.asarray(np.sqrt(variances) * NORMAL * float(plan.grain))
