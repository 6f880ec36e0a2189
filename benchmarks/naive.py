"""The fast and unsafe way, as a yardstick: bounded Laplace noise by inverse CDF on floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def naive_release(
    values: NDArray[np.float64], lower: float, upper: float, scale: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return one draw a value from the Laplace law of `scale` around it, renormalised to [lower, upper].

    One uniform between the CDF at the two ends, then the closed-form inverse. Do not protect anyone with
    it: the low bits of a float betray the value, and the generator is not cryptographic.
    """
    below = values - lower
    below /= -scale
    np.exp(below, out=below)
    below *= 0.5
    above = values - upper
    above /= scale
    np.exp(above, out=above)
    above *= 0.5

    # The uniform as a distance from the median: from below - 1/2 to 1/2 - above.
    centred = generator.random(values.shape)
    centred *= 1.0 - below - above
    centred += below
    centred -= 0.5

    noise = np.abs(centred)
    noise *= -2.0
    np.log1p(noise, out=noise)
    noise *= -scale
    np.copysign(noise, centred, out=noise)
    noise += values
    return np.clip(noise, lower, upper, out=noise)
