"""The two-point mechanism: Duchi, Jordan & Wainwright, "Minimax optimal procedures for locally private estimation",
Journal of the American Statistical Association 113(521), 2018.

For a number `t` from -1 to 1 the release is one of two, and right on average:

    P(C) = 1/2 + t / (2C),   P(-C) = 1/2 - t / (2C),      C = (exp(epsilon) + 1) / (exp(epsilon) - 1)

On a lattice `0..W` the two are `-a` and `W + a`, where `a` is `W / (exp(epsilon) - 1)` rounded up, and
`P(W + a) = (i + a) / (W + 2a)` for the answer `i`: a fraction, so that it is exactly right on average there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from inbounds.bounds import Bounds
from inbounds.exact.rational import Number
from inbounds.published.local.levels import Levels
from inbounds.published.local.mechanism import LocalMechanism, local_setting
from inbounds.published.local.runs import Run, RunsLaw, SeenRun

if TYPE_CHECKING:
    from inbounds.published.local.runs import Floats


class TwoPointLaw(RunsLaw):
    """Two outputs, beyond either end.

    The weight of the upper one is from `a` to `W + a`, and so is that of the lower one: no ratio is above
    `(W + a) / a`, which is at most that of the levels because `a` is at least `W / (ratio - 1)`.
    """

    def __init__(self, width: int, levels: Levels) -> None:
        self.width, self.beyond = width, -(-width * levels.low // levels.step)
        self.low, self.high = -self.beyond, width + self.beyond
        self.total = width + 2 * self.beyond
        self.ratio = Fraction(width + self.beyond, self.beyond)

    @property
    def outputs(self) -> Sequence[int]:
        """The two."""
        return self.low, self.high

    def runs(self, answer: int) -> Sequence[Run]:
        """Return both outputs, the lower one first."""
        upper = answer + self.beyond
        return Run(self.low, self.low, self.total - upper), Run(self.high, self.high, upper)

    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        low, high, total = self.low - answer, self.high - answer, float(self.total)
        return SeenRun(low, low, high / total), SeenRun(high, high, -low / total)


class TwoPoint(LocalMechanism):
    """One of two releases, both outside the bounds, chosen so that the release is unbiased."""

    title: ClassVar[str] = "two-point"
    paper: ClassVar[str] = "Duchi et al. 2018"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = local_setting(bounds, sensitivity, epsilon)
        super().__init__(setting, TwoPointLaw(setting.lattice.width, Levels.of(setting.epsilon)))

    @property
    def unbiased(self) -> bool:
        """True: the mean of `-a` and `W + a` is exactly the true value."""
        return True
