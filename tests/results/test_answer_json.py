"""An answer as JSON."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction

import pytest

from inbounds.query import Answer
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.results.cover import Cover

DAYS = (date(2026, 1, 2), date(2026, 1, 9))
ANSWERS = {
    "numbers": Answer(
        ("clinic", "mean_age", "count"),
        (("north", 40.5, 3), (None, None, 7)),
        ((0.5, 1.25), (None, 2.0)),
        Fraction(1, 8),
        "ana/q1",
        "Contribution bound",
        (((40.25, 41.0), (1, 5)), (None, (2, 9))),
        0.9,
        ("a warning",),
        note="a note",
        covers=(Cover.NOISE, Cover.WITH_CUT_ROWS),
        remarks=("a remark",),
    ),
    "days": Answer(
        ("urgent", "first"),
        ((True, DAYS[0]), (False, None)),
        ((1.5,), (None,)),
        Fraction(2),
        "q",
        None,
        ((DAYS,), (None,)),
    ),
    "public": Answer(("mean",), ((40.0,),), ((0.0,),), Fraction(0), "", None, (((40.0, 40.0),),), public=("mean",)),
    "no rows": Answer(("clinic", "count"), (), (), Fraction(1), "q", measured=(1,)),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_as_it_was_written(answer: Answer) -> None:
    """What JSON carries is the whole answer: its cells and their types, its text, and what its intervals cover."""
    again = read_answer(json.loads(json.dumps(write_answer(answer), allow_nan=False)))
    assert again == answer
    assert (again.measures, again.interval_covers) == (answer.measures, answer.interval_covers)
    assert [[type(cell) for cell in row] for row in again.rows] == [[type(cell) for cell in row] for row in answer.rows]
    assert str(again) == str(answer)


def test_each_column_says_what_its_cells_are() -> None:
    """The kind of a column is that of its cells, whatever is missing."""
    kinds = {name: [column["kind"] for column in write_answer(answer)["columns"]] for name, answer in ANSWERS.items()}
    assert kinds["numbers"] == ["text", "number", "whole"]
    assert kinds["days"] == ["boolean", "date"]
