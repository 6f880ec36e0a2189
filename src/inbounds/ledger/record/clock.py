"""What time it is by the clock of whoever writes: for the times of entries, and for the period that one counts in."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)
