"""The optimal piecewise mechanism: Zheng, Mishra & Hu, "Optimal piecewise-based mechanism for collecting bounded
numerical data under local differential privacy", PETS 2025 (arXiv 2505.15483).

For a number `x` from 0 to 1 it releases one from 0 to 1.  Its density is `exp(epsilon / 2)` in a window of width
`2C = 1 / (exp(epsilon / 2) + 1)` around `x`, pushed inside where it would leave, and `exp(-epsilon / 2)` elsewhere.

Its worst error is the least of all whose density is on [0, 1] and, for each `x` by itself, has levels within a factor
`exp(epsilon)`; it is not the least of all that are private (docs/published.md, "The local model").  On a lattice `0..W`
the window has the odd number of points that is nearest to `(W + 1) / (exp(epsilon / 2) + 1)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from inbounds.bounds import Bounds
from inbounds.exact.rational import Number
from inbounds.published.local.levels import Levels
from inbounds.published.local.mechanism import LocalMechanism, local_setting
from inbounds.published.local.runs import Run, RunsLaw, SeenRun

if TYPE_CHECKING:
    from inbounds.published.local.runs import Floats


class PushedWindowLaw(RunsLaw):
    """A window of the same width for every answer, pushed inside the bounds.

    Inside it is the higher level, outside the lower one.
    """

    def __init__(self, width: int, levels: Levels, reach: int) -> None:
        self.width, self.reach, self._levels, self.ratio = width, reach, levels, levels.ratio
        self.low, self.high = 0, width
        self.total = levels.low * (width + 1) + levels.step * (2 * reach + 1)
        self._base, self._step = (float(Fraction(weight, self.total)) for weight in (levels.low, levels.step))

    def runs(self, answer: int) -> Sequence[Run]:
        """Return all outputs, and the window."""
        middle = min(max(answer, self.reach), self.width - self.reach)
        window = Run(middle - self.reach, middle + self.reach, self._levels.step)
        return Run(self.low, self.high, self._levels.low), window

    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        middle = np.clip(answer, self.reach, self.width - self.reach) - answer
        return (
            SeenRun(-answer, self.width - answer, self._base),
            SeenRun(middle - self.reach, middle + self.reach, self._step),
        )


class OptimalPiecewise(LocalMechanism):
    """Uniform releases within the bounds, with a more probable window around the true value."""

    title: ClassVar[str] = "optimal piecewise"
    paper: ClassVar[str] = "Zheng et al. 2025"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = local_setting(bounds, sensitivity, epsilon)
        width, levels = setting.lattice.width, Levels.of(setting.epsilon)
        reach = round(((width + 1) / (math.exp(levels.epsilon / 2) + 1) - 1) / 2)
        super().__init__(setting, PushedWindowLaw(width, levels, max(reach, 0)))
