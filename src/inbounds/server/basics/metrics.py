"""Counts for the custodian: requests, answers, refusals and time, in the format of Prometheus.

Processes count in files of one folder, which `PROMETHEUS_MULTIPROC_DIR` names; whoever asks any of them gets the sum.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.025, 0.1, 0.25, 1, 5, 30, 120)


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "inbounds_requests", "Requests by route and status.", ["route", "status"], registry=self._registry
        )
        self.answers = Counter("inbounds_answers", "Answers by dataset.", ["dataset"], registry=self._registry)
        self.problems = Counter("inbounds_problems", "Errors by code.", ["code"], registry=self._registry)
        self.seconds = Histogram(
            "inbounds_request_seconds",
            "Duration of requests by route.",
            ["route"],
            buckets=SECONDS,
            registry=self._registry,
        )

    def text(self) -> bytes:
        """Return everything, of all processes if they share a folder."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)
