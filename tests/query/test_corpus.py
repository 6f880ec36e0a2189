"""A corpus of questions over three tables: asked in both ways, the same integers everywhere and in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isinf, isnan
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import EngineFailed
from inbounds.query import Dataset, Query
from inbounds.query.question.measure import Cdf, Mean
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import Quantiles, Totals
from tests.helpers import oracle
from tests.helpers.corpus import clinic
from tests.helpers.corpus.asked import Asked
from tests.helpers.corpus.derived_columns import DERIVED_COLUMNS
from tests.helpers.corpus.measured import MEASURED
from tests.helpers.corpus.related import RELATED
from tests.helpers.corpus.views import ALIASED, SPELLINGS, VIEWS, AskedAndShown
from tests.helpers.engine_places import InParquet, Place
from tests.helpers.relation_rows import rows_of

CORPUS: list[Asked] = [*MEASURED, *DERIVED_COLUMNS, *RELATED, *VIEWS]
Sums = list[list[int]]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The clinic, in files."""
    place = InParquet(tmp_path_factory.mktemp("corpus"))
    with clinic.opened(place, "prescriptions") as found:
        yield found
    place.close()


def totals_of(query: Query) -> list[Sums]:
    """Return the totals that the statement of each question finds, before any noise."""
    return [_totals(query, question) for question in query.questions]


def _totals(query: Query, question: Question) -> Sums:
    drawn_by_rank = isinstance(question.measure, Quantile | Quantiles | Cdf)
    pooling = None if drawn_by_rank or question.sets is not None else Fraction(1)
    plan = query.dataset.planned(question, Fraction(1), pooling)
    try:
        return plan.totals(query.dataset.engine.run(plan.sql))
    except EngineFailed as problem:
        raise AssertionError(f"the statement failed ({problem.kind}):\n{plan.sql}") from None


def plain_totals(query: Query, private: dict[str, list[clinic.Row]]) -> list[Sums]:
    """Return the totals of each question in plain Python."""
    return [_plain(question, private) for question in query.questions]


def _plain(question: Question, private: dict[str, list[clinic.Row]]) -> Sums:
    measure, table = question.measure, question.table
    if isinstance(measure, Totals):  # which are those of the mean
        question = replace(question, measure=Mean(measure.column))
    elif isinstance(measure, Quantiles):  # which are those of any of them
        question = replace(question, measure=Quantile(measure.column, measure.levels[0]))
    if table.relation is None:
        return oracle.totals(question, private[table.name], clinic.INTEGERS[table.name])
    return oracle.totals(question, rows_of(table, private, clinic.PUBLIC))


@cache
def rows() -> dict[str, list[clinic.Row]]:
    """Return the rows of the private tables."""
    return {"visits": clinic.visits(), "prescriptions": clinic.prescriptions()}


KNOWN: dict[str, list[Sums]] = {}
"""What plain Python found before: it is the same for every engine."""


def expected(query: Query) -> list[Sums]:
    """Return the totals of each question over the rows of the clinic."""
    if (text := str(query)) not in KNOWN:
        KNOWN[text] = plain_totals(query, rows())
    return KNOWN[text]


def test_the_corpus_is_large_enough() -> None:
    """There are at least 120 different questions, and the rows have everything odd in them."""
    assert len({one.sql for one in CORPUS}) == len(CORPUS) >= 120
    values = [value for table in rows().values() for row in table for value in row.values()]
    floats = [value for value in values if isinstance(value, float)]
    assert None in values
    assert any(map(isnan, floats))
    assert any(map(isinf, floats))


@pytest.mark.slow
@pytest.mark.parametrize("asked", CORPUS, ids=lambda asked: asked.sql)
def test_sql_and_python_ask_the_same(dataset: Dataset, asked: Asked) -> None:
    """A question in SQL is the one in Python, and its own text reads as itself."""
    sql = dataset.sql(asked.sql)
    assert str(sql) == str(asked.python(dataset))
    assert str(dataset.sql(str(sql))) == str(sql)


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_other_spellings_ask_the_same(dataset: Dataset, one: str, other: str) -> None:
    """Case, quotes, comments, positions and other names of functions change nothing in a question."""
    assert str(dataset.sql(one)) == str(dataset.sql(other))


@pytest.mark.parametrize(("sql", "python"), ALIASED)
def test_other_names_of_tables_change_no_total(dataset: Dataset, sql: str, python: Callable[[Dataset], Query]) -> None:
    """Tables that are joined under other names give the same totals."""
    assert totals_of(dataset.sql(sql)) == totals_of(python(dataset))


@pytest.mark.slow
def test_every_engine_gives_the_integers_of_plain_python(engine_place: Place, tmp_path: Path) -> None:
    """On every engine each question of the corpus has exactly the totals that plain Python finds in the same rows."""
    place = InParquet(tmp_path) if engine_place.name == "duckdb" else engine_place
    with clinic.opened(place, f"prescriptions_{place.name}") as found, place.in_haste():
        wrong, empty = [], []
        for asked in CORPUS:
            query = found.sql(asked.sql)
            totals = totals_of(query)
            if totals != expected(query):
                wrong.append(asked.sql)
            if not any(any(row) for part in totals for row in part):
                empty.append(asked.sql)
    if place is not engine_place:
        place.close()
    assert (wrong, [one for one in empty if "> 1000" not in one]) == ([], [])


def without_clipping(row: clinic.Row) -> clinic.Row:
    """Return a row in which a value beyond its end is gone, where it should be the end."""
    return row | {"age": row["age"] if row["age"] is None or 0 <= row["age"] <= 120 else None}


def with_zero_for_nan(row: clinic.Row) -> clinic.Row:
    """Return a row in which NaN is a number."""
    found = {name: row[name] for name in ("cost", "pain")}
    return row | {name: 0.0 if value is not None and isnan(value) else value for name, value in found.items()}


def with_any_case(row: clinic.Row) -> clinic.Row:
    """Return a row whose clinic is found in any case."""
    return row | {"clinic": row["clinic"] and row["clinic"].replace("NORTH", "north")}


def with_somebody(row: clinic.Row) -> clinic.Row:
    """Return a row that belongs to somebody if it belonged to nobody."""
    return row | {"patient": 999 if row["patient"] is None else row["patient"]}


BROKEN = {
    "clipping left out": (without_clipping, "SELECT AVG(age) FROM visits"),
    "NaN kept": (with_zero_for_nan, "SELECT AVG(pain) FROM visits"),
    "keys in any case": (with_any_case, "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    "rows of nobody": (with_somebody, "SELECT COUNT(*) FROM visits"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_noticed(dataset: Dataset, rule: str) -> None:
    """Negative control: plain Python with one rule broken disagrees, also over a join and rows made of rows."""
    change, sql = BROKEN[rule]
    broken = rows() | {"visits": [change(row) for row in rows()["visits"]]}
    query = dataset.sql(sql)
    assert totals_of(query) == plain_totals(query, rows())
    assert totals_of(query) != plain_totals(query, broken)
    related = [dataset.sql(one.sql) for one in RELATED if "FROM visits JOIN" in one.sql]
    assert any(expected(one) != plain_totals(one, broken) for one in related)


@pytest.mark.slow
@pytest.mark.parametrize("asked", VIEWS, ids=lambda asked: asked.sql)
def test_what_is_shown_is_what_plain_python_makes_of_it(dataset: Dataset, asked: AskedAndShown) -> None:
    """Names, expressions, HAVING, ORDER BY and LIMIT give what plain Python makes of the released rows."""
    query = dataset.sql(asked.sql)
    pooling = None if query.questions[0].sets is not None else 1  # the mechanism does not matter
    answer = query.ask(20, analyst="ana", pooling=pooling)
    expected = asked.plainly(answer.released.rows)
    assert answer.columns == asked.titles
    assert len(answer.rows) == len(expected)
    assert answer.rows
    for ours, theirs in zip(answer.rows, expected, strict=True):
        assert [near(one) for one in theirs] == list(ours)


def near(value: Any) -> Any:
    """Return what a number is to be near to, and anything else as it is."""
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
