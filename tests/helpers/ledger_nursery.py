"""A program that kills its children, called with WHERE COUNT SECONDS [ready]; prints the answers that left them.

A pair of braces in WHERE stands for the number of the child.  With "ready" seconds count from its first answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count

from inbounds.ledger import Ledger, postgres
from tests.helpers.nursery import kill_children

AT_ONCE = 4

READY = (postgres,)
"""What a child need not take the time to import."""


def answer(where: str, ready: Callable[[], None]) -> None:
    """Charge and answer for ever; an answer leaves only when the ledger has kept it."""
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1000, per_analyst=900)
        for number in count():
            receipt = ledger.charge("clinic", f"analyst {number % 2}", "0.001", f"{os.getpid()}-{number}")
            text = ledger.answered(receipt, f"answer-{os.getpid()}-{number}")
            os.write(sys.stdout.fileno(), f"{receipt.request_id} {text}\n".encode())
            if number == 0:
                ready()


if __name__ == "__main__":
    place, total, longest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    once_ready = sys.argv[4:] == ["ready"]
    kill_children(
        lambda number, ready: answer(place.format(number), ready), total, longest, AT_ONCE, once_ready=once_ready
    )
