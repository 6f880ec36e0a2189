"""Other mechanisms, as their papers give them: one module a paper."""

from inbounds.published.chen2022 import BoundedGaussian
from inbounds.published.cormode2018 import ExplicitFair
from inbounds.published.croft2022.adaptive import AdaptiveLaplace
from inbounds.published.duchi2018 import TwoPoint
from inbounds.published.dwork2006 import Laplace
from inbounds.published.geng2014 import Staircase
from inbounds.published.geng2018 import TruncatedLaplacian
from inbounds.published.ghosh2009 import Geometric
from inbounds.published.holohan2018 import HolohanLaplace
from inbounds.published.li2020 import SquareWave
from inbounds.published.naive import NaiveLaplace
from inbounds.published.wang2019 import Hybrid, Piecewise
from inbounds.published.zheng2025 import OptimalPiecewise

__all__ = [
    "AdaptiveLaplace",
    "BoundedGaussian",
    "ExplicitFair",
    "Geometric",
    "HolohanLaplace",
    "Hybrid",
    "Laplace",
    "NaiveLaplace",
    "OptimalPiecewise",
    "Piecewise",
    "SquareWave",
    "Staircase",
    "TruncatedLaplacian",
    "TwoPoint",
]
