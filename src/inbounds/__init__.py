"""Differentially private answers that stay where everyone knows they must be."""

from inbounds.bounds import Bounds
from inbounds.certificate import Certificate
from inbounds.claim import Claim
from inbounds.comparison import Comparison, compare
from inbounds.errors import (
    InboundsError,
    InvalidAnswer,
    InvalidBounds,
    InvalidParameter,
    LatticeTooFine,
    NotPrivate,
)
from inbounds.mechanism import BoundedLaplace
from inbounds.optimal import Optimal
from inbounds.recommendation import Recommendation, recommend
from inbounds.reproof import certify

__all__ = [
    "BoundedLaplace",
    "Bounds",
    "Certificate",
    "Claim",
    "Comparison",
    "InboundsError",
    "InvalidAnswer",
    "InvalidBounds",
    "InvalidParameter",
    "LatticeTooFine",
    "NotPrivate",
    "Optimal",
    "Recommendation",
    "certify",
    "compare",
    "recommend",
]

__version__ = "0.1.0"
