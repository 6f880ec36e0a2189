"""BoundedLaplace: private answers that are always possible."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, final

from inbounds.bounds import Bounds
from inbounds.exact.rational import Number
from inbounds.mechanisms.setting import Setting
from inbounds.mechanisms.truncated_laplace import TruncatedLaplace
from inbounds.privacy.calibration import calibrate
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import GuaranteeName


@final
class BoundedLaplace(TruncatedLaplace):
    """Laplace noise truncated to the possible answers, at a scale that keeps it private.

    The constructor finds such a scale (on one span, the least one) and proves that it satisfies the guarantee: see
    `certificate`.

    >>> satisfaction = BoundedLaplace(Bounds(0, 100), sensitivity=2, epsilon=0.5)
    >>> 0 <= satisfaction.release(97.0) <= 100
    True

    * `bounds`: the publicly known set of possible answers.
    * `sensitivity`: the most one person can change the true value; for dates in days, or a timedelta.
    * `epsilon`: the privacy loss of one release, from 1e-9 to 1000.
    * `guarantee`: "standard" is epsilon-DP.  "distance" (metric privacy) bounds the loss by `i * epsilon` for answers
      `i` sensitivities apart (for whole `i`; in between, up to rounding to a step).  Use it when one person can change
      several answers by a little each.
    * `pooling`: what happens to probability that would fall outside the bounds, from 0 (the distribution is normalised
      without it) to 1 (it is added to the nearest end).
    * `trusted`: whether you guarantee that every answer is possible.  Otherwise answers outside the bounds are
      projected to the nearest possible one, and the scale accounts for that.
    """

    title: ClassVar[str] = "bounded Laplace"
    paper: ClassVar[str] = "Croft et al. 2022, sharpened"
    keeps_distance: ClassVar[bool] = True

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        guarantee: GuaranteeName = "standard",
        pooling: Number = 0.0,
        trusted: bool = False,
    ) -> None:
        calibrated = calibrate(Promise.of(bounds, sensitivity, epsilon, guarantee, pooling, trusted))
        super().__init__(
            Setting.of_claim(calibrated.claim, sensitivity, epsilon), calibrated.claim, calibrated.certificate
        )
        self._pooling: Number = pooling

    @property
    def pooling(self) -> Number:
        """The share of the probability outside the bounds that is added to their ends, as given."""
        return self._pooling

    @property
    def trusted(self) -> bool:
        """Whether every answer is guaranteed to be possible."""
        return self._claim.promise.trusted

    @property
    def choices(self) -> dict[str, Any]:
        """Guarantee, pooling and trust, where they differ from their defaults."""
        pooled = {"pooling": self._pooling} if self._pooling else {}
        return {**super().choices, **pooled, **({"trusted": True} if self.trusted else {})}

    @property
    def _key(self) -> tuple[object, ...]:
        return (self._claim.promise,)
