"""The clocks of zones: offsets between two moments, as Python has them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from inbounds.query.columns.zone import offsets, refuse_zone

ZONES = [
    "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "UTC",
    "America/St_Johns", "Pacific/Apia", "Asia/Kolkata", "Antarctica/Troll", "Europe/Dublin", "Africa/Monrovia",
]  # fmt: skip


def ahead(zone: str, moment: datetime) -> float:
    """Return how many seconds a clock is ahead of UTC, by Python."""
    offset = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return offset.total_seconds()


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_are_those_of_python(zone: str) -> None:
    """At random moments, and a second before and at each change, the offset is the one that Python has."""
    first, last = datetime(1960, 1, 1), datetime(2045, 1, 1)
    found = offsets(zone, first, last)
    starts = [start for start, _ in found]
    assert starts[0] == first
    assert starts == sorted(set(starts))
    chance = random.Random(zone)
    moments = [first + timedelta(seconds=chance.randrange(85 * 365 * 86400)) for _ in range(2000)]
    moments += [start + timedelta(seconds=by) for start in starts[1:] for by in (-1, 0, 1)]
    for moment in moments:
        assert next(by for start, by in reversed(found) if start <= moment) == ahead(zone, moment), moment


def test_the_ends_of_the_calendar_are_no_failure() -> None:
    """A clock that would show a day beyond the calendar shows that of UTC there."""
    assert offsets("Europe/Zurich", datetime.min, datetime(1, 1, 3))
    assert offsets("America/New_York", datetime(9999, 12, 30), datetime.max.replace(microsecond=0))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("europe/zurich", "write 'Europe/Zurich'"), ("Zurich", "'UTC'"), ("", "'UTC'"), ("../x", "'UTC'")],
)
def test_what_is_no_zone_is_refused(name: str, remedy: str) -> None:
    """A name that is no zone is refused, with the zone that it is if only capitals differ."""
    assert refuse_zone("Europe/Zurich") is None
    problem = refuse_zone(name)
    assert problem is not None
    assert remedy in problem
