"""Differentially private answers that stay where everyone knows they must be."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from inbounds.errors import (
    InboundsError,
    InvalidAnswer,
    InvalidBounds,
    InvalidParameter,
    LatticeTooFine,
    NotPrivate,
    ProjectionFailed,
    ServerError,
    ServerRefused,
    ServerUnreachable,
)

if _TYPE_CHECKING:
    from inbounds.bounds import Bounds
    from inbounds.choosing.comparison import Comparison, compare
    from inbounds.choosing.recommendation import Recommendation, recommend
    from inbounds.client.connection import connect
    from inbounds.limit.optimal import Optimal
    from inbounds.mechanisms.bounded_laplace import BoundedLaplace
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.mechanisms.remapped import Remapped
    from inbounds.privacy.certificate import Certificate
    from inbounds.privacy.certify import certify
    from inbounds.privacy.claim import Claim

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
    "Mechanism",
    "NotPrivate",
    "Optimal",
    "ProjectionFailed",
    "Recommendation",
    "Remapped",
    "ServerError",
    "ServerRefused",
    "ServerUnreachable",
    "certify",
    "compare",
    "connect",
    "recommend",
]

__version__ = "0.1.0"

_LATER = {
    "BoundedLaplace": "inbounds.mechanisms.bounded_laplace",
    "Bounds": "inbounds.bounds.bounds",
    "Certificate": "inbounds.privacy.certificate",
    "Claim": "inbounds.privacy.claim",
    "Comparison": "inbounds.choosing.comparison",
    "Mechanism": "inbounds.mechanisms.mechanism",
    "Optimal": "inbounds.limit.optimal",
    "Recommendation": "inbounds.choosing.recommendation",
    "Remapped": "inbounds.mechanisms.remapped",
    "certify": "inbounds.privacy.certify",
    "compare": "inbounds.choosing.comparison",
    "connect": "inbounds.client.connection",
    "recommend": "inbounds.choosing.recommendation",
}
"""What is imported when it is first used: a release does not need all of it, and the command line none before it can
answer to Ctrl-C."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'inbounds' has no attribute {name!r}")
    found = getattr(_importlib.import_module(_LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
