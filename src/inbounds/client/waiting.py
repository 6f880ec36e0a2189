"""Waiting before something is tried again: longer each time, and not for ever."""

from __future__ import annotations

import time

FIRST = 0.2
MOST = 5.0


class Waiting:
    """How long somebody still waits."""

    def __init__(self, patience: float) -> None:
        self._until = time.monotonic() + patience
        self._pause = FIRST

    def again(self) -> bool:
        """Wait a little, and return True; return False at once if there is no patience left for that."""
        if time.monotonic() + self._pause > self._until:
            return False
        time.sleep(self._pause)
        self._pause = min(MOST, 2 * self._pause)
        return True
