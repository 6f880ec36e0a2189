"""A program that kills its children, called with WHERE COUNT SECONDS BUDGET [ready]; prints what left them.

A pair of braces in WHERE stands for the number of the child.  BUDGET is "epsilon", or "rho" for one with a delta, where
epsilon is soon over its cap.  With "ready" seconds count from its first answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from inbounds.ledger import Ledger
from inbounds.ledger.stores import postgres
from tests.helpers.killed_children import kill_children

AT_ONCE = 4

READY = (postgres,)
"""What a child need not take the time to import."""


BUDGETS: dict[str, dict[str, Any]] = {
    "epsilon": {"total": 1000, "per_analyst": 900},
    "rho": {"total": "0.01", "per_analyst": "0.009", "delta": "0.5"},
}


def answer(where: str, budget: str, ready: Callable[[], None]) -> None:
    """Charge and answer for ever; an answer leaves only when the ledger has kept it."""
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", **BUDGETS[budget])
        for number in count():
            receipt = ledger.charge("clinic", f"analyst {number % 2}", "0.001", f"{os.getpid()}-{number}")
            text = ledger.answered(receipt, f"answer-{os.getpid()}-{number}")
            os.write(sys.stdout.fileno(), f"{receipt.request_id} {text}\n".encode())
            if number == 0:
                ready()


if __name__ == "__main__":
    place, total, longest = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    kind, once_ready = sys.argv[4], sys.argv[5:] == ["ready"]
    kill_children(
        lambda number, ready: answer(place.format(number), kind, ready), total, longest, AT_ONCE, once_ready=once_ready
    )
