"""The columns of an answer are those that were selected, in their order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Answer
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.server.pages.parts.answer_table import describe_answer
from tests.helpers.months_clinic import months_clinic

BY_CLINIC = "FROM visits GROUP BY clinic"


def same_question(folder: Path, *texts: str) -> list[Answer]:
    """Ask a question in several shapes under one request id, which costs once."""
    visits = months_clinic(folder)
    answers = [visits.sql(text).ask(1, analyst="ana", request_id="q") for text in texts]
    assert visits.ledger.balance("visits").spent == 1
    return answers


def test_columns_stand_as_they_are_selected(tmp_path: Path) -> None:
    """Another order of columns is the same question, shown in another way wherever an answer is shown."""
    first, plain = same_question(
        tmp_path, f"SELECT COUNT(*) AS n, clinic {BY_CLINIC}", f"SELECT clinic, COUNT(*) AS n {BY_CLINIC}"
    )
    assert first.columns == ("n", "clinic")
    assert [row[::-1] for row in first.rows] == list(plain.rows)
    assert (first.key_places, first.measure_places) == ((1,), (0,))
    assert first.intervals == plain.intervals
    assert first.released == plain.released
    assert str(first).splitlines()[0].split()[0] == "n"
    assert list(first.to_pandas().columns)[:2] == ["n", "clinic"]
    assert first.to_arrow().column_names == [*first.columns, *plain.to_arrow().column_names[2:]]
    assert [column["name"] for column in describe_answer(first)["table"]["columns"]] == ["n", "clinic"]
    assert first.keys_first.rows == plain.rows
    assert first.data()[0] == {"n": plain.rows[0][1], "clinic": plain.rows[0][0]}


def test_a_key_that_is_not_selected_is_not_shown(tmp_path: Path) -> None:
    """Rows are those of the groups, without their names."""
    hidden, plain, shared = same_question(
        tmp_path,
        f"SELECT COUNT(*) {BY_CLINIC}",
        f"SELECT clinic, COUNT(*) {BY_CLINIC}",
        f"SELECT clinic AS a, clinic AS b {BY_CLINIC} ORDER BY COUNT(*) DESC LIMIT 1",
    )
    assert hidden.columns == ("count",)
    assert hidden.rows == tuple(row[1:] for row in plain.rows)
    most = max(plain.rows, key=lambda row: row[1])[0]
    assert (shared.columns, shared.rows, shared.measures) == (("a", "b"), ((most, most),), 0)
    assert "(all)" not in str(shared)
    assert describe_answer(shared)["picture"]


def test_a_single_key_is_the_value(tmp_path: Path) -> None:
    """The clinic with the most visits is the value of its answer, and has no interval."""
    (answer,) = same_question(tmp_path, f"SELECT clinic {BY_CLINIC} ORDER BY COUNT(*) DESC LIMIT 1")
    assert answer.value == answer.rows[0][0]
    assert answer.interval is None
    assert not answer.is_public


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n, clinic, AVG(age) {BY_CLINIC}",
        f"SELECT clinic {BY_CLINIC} ORDER BY COUNT(*)",
        f"SELECT AVG(age) {BY_CLINIC}",
        "SELECT n, m FROM (SELECT COUNT(*) AS n, month AS m FROM visits GROUP BY month) AS t ORDER BY n",
    ],
)
def test_json_keeps_the_shape(tmp_path: Path, sql: str) -> None:
    """What JSON says of an answer is read as that answer, and the text of a question as that question."""
    visits = months_clinic(tmp_path)
    answer = visits.sql(sql).ask(1, analyst="ana")
    read = read_answer(json.loads(json.dumps(write_answer(answer))))
    assert (read.columns, read.rows, read.measure_places) == (answer.columns, answer.rows, answer.measure_places)
    assert (read.noise, read.intervals) == (answer.noise, answer.intervals)
    again = visits.sql(str(visits.sql(sql)))
    assert (again.shown, str(again)) == (visits.sql(sql).shown, str(visits.sql(sql)))


def test_an_outer_select_sees_what_the_inner_one_selects(tmp_path: Path) -> None:
    """A key that the inner SELECT does not select has no name outside of it."""
    visits = months_clinic(tmp_path)
    inner = "SELECT COUNT(*) AS n, clinic FROM visits GROUP BY clinic, month"
    answer = visits.sql(f"SELECT * FROM ({inner}) AS t").ask(1, analyst="ana")
    assert answer.columns == ("n", "clinic")
    with pytest.raises(InvalidQuestion, match="the inner SELECT has n, clinic"):
        visits.sql(f"SELECT month FROM ({inner}) AS t")


def test_keys_in_python_stand_first(tmp_path: Path) -> None:
    """A query that is put together in Python shows its keys before its measures."""
    visits = months_clinic(tmp_path)
    query = visits.count().by("clinic").select(half="count / 2")
    assert query.ask(1, analyst="ana").columns == ("clinic", "half")
    reordered = visits.sql(f"SELECT COUNT(*) AS n, clinic {BY_CLINIC}").select(half="n / 2")
    assert reordered.ask(1, analyst="ana").columns == ("clinic", "half")


def test_a_pivot_needs_keys_that_tell_rows_apart(tmp_path: Path) -> None:
    """Two rows whose keys are the same cannot stand in one cell."""
    visits = months_clinic(tmp_path)
    answer = visits.sql("SELECT COUNT(*), died FROM visits GROUP BY clinic, died").ask(1, analyst="ana")
    with pytest.raises(InvalidQuestion, match="two rows of the answer have the same died"):
        answer.pivot("died")
    whole = visits.sql("SELECT COUNT(*), died, clinic FROM visits GROUP BY clinic, died").ask(1, analyst="ana")
    assert whole.pivot("died").columns == ("clinic", "True", "False")
