"""Work that waits for a server, in threads of its own: whoever asked may leave before it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


class Background:
    """Runs some pieces of work at once; others wait for their turn.

    If whoever waits for the result is cancelled, the thread goes on, and keeps its place until it is done.  The threads
    end with the program: a question that was sent is in the ledger, and repeating it is free.
    """

    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of some work."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def report(value: T | None, problem: BaseException | None) -> None:
            self._places.release()
            if result.cancelled():
                return
            if problem is None:
                result.set_result(value)  # type: ignore[arg-type]  # which is the result, since there is no problem
            else:
                result.set_exception(problem)

        def run() -> None:
            value, problem = None, None
            try:
                value = work()
            except BaseException as raised:  # noqa: BLE001  whoever waits for it gets it
                problem = raised
            try:
                loop.call_soon_threadsafe(report, value, problem)
            except RuntimeError:  # the loop has ended, and nobody waits
                return

        Thread(target=run, daemon=True, name="inbounds gateway").start()
        return await result
