"""Differentially private answers that stay where everyone knows they must be."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

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

if _TYPE_CHECKING:
    from inbounds.comparison import Comparison, compare
    from inbounds.optimal import Optimal
    from inbounds.recommendation import Recommendation, recommend

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

_LATER = {
    "Comparison": "inbounds.comparison",
    "compare": "inbounds.comparison",
    "Optimal": "inbounds.optimal",
    "Recommendation": "inbounds.recommendation",
    "recommend": "inbounds.recommendation",
}
"""What is imported when it is first used: it takes as long as all the rest, and a release does not need it."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'inbounds' has no attribute {name!r}")
    found = getattr(_importlib.import_module(_LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
