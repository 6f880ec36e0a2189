"""Pictures of private tables show what was released, in its order."""

from __future__ import annotations

import io
from datetime import date
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import rc_context

from inbounds import InvalidParameter, plot
from inbounds.query import Answer

LEVELS = ("0.1", "0.25", "0.5", "0.75", "0.9")


def quantiles(*rows: tuple[Any, ...]) -> Answer:
    """Return an answer to five quantiles for some places."""
    columns = ("place", *(f"quantile_{level}_age" for level in LEVELS))
    return Answer(columns, rows, ((None,) * 5,) * len(rows), Fraction(1), "r", None, ((None,) * 5,) * len(rows))


def test_a_box_has_its_five_quantiles() -> None:
    """Each group has a box whose lines are at its quantiles, and is called by its keys."""
    figure = plot.boxes(quantiles(("a", 1, 2, 3, 5, 8), (None, 0, 2, 4, 4, 9)))
    (axes,) = figure.axes
    heights = {float(y) for line in axes.lines for y in np.asarray(line.get_ydata(), dtype=float)}
    assert heights == {0, 1, 2, 3, 4, 5, 8, 9}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "(all)"]
    assert axes.get_ylabel() == "age (no interval)"


def test_days_have_boxes_too() -> None:
    """Quantiles of days are drawn on an axis of days."""
    days = tuple(date(2026, 1, day) for day in (1, 5, 9, 20, 31))
    (axes,) = plot.boxes(quantiles(("a", *days))).axes
    assert axes.yaxis.get_major_formatter().__class__.__name__ == "AutoDateFormatter"


def test_bars_have_their_intervals() -> None:
    """A bar is as high as what was released, and its line goes from end to end of the interval."""
    rows = (("a", 4), ("b", 0), (None, 4))
    intervals: Any = (((1, 6),), ((0, 3),), (None,))
    (axes,) = plot.bars(Answer(("place", "count"), rows, ((1.0,),) * 3, Fraction(1), "r", None, intervals)).axes
    assert [bar.get_height() for bar in axes.patches] == [4, 0, 4]  # type: ignore[attr-defined]
    assert [list(line.get_ydata()) for line in axes.lines] == [[1, 6], [0, 3]]  # type: ignore[arg-type]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "(all)"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["$5 to $10", r"$\frac{$"])
def test_a_name_is_no_formula(key: str) -> None:
    """A key or a column is drawn as it is written, also with two signs of dollar, and one that is no formula."""
    counted = Answer(("place", key), ((key, 4),), ((1.0,),), Fraction(1), "r", None, (((1, 6),),))
    drawn = (plot.bars(counted), plot.bars(counted, horizontal=True), plot.boxes(quantiles((key, 1, 2, 3, 5, 8))))
    for figure in drawn:
        file = io.StringIO()
        with rc_context({"svg.fonttype": "none"}):
            figure.savefig(file, format="svg")
        assert key in "".join(ElementTree.fromstring(file.getvalue()).itertext())


def test_other_answers_are_refused() -> None:
    """A box takes five quantiles, bars take one measure of a few groups; anything else is told so."""
    one = Answer(("count",), ((4,),), ((1.0,),), Fraction(1), "r", None, (((1, 6),),))
    with pytest.raises(InvalidParameter, match="a box needs 5 quantiles"):
        plot.boxes(one)
    with pytest.raises(InvalidParameter, match="bars are drawn for one measure"):
        plot.bars(quantiles(("a", 1, 2, 3, 5, 8)))
