"""Pivots: every cell of an answer in its place, with its noise and its interval."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.results.answer import Answer
from tests.helpers.months_clinic import months_clinic


def test_every_cell_is_in_its_place(tmp_path: Path) -> None:
    """A pivot holds what the answer holds, with noise and intervals, under the same keys."""
    visits = months_clinic(tmp_path)
    answer = visits.sql("SELECT clinic, died, COUNT(*), AVG(age) FROM visits GROUP BY clinic, died").ask(1, analyst="a")
    wide = answer.pivot("died")
    assert wide.columns == ("clinic", "True count", "False count", "True mean_age", "False mean_age")
    for place, row in enumerate(answer.rows):
        line = [other[0] for other in wide.rows].index(row[0])
        for measure in (0, 1):
            column = 2 * measure + (0 if row[1] else 1)
            assert wide.rows[line][1 + column] == row[2 + measure]
            assert wide.noise[line][column] == answer.noise[place][measure]
            assert wide.intervals[line][column] == answer.intervals[place][measure]
    assert wide.released is answer.released
    assert wide.epsilon == answer.epsilon
    assert str(wide)
    assert wide.to_pandas().shape[0] == 3


def test_what_is_missing_stays_missing() -> None:
    """Totals are columns of their own, and a cell that the answer does not have is missing."""
    rows = (("a", "x", 1), ("a", None, 3), ("b", None, 4))
    answer = Answer(("g", "h", "count"), rows, ((1.0,), (2.0,), (3.0,)), Fraction(1), "r")
    wide = answer.pivot("h")
    assert wide.columns == ("g", "x", "(all)")
    assert wide.rows == (("a", 1, 3), ("b", None, 4))
    assert wide.noise == ((1.0, 2.0), (None, 3.0))
    assert answer.pivot("g").columns == ("h", "a", "b")


def test_names_that_are_taken_are_changed() -> None:
    """A category that is called like a group gets another name."""
    answer = Answer(("g", "h", "count"), (("a", "g", 1),), ((1.0,),), Fraction(1), "r")
    assert answer.pivot("h").columns == ("g", "g_")


def test_a_column_that_is_no_group_is_refused() -> None:
    """Only grouping columns can be pivoted; the refusal names them."""
    answer = Answer(("g", "count"), (("a", 1),), ((1.0,),), Fraction(1), "r")
    with pytest.raises(InvalidQuestion, match="name one of g"):
        answer.pivot("count")
