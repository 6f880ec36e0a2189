"""Other spellings of a question are that question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.spelling import translate
from inbounds.query.spelling.clauses import OF_MANY_ROWS
from inbounds.query.spelling.spelling import Spelling
from inbounds.query.spelling.spellings import SPELLINGS
from inbounds.query.sql.measures import MEASURES
from tests.helpers.spelling_page import frame, page

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 16
today = "2026-09-15"
[columns]
age.bounds = "[0, 110] step 1"
cost.bounds = "[0, 100] step 0.01"
ward.keys = ["er", "icu", "surgery"]
urgent.keys = [true, false]
day.bounds = "[2026-01-01, 2026-12-31]"
born.bounds = "[1920-01-01, 2026-12-31]"
[tables.stays]
source = "visits.parquet"
max_rows_per_unit = 16
columns.ward.keys = ["er", "icu", "surgery"]
[budget]
total = 1000000
"""

ROWS = """
    SELECT CAST(hash(i) % 400 AS INT) AS patient, CASE WHEN i % 11 > 0 THEN CAST(hash(i, 1) % 111 AS INT) END AS age,
           CASE WHEN i % 13 > 0 THEN CAST(hash(i, 2) % 10000 AS INT) / 100.0 END AS cost,
           ['er', 'icu', 'surgery', NULL][CAST(1 + hash(i, 3) % 4 AS INT)] AS ward,
           CASE WHEN i % 7 > 0 THEN hash(i, 4) % 2 = 0 END AS urgent,
           DATE '2026-01-01' + CAST(hash(i, 5) % 365 AS INT) AS day,
           DATE '1930-01-01' + CAST(hash(i, 6) % 30000 AS INT) AS born FROM range(3000) t(i)
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Visits to a clinic, of which every row counts in full."""
    folder = tmp_path_factory.mktemp("visits")
    duckdb.sql(f"COPY ({ROWS}) TO '{folder}/visits.parquet' (FORMAT parquet)")
    (folder / "visits.toml").write_text(CONTRACT, encoding="utf-8")
    return Dataset.load(folder / "visits.toml")


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.written)
def test_a_spelling_is_the_question_that_it_is_read_as(visits: Dataset, spelling: Spelling) -> None:
    """What the page says a spelling is read as is the same question."""
    written, read_as = (visits.sql(frame(spelling, text)) for text in (spelling.written, spelling.read_as))
    assert str(written) == str(read_as)
    assert str(visits.sql(str(written))) == str(written)


def test_the_page_is_made_of_the_table() -> None:
    """The page lists every spelling as the program has it."""
    place = Path(__file__).parents[3] / "docs" / "sql-you-know.md"
    assert place.read_text(encoding="utf-8") == page()


TRUE = [
    "SELECT COUNT(*) FILTER (WHERE age > 60) AS x FROM visits",
    "SELECT COUNT_IF(age > 60) AS x FROM visits",
    "SELECT COUNT(*) AS a, COUNT(*) FILTER (WHERE urgent) AS b, COUNT(*) FILTER (WHERE NOT urgent) AS c FROM visits",
    "SELECT ward, COUNT(*) FILTER (WHERE urgent) AS b, COUNT(age) AS c FROM visits WHERE ward = 'er' GROUP BY ward",
    "SELECT ward, COUNT(*) FILTER (WHERE ward = 'icu') AS b FROM visits WHERE ward IS NOT NULL GROUP BY ward",
    "SELECT SUM(CASE WHEN urgent THEN cost ELSE 0 END) AS x, SUM(cost) AS y FROM visits",
    "SELECT SUM(cost) FILTER (WHERE age >= 65) AS x FROM visits",
    "SELECT SUM(urgent::int) AS x FROM visits",
    "SELECT COUNT(DISTINCT CASE WHEN urgent THEN patient END) AS x FROM visits",
    "SELECT COUNT(DISTINCT patient) FILTER (WHERE age > 100) AS x FROM visits",
    "SELECT age % 7 AS d, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY d",
    "SELECT (age - 50) % 7 AS d, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY d",
    "SELECT age >= 65 AS old, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY age >= 65",
    "SELECT dayname(day) AS d, COUNT(*) AS n FROM visits GROUP BY d",
    "SELECT strftime(day, '%d.%m.%Y') AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT strftime(day, '%G-W%V') AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT strftime(day, '%a %-d %B') AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT YEAR(day)::text || '-Q' || QUARTER(day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT lpad(MONTH(day)::text, 2, '0') AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT trim(leading 'i' from ward) AS m, COUNT(*) AS n FROM visits WHERE ward IS NOT NULL GROUP BY m",
    "SELECT split_part(replace(ward, 'r', '-'), '-', 2) AS m, COUNT(*) AS n FROM visits WHERE ward <> 'er' GROUP BY m",
    "SELECT ward || '/' || urgent AS m, COUNT(*) AS n FROM visits WHERE ward || urgent IS NOT NULL GROUP BY m",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(age AS VARCHAR) = '42' OR day::text = '2026-03-01'",
    "SELECT strftime(day, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT strftime(day, '%b') AS m, COUNT(*) AS n FROM visits WHERE strftime(day, '%d') = '07' GROUP BY m",
    "SELECT COUNT(*) AS n FROM visits WHERE date_diff('month', born, day) > 700",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IS DISTINCT FROM 'icu'",
    "SELECT CASE ward WHEN 'icu' THEN 'a' ELSE 'b' END AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT COUNT(*) AS n FROM visits WHERE starts_with(ward, 's')",
    "SELECT CAST(COUNT(*) AS DOUBLE) / 4 AS n FROM visits",
    "SELECT SUM(nullif(age, 50)) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE trunc((cost - 50) / 10) = -1",
]


@pytest.mark.parametrize("sql", TRUE)
def test_a_spelling_means_what_it_means_elsewhere(visits: Dataset, sql: str) -> None:
    """Where every row counts in full and there is next to no noise, the answer is that of a database."""
    truth = duckdb.execute(sql.replace("FROM visits", f"FROM ({ROWS}) AS visits")).fetchall()
    answer = visits.sql(sql).ask(900, analyst="ana").rows
    assert plain(answer) == plain(truth)


def plain(rows: Iterable[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """Return rows with their numbers rounded, but for those in which all numbers are zero."""
    return {tuple(map(as_number, row)) for row in rows if any(row[1:] or row)}


def as_number(value: Any) -> Any:
    """Return a number rounded, and anything else as it is."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return round(float(value), 6) if is_number else value


def test_measures_are_told_from_functions_of_a_row() -> None:
    """GROUP BY ALL knows exactly the measures that there are."""
    assert set(MEASURES) == OF_MANY_ROWS


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT COUNT(DISTINCT patient) FILTER (WHERE urgent), COUNT(*) FROM visits", "a question of its own"),
        ("SELECT AVG(CAST(ward AS INT)) FROM visits", "holds categories; leave CAST"),
        ("SELECT COUNT(*) FROM other.visits", "leave the rest out"),
        ("SELECT TOP 5 PERCENT ward, COUNT(*) FROM visits GROUP BY ward", "not understood"),
        ("SELECT SUM(age % cost) FROM visits", "may be zero; divide by a constant"),
        ("SELECT STRFTIME(day, '%f') AS h, COUNT(*) FROM visits GROUP BY h", "STRFTIME takes %H, or a form of"),
        ("SELECT TO_CHAR(day, 'MI') AS h, COUNT(*) FROM visits GROUP BY h", "got 'MI'"),
        ("SELECT FORMAT(day, 'yyyy-mm') AS h, COUNT(*) FROM visits GROUP BY h", "got 'yyyy-mm'"),
        ("SELECT DATE_FORMAT(day, '%H:%i') AS h, COUNT(*) FROM visits GROUP BY h", "got '%H:%i'"),
        ("SELECT STRFTIME(day, '%H') AS h, COUNT(*) FROM visits GROUP BY h", "takes a time, but day is a date"),
    ],
)
def test_what_has_no_other_spelling_is_refused(visits: Dataset, sql: str, why: str) -> None:
    """A word that would be dropped by translating is refused, and so is what a row could make fail."""
    with pytest.raises(InvalidQuestion, match=why):
        visits.sql(sql)


def test_a_text_is_looked_at_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many parts a text has, all of it is walked through twice, and not once more for each of its parts."""
    walks = []
    starts = translate._starts

    def note(node: exp.Expr) -> Iterator[int]:
        walks.append(node)
        return starts(node)

    monkeypatch.setattr(translate, "_starts", note)
    text = " AND ".join(f"CAST(age AS INT) = {number}" for number in range(200))
    translate.translate(sqlglot.parse_one(text, dialect="duckdb"))
    assert len(walks) == 2
