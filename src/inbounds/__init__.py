"""Differentially private answers that never leave their publicly known bounds."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

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
from inbounds.version import __version__ as __version__

if _TYPE_CHECKING:
    from inbounds.bounds import Bounds
    from inbounds.choosing.comparison import Comparison, compare
    from inbounds.choosing.recommendation import Recommendation, recommend
    from inbounds.client.connection import Connection as _Connection
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
    "recommend": "inbounds.choosing.recommendation",
}
"""What is imported when it is first used: a release does not need all of it, and the command line none before it can
answer to Ctrl-C."""


def connect(url: str, *, key: str | None = None, patience: float = 60, **options: _Any) -> "_Connection":
    """Connect to a server, which is then queried like a local table.  Needs `inbounds[client]`.

    * `key`: your API key; by default the environment variable INBOUNDS_KEY.
    * `patience`: for how many seconds a request is retried after a lost connection.
    * `options`: passed to `httpx2.Client`, such as `verify` with the certificates of your own authority.
    """
    from inbounds.client.connection import Connection  # noqa: PLC0415  only whoever asks a server needs it

    return Connection(url, key=key, patience=patience, **options)


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'inbounds' has no attribute {name!r}")
    value = getattr(_importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
