"""Columns of times: what a contract says of them, what is asked of them, and what comes back."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

from inbounds import Bounds
from inbounds.errors import InvalidContract, InvalidQuestion, LedgerConflict
from inbounds.query import Dataset, Query, column
from inbounds.query.answer.kept_answer import read_kept, write_kept
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.column import Numbers
from inbounds.query.columns.integer_range import Range, Ranges
from inbounds.query.engines.parquet_file import parquet_bytes
from inbounds.results.answer_json import read_answer, write_answer

CONTRACT = """
[dataset]
name = "visits"
unit = "row"
[columns.ward]
keys = ["a", "b"]
[columns.came]
bounds = "[2025-01-01 00:00, 2025-12-31 23:59:59] step 1s"
[columns.went]
bounds = "[2025-01-01 00:00, 2026-01-31 23:45] step 15min"
timezone = "Europe/Zurich"
[columns.clock]
bounds = "[06:00, 21:59] step 1min"
[columns.stay]
bounds = "[0, 600] step 1"
duration = "min"
[columns.day]
bounds = "[2025-01-01, 2025-12-31]"
[columns.cost]
bounds = "[0, 100] step 1"
[columns.late]
from = "HOUR(came) >= 20"
[budget]
total = 1000
"""
BUDGET = "[budget]\ntotal = 1000\n"
TIMES = [datetime(2025, 1 + i % 12, 1 + i % 28, i % 24, i % 60) for i in range(400)]


def frame() -> Any:
    """Return a table that the contract describes."""
    return pyarrow.table(
        {
            "ward": ["a", "b"] * 200,
            "came": pyarrow.array(TIMES, pyarrow.timestamp("us")),
            "went": pyarrow.array(TIMES, pyarrow.timestamp("us")),
            "clock": pyarrow.array([moment.time() for moment in TIMES], pyarrow.time64("us")),
            "stay": pyarrow.array([timedelta(minutes=moment.hour) for moment in TIMES], pyarrow.duration("us")),
            "day": [moment.date() for moment in TIMES],
            "cost": list(range(400)),
        }
    )


@pytest.fixture
def visits(tmp_path: Path) -> Dataset:
    """A dataset with times."""
    return Dataset.parse(CONTRACT.split("[columns.late]", maxsplit=1)[0] + "[budget]\ntotal = 1000\n", frame=frame(),
                         ledger=tmp_path / "l.db")  # fmt: skip


QUESTIONS = [
    "SELECT HOUR(came), COUNT(*) FROM visits GROUP BY HOUR(came)",
    "SELECT EXTRACT(MINUTE FROM went) AS m, COUNT(*) FROM visits GROUP BY m",
    "SELECT DATE_PART('hour', clock) AS h, AVG(cost) FROM visits GROUP BY h",
    "SELECT DATE_TRUNC('month', came) AS m, COUNT(*) FROM visits GROUP BY m ORDER BY m DESC",
    "SELECT DATE_TRUNC('hour', clock) AS h, COUNT(*) FROM visits GROUP BY h HAVING COUNT(*) > 5",
    "SELECT CAST(came AS DATE) AS d, COUNT(*) FROM visits GROUP BY d",
    "SELECT came::date AS d, COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits WHERE DATE(came) = '2025-03-01'",
    "SELECT COUNT(*) FROM visits WHERE came >= TIMESTAMP '2025-03-01 12:00' AND came < DATE '2025-04-01'",
    "SELECT COUNT(*) FROM visits WHERE came BETWEEN '2025-03-01' AND '2025-03-02 06:00:00'",
    "SELECT COUNT(*) FROM visits WHERE came IN (TIMESTAMP '2025-03-01 12:00', '2025-03-02')",
    "SELECT COUNT(*) FROM visits WHERE CAST(came AS TIME) < TIME '06:30'",
    "SELECT COUNT(*) FROM visits WHERE came + INTERVAL '6' HOUR > went - INTERVAL '90 minutes'",
    "SELECT COUNT(*) FROM visits WHERE came < TIMESTAMP '2025-03-01 12:00' + INTERVAL '1' MONTH",
    "SELECT COUNT(*) FROM visits WHERE came > day + INTERVAL '6' HOUR",
    "SELECT COUNT(*) FROM visits WHERE day >= TIMESTAMP '2025-03-01 00:00:00'",
    "SELECT AVG(went - came) FROM visits",
    "SELECT AVG(EXTRACT(EPOCH FROM went - came)) / 3600 AS hours FROM visits",
    "SELECT MAX(EXTRACT(EPOCH FROM came)) FROM visits",
    "SELECT MEDIAN(came), MEDIAN(clock) FROM visits",
    "SELECT ward, MEDIAN(came) AS m FROM visits GROUP BY ward HAVING m > '2025-01-02 06:00'",
    "SELECT QUANTILE(came, 0.1), QUANTILE(came, 0.9) FROM visits",
    "SELECT HISTOGRAM(came, 12) FROM visits",
    "SELECT HISTOGRAM(clock, 16) FROM visits",
    "SELECT AVG(came) FROM visits",
    "SELECT AVG(stay) FROM visits",
    "SELECT MEDIAN(CASE WHEN ward = 'a' THEN came ELSE TIMESTAMP '2025-05-05 05:05' END) FROM visits",
    "SELECT MEDIAN(COALESCE(came, day)) FROM visits",
    "SELECT MEDIAN(LEAST(came, went)) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE came + 1 > '2025-03-01'",
    "SELECT WEEKDAY(went), MONTH(came), COUNT(*) FROM visits GROUP BY 1, 2",
    "SELECT STRFTIME(came, '%H') AS h, COUNT(*) FROM visits GROUP BY h",
    "SELECT STRFTIME(came, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m",
    "SELECT AVG(DATEDIFF('hour', came, went)) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE came > CAST('2025-03-01 05:00' AS TIMESTAMP)",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_is_read_as_it_is_written(visits: Dataset, text: str) -> None:
    """The text of a question about times reads as the same question."""
    query = visits.sql(text)
    again = visits.sql(str(query))
    assert str(again) == str(query)
    assert again.questions == query.questions


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_an_answer_about_times_is_possible_and_kept(visits: Dataset, text: str) -> None:
    """Every released time lies within its bounds, and an answer is the same from the ledger and from JSON."""
    query = visits.sql(text)
    answer = query.ask(5, analyst="ana", request_id="one")
    assert read_answer(json.loads(json.dumps(write_answer(answer)))).rows == answer.rows
    kept = read_kept(write_kept(answer.released), answer.epsilon, answer.request_id)
    assert kept.rows == answer.released.rows
    assert visits.sql(text).ask(5, analyst="ana", request_id="one").rows == answer.rows
    for row in answer.rows:
        for cell in row:
            if isinstance(cell, datetime):
                assert datetime(2025, 1, 1) <= cell <= datetime(2026, 1, 31, 23, 45)
            if isinstance(cell, time):
                assert time(6) <= cell <= time(21, 59)
    assert parquet_bytes(answer.by_column()).startswith(b"PAR1")


SAME: list[tuple[Any, str]] = [
    (lambda d: d.count().by(column("came").part("hour")), "SELECT HOUR(came), COUNT(*) FROM visits GROUP BY 1"),
    (lambda d: d.count().by(column("came").truncated("day")), "SELECT came::date, COUNT(*) FROM visits GROUP BY 1"),
    (lambda d: d.count().where(column("came") >= datetime(2025, 3, 1, 12)),
     "SELECT COUNT(*) FROM visits WHERE came >= '2025-03-01 12:00'"),
    (lambda d: d.count().where(column("came") + timedelta(hours=6) >= date(2025, 3, 1)),
     "SELECT COUNT(*) FROM visits WHERE came + INTERVAL '360' MINUTE >= '2025-03-01'"),
    (lambda d: d.count().where(column("came") + timedelta(hours=-6) >= date(2025, 3, 1)),
     "SELECT COUNT(*) FROM visits WHERE came - INTERVAL 6 HOUR >= '2025-03-01'"),
    (lambda d: d.count().where(column("came") - timedelta(days=2) < "2025-03-01"),
     "SELECT COUNT(*) FROM visits WHERE came - INTERVAL '48' HOUR < '2025-03-01'"),
    (lambda d: d.count().where(column("clock") <= time(12)), "SELECT COUNT(*) FROM visits WHERE clock <= '12:00'"),
]  # fmt: skip


@pytest.mark.parametrize(("python", "sql"), SAME)
def test_both_ways_of_asking_are_one_question(visits: Dataset, python: Any, sql: str) -> None:
    """What Python's methods ask about times is what SQL asks."""
    query: Query = python(visits)
    assert query.question == visits.sql(sql).question


SPELT = [
    ("SELECT DATE_TRUNC('day', came), COUNT(*) FROM visits GROUP BY 1",
     "SELECT CAST(came AS DATE), COUNT(*) FROM visits GROUP BY 1"),
    ("SELECT DATE_TRUNC('day', day), COUNT(*) FROM visits GROUP BY 1", "SELECT day, COUNT(*) FROM visits GROUP BY 1"),
    ("SELECT TO_CHAR(clock, 'HH24'), COUNT(*) FROM visits GROUP BY 1",
     "SELECT STRFTIME(clock, '%H'), COUNT(*) FROM visits GROUP BY 1"),
    ("SELECT AVG(DATEDIFF('day', came, went)) FROM visits",
     "SELECT AVG(CAST(went AS DATE) - CAST(came AS DATE)) FROM visits"),
    ("SELECT AVG(DATEDIFF(went, day)) FROM visits", "SELECT AVG(CAST(went AS DATE) - day) FROM visits"),
    ("SELECT AVG(DATEDIFF('minute', came, went)) FROM visits",
     "SELECT AVG((DATE_TRUNC('minute', went) - DATE_TRUNC('minute', came)) / 60) FROM visits"),
    ("SELECT COUNT(*) FROM visits WHERE came > DATEADD(hour, 3, day)",
     "SELECT COUNT(*) FROM visits WHERE came > day + INTERVAL '3' HOUR"),
    ("SELECT COUNT(*) FROM visits WHERE TO_DATE(came) = '2025-03-01'",
     "SELECT COUNT(*) FROM visits WHERE CAST(came AS DATE) = '2025-03-01'"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(came AS TIMESTAMP) >= '2025-03-01 00:00:00'",
     "SELECT COUNT(*) FROM visits WHERE came >= TIMESTAMP '2025-03-01 00:00'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "plain"), SPELT)
def test_other_spellings_mean_the_same_of_times(visits: Dataset, text: str, plain: str) -> None:
    """What is written in another way is the same question, of times as of days."""
    assert visits.sql(text).questions == visits.sql(plain).questions


def test_hours_are_written_with_two_digits(visits: Dataset) -> None:
    """STRFTIME by hours gives the texts of the hours that there are, and no row another one."""
    rows = visits.sql("SELECT STRFTIME(clock, '%H'), COUNT(*) FROM visits GROUP BY 1").ask(50, analyst="ana").rows
    hours = [min(max(moment.hour, 6), 21) for moment in TIMES]  # the column is clamped to its bounds
    assert [(text, count) for text, count in rows] == [(f"{hour:02}", hours.count(hour)) for hour in range(6, 22)]


REFUSED = [
    ("SELECT COUNT(*) FROM visits WHERE CAST(clock AS DATE) > '2025-03-01'", "clock holds times of day; leave CAST"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(came AS INTEGER) > 5", "came holds times; leave CAST"),
    ("SELECT STRFTIME(day, '%H'), COUNT(*) FROM visits GROUP BY 1", "takes a time, but day is a date"),
    ("SELECT SUM(came) FROM visits", "holds times, which have no sum"),
    ("SELECT came, COUNT(*) FROM visits GROUP BY came", r"group by HOUR\(came\) or CAST\(came AS DATE\)"),
    ("SELECT clock, AVG(clock * 2) FROM visits GROUP BY clock", r"is a time of day; take a part of it, such as HOUR"),
    ("SELECT HOUR(day), COUNT(*) FROM visits GROUP BY 1", "HOUR takes a time, but day is a date"),
    ("SELECT MONTH(clock), COUNT(*) FROM visits GROUP BY 1", "MONTH takes a date, but clock is a time of day"),
    ("SELECT HOUR(ward), COUNT(*) FROM visits GROUP BY 1", "HOUR takes a time, but ward is categorical"),
    ("SELECT COUNT(*) FROM visits WHERE HOUR(went - came) > 1", "HOUR takes a time, but went - came is a number"),
    ("SELECT MILLISECOND(came), COUNT(*) FROM visits GROUP BY 1", "finer than times are asked about"),
    ("SELECT COUNT(*) FROM visits WHERE came > 5", "holds times, so it cannot be compared with 5"),
    ("SELECT COUNT(*) FROM visits WHERE came > 'noon'", "write a local time like"),
    ("SELECT COUNT(*) FROM visits WHERE came > '2025-03-01 12:00+02:00'", "write a local time like"),
    ("SELECT COUNT(*) FROM visits WHERE came > TIMESTAMP '2025-03-01 12:00Z'", "which has no offset from UTC"),
    ("SELECT COUNT(*) FROM visits WHERE clock > '2025-03-01'", "write one like '23:59:59'"),
    ("SELECT COUNT(*) FROM visits WHERE day > TIMESTAMP '2025-03-01 12:00'", "write a date like"),
    ("SELECT COUNT(*) FROM visits WHERE clock + INTERVAL '6' HOUR > '12:00'", "can leave the day; move it less"),
    ("SELECT COUNT(*) FROM visits WHERE came + INTERVAL '90000000' HOUR > '2025-01-01'", "can leave the calendar"),
    ("SELECT COUNT(*) FROM visits WHERE came + INTERVAL '1' MONTH > '2025-01-01'", "write INTERVAL '30' DAY"),
    ("SELECT MEDIAN(came + cost) FROM visits", "not a whole number of days; move one by an interval"),
    ("SELECT MEDIAN(came + went) FROM visits", "neither a time nor a duration"),
    ("SELECT MEDIAN(cost + INTERVAL '6' HOUR) FROM visits", "moves a number by an interval"),
    ("SELECT MEDIAN(CASE WHEN ward = 'a' THEN came ELSE cost END) FROM visits", "mixes numbers and times"),
    ("SELECT DATE_TRUNC('decade', came), COUNT(*) FROM visits GROUP BY 1", "week, day, hour, minute, second, got"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_times_do_not_have_is_refused(visits: Dataset, text: str, why: str) -> None:
    """What cannot be asked of times is refused by name, with a remedy behind a semicolon."""
    with pytest.raises(InvalidQuestion, match=why) as refusal:
        visits.sql(text)
    assert ";" in str(refusal.value).split("\n")[0]


CONTRACTS = [
    ('bounds = "[2025-01-01 00:00, 2025-12-31 23:59] step 7h"', "steps of times must go into a day, got 7h"),
    ('bounds = "[2025-01-01 00:00, 2025-12-31 23:59] step 2d"', "steps of times must go into a day, got 2d"),
    ('bounds = "[2025-01-01 00:00, 2025-12-31 23:59] step 1us"', "choose a coarser step"),
    ('bounds = "[2025-01-01 00:00, 2025-12-31] step 1s"', "expected a date with a time"),
    ('bounds = "[2025-01-01 00:00, 2025-12-31 23:59]"\ntimezone = "Zurich"', "name of a time zone in the tz database"),
    ('bounds = "[1000-01-01, 2025-12-31]"\ntimezone = "Europe/Zurich"', "span at most 300 years"),
    ('bounds = "[0, 5] step 1"\ntimezone = "Europe/Zurich"', "timezone needs bounds that are times or dates"),
    ('bounds = "[06:00, 07:00]"\ntimezone = "Europe/Zurich"', "timezone needs bounds that are times or dates"),
    ('bounds = "[06:00, 07:00]"\nduration = "min"', "duration must be one of us, ms, s, min, h, d"),
    ('bounds = "[0, 5] step 1"\nduration = "weeks"', "duration must be one of us, ms, s, min, h, d"),
    ('bounds = "[06:00, 07:00]"\nweekdays = "Mon-Fri"', "weekdays and closed need bounds that are dates"),
    ('keys = ["a"]\ntimezone = "UTC"', "timezone goes with bounds"),
    ('keys = ["a"]\nduration = "min"', "duration goes with bounds"),
]


@pytest.mark.parametrize(("lines", "why"), CONTRACTS)
def test_a_contract_that_says_nothing_of_times_is_refused(lines: str, why: str) -> None:
    """A step that does not go into a day, a zone that is none or beside numbers, is refused with its line."""
    text = f'[dataset]\nname = "v"\nunit = "row"\n[columns.x]\n{lines}\n[budget]\ntotal = 1\n'
    with pytest.raises(InvalidContract, match=why) as refusal:
        Dataset.parse(text, frame=frame())
    assert "line" in str(refusal.value)


def test_a_contract_makes_columns_of_times() -> None:
    """A contract can make a column of a part of a time."""
    text = CONTRACT.replace('from = "HOUR(came) >= 20"', 'from = "CASE WHEN HOUR(came) >= 20 THEN 1 ELSE 0 END"')
    query = Dataset.parse(text, frame=frame()).sql("SELECT AVG(late) FROM visits")
    assert "late" in str(query)


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("MINUTE(went)", [0, 15, 30, 45]),
        ("SECOND(went)", [0]),
        ("HOUR(clock)", list(range(6, 22))),
        ("MINUTE(clock)", list(range(60))),
        ("DATE_TRUNC('year', went)", [date(2025, 1, 1), date(2026, 1, 1)]),
        ("HOUR(DATE_TRUNC('hour', clock) + INTERVAL '30' MINUTE)", list(range(6, 22))),
        ("MINUTE(DATE_TRUNC('hour', clock) + INTERVAL '30' MINUTE)", [30]),
        ("CAST(CASE WHEN ward = 'a' THEN TIMESTAMP '2025-01-01 05:00' ELSE TIMESTAMP '2025-01-01 17:00' END AS TIME)",
         [time(5), time(17)]),
    ],
)  # fmt: skip
def test_only_possible_values_are_groups(visits: Dataset, expression: str, values: list[Any]) -> None:
    """Groups by a part of a time are those that its bounds and its step allow."""
    query = visits.sql(f"SELECT {expression} AS x, COUNT(*) FROM visits GROUP BY x")
    assert set(values) <= set(query.question.labels[0])
    if "CAST" not in expression:
        assert query.question.labels[0] == values


@pytest.mark.parametrize(
    ("condition", "group", "values"),
    [
        ("CAST(came AS DATE) < '2025-01-04'", "CAST(came AS DATE)", [date(2025, 1, day) for day in (1, 2, 3)]),
        ("came >= '2025-12-30 12:00'", "CAST(came AS DATE)", [date(2025, 12, 30), date(2025, 12, 31)]),
        ("HOUR(came) BETWEEN 6 AND 8", "HOUR(came)", [6, 7, 8]),
        ("clock < '07:30'", "HOUR(clock)", [6, 7]),
        (
            "came >= '2025-12-31 22:00'",
            "DATE_TRUNC('hour', came)",
            [datetime(2025, 12, 31, 22), datetime(2025, 12, 31, 23)],
        ),
        ("CAST(came AS DATE) = '2025-03-30'", "MONTH(came)", [3]),
        ("DATE_TRUNC('month', came) = '2025-03-01'", "WEEKDAY(came)", list(range(7))),
    ],
)
def test_groups_that_a_condition_rules_out_are_not_asked_for(
    visits: Dataset, condition: str, group: str, values: list[Any]
) -> None:
    """Hours and days that a condition on the same time rules out are no groups."""
    query = visits.sql(f"SELECT {group} AS x, COUNT(*) FROM visits WHERE {condition} GROUP BY x")
    assert [key for (key,) in query.question.row_keys] == values


def test_an_hourly_series_is_asked_for_within_a_condition(visits: Dataset) -> None:
    """A year of hours can be grouped by, minutes of a year cannot, and what to ask instead works."""
    hours = visits.sql("SELECT DATE_TRUNC('hour', came) AS h, COUNT(*) FROM visits GROUP BY h")
    assert len(hours.question.labels[0]) == 365 * 24
    with pytest.raises(InvalidQuestion, match=r"group by HOUR\(came\) or CAST\(came AS DATE\)"):
        visits.sql("SELECT DATE_TRUNC('minute', came) AS m, COUNT(*) FROM visits GROUP BY m")
    visits.sql("SELECT HOUR(came), COUNT(*) FROM visits GROUP BY HOUR(came)")
    visits.sql("SELECT CAST(came AS DATE), COUNT(*) FROM visits GROUP BY 1")


def test_the_ledger_keeps_whose_clock_is_read(tmp_path: Path) -> None:
    """Another zone, or another unit of durations, is another contract, and refused until it is recorded."""
    text = CONTRACT.split("[columns.late]", maxsplit=1)[0] + "[budget]\ntotal = 1000\n"
    with Dataset.parse(text, frame=frame(), ledger=tmp_path / "l.db") as dataset:
        dataset.count().ask(1, analyst="ana")
    for before, after in (("Europe/Zurich", "UTC"), ('duration = "min"', 'duration = "h"')):
        other = Dataset.parse(text.replace(before, after), frame=frame(), ledger=tmp_path / "l.db")
        with other, pytest.raises(LedgerConflict):
            other.count().ask(1, analyst="ana")


def test_a_public_table_has_local_times(tmp_path: Path) -> None:
    """Times of a public table are rounded down like others, and a zone is refused there."""
    (tmp_path / "wards.csv").write_text("ward,opens,since\na,07:30:59,2024-01-01 12:34\nb,08:00,2024-06-01\n")
    public = (
        f'[tables.wards]\nsource = "{tmp_path / "wards.csv"}"\npublic = true\nkey = "ward"\n'
        '[tables.wards.columns.opens]\nbounds = "[06:00, 10:00] step 15min"\n'
        '[tables.wards.columns.since]\nbounds = "[2024-01-01 00:00, 2024-12-31 23:00] step 1h"\n'
    )
    text = CONTRACT.split("[columns.late]", maxsplit=1)[0].replace("[columns.cost]", f"{public}[columns.cost]") + BUDGET
    with Dataset.parse(text, frame=frame(), ledger=tmp_path / "l.db") as dataset:
        query = dataset.sql(
            "SELECT opens, HOUR(since) AS h, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY opens, h"
        )
        assert (time(7, 30), 12) in query.question.row_keys
    zoned = text.replace('step 1h"\n', 'step 1h"\ntimezone = "Europe/Zurich"\n')
    with pytest.raises(InvalidContract, match="timezone is for private tables"):
        Dataset.parse(zoned, frame=frame())


@pytest.mark.parametrize("by", [1, 7, 24, 60])
def test_a_range_of_remainders_holds_every_remainder(by: int) -> None:
    """What is left of the numbers of a stretch lies in the range that is told of it, exactly if it is one number."""
    stored = Numbers("x", Bounds(0, 200, step=1))
    number = w.remainder(w.code(stored), by, 0, by - 1) if by > 1 else w.code(stored)
    lows, lengths = np.meshgrid(np.arange(0, 150, 3), np.arange(0, 50))
    highs, here = lows + lengths, np.ones_like(lows, dtype=bool)
    found = Ranges({"x": Range(lows, highs, here, ~here)}).value(number)
    for low, high, least, most in zip(*map(np.ravel, (lows, highs, found.low, found.high)), strict=True):
        left = [value % by if by > 1 else value for value in range(low, high + 1)]
        assert least <= min(left)
        assert max(left) <= most
        if low == high:
            assert least == most == left[0]
