"""The Laplace mechanism: Dwork, McSherry, Nissim & Smith, "Calibrating noise to sensitivity in private data analysis",
TCC 2006.

Noise of density `exp(-|x| / s) / (2 s)` with scale `s = sensitivity / epsilon`, here on a lattice far finer than the
noise.  On a lattice of a given step the same law is the two-sided geometric one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from inbounds.bounds import Bounds
from inbounds.exact.rational import Number
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.ends import EndsName
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.published.ghosh2009 import GeometricNoise


class Laplace(Additive[GeometricNoise]):
    """Plain Laplace noise; values outside the bounds are left, snapped to the nearest end, or folded in.

    The loss is proportional to the distance between answers, so the same noise satisfies `guarantee="distance"`; only a
    sensitivity greater than the width of the bounds needs more noise for it than for "standard".
    """

    paper: ClassVar[str] = "Dwork et al. 2006"
    title: ClassVar[str] = "Laplace"
    keeps_distance: ClassVar[bool] = True

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        ends: EndsName = "leave",
        guarantee: GuaranteeName = "standard",
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon, guarantee)
        super().__init__(setting, GeometricNoise(setting.distance, setting.epsilon), ends)
