"""When to stop looking for something better."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A time by which a search ends, with the best it has."""

    at: float
    clock: Callable[[], float] = time.monotonic
    """Which tells how late it is."""

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the time so many seconds from now."""
        return cls(time.monotonic() + seconds)

    @classmethod
    def after_work(cls, seconds: float) -> Deadline:
        """Return the time when this thread has had a processor for so many seconds, however busy the machine is."""
        return cls(time.thread_time() + seconds, time.thread_time)

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.at - self.clock()

    @property
    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left <= 0

    def share(self, part: float) -> Deadline:
        """Return the time when this share of what is left is over."""
        return Deadline(self.clock() + part * self.left, self.clock)


NEVER = Deadline(math.inf)
