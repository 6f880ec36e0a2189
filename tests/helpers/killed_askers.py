"""A program that kills its children while they ask, called with CONTRACT COUNT SECONDS; prints what they were told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count

from inbounds.query import Dataset
from inbounds.query.answer.kept_answer import write_kept
from inbounds.query.engines import duckdb
from tests.helpers.killed_children import kill_children

AT_ONCE = 2

EPSILON = 0.001

READY = (duckdb,)
"""What a child need not take the time to import."""


def ask(path: str, ready: Callable[[], None]) -> None:
    """Ask without end; each line tells a request id and its answer."""
    with Dataset.load(path) as dataset:
        query = dataset.count().by("place")
        query.plan(EPSILON, pooling=1)  # what is planned is kept
        ready()
        for number in count():
            answer = query.ask(EPSILON, analyst="ana", request_id=f"{os.getpid()}-{number}", pooling=1)
            os.write(sys.stdout.fileno(), f"{answer.request_id} {write_kept(answer)}\n".encode())


if __name__ == "__main__":
    contract, total, longest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    kill_children(lambda _, ready: ask(contract, ready), total, longest, AT_ONCE, once_ready=True)
