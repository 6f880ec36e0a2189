"""The piecewise and the hybrid mechanism: Wang, Xiao, Yang, Zhao, Hui, Shin, Shin & Yu, "Collecting and analyzing
multidimensional data with local differential privacy", ICDE 2019.

For a number `t` from -1 to 1, with `s = exp(epsilon / 2)` and `C = (s + 1) / (s - 1)`, the piecewise mechanism releases
a number from -C to C, whose density is `exp(epsilon)` times as high in a window as elsewhere:

    from l = ((C + 1) t - (C - 1)) / 2  to  l + C - 1

which makes it right on average.  The hybrid mechanism releases by the piecewise mechanism with probability
`1 - 1/s`, and else by the two-point mechanism; always by the latter if epsilon is at most 0.61.

On a lattice `0..W` the outputs are `-a..W+a` and the window has `w` points, the whole number nearest to `W / (s - 1)`.
Where it has to start for releases to be right on average is a fraction of a step.  It starts at the whole number below
or above, by chance, with the odds that make it start there on average: so it is exactly right on average.
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
from inbounds.published.duchi2018 import TwoPointLaw
from inbounds.published.local.levels import Levels
from inbounds.published.local.mechanism import LocalMechanism, local_setting
from inbounds.published.local.runs import Run, RunsLaw, SeenRun

if TYPE_CHECKING:
    from inbounds.published.local.runs import Floats

HYBRID_FROM = math.log(
    (-5 + 2 * math.cbrt(6353 - 405 * math.sqrt(241)) + 2 * math.cbrt(6353 + 405 * math.sqrt(241))) / 27
)
"""Their epsilon*, about 0.61: up to it, mixing in the piecewise mechanism does not lower the worst variance."""


class PiecewiseLaw(RunsLaw):
    """A window that moves farther than the answer does, on outputs that reach beyond either end.

    Each output has the lower level, and a share between 0 and 1 of what the higher one is above it: how probable it is
    that the window, which starts at one of two places, holds it.  So its weight is from the lower level to the higher.
    The window is within the outputs: it is farthest out for the answers 0 and W, and `a` is the least that does.
    """

    def __init__(self, width: int, levels: Levels) -> None:
        # The window must be so wide that moving it can shift the mean by as much as the answer moves, and the outputs
        # must reach so far out that it still fits for the answers at both ends.
        low, step = levels.low, levels.step
        self.width, self._levels, self.ratio = width, levels, levels.ratio
        nearest = round(width / math.expm1(levels.epsilon / 2))
        self.window = max(nearest, width * low // step + 1)
        above = self.window * step
        self.beyond = -(-((self.window - 1) * above + width * (width + 1) * low) // (2 * (above - width * low)))
        self.low, self.high = -self.beyond, width + self.beyond
        self.points = width + 1 + 2 * self.beyond
        self.parts = 2 * above
        """Into so many parts a step is cut to say where the window starts."""
        self.total = self.parts * (low * self.points + above)
        self._stretch = float(Fraction(self.points * low, above))
        self._base = float(Fraction(low * self.parts, self.total))
        self._step = float(Fraction(step * self.parts, self.total))

    def start(self, answer: int) -> tuple[int, int]:
        """Return where the window starts for an answer: after so many whole steps and so many parts of one."""
        above, base = self.window * self._levels.step, self.points * self._levels.low
        return divmod((self.width - self.window + 1) * above + (2 * answer - self.width) * (above + base), self.parts)

    def runs(self, answer: int) -> Sequence[Run]:
        """Return all outputs, and the window at the two places where it may start."""
        (start, part), step, last = self.start(answer), self._levels.step, self.window - 1
        return (
            Run(self.low, self.high, self._levels.low * self.parts),
            Run(start, start + last, step * (self.parts - part)),
            Run(start + 1, start + 1 + last, step * part),
        )

    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        start = self._stretch * (answer - self.width / 2) - (self.window - 1) / 2
        first = np.floor(start)
        part, last = start - first, first + (self.window - 1)
        return (
            SeenRun(self.low - answer, self.high - answer, self._base),
            SeenRun(first, last, self._step * (1 - part)),
            SeenRun(first + 1, last + 1, self._step * part),
        )


class HybridLaw(RunsLaw):
    """Two laws, the first with some probability.

    An output's weight is the same sum of its weights in both for every answer, and a ratio of sums is never above the
    greater of the ratios.  The first law has every output from its least to its greatest, and those of the second are
    among them.
    """

    def __init__(self, first: RunsLaw, second: RunsLaw, probability: Fraction) -> None:
        self.width, self._laws, self.probability = first.width, (first, second), probability
        self.low, self.high = first.low, first.high
        self.ratio = max(first.ratio, second.ratio)
        self.total = first.total * second.total * probability.denominator
        share = probability.numerator
        self._factors = (second.total * share, first.total * (probability.denominator - share))

    def runs(self, answer: int) -> Sequence[Run]:
        """Return the runs of both."""
        both = zip(self._laws, self._factors, strict=True)
        return [Run(first, last, x * weight) for law, x in both for first, last, weight in law.runs(answer)]

    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        both = zip(self._laws, (float(self.probability), float(1 - self.probability)), strict=True)
        return [SeenRun(first, last, x * each) for law, x in both for first, last, each in law.seen_runs(answer)]


class Piecewise(LocalMechanism):
    """Uniform releases from beyond one end to beyond the other, with a more probable window around the true value."""

    title: ClassVar[str] = "piecewise"
    paper: ClassVar[str] = "Wang et al. 2019"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = local_setting(bounds, sensitivity, epsilon)
        super().__init__(setting, PiecewiseLaw(setting.lattice.width, Levels.of(setting.epsilon)))

    @property
    def unbiased(self) -> bool:
        """True: the window starts where it makes the mean exactly the true value."""
        return True


class Hybrid(LocalMechanism):
    """The piecewise or the two-point mechanism, chosen at random."""

    title: ClassVar[str] = "hybrid piecewise"
    paper: ClassVar[str] = "Wang et al. 2019"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = local_setting(bounds, sensitivity, epsilon)
        width, levels = setting.lattice.width, Levels.of(setting.epsilon)
        self._probability = Fraction(-math.expm1(-levels.epsilon / 2)) if levels.epsilon > HYBRID_FROM else Fraction(0)
        law: RunsLaw = TwoPointLaw(width, levels)
        if self._probability:
            law = HybridLaw(PiecewiseLaw(width, levels), law, self._probability)
        super().__init__(setting, law)

    @property
    def probability(self) -> float:
        """The probability of using the piecewise mechanism (alpha in the paper)."""
        return float(self._probability)

    @property
    def unbiased(self) -> bool:
        """True, as for both mechanisms."""
        return True
