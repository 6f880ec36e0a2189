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
    """Plain Laplace noise, left where it falls, snapped to the nearest possible answer, or folded into the bounds.

    Its loss is in proportion to the distance between answers, so `guarantee="distance"` is kept by the same noise; only
    where the sensitivity is above the width of the bounds does it need more than "standard" does.
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
