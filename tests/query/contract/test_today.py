"""Which day is today is what the contract says, so that an answer means the same whenever it is shown again."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from inbounds.errors import InvalidContract, InvalidQuestion, LedgerConflict
from inbounds.query import Dataset

CONTRACT = """
[dataset]
name = "stays"
unit = "who"
max_rows_per_unit = 2
today = "2025-11-15"
[columns.day]
bounds = "[2025-01-01, 2025-12-31]"
[columns.came]
bounds = "[2025-01-01 00:00, 2025-12-31 23:59] step 1min"
[tables.drugs.columns.dose]
bounds = "[0, 9] step 1"
[budget]
total = 1000
"""
WITHOUT = CONTRACT.replace('today = "2025-11-15"\n', "")
COUNT = "SELECT COUNT(*) FROM stays WHERE"

SAME = [
    ("day >= CURRENT_DATE", "day >= '2025-11-15'"),
    ("day >= CURRENT_DATE - INTERVAL '30 days'", "day >= '2025-10-16'"),
    ("day >= CURRENT_DATE - 30", "day >= '2025-10-16'"),
    ("day >= current_date - interval '1' month", "day >= '2025-10-15'"),
    ("day > DATEADD(day, -30, GETDATE())", "day > '2025-10-16'"),
    ("day > DATE_SUB(CURDATE(), INTERVAL 1 YEAR) AND day < TODAY()", "day > '2024-11-15' AND day < '2025-11-15'"),
    ("day >= DATE_TRUNC('month', NOW())", "day >= '2025-11-01'"),
    ("day >= DATE_TRUNC('quarter', CURRENT_TIMESTAMP)::date - INTERVAL '1 day'", "day >= '2025-09-30'"),
    ("day >= CAST(NOW() - INTERVAL '3 months' AS DATE)", "day >= '2025-08-15'"),
    (
        "YEAR(day) = EXTRACT(YEAR FROM NOW()) AND MONTH(day) = MONTH(CURRENT_DATE)",
        "YEAR(day) = 2025 AND MONTH(day) = 11",
    ),
    ("day BETWEEN DATE('now') - 7 AND DATE('now')", "day BETWEEN '2025-11-08' AND '2025-11-15'"),
    ("DATEDIFF('day', day, TODAY()) < 10", "DATE '2025-11-15' - day < 10"),
    ("came >= NOW() - INTERVAL '6 hours'", "came >= TIMESTAMP '2025-11-14 18:00:00'"),
    ("came < LOCALTIMESTAMP", "came < TIMESTAMP '2025-11-15 00:00:00'"),
]


@pytest.mark.parametrize(("asked", "meant"), SAME)
def test_today_is_a_constant(asked: str, meant: str) -> None:
    """A question about today is the question with that day, in all its spellings."""
    dataset = Dataset.parse(CONTRACT)
    assert str(dataset.sql(f"{COUNT} {asked}")) == str(dataset.sql(f"{COUNT} {meant}"))


def test_today_is_the_same_in_python_and_in_any_table() -> None:
    """Texts of conditions and of columns know the day, and so do tables that are made of tables."""
    dataset = Dataset.parse(CONTRACT)
    assert str(dataset.count().where("day < CURRENT_DATE")) == str(dataset.count().where("day < '2025-11-15'"))
    inner = "(SELECT who, MAX(day) AS last FROM stays WHERE day < {0} GROUP BY who) AS t"
    asked = f"SELECT COUNT(*) FROM drugs JOIN {inner} ON drugs.who = t.who WHERE last < {{0}} - 7"
    assert str(dataset.sql(asked.format("NOW()"))) == str(dataset.sql(asked.format("DATE '2025-11-15'")))


@pytest.mark.parametrize("word", ["CURRENT_DATE", "NOW()", "CURRENT_TIMESTAMP", "TODAY()", "GETDATE()"])
def test_without_a_day_in_the_contract_today_is_refused(word: str) -> None:
    """Without a day the refusal says why, and both of its remedies work as they are written."""
    asked = f"{COUNT} day >= {word} - INTERVAL '30 days'"
    with pytest.raises(InvalidQuestion, match="does not say which day is today") as refusal:
        Dataset.parse(WITHOUT).sql(asked)
    constant, added = "DATE '2025-12-31'", 'today = "2025-12-31"'
    assert constant in str(refusal.value)
    assert added in str(refusal.value)
    written = Dataset.parse(WITHOUT).sql(asked.replace(word, constant))
    assert str(Dataset.parse(CONTRACT.replace('today = "2025-11-15"', added)).sql(asked)) == str(written)


@pytest.mark.parametrize("day", ['"2025-11-15"', "2025-11-15"])
def test_a_day_is_written_with_quotes_or_without(day: str) -> None:
    """TOML has days of its own."""
    found = Dataset.parse(CONTRACT.replace('"2025-11-15"', day))
    assert str(found.table.today) == "2025-11-15"


@pytest.mark.parametrize("day", ['"today"', '"2025-02-30"', "5", "2025-11-15T12:00:00", "true"])
def test_what_is_no_day_is_refused(day: str) -> None:
    """A contract whose today is no day is refused where it says so."""
    with pytest.raises(InvalidContract, match=r"line 6: today must be a date, got .*; write it like"):
        Dataset.parse(CONTRACT.replace('"2025-11-15"', day))


def test_the_ledger_keeps_the_day(tmp_path: Path) -> None:
    """Another day is another contract to the ledger; a contract without one has the terms that it had before."""
    frame = polars.DataFrame({"who": [1, 2], "day": ["2025-11-14", "2025-03-01"]}).with_columns(
        polars.col("day").str.to_date()
    )
    text = CONTRACT.replace('[columns.came]\nbounds = "[2025-01-01 00:00, 2025-12-31 23:59] step 1min"\n', "")
    text = text.replace('[tables.drugs.columns.dose]\nbounds = "[0, 9] step 1"\n', "")
    place = tmp_path / "ledger.db"
    asked = f"{COUNT} day >= CURRENT_DATE - 7"
    with Dataset.parse(text, frame=frame, ledger=place) as dataset:
        first = dataset.sql(asked).ask(1, analyst="ana", request_id="a")
        assert dataset.sql(asked).ask(1, analyst="ana", request_id="a").rows == first.rows
        assert dataset.terms["today"] == "2025-11-15"
    with (
        Dataset.parse(text.replace("11-15", "11-16"), frame=frame, ledger=place) as later,
        pytest.raises(LedgerConflict),
    ):
        later.sql(asked).ask(1, analyst="ana")
    without = Dataset.parse(text.replace('today = "2025-11-15"\n', ""), frame=frame)
    assert "today" not in without.terms
