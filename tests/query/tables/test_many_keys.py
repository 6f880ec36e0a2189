"""Columns with as many keys as a contract may list: asked about, joined, and read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query
from tests.helpers import oracle
from tests.helpers.engine_places import totals_of

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "UNIT"
LIMIT
[columns.icd]
keys = "icd.csv"
keys_column = "code"
[columns.sex]
keys = ["f", "m"]
[tables.codes]
source = "icd.csv"
public = true
key = "code"
[budget]
total = 100
"""


def write_code(number: int) -> str:
    """Return a code of six characters."""
    return f"{chr(65 + number % 26)}{number // 26:05d}"


def count_rows(query: Query) -> list[int]:
    """Return how many rows each group has: where units are weighed, a whole one counts for more than 1."""
    scale = 1 if query.question.table.rows_are_units else oracle.fineness(query.question)
    return [total // scale for (total,) in totals_of(query)]


def make(folder: Path, keys: int, *, unit: str = "row") -> tuple[Dataset, list[str]]:
    """Return a dataset with so many keys, and what its rows hold: some are no key."""
    codes = [write_code(number) for number in range(keys)]
    (folder / "icd.csv").write_text("code,chapter\n" + "".join(f"{code},{code[0]}\n" for code in codes), "utf-8")
    held = [write_code(number * 7 % (keys + keys // 20)) for number in range(3000)]
    rows = ", ".join(f"({number}, '{code}', '{'fm'[number % 2]}')" for number, code in enumerate(held))
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {rows}) t(who, icd, sex)) TO '{folder}/visits.parquet'")
    limit = "" if unit == "row" else "max_rows_per_unit = 1"
    (folder / "visits.toml").write_text(CONTRACT.replace("UNIT", unit).replace("LIMIT", limit), "utf-8")
    return Dataset.load(folder / "visits.toml"), held


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["row", "who"])
def test_a_hundred_thousand_keys_are_counted(tmp_path: Path, unit: str) -> None:
    """Every one of 100,000 keys has its count, and its prefixes have theirs; what is no key is in none."""
    dataset, held = make(tmp_path, 100_000, unit=unit)
    counts = Counter(held)
    with dataset:
        query = dataset.sql("SELECT icd, COUNT(*) FROM visits GROUP BY icd")
        assert count_rows(query) == [counts[write_code(number)] for number in range(100_000)]
        listed = {write_code(number) for number in range(100_000)}
        prefixes = Counter(code[:3] for code in held if code in listed)
        query = dataset.sql("SELECT LEFT(icd, 3), COUNT(*) FROM visits GROUP BY 1")
        keys = query.question.groups[0].labels
        assert dict(zip(keys, count_rows(query), strict=True)) == {key: prefixes[key] for key in keys}
        answer = dataset.sql("SELECT icd, COUNT(*) FROM visits GROUP BY icd").ask(1, analyst="ana")
    assert len(answer.rows) == 100_000
    assert len(str(answer).splitlines()) < 1100


def test_the_statement_grows_no_faster_than_its_keys(tmp_path: Path) -> None:
    """Ten times the keys make a statement of about ten times the length, and an explanation that is no longer."""
    lengths = []
    for keys in (1000, 10_000):
        folder = tmp_path / str(keys)
        folder.mkdir()
        query = make(folder, keys)[0].sql("SELECT icd, COUNT(*) FROM visits GROUP BY icd")
        lengths.append((len(query.plan(1).sql), len(query.explain(1).statement)))
    assert lengths[1][0] < 11 * lengths[0][0]
    assert abs(lengths[1][1] - lengths[0][1]) < 10


def test_more_groups_than_can_be_are_refused_with_a_prefix(tmp_path: Path) -> None:
    """A table of too many groups is refused before it is charged; the prefix that is named instead is accepted."""
    dataset, _ = make(tmp_path, 60_000)
    with pytest.raises(InvalidQuestion, match="or by a part of one, as in LEFT") as refusal:
        dataset.sql("SELECT icd, sex, COUNT(*) FROM visits GROUP BY CUBE(icd, sex)")
    prefix = str(refusal.value).partition("as in ")[2].partition("\n")[0]
    assert dataset.sql(f"SELECT {prefix}, sex, COUNT(*) FROM visits GROUP BY CUBE({prefix}, sex)").plan(1).cells


@pytest.mark.parametrize("keys", [200, 6000])
def test_listed_keys_are_joined_to_a_public_table(tmp_path: Path, keys: int) -> None:
    """Rows with a listed key join the row of a public table of any size; what is no key joins nothing."""
    dataset, held = make(tmp_path, keys, unit="who")
    listed = {write_code(number) for number in range(keys)}
    query = dataset.sql(
        "SELECT codes.chapter, COUNT(*) FROM visits JOIN codes ON visits.icd = codes.code GROUP BY codes.chapter"
    )
    chapters = Counter(code[0] for code in held if code in listed)
    assert count_rows(query) == [chapters[key] for key in query.question.groups[0].labels]


def test_a_pattern_that_many_keys_fit_is_read_again(tmp_path: Path) -> None:
    """A pattern that more keys fit than a list may have is written as the pattern, and reads as the same question."""
    dataset, held = make(tmp_path, 30_000)
    listed = {write_code(number) for number in range(30_000)}
    fitting: dict[str, Callable[[str], bool]] = {
        "icd LIKE '%1'": lambda code: code.endswith("1"),
        "icd NOT LIKE 'A%'": lambda code: code[0] != "A",
    }
    for text, fits in fitting.items():
        query = dataset.sql(f"SELECT COUNT(*) FROM visits WHERE {text}")
        assert len(str(query)) < 100
        assert dataset.sql(str(query)).questions == query.questions
        assert totals_of(query) == [[sum(fits(code) for code in held if code in listed)]]
