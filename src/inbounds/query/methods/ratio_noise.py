"""The noise of a mean or proportion, which is made of two noisy sums.

With `above` and `below` the two sums, and `X` and `Y` the noise on them, the share `p = above / (above + below)` is off
by `((1 - p) X - p Y) / (above + below)`, to first order.  Its mean size depends on the law of the noise: where the two
sums balance, it is three quarters of `E|X|` for Laplace noise, and more on a coarse lattice, all of it at last.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.mechanisms.mechanism import Mechanism

FAR_ABOVE = 100
"""So many plain scales above 0, noise no longer feels the end."""

SCALES = 20
"""Noise beyond so many scales has a probability below 1e-8."""

FINE = 4
"""With so many steps to a scale, discrete noise is Laplace noise to half a per cent."""

SHARES = np.linspace(0, 1, 241)
"""Where the mean is computed; in between, it is convex and nearly straight."""


@dataclass(frozen=True)
class RatioNoise:
    """The mean of `|(1 - p) X - p Y|` for every share `p`; `X` and `Y` are independent and have one law."""

    each: float
    """The mean of `|X|`."""
    step: float
    probabilities: tuple[float, ...]
    """Of 0, 1, 2, ... steps of noise, upwards or downwards alike; none if the noise is as good as Laplace."""

    @classmethod
    def of(cls, mechanism: Mechanism, step: Fraction, scale: Fraction) -> RatioNoise:
        """Take the law from a mechanism with this plain scale that releases sums from 0 on, far above 0."""
        at = ceil(FAR_ABOVE * scale / step) * step
        each = float(mechanism.error(at))
        if scale > FINE * step:
            return cls(each, float(step), ())
        reach = ceil(SCALES * scale / step) + 1
        probabilities = mechanism.pmf([at + i * step for i in range(reach + 1)], at)
        return cls(each, float(step), tuple(probabilities.tolist()))

    def at(self, share: float) -> float:
        """Return the mean at a share."""
        if not self.probabilities:
            return self.each * ((1 - share) ** 2 + share * (1 - share) + share**2)
        return float(np.interp(share, SHARES, self._means))

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        upwards = np.array(self.probabilities)
        law = np.concatenate([upwards[:0:-1], upwards])
        noise = self.step * (np.arange(len(law)) - len(upwards) + 1)
        both = np.outer(law, law)
        half = [float((both * np.abs(np.subtract.outer((1 - p) * noise, p * noise))).sum()) for p in SHARES[:121]]
        return np.array([*half, *half[-2::-1]])  # what holds for a share holds for the rest of it
