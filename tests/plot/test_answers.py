"""The picture that suits an answer: all of its numbers with their intervals, and nothing that was not released."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import isnan
from typing import Any

import pytest

from inbounds import plot
from inbounds.plot.tables import MOST_BARS
from inbounds.query import Answer
from inbounds.results.answer import PRACTICE
from inbounds.results.cover import Cover
from inbounds.results.nothing_learnt import WholeRange


def answer(columns: tuple[str, ...], rows: Any, intervals: Any, *, measures: int = 1, practice: bool = False) -> Answer:
    """Return an answer of which the last columns are measures."""
    covers, noise = (Cover.TRUTH,) * measures, ((1.0,) * measures,) * len(rows)
    facts: Any = {"covers": covers, "practice": practice}
    return Answer(columns, tuple(rows), noise, Fraction(1), "r", None, tuple(intervals), **facts)


def labels(axes: Any) -> list[str]:
    """Return what bars that lie are called."""
    return [label.get_text() for label in axes.get_yticklabels()]


def drawn(counted: Answer) -> Any:
    """Return the panels of a picture, which can be drawn."""
    figure = plot.chart(counted)
    assert figure is not None
    figure.draw_without_rendering()
    return figure.axes


def test_each_measure_has_a_panel_with_its_intervals() -> None:
    """Every measure that is a number is drawn with the intervals of its own, under its own name."""
    counted = answer(
        ("place", "count", "mean"), [("a", 4, 2.5), ("b", 7, 3.5)], [((1, 6), (2.0, 3.0)), ((5, 9), None)], measures=2
    )
    first, second = drawn(counted)
    assert [bar.get_width() for bar in first.patches] == [4, 7]
    assert [bar.get_width() for bar in second.patches] == [2.5, 3.5]
    assert [list(line.get_xdata()) for line in first.lines] == [[1, 6], [5, 9]]
    assert [list(line.get_xdata()) for line in second.lines] == [[2.0, 3.0]]
    assert [axes.get_xlabel().split("\n")[0] for axes in (first, second)] == ["count", "mean"]
    assert labels(first) == labels(second) == ["a", "b"]


def test_one_number_is_drawn() -> None:
    """A single number is a bar with its interval."""
    (axes,) = drawn(answer(("count",), [(40,)], [((30, 50),)]))
    assert [bar.get_width() for bar in axes.patches] == [40]


def test_totals_are_left_out_where_there_are_groups() -> None:
    """A total would dwarf the groups that it adds up; alone it is drawn."""
    counted = answer(("place", "count"), [("a", 4), (None, 4)], [((1, 6),), ((2, 5),)])
    assert labels(drawn(counted)[0]) == ["a"]
    assert labels(drawn(answer(("place", "count"), [(None, 4)], [((1, 6),)]))[0]) == ["(all)"]


def test_days_are_a_line_with_a_band() -> None:
    """Numbers over days stand at their days, with the intervals as a band; without intervals they are points."""
    days = [date(2026, month, 1) for month in range(1, 13)]
    rows = [(day, place) for place, day in enumerate(days)]
    (axes,) = drawn(answer(("month", "count"), rows, [((place - 1, place + 2),) for place in range(12)]))
    (line,), (band,) = axes.lines, axes.collections
    assert list(line.get_ydata()) == list(range(12))
    assert band.get_datalim(axes.transData).y1 == 13
    (axes,) = drawn(answer(("month", "median"), rows, [(None,)] * 12))
    assert [one.get_linestyle() for one in axes.lines] == ["None"]
    assert axes.get_xlabel() == "no interval"


def test_a_line_can_be_drawn_over_groups() -> None:
    """Over groups a line has their names below it, turned where they are long."""
    rows = [("a place with a name", 4), ("b", 7)]
    (axes,) = plot.lines(answer(("place", "count"), rows, [((1, 6),), ((5, 9),)])).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a place with a name", "b"]


def test_quantiles_are_boxes() -> None:
    """Five quantiles, as SQL names them, are a box for each group."""
    columns = ("place", *(f"quantile_{level}_age" for level in ("0.1", "0.25", "0.5", "0.75", "0.9")))
    (axes,) = drawn(answer(columns, [("a", 1, 2, 3, 5, 8)], [(None,) * 5], measures=5))
    assert axes.get_ylabel() == "age (no interval)"


def test_what_was_not_learnt_is_not_drawn() -> None:
    """Where nothing was learnt there is the interval alone, and where a number is missing there is nothing."""
    rows, ends = [("a", 4.0), ("b", 7.0), ("c", None)], [((3.0, 5.0),), (WholeRange((0.0, 9.0)),), (None,)]
    (axes,) = drawn(answer(("place", "mean"), rows, ends))
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[0] == 4
    assert list(map(isnan, widths)) == [False, True, True]
    assert [list(line.get_xdata()) for line in axes.lines] == [[3.0, 5.0], [0.0, 9.0]]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [(("place",), []), (("place", "mode"), [("a", "x")]), (("urgent",), [(True,)]), (("day",), [(date(2026, 1, 1),)])],
)
def test_what_is_no_number_is_not_drawn(columns: tuple[str, ...], rows: Any) -> None:
    """Without rows, or of texts, truths and days, there is no picture."""
    assert plot.chart(answer(columns, rows, [(None,)] * len(rows))) is None


def test_what_is_left_out_is_said() -> None:
    """Of more groups than can be told apart the first are drawn, and how many there are stands above them."""
    rows, ends = [(f"group {place}", place) for place in range(100)], [((place, place),) for place in range(100)]
    (axes,) = drawn(answer(("group", "count"), rows, ends))
    assert len(axes.patches) == MOST_BARS
    assert axes.get_title() == f"the first {MOST_BARS} of 100 groups"


def test_practice_is_marked() -> None:
    """A picture of made-up rows says that they are."""
    figure = plot.chart(answer(("count",), [(40,)], [((30, 50),)], practice=True))
    assert figure is not None
    assert figure.get_suptitle() == PRACTICE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$5 to $10", r"$\frac{$", "x" * 400, "two\nlines", " "])
def test_any_name_leaves_room(name: str) -> None:
    """A name is drawn as it is written, and however long it is there is room for what is drawn."""
    drawn(answer((name, f"n {name}"), [(name, 4), ("b", 7)], [((1, 6),), ((5, 9),)]))


def test_a_notebook_shows_a_picture() -> None:
    """A picture at the end of a cell is drawn there, though nobody imported pyplot."""
    figure: Any = plot.chart(answer(("count",), [(40,)], [((30, 50),)]))
    assert figure._repr_png_().startswith(b"\x89PNG")
