"""An answer is handed over through Arrow: the rows, their noise and intervals, with types that say what they are."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from inbounds.query import Answer
from inbounds.results.answer import PRACTICE
from inbounds.results.cover import Cover
from inbounds.results.nothing_learnt import WholeRange

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

DAY, MOMENT, CLOCK = date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5), time(3, 4, 5)

ANSWER = Answer(
    ("ward", "smokes", "visits", "cost", "admitted", "at", "hour"),
    (
        ("north", True, 7, 2.5, DAY, MOMENT, CLOCK),
        ("south", False, 8, 3, DAY, MOMENT, CLOCK),
        (None, None, 15, None, DAY, MOMENT, None),
    ),
    ((0.5, 0.25, None, None, None), (0.5, 0.25, None, None, None), (0.5, None, None, None, None)),
    Fraction(1),
    "one",
    intervals=(((5, 9), (1.5, 3.5), (DAY, DAY), None, None),) * 2 + (((13, 17), None, (DAY, DAY), None, None),),
    covers=(Cover.TRUTH,) * 5,
)
"""An answer with a cell of each kind, and a row of totals."""

TYPES = {
    "ward": "string",
    "smokes": "bool",
    "visits": "int64",
    "cost": "double",
    "admitted": "date32[day]",
    "at": "timestamp[us]",
    "hour": "time64[us]",
    "expected_noise_visits": "double",
    "low_visits": "int64",
    "high_visits": "int64",
    "expected_noise_cost": "double",
    "low_cost": "double",
    "high_cost": "double",
    "low_admitted": "date32[day]",
    "high_admitted": "date32[day]",
}


def test_each_column_has_its_type() -> None:
    """Whole numbers, other numbers, texts, truth values, days, moments and times of day are such in Arrow too."""
    table = pyarrow.table(ANSWER)
    assert {field.name: str(field.type) for field in table.schema} == TYPES
    assert table.to_pydict() == {
        name: [float(cell) if TYPES[name] == "double" and cell is not None else cell for cell in cells]
        for name, cells in ANSWER.by_column().items()
    }
    assert table.equals(ANSWER.to_arrow())


def test_a_type_that_is_asked_for_is_given() -> None:
    """A reader that asks for a schema gets the columns in it, as the protocol of Arrow says."""
    schema = pyarrow.schema([("visits", pyarrow.int32())])
    counts = Answer(("visits",), ((7,),), ((0.5,),), Fraction(1), "one")
    assert pyarrow.table(counts).column("visits").type == pyarrow.int64()
    reader = pyarrow.RecordBatchReader.from_stream(Answer(("visits",), ((7,),), ((None,),), Fraction(1), "one"), schema)
    assert reader.read_all().schema == schema


def test_readers_of_arrow_read_an_answer() -> None:
    """polars, DuckDB and pandas take an answer as it is, without a method of its own."""
    assert polars.DataFrame(ANSWER).rows() == [tuple(row.values()) for row in pyarrow.table(ANSWER).to_pylist()]
    answer = ANSWER  # by the name of a variable, as in a notebook
    found = duckdb.sql("SELECT ward, visits, expected_noise_visits, admitted, hour FROM answer ORDER BY visits")
    assert found is not None
    assert found.fetchall() == [
        ("north", 7, 0.5, DAY, CLOCK), ("south", 8, 0.5, DAY, CLOCK), (None, 15, 0.5, DAY, None)
    ]  # fmt: skip
    assert list(pyarrow.table(answer).to_pandas()["visits"]) == [7, 8, 15]


@pytest.mark.parametrize("cell", [7, 2.5, DAY, MOMENT, CLOCK])
def test_what_was_not_learnt_keeps_its_type(cell: Any) -> None:
    """Where nothing was learnt there is no number in any row, and the column still says what it would be."""
    ends = WholeRange((cell, cell))
    nothing = Answer(("x",), ((cell,),), ((0.5,),), Fraction(1), "one", intervals=((ends,),))
    learnt = replace(nothing, intervals=(((cell, cell),),))
    table = pyarrow.table(nothing)
    assert table.column("x").to_pylist() == [None]
    assert table.schema.field("x").type == pyarrow.table(learnt).schema.field("x").type
    assert (table.column("nothing_learnt").to_pylist(), str(table.schema.field("expected_noise").type)) == (
        [True],
        "double",
    )


def test_practice_data_say_so_in_each_row() -> None:
    """Whatever reads an answer to made-up rows finds the mark in every row."""
    table = pyarrow.table(replace(ANSWER, practice=True))
    assert table.column("practice").to_pylist() == [PRACTICE] * 3


def test_numbers_that_are_too_wide_become_doubles() -> None:
    """An integer beyond 64 bits makes its column one of doubles, whether or not cells are missing."""
    table = pyarrow.table(Answer(("ward", "x"), (("a", 2**70), ("b", None)), ((None,), (None,)), Fraction(1), "one"))
    assert str(table.schema.field("x").type) == "double"
    assert table.column("x").to_pylist() == [2.0**70, None]


def test_without_pyarrow_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lacks pyarrow is told what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = "handing over an answer through Arrow needs pyarrow, which is not installed: pip install pyarrow"
    with pytest.raises(ImportError, match=f"^{told}$"):
        ANSWER.__arrow_c_stream__()
