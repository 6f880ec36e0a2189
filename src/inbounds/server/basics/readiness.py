"""Whether the server can answer: looked for once, and told to everybody who asks in the next seconds.

However many ask, at most one look is under way in a process, and it costs as much as if one had asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from inbounds.server.basics import clock

FRESH = 3.0
"""For so many seconds an outcome holds."""

PATIENCE = 5.0
"""A look that takes longer finds nothing ready; it goes on, and nobody begins another."""


class Readiness:
    """The outcome of a look at everything that an answer needs."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._looking: asyncio.Task[bool] | None = None
        self._outcome = False
        self._until = clock.seconds()

    async def is_ready(self) -> bool:
        """Return what was found, now or in the last seconds."""
        if clock.seconds() < self._until:
            return self._outcome
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_once())
        try:
            # Shielded: one prober's timeout must not cancel the check that the others wait for.
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(self._looking)
        except TimeoutError:
            return False

    async def _look_once(self) -> bool:
        try:
            self._outcome = await run_in_threadpool(self._look)
        except Exception:  # noqa: BLE001  a look that fails has found nothing ready
            self._outcome = False
        self._until = clock.seconds() + FRESH
        self._looking = None
        return self._outcome
