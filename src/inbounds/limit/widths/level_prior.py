"""Which answers a prior counts more if the best mechanism for its mean is to be the best for the worst error."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from inbounds.limit.widths.half_widths import half_widths, levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.limit.widths.blocks import Blocks

    Floats = NDArray[np.float64]

ROUNDS = 15
"""So often answers with a greater error are given more weight."""

STEP = 0.6
"""The weight is multiplied by this power of the error, over the mean one."""


def level_prior(blocks: Blocks, distance: float, epsilon: float) -> Blocks:
    """Return the blocks with weights under which the error is about the same everywhere.

    No worst error is below a mean one, whatever the prior; what is proved of the mean under these weights is a bound of
    the worst error that is hard to raise.
    """
    for _ in range(ROUNDS):
        half = half_widths(blocks, distance, epsilon)
        errors = errors_of(blocks, half, distance, epsilon)
        density = blocks.density * (errors / errors.max()) ** STEP
        blocks = replace(blocks, density=density / float(density @ blocks.counts))
    return blocks


def errors_of(blocks: Blocks, half: Floats, distance: float, epsilon: float) -> Floats:
    """Return about the error in each block, where cells reach so far to both sides."""
    middle = (blocks.starts + blocks.ends - 1) / 2
    cells = blocks.sums(1 / (2 * half + 1))
    inside = half * (half + 1) / (2 * half + 1)
    caught, far = np.zeros(len(blocks)), np.zeros(len(blocks))
    for level in range(1, levels(blocks, distance, epsilon) + 1):
        share = math.exp(-epsilon * level)
        near, end = half + (level - 1) * distance, half + level * distance
        for side, low, high in ((1, middle + near, middle + end), (-1, middle - end, middle - near)):
            counts, moments = cells.both_below(np.array([low + 0.5, high + 0.5]))
            caught += share * (counts[1] - counts[0])
            far += share * side * ((moments[1] - moments[0]) - middle * (counts[1] - counts[0]))
    return (inside + far) / (1 + caught)
