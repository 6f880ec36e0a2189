"""Where an interval is the whole range of possible answers, words stand in place of the number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isnan
from pathlib import Path

import pytest

from inbounds.plot.tables import learnt_values
from inbounds.query import Answer
from inbounds.query.answer.whole_range import mark_whole_ranges
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.results.nothing_learnt import NOTHING_LEARNT, TOO_FEW_ROWS, WholeRange
from inbounds.server.pages.parts.answer_table import describe_answer
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["full", "empty"]
[columns.size]
bounds = "[-100, 500] step 1"
[columns.weight]
bounds = "[0, 3.5]"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
"""
TYPES = "place VARCHAR, size BIGINT, weight DOUBLE, day DATE"
ROWS = [("full", number % 300, number % 7 / 2, f"2026-0{1 + number % 9}-11") for number in range(20_000)]

MEANS = "SELECT place, AVG(size) FROM visits GROUP BY place"
SURE = 1 - 1e-9
"""At this confidence, the interval of no rows at all is the whole range but once in 10^9 times."""


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table with a place that has twenty thousand rows, and one that has none."""
    folder: Path = tmp_path_factory.mktemp("rows")
    with Playground(contract(COLUMNS, unit="row", budget="total = 100000"), TYPES, folder / "ledger.db") as made:
        made.fill(ROWS)
        yield made


def asked(playground: Playground, sql: str, request_id: str | None = None) -> Answer:
    """Return an answer in which no group without rows can look as if it had some."""
    query = playground.dataset.sql(sql)
    return query.ask(1, analyst="ana", confidence=SURE, request_id=request_id, force=True)


@pytest.mark.parametrize(
    "measure",
    [
        "AVG(size)",
        "AVG(weight)",
        "AVG(day)",
        "VARIANCE(size)",
        "VAR_POP(weight)",
        "STDDEV(weight)",
        "STDDEV_POP(size)",
        "COVAR_SAMP(size, weight)",
        "COVAR_POP(size, weight)",
        "CORR(size, weight)",
        "AVG(CASE WHEN size > 9 THEN 1 ELSE 0 END)",
        "ROUND(AVG(size) * 2)",
    ],
)
def test_an_empty_group_says_so_and_a_full_one_does_not(playground: Playground, measure: str) -> None:
    """People read words where there are no rows, and a number where there are many: text, notebook, page, file."""
    answer = asked(playground, f"SELECT place, {measure} AS it FROM visits GROUP BY place")
    assert answer.learnt == ((True,), (False,))
    full, empty = (line for line in str(answer).splitlines() if line.startswith(("full", "empty")))
    assert NOTHING_LEARNT not in full
    assert NOTHING_LEARNT in empty
    assert TOO_FEW_ROWS in " ".join(str(answer).split())
    assert answer._repr_html_().count(f">{NOTHING_LEARNT}<") == 1
    texts = [row["cells"][1]["text"] for row in describe_answer(answer)["table"]["rows"]]
    assert [text == NOTHING_LEARNT for text in texts] == [False, True]
    columns = answer.by_column()
    assert columns["nothing_learnt"] == [False, True]
    assert [cell is None for cell in columns["it"]] == [False, True]
    assert [isnan(value) for value in learnt_values(answer) if isinstance(value, float)][-1]


def test_the_number_is_kept(playground: Playground) -> None:
    """What was drawn is in the rows and in JSON, which says that nothing was learnt; asked again, it is the same."""
    answer = asked(playground, MEANS, "once")
    assert -100 <= answer.rows[1][1] <= 500
    data = json.loads(json.dumps(write_answer(answer)))
    assert data["learnt"] == [[True], [False]]
    assert data["rows"][1][1] == answer.rows[1][1]
    read = read_answer(data)
    assert (read.rows, read.learnt, str(read)) == (answer.rows, answer.learnt, str(answer))
    again = asked(playground, MEANS, "once")
    assert (again.rows, again.learnt, str(again)) == (answer.rows, answer.learnt, str(answer))
    del data["learnt"]  # an older server does not say
    assert all(map(all, read_answer(data).learnt))


def test_files_look_the_same_where_something_was_learnt(playground: Playground) -> None:
    """Negative control: where each group has rows, nothing is said, and no column is added."""
    answer = asked(playground, "SELECT AVG(size) FROM visits")
    assert answer.learnt == ((True,),)
    assert answer.too_few_rows is None
    assert NOTHING_LEARNT not in str(answer)
    assert "nothing_learnt" not in answer.by_column()


def test_it_is_told_from_what_was_released_and_the_contract(playground: Playground) -> None:
    """An end inside the range by a thousandth of it is something learnt; rows and noise decide nothing."""
    query = playground.dataset.sql("SELECT AVG(size) FROM visits")
    for ends, nothing in [((-100, 500), True), ((-101, 501), True), ((-99.4, 500), False), ((-100, 499.4), False)]:
        answer = Answer(("mean_size",), ((7.0,),), ((1.0,),), 1, "r", None, ((ends,),))  # type: ignore[arg-type]
        marked = mark_whole_ranges(answer, query.questions, query.places, query.asked)
        assert isinstance(marked.intervals[0][0], WholeRange) == nothing
        assert marked.intervals[0][0] == ends


def test_the_range_of_a_measure_is_where_its_answers_are_put(playground: Playground) -> None:
    """What a measure says of its possible answers, by the contract, is what its mechanism clamps them to."""
    for sample in ("SAMP", "POP"):
        measures = f"AVG(size), VAR_{sample}(size), STDDEV_{sample}(size), COVAR_{sample}(size, weight)"
        query = playground.dataset.sql(f"SELECT {measures}, CORR(size, weight) FROM visits")
        (plan,) = query.plans(1)
        assert isinstance(plan.answering, MomentsOfColumns)
        for statistic in plan.answering.statistics:
            assert statistic.measure.possible_range(plan.question.table) == pytest.approx(statistic.hull, rel=1e-12)


def test_words_stand_where_the_noise_would_be_remarked(playground: Playground) -> None:
    """Of a number that is not shown it is not said, too, that it is at the edge of the possible range."""
    answer = asked(playground, "SELECT place, STDDEV(size) FROM visits GROUP BY place")
    assert answer.learnt == ((True,), (False,))
    assert answer.remarks == ()


def test_a_pivot_and_several_selects_keep_it(playground: Playground) -> None:
    """Words go with their cell wherever it goes."""
    assert asked(playground, MEANS).pivot("place").learnt == ((True, False),)
    joined = f"WITH m AS ({MEANS}) SELECT place, mean_size FROM m"
    assert asked(playground, joined).learnt == ((True,), (False,))
