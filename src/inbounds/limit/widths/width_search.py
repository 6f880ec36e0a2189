"""What widths of cells lead to: laws, and errors that nothing is below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from inbounds.accuracy.prior import Prior
from inbounds.bounds import Bounds
from inbounds.limit.cells.cell_law import CellLaw, middles
from inbounds.limit.cells.distance_kernel import DistanceKernel
from inbounds.limit.cells.posterior import targets_of_distances
from inbounds.limit.goal import Minimise
from inbounds.limit.mixed_law import MixedLaw
from inbounds.limit.widths.blocks import Blocks
from inbounds.limit.widths.cell_edges import choices, mixtures
from inbounds.limit.widths.level_prior import level_prior
from inbounds.limit.widths.width_bound import proved_by_widths
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.claim import Promise

if TYPE_CHECKING:
    from datetime import timedelta

    import numpy as np
    from numpy.typing import NDArray

    from inbounds.exact.rational import Number

    Floats = NDArray[np.float64]

LEAST_EPSILON: dict[Minimise, float] = {"mean": 2, "worst": 4}
"""Below, cells of the right width are few, and a program finds better ones."""

MOST_POINTS = 2**50
"""Places are counted in doubles."""

BLOCKS = 1500
"""Answers are put into about so many blocks,"""

WORST_BLOCKS = 800
"""and for the worst error, where a prior has to be found as well, into so many."""

WIDE = 20
"""Of a range with more sensitivities than this, a part of so many says as much about the mean, nearly,"""

WORST_WIDE = 10
"""and a part of so many about the worst error."""

ROUNDING = 1e-11
"""Limits are rounded down by this share: more than doubles can have added."""


def suits(setting: Setting, minimise: Minimise) -> bool:
    """Return whether widths are worth looking at."""
    return setting.epsilon >= LEAST_EPSILON[minimise] and setting.lattice.width < MOST_POINTS


@dataclass(frozen=True)
class ByWidths:
    """An error in steps that nothing is below, and laws that may be near it."""

    bound: float
    laws: Iterator[CellLaw | MixedLaw]


def mean_by_widths(setting: Setting, prior: Prior) -> ByWidths:
    """Return what widths lead to for the mean error under a prior."""
    lattice, distance = setting.lattice, setting.distance
    # On equal windows under a prior that counts all answers alike one bound holds, and so it does on the whole.
    points, windows = lattice.width + 1, 1
    if len(lattice) == 1 and prior.is_uniform:
        windows = -(-points // (WIDE * distance))
    size = points // windows
    seen = prior if windows == 1 else Prior.uniform(lattice, lattice.first, lattice.first + size - 1)
    blocks = Blocks.of(seen, BLOCKS)
    proved = proved_by_widths(blocks, distance, float(setting.epsilon))
    bound = proved.bound * float(Fraction(windows * size, points))
    return ByWidths(bound, _laws(setting, prior, blocks, proved.half) if windows == 1 else iter(()))


def worst_by_widths(setting: Setting) -> ByWidths:
    """Return what widths lead to for the worst error."""
    lattice, distance, epsilon = setting.lattice, setting.distance, float(setting.epsilon)
    last = lattice.last if len(lattice) > 1 else min(lattice.last, lattice.first + WORST_WIDE * distance)
    blocks = level_prior(Blocks.of(Prior.uniform(lattice, lattice.first, last), WORST_BLOCKS), distance, epsilon)
    proved = proved_by_widths(blocks, distance, epsilon)
    return ByWidths(proved.bound, _mixed_laws(setting, blocks, proved.half) if last == lattice.last else iter(()))


def worst_without_ends(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> float | None:
    """Return an error that no worst error is below on one span that lacks an end: that of a part of it.

    Whatever is private on the whole is private on the part, and the worst error there is not above that of the whole.
    """
    if bounds.bounded or len(bounds) > 1 or bounds.values != "number":
        return None
    width = WORST_WIDE * Promise.of(bounds, sensitivity, epsilon, "standard", 0, False).sensitivity
    low = bounds.least
    if low is None:
        low = Fraction(0) if bounds.greatest is None else bounds.greatest - width
    setting = Setting.of(Bounds(low, low + width, step=bounds.step, offset=bounds.offset), sensitivity, epsilon)
    if not suits(setting, "worst"):
        return None
    bound = worst_by_widths(setting).bound * float(setting.lattice.step)
    return bound * (1 - ROUNDING) or None


def _mixed_laws(setting: Setting, blocks: Blocks, half: Floats) -> Iterator[MixedLaw]:
    for ways in mixtures(setting.lattice.first, blocks, half, setting.distance):
        kernels = [DistanceKernel.of(cells, setting.distance, setting.epsilon) for cells in ways]
        laws = [
            CellLaw(setting, cells, kernel, middles(setting.lattice, cells))
            for cells, kernel in zip(ways, kernels, strict=True)
            if kernel is not None
        ]
        if len(laws) == len(ways):
            yield MixedLaw(tuple(laws))


def _laws(setting: Setting, prior: Prior, blocks: Blocks, half: Floats) -> Iterator[CellLaw]:
    fall = math.exp(-float(setting.epsilon))
    for cells in choices(setting.lattice.first, blocks, half, setting.distance):
        kernel = DistanceKernel.of(cells, setting.distance, setting.epsilon)
        if kernel is not None:
            yield CellLaw(setting, cells, kernel, targets_of_distances(prior, cells, kernel, fall))
