"""Other mechanisms, as their papers give them: one module a paper."""

from inbounds.published.chen2022 import BoundedGaussian
from inbounds.published.cormode2018 import ExplicitFair
from inbounds.published.croft2022.adaptive import AdaptiveLaplace
from inbounds.published.dwork2006 import Laplace
from inbounds.published.geng2014 import Staircase
from inbounds.published.geng2018 import TruncatedLaplacian
from inbounds.published.ghosh2009 import Geometric
from inbounds.published.holohan2018 import HolohanLaplace
from inbounds.published.naive import NaiveLaplace

__all__ = [
    "AdaptiveLaplace",
    "BoundedGaussian",
    "ExplicitFair",
    "Geometric",
    "HolohanLaplace",
    "Laplace",
    "NaiveLaplace",
    "Staircase",
    "TruncatedLaplacian",
]
