"""Times are the same integers on every engine, and no row makes a statement fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from inbounds.query import Dataset
from tests.helpers.engine_places import Place, totals_of

ZONE = ZoneInfo("Europe/Zurich")
FIRST, LAST = datetime(2025, 3, 1), datetime(2025, 11, 30, 23, 59, 59)
COLUMNS = {
    "t": 'bounds = "[2025-03-01 00:00, 2025-11-30 23:59:59] step 1s"',
    "m": 'bounds = "[2025-03-01 00:00, 2025-11-30 23:59:59] step 15min"\ntimezone = "Europe/Zurich"',
    "z": 'bounds = "[2025-03-01 00:00, 2025-11-30 23:59:59] step 1s"\ntimezone = "Europe/Zurich"',
    "d": 'bounds = "[2025-03-01, 2025-11-30]"\ntimezone = "Europe/Zurich"',
    "c": 'bounds = "[06:00, 21:59:59] step 1s"',
    "i": 'bounds = "[0, 600] step 1"\nduration = "min"',
}
TYPES = {"t": "timestamp", "m": "timestamp", "z": "timestamptz", "d": "timestamptz", "c": "time", "i": "interval"}
LACKING = {"spark": "ci", "sail": "ci", "clickhouse": "ci"}
"""Columns whose types an engine does not have, or does not keep."""

CHANGES = (datetime(2025, 3, 30, 1), datetime(2025, 10, 26, 1))
"""The moments in UTC at which clocks in Zurich change."""

ODD = {
    "duckdb": ("infinity", "-infinity", "290000-01-01 00:00:00", "0044-03-15 (BC) 12:00:00"),
    "postgres": ("infinity", "-infinity", "290000-01-01 00:00:00", "0044-03-15 12:00:00 BC"),
}
"""What timestamps can be, and Python's cannot."""


def moments(chance: random.Random, count: int) -> list[datetime]:
    """Return moments in UTC, many of them near a change of clocks, the ends, or a full minute."""
    near = [*CHANGES, FIRST, LAST, datetime(2025, 6, 1), datetime(1, 1, 1), datetime(9999, 12, 31)]
    found = []
    for _ in range(count):
        by = timedelta(seconds=chance.choice((1, 60, 3600, 86400)) * chance.randint(-3, 3))
        by += timedelta(microseconds=chance.choice((0, 0, 1, -1, 999_999, 500_000)))
        try:
            found.append(chance.choice(near) + by)
        except OverflowError:
            found.append(datetime(1, 1, 1))
    return found + [FIRST + timedelta(seconds=chance.randrange(300 * 86400)) for _ in range(count)]


def local(moment: datetime) -> datetime:
    """Return what a clock in Zurich shows."""
    try:
        return moment.replace(tzinfo=UTC).astimezone(ZONE).replace(tzinfo=None)
    except OverflowError:
        return moment


def clipped(value: datetime) -> datetime:
    """Return a time within the bounds."""
    return min(max(value.replace(microsecond=0), FIRST), LAST)


def dataset(place: Place, rows: list[dict[str, Any]]) -> Dataset:
    """Put rows of times into a table of an engine."""
    names = [name for name in COLUMNS if name not in LACKING.get(place.name, "")]
    text = "\n".join(f"[columns.{name}]\n{COLUMNS[name]}" for name in names)
    contract = f'[dataset]\nname = "v"\nunit = "row"\n{text}\n[budget]\ntotal = 1\n'
    return place.dataset(rows, {name: TYPES[name] for name in names}, contract)


def row(moment: datetime) -> dict[str, Any]:
    """Return a row with a moment in every form."""
    stay = timedelta(minutes=moment.hour * 25, seconds=moment.second)
    instant = moment.replace(tzinfo=UTC)
    return {"t": moment, "m": moment, "z": instant, "d": instant, "c": moment.time(), "i": stay}


def counts(dataset: Dataset, node: str) -> dict[Any, int]:
    """Return how many rows there are for each value of an expression."""
    query = dataset.sql(f"SELECT {node}, COUNT(*) FROM v GROUP BY {node}")
    labels = query.question.groups[0].labels
    return {label: total for label, (total,) in zip(labels, totals_of(query), strict=True) if total}


def expected(values: list[Any]) -> dict[Any, int]:
    """Return the same in plain Python."""
    return {value: values.count(value) for value in values}


PARTS: dict[str, Callable[[datetime], Any]] = {
    "HOUR({})": lambda t: t.hour,
    "MINUTE({})": lambda t: t.minute,
    "SECOND({})": lambda t: t.second,
    "MONTH({})": lambda t: t.month,
    "WEEKDAY({})": lambda t: t.weekday(),
    "CAST({} AS DATE)": datetime.date,
    "DATE_TRUNC('week', {})": lambda t: t.date() - timedelta(days=t.weekday()),
    "DATE_TRUNC('month', {})": lambda t: t.date().replace(day=1),
    "DATE_TRUNC('hour', CAST({} AS TIME))": lambda t: time(t.hour),
    "HOUR({} + INTERVAL '90' MINUTE)": lambda t: (t + timedelta(minutes=90)).hour,
    "EXTRACT(DAY FROM {} - INTERVAL '6' HOUR)": lambda t: (t - timedelta(hours=6)).day,
}


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_times_are_those_of_python(engine_place: Place, part: str) -> None:
    """Hours, days, weeks and months of times, and of moments on the clock of a zone, are those of Python."""
    found = moments(random.Random(part), 60)
    data = dataset(engine_place, [row(moment) for moment in found])
    assert counts(data, part.format("t")) == expected([PARTS[part](clipped(one)) for one in found])
    on_the_clock = [clipped(local(one)) for one in found]
    assert counts(data, part.format("z")) == expected([PARTS[part](one) for one in on_the_clock])


def test_steps_are_rounded_down(engine_place: Place) -> None:
    """A time is the last step before it, also a moment that is stored without a zone and read by one."""
    found = moments(random.Random(1), 100)
    data = dataset(engine_place, [row(moment) for moment in found])
    quarters = [(one.hour, one.minute // 15 * 15) for one in (clipped(local(moment)) for moment in found)]
    assert counts(data, "MINUTE(m)") == expected([minute for _, minute in quarters])
    assert counts(data, "HOUR(m)") == expected([hour for hour, _ in quarters])
    assert counts(data, "d") == expected([clipped(local(moment)).date() for moment in found])


def test_a_clock_is_read_as_it_is(engine_place: Place) -> None:
    """Times of day are clipped and counted by the hour and the minute that they show."""
    if "c" in LACKING.get(engine_place.name, ""):
        pytest.skip("no times of day")
    found = moments(random.Random(2), 80)
    data = dataset(engine_place, [row(moment) for moment in found])
    shown = [min(max(one.time().replace(microsecond=0), time(6)), time(21, 59, 59)) for one in found]
    assert counts(data, "HOUR(c)") == expected([one.hour for one in shown])
    assert counts(data, "MINUTE(c)") == expected([one.minute for one in shown])


def test_intervals_are_numbers_of_their_unit(engine_place: Place) -> None:
    """An interval is the nearest whole number of minutes, half a minute up."""
    if "i" in LACKING.get(engine_place.name, ""):
        pytest.skip("no intervals")
    found = moments(random.Random(3), 80)
    data = dataset(engine_place, [row(moment) for moment in found])
    minutes = [one.hour * 25 + (one.second + 30) // 60 for one in found]
    assert counts(data, "i") == expected([min(one, 600) for one in minutes])


def test_comparisons_are_those_of_python(engine_place: Place) -> None:
    """A comparison with a time, a day or another column counts the rows that Python counts."""
    found = moments(random.Random(4), 100)
    data = dataset(engine_place, [row(moment) for moment in found])
    noon = datetime(2025, 6, 1, 12)
    tests: dict[str, Callable[[datetime, datetime], bool]] = {
        "t >= TIMESTAMP '2025-06-01 12:00'": lambda t, z: t >= noon,
        "z < '2025-06-01 12:00:00'": lambda t, z: z < noon,
        "t BETWEEN '2025-03-30' AND DATE '2025-06-01'": lambda t, z: datetime(2025, 3, 30) <= t <= datetime(2025, 6, 1),
        "z > t": lambda t, z: z > t,
        "z - t > 3600": lambda t, z: z - t > timedelta(hours=1),
        "CAST(t AS TIME) < '02:00'": lambda t, z: t.time() < time(2),
        "CAST(z AS DATE) = '2025-03-30'": lambda t, z: z.date() == date(2025, 3, 30),
        "t + INTERVAL '1' DAY <= z + INTERVAL '22' HOUR": lambda t, z: t + timedelta(hours=2) <= z,
    }
    for condition, holds in tests.items():
        (((total, *_),)) = totals_of(data.sql(f"SELECT COUNT(*) FROM v WHERE {condition}"))
        assert total == sum(holds(clipped(one), clipped(local(one))) for one in found), condition


def test_no_row_makes_a_statement_fail(engine_place: Place) -> None:
    """Infinite times, years beyond all calendars and missing values are clipped, or missing."""
    odd = [*ODD.get(engine_place.name, ()), "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"]
    rows = [{**row(FIRST), "t": one, "m": one, "z": one, "d": one} for one in odd]
    if engine_place.name in ODD:
        stays = ("178000000 years", "-178000000 years", "2147483647 days", "-2147483648 days", "2500000000 hours")
        rows += [{**row(FIRST), "i": stay, "c": "24:00:00"} for stay in stays]
    if engine_place.name in ("spark", "sail"):
        rows = [row(datetime(1, 1, 1)), row(datetime(9999, 12, 31, 23, 59, 59, 999_999))]
    missing = dict.fromkeys(TYPES)
    data = dataset(engine_place, [*rows, missing])
    for name in (name for name in TYPES if name not in LACKING.get(engine_place.name, "")):
        for measure in (f"COUNT({name})", f"MEDIAN({name})"):
            (totals,) = totals_of(data.sql(f"SELECT {measure} FROM v"))
            assert sum(totals) >= len(rows)
    assert sum(counts(data, "HOUR(z)").values()) == len(rows)
    assert set(counts(data, "CAST(z AS DATE)")) <= {date(2025, 3, 1), date(2025, 11, 30)}
