"""A question to the infirmary: in SQL, where the words are there also in Python, and what is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inbounds.query import Dataset, Query


@dataclass(frozen=True)
class Asked:
    """A question that is answered.  What is selected is the keys that it groups by, then measures."""

    sql: str
    python: Callable[[Dataset], Query] | None = None
    truth: str | None = None
    """The statement that gives the true answer in plain SQL, where it is not the question itself."""

    @property
    def true_sql(self) -> str:
        """What to run where nothing is protected."""
        return self.truth or self.sql


def stays(d: Dataset) -> Dataset:
    """Return the stays."""
    return d.rows_of("stays")


def measurements(d: Dataset) -> Dataset:
    """Return the measurements."""
    return d.rows_of("measurements")


def prescriptions(d: Dataset) -> Dataset:
    """Return the prescriptions."""
    return d.rows_of("prescriptions")
