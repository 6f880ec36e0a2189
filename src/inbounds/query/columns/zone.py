"""Time zones: how far the clock of a zone is ahead of UTC, and when that changes, between two moments.

Offsets are looked up once, in the database of zones that Python has, and written into statements: so every engine
reads the same clock, whatever database of zones it has itself.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from inbounds.bounds.times import moment_at, moment_number

LOOK_EVERY = timedelta(hours=6)
"""No zone has changed its clock twice within so short a time."""

SECOND = timedelta(seconds=1)


def refuse_zone(name: str) -> str | None:
    """Return why a name is not that of a time zone, None if it is."""
    if name in available_timezones():
        return None
    same = [zone for zone in available_timezones() if zone.lower() == name.lower()]
    like = f"write {sorted(same)[0]!r}" if same else "write it like 'Europe/Zurich' or 'UTC'"
    return f"timezone must be the name of a time zone in the tz database, got {name!r}; {like}"


@lru_cache(maxsize=256)
def offsets(name: str, first: datetime, last: datetime) -> tuple[tuple[datetime, int], ...]:
    """Return the seconds that a clock is ahead of UTC, each with the moment in UTC from which on it is.

    The first is the one at `first`; after `last` nothing is said.
    """
    zone = ZoneInfo(name)
    changes = [(first, _ahead(zone, first))]
    at = first
    while at < last:
        following = at + LOOK_EVERY if last - at > LOOK_EVERY else last
        if (ahead := _ahead(zone, following)) != changes[-1][1]:
            changes.append((_find_change(zone, at, following), ahead))
        at = following
    return tuple(changes)


def _ahead(zone: ZoneInfo, moment: datetime) -> int:
    """Return how many seconds a clock is ahead of UTC at a moment of UTC."""
    try:
        offset = moment.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    except OverflowError:  # at the ends of the calendar
        offset = None
    return 0 if offset is None else offset // SECOND


def _find_change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """Return the first second at which a clock shows what it shows at the later of two moments."""
    ahead = _ahead(zone, after)
    low, high = int(moment_number(before)), int(moment_number(after))
    while high - low > 1:
        middle = (low + high) // 2
        if _ahead(zone, moment_at(Fraction(middle))) == ahead:
            high = middle
        else:
            low = middle
    return moment_at(Fraction(high))
