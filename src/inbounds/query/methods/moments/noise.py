"""The mean size of a sum of independent Laplace noises, each with its own factor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
ANGLES = np.pi / 4 * (NODES + 1)


def mean_size(factors: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the mean of `|f_1 X_1 + f_2 X_2 + …|` for each row of factors; every `X` is Laplace noise of this scale.

    By its characteristic function: `E|Y| = (2/pi) * integral of (1 - phi(t)) / t^2`, with `t` the tangent of an angle
    over the root of the sum of squares, so that the integrand is smooth and bounded.
    """
    size = np.sqrt((factors**2).sum(axis=-1))
    unit = factors / np.where(size > 0, size, 1)[..., None]
    squares = np.tan(ANGLES) ** 2
    phi = np.prod(1 / (1 + unit[..., None] ** 2 * squares), axis=-2)
    integral = ((1 - phi) / np.sin(ANGLES) ** 2 * WEIGHTS).sum(axis=-1) * np.pi / 4
    found: NDArray[np.float64] = scale * size * integral * 2 / np.pi
    return found
