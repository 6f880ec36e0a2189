"""How long something takes; only the custodian is told, for it depends on the data."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stopwatch:
    """Runs from when it is made."""

    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How many seconds it has run."""
        return time.monotonic() - self.started
