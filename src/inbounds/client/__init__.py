"""Querying a server: the same questions and answers as with a local dataset, over the network.

clinic = connect("https://inbounds.hospital.example")   # the key is in INBOUNDS_KEY
visits = clinic.dataset("visits")
visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").ask(0.5)
"""

from inbounds.client.connection import Connection, connect
from inbounds.client.remote_dataset import RemoteDataset
from inbounds.client.remote_query import RemoteExplanation, RemoteQuery
from inbounds.errors import (
    AnswerFailed,
    BudgetExceeded,
    EngineFailed,
    InboundsError,
    InvalidParameter,
    InvalidQuestion,
    LedgerUnavailable,
    RequestReused,
    ServerError,
    ServerRefused,
    ServerUnreachable,
    UselessQuestion,
)
from inbounds.results.answer import Answer
from inbounds.version import __version__ as __version__

__all__ = [
    "Answer",
    "AnswerFailed",
    "BudgetExceeded",
    "Connection",
    "EngineFailed",
    "InboundsError",
    "InvalidParameter",
    "InvalidQuestion",
    "LedgerUnavailable",
    "RemoteDataset",
    "RemoteExplanation",
    "RemoteQuery",
    "RequestReused",
    "ServerError",
    "ServerRefused",
    "ServerUnreachable",
    "UselessQuestion",
    "connect",
]
