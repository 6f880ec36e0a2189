"""When answers leave: at fixed times after they were asked, whatever it took to find them."""

from __future__ import annotations

import asyncio
import math

from inbounds.server.basics import clock


class Ticks:
    """The moments, so many seconds apart, at which the answer to one question may leave.

    An answer that is late for one leaves at the next.  That is seen from outside: a tick should be longer than the
    statements of a dataset take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._asked = clock.seconds()

    async def next(self) -> None:
        """Return at the next tick."""
        if self._seconds == 0:
            return
        elapsed = clock.seconds() - self._asked
        departure = self._asked + math.ceil(elapsed / self._seconds) * self._seconds
        # A sleep may end a little early, and an answer must never leave before its tick.
        while (left := departure - clock.seconds()) > 0:
            await asyncio.sleep(left)
