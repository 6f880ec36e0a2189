"""The square wave mechanism: Li, Wang, Lopuhaä-Zwakenberg, Li & Škorić, "Estimating numerical distributions under local
differential privacy", SIGMOD 2020.

For a number `v` from 0 to 1 it releases a number from -b to 1 + b, whose density is `exp(epsilon)` times as high within
`b` of `v` as elsewhere, where with `e = exp(epsilon)`

    b = (epsilon e - e + 1) / (2 e (e - 1 - epsilon))

It is made for estimating a distribution from many releases, and not right on average: releases lean to the middle.
On a lattice `0..W` the window is the answer and the whole number of steps nearest to `b W` on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from inbounds.bounds import Bounds
from inbounds.exact.balls import ball, lock, lower, workprec
from inbounds.exact.rational import Number
from inbounds.published.local.levels import Levels
from inbounds.published.local.mechanism import LocalMechanism, local_setting
from inbounds.published.local.runs import Run, RunsLaw, SeenRun

if TYPE_CHECKING:
    from inbounds.published.local.runs import Floats


def half_window(epsilon: Fraction) -> Fraction:
    """Return their `b`, to many digits."""
    with lock(), workprec(1024):  # where epsilon is small, most of them cancel
        x = ball(epsilon)
        e = x.exp()
        return lower((x * e - e + 1) / (2 * e * (e - 1 - x)))


class SquareWaveLaw(RunsLaw):
    """A window of the same width around every answer, on outputs that reach as far beyond the ends.

    Inside it is the higher level, outside the lower one.
    """

    def __init__(self, width: int, levels: Levels, reach: int) -> None:
        self.width, self.reach, self._levels, self.ratio = width, reach, levels, levels.ratio
        self.low, self.high = -reach, width + reach
        self.total = levels.low * (width + 1 + 2 * reach) + levels.step * (2 * reach + 1)
        self._base, self._step = (float(Fraction(weight, self.total)) for weight in (levels.low, levels.step))

    def runs(self, answer: int) -> Sequence[Run]:
        """Return all outputs, and the window."""
        window = Run(answer - self.reach, answer + self.reach, self._levels.step)
        return Run(self.low, self.high, self._levels.low), window

    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        reach = np.full(answer.shape, float(self.reach))
        return SeenRun(self.low - answer, self.high - answer, self._base), SeenRun(-reach, reach, self._step)


class SquareWave(LocalMechanism):
    """Uniform releases with a more probable window around the true value, which may extend beyond the ends."""

    title: ClassVar[str] = "square wave"
    paper: ClassVar[str] = "Li et al. 2020"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = local_setting(bounds, sensitivity, epsilon)
        width, levels = setting.lattice.width, Levels.of(setting.epsilon)
        reach = floor(half_window(levels.epsilon) * width + Fraction(1, 2))
        super().__init__(setting, SquareWaveLaw(width, levels, reach))

    @property
    def unbiased(self) -> bool:
        """False: the mean is closer to the middle of the range than the true value, by a constant factor."""
        return False
