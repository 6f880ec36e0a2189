"""What time it is: for keys that expire, for ticks and for limits; no answer depends on it."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the time, in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def seconds() -> float:
    """Return seconds that never go back, as this machine counts them in every process."""
    return time.monotonic()


def pause(seconds: float) -> None:
    """Let so many seconds pass."""
    time.sleep(seconds)
