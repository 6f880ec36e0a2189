"""How fast addresses are answered that need no key: whoever asks without a pause waits a little, and nobody is refused.

Health probes have no key, and come from a proxy's address as everybody does.  Whoever could use up a limit on them
could make the server look dead; a short wait only slows down those who ask again as soon as they are answered.
"""

from __future__ import annotations

import asyncio

from inbounds.server.basics import clock

EACH = 0.02
"""Seconds for each answer of a process, if many want one."""

AT_ONCE = 20
"""So many are answered without a wait after a pause."""

LONGEST = 0.5
"""Seconds that anybody waits: shorter than a health probe has patience."""


class Pace:
    """The turns of those who ask."""

    def __init__(self) -> None:
        self._next = 0.0

    async def turn(self) -> None:
        """Return when it is this one's turn."""
        now = clock.seconds()
        # After a pause the last turn lies far back, but at most AT_ONCE turns are made up for.
        self._next = min(max(self._next, now - AT_ONCE * EACH) + EACH, now + LONGEST)
        if self._next > now:
            await asyncio.sleep(self._next - now)
