"""GROUP BY with ROLLUP, CUBE and GROUPING SETS means what it means in SQL, and never more than can be answered."""

from __future__ import annotations

from itertools import product

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.question.group import MOST_SETS

CONTRACT = """
[dataset]
name = "visits"
unit = "row"
[columns]
a.keys = [1, 2]
b.keys = [1, 2]
c.keys = [1, 2]
x.bounds = "[0, 9] step 1"
[budget]
total = 10
"""


@pytest.fixture(scope="module")
def visits() -> Dataset:
    """A dataset to be asked, and never answered from."""
    return Dataset.parse(CONTRACT)


CLAUSES = [
    "a, b",
    "ROLLUP(a, b, c)",
    "CUBE(a, b, c)",
    "ROLLUP(a), ROLLUP(b)",
    "a, CUBE(b, c)",
    "GROUPING SETS ((a, b), (c), ())",
    "GROUPING SETS (a, b)",
    "GROUPING SETS ((a), ROLLUP(b, c))",
    "GROUPING SETS (GROUPING SETS (a, (b, c)), CUBE(a))",
    "ROLLUP((a, b), c)",
    "CUBE((a, b), c)",
    "c, ROLLUP(a), GROUPING SETS ((b), ())",
]


@pytest.mark.parametrize("clause", CLAUSES)
def test_the_sets_are_those_of_sql(visits: Dataset, clause: str) -> None:
    """Which columns are told apart in which sets is what a database makes of the same clause."""
    question = visits.sql(f"SELECT COUNT(*) FROM visits GROUP BY {clause}").question
    names = [group.column.name for group in question.groups]
    found = {tuple(sorted(names[place] for place in told)) for told in question.groupings}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS a, 1 AS b, 1 AS c")
        columns = ", ".join(name for name in "abc" if name in names)
        rows = connection.execute(f"SELECT {columns} FROM visits GROUP BY {clause}").fetchall()
    shown = [name for name in "abc" if name in names]
    assert found == {tuple(name for name, value in zip(shown, row, strict=True) if value is not None) for row in rows}


def test_each_set_is_answered_once(visits: Dataset) -> None:
    """Sets that are asked for twice, and columns that a set names twice, count once."""
    text = "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((a, b), (b, a), (a), a, ROLLUP(a))"
    assert visits.sql(text).question.sets == ((0, 1), (0,), ())


@pytest.mark.parametrize(
    "clause",
    [
        "CUBE(a, b, c, a, b, c, a)",
        f"CUBE({', '.join(['a'] * 60)})",
        ", ".join(["ROLLUP(a)"] * 60),
        ", ".join(["CUBE(a, b, c)"] * 3),
    ],
)
def test_too_many_sets_are_refused_before_they_are_written_out(visits: Dataset, clause: str) -> None:
    """A short clause can name more sets than there is room for; it is refused, and not tried."""
    with pytest.raises(InvalidQuestion, match=f"at most {MOST_SETS} groupings"):
        visits.sql(f"SELECT COUNT(*) FROM visits GROUP BY {clause}")


def test_too_many_sets_are_refused_in_python(visits: Dataset) -> None:
    """The same limit holds for sets that are handed over; none at all, and a bare name, are refused as well."""
    every = list(product(["a", "b", "c"], repeat=4))
    with pytest.raises(InvalidQuestion, match="1 to 64 groupings, got 81"):
        visits.count().groupings(*every)
    with pytest.raises(InvalidQuestion, match="1 to 64 groupings, got 0"):
        visits.count().groupings()
    with pytest.raises(InvalidQuestion, match="a grouping is a set of columns, got 'a'; put its names in parentheses"):
        visits.count().groupings("a")
    with pytest.raises(InvalidQuestion, match="no column 'z'"):
        visits.count().groupings(("a", "z"))


def test_totals_come_last(visits: Dataset) -> None:
    """Groups cannot be added beside totals, nor totals to cells that are answered alone, nor to no groups."""
    with pytest.raises(InvalidQuestion, match="name all groups first"):
        visits.count().by("a").with_totals().by("b")
    for query in (visits.count().by("a").alone().with_totals, visits.count().by("a").with_totals().alone):
        with pytest.raises(InvalidQuestion, match="leave out the totals, or alone"):
            query()
    with pytest.raises(InvalidQuestion, match="group by a column first"):
        visits.count().with_totals()


def test_a_histogram_with_totals_says_which_sets_have_bins(visits: Dataset) -> None:
    """Bins that are added up in some sets and told apart in others are told from bins that are always told apart."""
    always = visits.histogram("x", 3).groupings(("a",), ())
    sometimes = visits.histogram("x", 3).by("a").with_totals()
    assert "GROUPING SETS ((a), ())" in str(always)
    assert "GROUPING SETS ((HISTOGRAM(x, 3), a), (HISTOGRAM(x, 3)), (a), ())" in str(sometimes)
