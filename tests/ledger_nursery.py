"""A program that kills its children, called with WHERE COUNT SECONDS; prints the answers that left them.

A pair of braces in WHERE stands for the number of the child.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from itertools import count

from inbounds.ledger import Ledger, postgres

AT_ONCE = 4

READY = (postgres,)
"""What a child need not take the time to import."""


def answer(where: str, out: int) -> None:
    """Charge and answer for ever; an answer leaves only when the ledger has kept it."""
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1000, per_analyst=900)
        for number in count():
            receipt = ledger.charge("clinic", f"analyst {number % 2}", "0.001", f"{os.getpid()}-{number}")
            text = ledger.answered(receipt, f"answer-{os.getpid()}-{number}")
            os.write(out, f"{receipt.request_id} {text}\n".encode())


def start(where: str) -> int:
    """Return the process id of a new child."""
    pid = os.fork()
    if pid == 0:
        try:
            answer(where, sys.stdout.fileno())
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    return pid


def main() -> None:
    """Start children, a few at once, and kill one after the other at random moments."""
    where, total, longest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    chance = random.Random(0)
    for first in range(0, total, AT_ONCE):
        children = [start(where.format(first + number)) for number in range(AT_ONCE)]
        for pid in children:
            time.sleep(chance.uniform(0, longest))
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            status = os.waitpid(pid, 0)[1]
            if not os.WIFSIGNALED(status):
                raise SystemExit("a child ended by itself")


if __name__ == "__main__":
    main()
