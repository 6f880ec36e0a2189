"""Reading the ledger for a route or a page: in a thread, since it may wait for the disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from inbounds.ledger import Ledger
from inbounds.server.service.service import Service

Result = TypeVar("Result")


async def read_ledger(service: Service, read: Callable[[Ledger], Result]) -> Result:
    """Return what a function reads in the ledger."""

    def work() -> Result:
        with service.holdings.reading() as ledger:
            return read(ledger)

    return await run_in_threadpool(work)
