"""The same times have the same totals in every type of frames, in files and in SQLite."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from tests.helpers.engine_places import totals_of

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TOKYO, ZURICH = ZoneInfo("Asia/Tokyo"), ZoneInfo("Europe/Zurich")
CONTRACT = """
[dataset]
name = "v"
unit = "row"
SOURCE
[columns.t]
bounds = "[2025-03-28 00:00, 2025-04-02 23:59:59] step 1s"
ZONE
[columns.c]
bounds = "[06:00, 21:59:59] step 1s"
[columns.i]
bounds = "[0, 600] step 1"
duration = "min"
[budget]
total = 1
"""
ASKED = ("HOUR(t)", "CAST(t AS DATE)", "MINUTE(t)", "MINUTE(c)", "HOUR(c)", "i")
Columns = dict[str, list[Any]]


def columns() -> Columns:
    """Return moments around a change of clocks, their times of day, and stays, some of them missing."""
    chance = random.Random(5)
    start = datetime(2025, 3, 29)
    moments: list[Any] = [
        start + timedelta(seconds=chance.randrange(3 * 86400), microseconds=chance.choice([0, 999_999]))
        for _ in range(150)
    ]
    stays = [timedelta(minutes=one.hour * 20, seconds=one.second) for one in moments]
    return {"t": [*moments, None], "c": [*(one.time() for one in moments), None], "i": [*stays, None]}


def texts(given: Columns, write: Callable[[Any], str] = str) -> Columns:
    """Return columns of texts."""
    return {name: [None if one is None else write(one) for one in values] for name, values in given.items()}


def zoned(given: Columns) -> list[Any]:
    """Return moments of UTC on a clock in Tokyo."""
    return [None if one is None else one.replace(tzinfo=UTC).astimezone(TOKYO) for one in given["t"]]


def pandas_frame(given: Columns, time: Any, stay: Any) -> Any:
    """Return a pandas frame of types."""
    series = {"t": pandas.Series(given["t"], dtype=time), "i": pandas.Series(given["i"], dtype=stay)}
    return pandas.DataFrame({**series, "c": pandas.Series(given["c"], dtype=object)})


def arrow_table(given: Columns, time: Any, unit: str) -> Any:
    """Return an Arrow table of types."""
    kinds = {"t": time, "c": pyarrow.time64(unit), "i": pyarrow.duration(unit)}
    return pyarrow.table({name: pyarrow.array(values, kinds[name]) for name, values in given.items()})


FORMS: dict[str, Callable[[Columns], Any]] = {
    **{
        f"pandas {unit}": lambda given, unit=unit: pandas_frame(given, f"datetime64[{unit}]", f"timedelta64[{unit}]")  # type: ignore[misc]
        for unit in ("us", "ns")
    },
    "pandas object": lambda given: pandas_frame(given, object, object),
    "texts": lambda given: pandas.DataFrame(texts(given)),
    "ISO texts": lambda given: pandas.DataFrame(
        texts({"t": given["t"]}, datetime.isoformat) | texts({"c": given["c"], "i": given["i"]})
    ),
    "polars": polars.DataFrame,
    **{
        f"arrow {unit}": lambda given, unit=unit: arrow_table(given, pyarrow.timestamp(unit), unit)  # type: ignore[misc]
        for unit in ("us", "ns")
    },
}
ZONED: dict[str, Callable[[Columns], Any]] = {
    "pandas zone": lambda given: pandas_frame(
        {**given, "t": zoned(given)}, "datetime64[us, Asia/Tokyo]", "timedelta64[us]"
    ),
    "pandas object": lambda given: pandas_frame({**given, "t": zoned(given)}, object, object),
    "polars zone": lambda given: polars.DataFrame(given).with_columns(
        polars.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    ),
    "arrow zone": lambda given: arrow_table({**given, "t": zoned(given)}, pyarrow.timestamp("us", "Asia/Tokyo"), "us"),
    "texts": lambda given: pandas.DataFrame(texts({**given, "t": zoned(given)})),
}


def totals(zone: str | None = None, source: str = "", **frame: Any) -> list[list[list[int]]]:
    """Return how many rows there are for each part."""
    text = CONTRACT.replace("ZONE", "" if zone is None else f'timezone = "{zone}"').replace("SOURCE", source)
    with Dataset.parse(text, **frame) as dataset:
        return [totals_of(dataset.sql(f"SELECT {part}, COUNT(*) FROM v GROUP BY {part}")) for part in ASKED]


def hours(moments: list[datetime]) -> list[list[int]]:
    """Return how many moments there are for each hour."""
    return [[sum(one.hour == hour for one in moments)] for hour in range(24)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_times_are_alike_in_every_type(form: str, zone: str | None) -> None:
    """Times without a zone are read as they are written, or as moments in UTC where the contract names a zone."""
    given = columns()
    expected = totals(zone, frame=FORMS["arrow us"](given))
    assert totals(zone, frame=FORMS[form](given)) == expected
    moments = [one for one in given["t"] if one is not None]
    local = [one.replace(tzinfo=UTC).astimezone(ZURICH) for one in moments]
    assert expected[0] == hours(moments if zone is None else local)


@pytest.mark.parametrize("form", ZONED)
@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_times_with_a_zone_are_moments(form: str, zone: str | None) -> None:
    """Times with a zone are read by the clock that the contract names, or else by their own."""
    moments = [one for one in zoned(columns()) if one is not None]
    local = moments if zone is None else [one.astimezone(ZURICH) for one in moments]
    found = totals(zone, frame=ZONED[form](columns()))
    assert found[0] == hours(local)
    assert found[3:] == totals(zone, frame=FORMS["arrow us"](columns()))[3:]


@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_files_are_read_as_frames_are(tmp_path: Path, zone: str | None) -> None:
    """ISO texts in parquet, csv and SQLite, and timestamps in parquet, have the totals of a frame."""
    given = columns()
    expected = totals(zone, frame=FORMS["arrow us"](given))
    written = texts(given)
    parquet.write_table(pyarrow.table(written), tmp_path / "texts.parquet")
    stamps = FORMS["arrow us"](given).set_column(2, "i", pyarrow.array(written["i"]))
    parquet.write_table(stamps, tmp_path / "stamps.parquet")
    pandas.DataFrame(written).to_csv(tmp_path / "v.csv", index=False)
    with sqlite3.connect(tmp_path / "v.sqlite") as file:
        file.execute("CREATE TABLE v (t, c, i)")
        file.executemany("INSERT INTO v VALUES (?, ?, ?)", zip(*written.values(), strict=True))
    file.close()
    sources = [f'source = "{tmp_path / name}"' for name in ("texts.parquet", "stamps.parquet", "v.csv")]
    for source in (*sources, f'source = "{tmp_path / "v.sqlite"}"\ntable = "v"'):
        assert totals(zone, source) == expected, source


ODD = [
    "", "yesterday", "2025-03-30", "2025-03-30 12", "2025-03-3012", "2025-03-30 12:305", "2025-03-30T12:30:15.9999999",
    "2025-03-30 24:00", "12:30", "infinity", "epoch", "2025-02-30 12:00", "2025-03-30 12:30+99:99", "0", "1e9",
    "2025-03-30 12:30+0130", "2025-03-30 12:30Z",
]  # fmt: skip


def test_odd_texts_are_missing(tmp_path: Path) -> None:
    """A text that is no time is missing, a day is its midnight, and a fraction of a second is cut off, not rounded."""
    pandas.DataFrame({"t": ODD, "c": ODD, "i": ODD}).to_csv(tmp_path / "v.csv", index=False)
    by_hour, _, by_minute, _, clock_hours, _ = totals(None, f'source = "{tmp_path / "v.csv"}"')
    assert by_hour[0] == [2]  # 24:00 is the end of a day, and the beginning of the next
    assert by_hour[12] == [4]
    assert sum(map(sum, by_hour)) == 6
    assert by_minute[30] == [4]
    assert clock_hours[12 - 6] == [1]
    in_zurich = totals("Europe/Zurich", f'source = "{tmp_path / "v.csv"}"')[0]
    assert in_zurich[14] == [2]  # 12:30 of UTC, in summer
    assert in_zurich[13] == [1]  # 11:00 of UTC


def test_a_format_can_have_hours(tmp_path: Path) -> None:
    """A date_format with hours reads times, and one without is about days only."""
    (tmp_path / "v.csv").write_text("t,c,i\n30.03.2025 17:45,12:00,5\n2025-03-30 17:45,12:00,5\n31.03.2025,12:00,5\n")
    source = f'source = "{tmp_path / "v.csv"}"'
    with_hours = totals(None, f"{source}\ndate_format = '%d.%m.%Y %H:%M'")
    assert [hour for hour, (count,) in enumerate(with_hours[0]) if count] == [17]
    assert sum(map(sum, with_hours[0])) == 1
    assert totals(None, f"{source}\ndate_format = '%d.%m.%Y'")[0][17] == [1]
    with pytest.raises(InvalidContract, match="date_format needs bounds that are dates or times"):
        totals(None, source + '\n[columns.n]\nbounds = "[0, 1] step 1"\ndate_format = "%d.%m.%Y"')


EXTREMES = [-(2**63) + 1, 2**63 - 1, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_no_time_of_a_frame_makes_a_statement_fail(unit: str) -> None:
    """The least and the greatest times and durations of every unit are clipped, or missing, in every library."""
    integers = pyarrow.array(EXTREMES, pyarrow.int64())
    clocks = pyarrow.array([0, 86_399, None], pyarrow.int32()).cast(pyarrow.time32("s"))
    frames = [
        pyarrow.table({"t": integers.cast(pyarrow.timestamp(unit, zone)), "c": clocks, "i": stays})
        for zone in (None, "Asia/Tokyo")
        for stays in [integers.cast(pyarrow.duration(unit))]
    ]
    frames += [frame.to_pandas(types_mapper=pandas.ArrowDtype) for frame in frames[:1]]
    if unit != "s":
        frames += [polars.from_arrow(frame) for frame in frames[:2]]
    for frame in frames:
        for zone in (None, "Europe/Zurich"):
            assert sum(map(sum, totals(zone, frame=frame)[-1])) == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_half_a_unit_goes_up_in_every_library(unit: str) -> None:
    """Half a minute is a minute, whatever unit durations are kept in."""
    given: Columns = {"t": [None] * 40, "c": [None] * 40, "i": [timedelta(seconds=30 + 60 * n) for n in range(40)]}
    frames = [arrow_table(given, pyarrow.timestamp("us"), "us").set_column(
        2, "i", pyarrow.array(given["i"], pyarrow.duration(unit))
    )]  # fmt: skip
    frames += [pandas.DataFrame({**given, "i": pandas.Series(given["i"], dtype=f"timedelta64[{unit}]")})]
    frames += [polars.from_arrow(frames[0])] if unit != "s" else []
    for frame in frames:
        assert totals(frame=frame)[-1][:42] == [[0], *[[1]] * 40, [0]]
