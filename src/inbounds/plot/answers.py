"""The picture that suits an answer: a line over days, boxes of quantiles, bars or points of everything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from inbounds.exact.rational import cut
from inbounds.plot.style import COLOURS, as_written, format_dates, new_figure, panel
from inbounds.plot.tables import BOX, MOST_BARS, POINTS, ChartedAnswer, bars, boxes, label, learnt_values, said_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_HEIGHT, FRAME_HEIGHT, BAR_HEIGHT = 3.4, 0.95, 0.27
"""In inches: of a line, and of bars what is around them and each of them."""

MOST_NAMES = 12
"""So many groups are named below a line; of more, only some are."""

MOST_LETTERS = 24
"""Names of more letters than this together are turned, or they would overlap."""

LONGEST_NAME = 40
"""Of a longer name the middle is left out; the table has it in full."""


@dataclass(frozen=True)
class _Measure:
    """One measure of an answer, for a panel of its own."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    intervals: tuple[tuple[tuple[Any, Any] | None, ...], ...]
    learnt: tuple[tuple[bool, ...], ...]
    interval_names: tuple[str | None, ...]
    practice_notice: str | None = None

    @property
    def keys_first(self) -> Self:
        """The same: its last column is the measure."""
        return self

    @property
    def is_numeric(self) -> bool:
        """Whether there is anything to draw: numbers, some of which may be missing."""
        cells = [row[-1] for row in self.rows if row[-1] is not None]
        return bool(cells) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)

    @property
    def finest(self) -> _Measure:
        """The same without totals, which would dwarf the groups that they add up."""
        groups = [place for place, row in enumerate(self.rows) if None not in row[:-1]]
        return self._only(groups) if groups else self

    @property
    def drawable(self) -> _Measure:
        """The same with as many groups as can be told apart, and names that leave room for the rest."""
        shown = self if is_over_time(self) else self._only(range(min(len(self.rows), MOST_BARS)))
        rows = tuple((*(_shorten(key) for key in row[:-1]), row[-1]) for row in shown.rows)
        return replace(shown, rows=rows, columns=tuple(cut(name, LONGEST_NAME) for name in shown.columns))

    @property
    def height(self) -> float:
        """How high its panel is, in inches."""
        return LINE_HEIGHT if is_over_time(self) else FRAME_HEIGHT + BAR_HEIGHT * len(self.rows)

    def _only(self, places: Any) -> _Measure:
        rows, intervals, learnt = (
            tuple(lines[place] for place in places) for lines in (self.rows, self.intervals, self.learnt)
        )
        return replace(self, rows=rows, intervals=intervals, learnt=learnt)


def chart(answer: ChartedAnswer) -> Figure | None:
    """Draw an answer as it suits it: five quantiles as boxes, days as a line, other groups as bars or points.

    Each measure has a panel of its own, with its intervals.  Totals are left out where there are groups, and so is what
    comes after the first sixty of them.  None if nothing of the answer is a number.
    """
    answer = answer.keys_first
    if is_box(answer):
        figure = boxes(answer)
    else:
        measures = [measure.finest for measure in _split(answer) if measure.is_numeric]
        if not measures:
            return None
        drawn = [measure.drawable for measure in measures]
        heights = [measure.height for measure in drawn]
        figure = new_figure(height=sum(heights))
        panels = figure.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, measure, whole in zip(panels, drawn, measures, strict=True):
            lines(measure, axes=axes) if is_over_time(measure) else bars(measure, horizontal=True, axes=axes)
            if len(measure.rows) < len(whole.rows):
                axes.set_title(f"the first {len(measure.rows)} of {len(whole.rows):,} groups", fontsize="medium")
    if answer.practice_notice is not None:
        figure.suptitle(answer.practice_notice, fontsize="medium")
    return figure


def lines(answer: ChartedAnswer, *, axes: Axes | None = None) -> Figure:
    """Draw an answer with one measure as a line over days, or over groups in their order, with its intervals as a band.

    Where a group has no interval there are points only: a line would look more certain than it is.
    """
    answer, axes = answer.keys_first, panel(axes)
    is_time, values = is_over_time(answer), learnt_values(answer)
    places = [row[0] for row in answer.rows] if is_time else list(range(len(answer.rows)))
    ends = [interval for (interval,) in answer.intervals if interval is not None]
    name = answer.interval_names[0] if len(ends) == len(places) else None
    if name is None:
        axes.plot(places, values, **POINTS)
    else:
        axes.plot(places, values, marker="o", markersize=3, color=COLOURS[0])
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        axes.fill_between(places, lows, highs, alpha=0.25, color=COLOURS[0], linewidth=0)
        axes.set_ylim(bottom=min(0, *lows))
    axes.set_xlabel(said_of(name, "band"))
    axes.set_ylabel(answer.columns[-1])
    axes.spines[["top", "right"]].set_visible(False)
    if is_time:
        format_dates(axes)
    else:
        named = places[:: max(1, ceil(len(places) / MOST_NAMES))]
        names = [label(answer.rows[place][:-1]) for place in named]
        axes.set_xticks(named, names, rotation=60 if sum(map(len, names)) > MOST_LETTERS else 0)
    as_written([*axes.get_xticklabels(), axes.yaxis.label])
    return axes.figure  # type: ignore[return-value]  # a panel's, not a sub-figure's


def is_box(answer: ChartedAnswer) -> bool:
    """Return whether an answer has the five quantiles that a box is drawn from, as SQL names them."""
    if not answer.rows or len(answer.learnt[0]) != BOX or not answer.intervals:
        return False
    return all(name.startswith("quantile") for name in answer.columns[-BOX:])


def is_over_time(answer: ChartedAnswer) -> bool:
    """Return whether the groups of an answer are days or times, and nothing else."""
    return len(answer.columns) == 2 and all(isinstance(row[0], date) for row in answer.rows)


def _split(answer: ChartedAnswer) -> Iterator[_Measure]:
    """Yield each measure of an answer with the keys; what is missing is drawn as what was not learnt."""
    count = len(answer.learnt[0]) if answer.rows else 0
    keys = len(answer.columns) - count
    for place in range(count):
        cells = [row[keys + place] for row in answer.rows]
        yield _Measure(
            columns=(*answer.columns[:keys], answer.columns[keys + place]),
            rows=tuple((*row[:keys], cell) for row, cell in zip(answer.rows, cells, strict=True)),
            intervals=tuple((row[place],) for row in answer.intervals) or ((None,),) * len(cells),
            learnt=tuple((row[place] and cell is not None,) for row, cell in zip(answer.learnt, cells, strict=True)),
            interval_names=(answer.interval_names[place],),
        )


def _shorten(key: Any) -> Any:
    return cut(key, LONGEST_NAME) if isinstance(key, str) else key
