"""How far from its middle a cell reaches if the mean error is to be least: the farther, the more noise costs there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.limit.widths.blocks import Blocks

    Floats = NDArray[np.float64]

LEAST = 1e-300
"""No half-width is below this."""

ROUNDS = 60
"""So often widths are computed from the costs that follow from them,"""

NEAR = 1e-5
"""until they change by no more than this, relatively."""

FARTHEST = 40.0
"""Answers that are less probable than `exp` of minus this cost nothing."""


def half_widths(blocks: Blocks, distance: float, epsilon: float) -> Floats:
    """Return for each block how many steps from the middle of a cell its edges are best.

    A cell that reaches `r` steps to both sides costs what is lost in it, about `density r^2`, and what it catches from
    elsewhere: `tail`, a sum of distances that falls by `exp(-epsilon)` with every sensitivity.  The sum of both, for a
    unit of width, is least where they are equal.
    """
    middle = (blocks.starts + blocks.ends - 1) / 2
    weight = blocks.sums(blocks.density)
    half = np.full(len(blocks), min(math.exp(-epsilon / 2) / 2, 0.2) * distance)
    for _ in range(ROUNDS):
        worth = blocks.sums(half * blocks.density)
        tail = np.zeros(len(blocks))
        for level in range(1, levels(blocks, distance, epsilon) + 1):
            near, far = half + (level - 1) * distance, half + level * distance
            for side, low, high in ((1, middle + near, middle + far), (-1, middle - far, middle - near)):
                masses, moments = weight.both_below(np.array([low + 0.5, high + 0.5]))
                away = side * ((moments[1] - moments[0]) - middle * (masses[1] - masses[0]))
                tail += math.exp(-epsilon * level) * (
                    away - np.diff(worth.below(np.array([low, high]) + 0.5), axis=0)[0]
                )
        better = _half_width(np.maximum(tail / blocks.density, LEAST))
        change = float(abs(better - half).max())
        half = (half + better) / 2
        if change <= NEAR * float(half.max()):
            break
    return half


def _half_width(tail: Floats) -> Floats:
    """Return `r` where what is lost in a cell is as much as it catches, on whole steps: about the root."""
    whole = np.floor(np.sqrt(tail))
    return (tail + whole * (whole + 1)) / (2 * whole + 1)


def levels(blocks: Blocks, distance: float, epsilon: float) -> int:
    """Return how many sensitivities away answers still matter."""
    return max(1, min(math.ceil(FARTHEST / epsilon), math.ceil(blocks.length / distance)))
