"""When to stop looking for something better."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A time by which a search ends, with the best it has."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the time so many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.at - time.monotonic()

    @property
    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left <= 0

    def share(self, part: float) -> Deadline:
        """Return the time when this share of what is left is over."""
        return Deadline(time.monotonic() + part * self.left)


NEVER = Deadline(math.inf)
