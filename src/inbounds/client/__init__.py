"""Querying a server: the same questions and answers as with a local dataset, over the network.

clinic = inbounds.connect("https://inbounds.hospital.example")   # the key is in INBOUNDS_KEY
visits = clinic.dataset("visits")
visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").ask(0.5)
"""

from inbounds.client.connection import Connection
from inbounds.client.link import Link
from inbounds.client.remote_dataset import RemoteDataset
from inbounds.client.remote_query import RemoteExplanation, RemoteQuery
from inbounds.client.report_entry import ReportEntry, ReportQuestionEntry
from inbounds.errors import ServerError, ServerRefused, ServerUnreachable

__all__ = [
    "Connection",
    "Link",
    "RemoteDataset",
    "RemoteExplanation",
    "RemoteQuery",
    "ReportEntry",
    "ReportQuestionEntry",
    "ServerError",
    "ServerRefused",
    "ServerUnreachable",
]
