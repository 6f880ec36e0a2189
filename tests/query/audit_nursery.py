"""A program that kills its children while they ask, called with CONTRACT COUNT SECONDS; prints what they were told."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from itertools import count

from inbounds.query import Dataset
from inbounds.query.engines import duckdb

AT_ONCE = 2

EPSILON = 0.001

READY = (duckdb,)
"""What a child need not take the time to import."""


def ask(path: str, out: int) -> None:
    """Ask without end; each line tells a request id and its answer."""
    with Dataset.load(path) as dataset:
        query = dataset.count().by("place")
        for number in count():
            answer = query.ask(EPSILON, analyst="ana", request_id=f"{os.getpid()}-{number}", pooling=1)
            os.write(out, f"{answer.request_id} {answer.dump()}\n".encode())


def start(path: str) -> int:
    """Return the process id of a new child."""
    pid = os.fork()
    if pid == 0:
        try:
            ask(path, sys.stdout.fileno())
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    return pid


def main() -> None:
    """Start children, a few at once, and kill one after the other at random moments."""
    path, total, longest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    chance = random.Random(0)
    for _ in range(0, total, AT_ONCE):
        children = [start(path) for _ in range(AT_ONCE)]
        for pid in children:
            time.sleep(chance.uniform(0, longest))
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            status = os.waitpid(pid, 0)[1]
            if not os.WIFSIGNALED(status):
                raise SystemExit("a child ended by itself")


if __name__ == "__main__":
    main()
