"""Differentially private answers that stay where everyone knows they must be."""

from inbounds.bounds import Bounds
from inbounds.certificate import Certificate
from inbounds.claim import Claim
from inbounds.errors import (
    InboundsError,
    InvalidAnswer,
    InvalidBounds,
    InvalidParameter,
    LatticeTooFine,
    NotPrivate,
)
from inbounds.mechanism import BoundedLaplace
from inbounds.reproof import certify

__all__ = [
    "BoundedLaplace",
    "Bounds",
    "Certificate",
    "Claim",
    "InboundsError",
    "InvalidAnswer",
    "InvalidBounds",
    "InvalidParameter",
    "LatticeTooFine",
    "NotPrivate",
    "certify",
]

__version__ = "0.1.0"
