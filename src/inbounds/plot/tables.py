"""Pictures of private tables: bars with intervals, points without, and boxes of quantiles.

They show what was released, no more, and say what the intervals are about.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from math import nan
from typing import TYPE_CHECKING, Any, Protocol, Self

from inbounds.errors import InvalidParameter
from inbounds.plot.style import COLOURS, GREY, as_written, matplotlib_or_error, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOX = 5
"""A box is drawn from so many quantiles."""

PARTS = ("whislo", "q1", "med", "q3", "whishi")
"""What matplotlib calls them, from the least to the greatest."""

MOST_BARS = 60
"""More bars than this cannot be told apart."""

NO_INTERVAL = "no interval"
"""Said of quantiles: where the true one lies does not follow from what was released."""


POINTS: dict[str, Any] = {"color": COLOURS[0], "marker": "D", "markersize": 6, "linestyle": "none"}
"""How values without an interval are drawn."""


class ChartedAnswer(Protocol):
    """A private answer: what its columns are called, its rows, and the intervals around what was measured."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What its columns are called."""

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """One row for each group."""

    @property
    def intervals(self) -> tuple[tuple[tuple[Any, Any] | None, ...], ...]:
        """An interval for each measure of each row."""

    @property
    def learnt(self) -> tuple[tuple[bool, ...], ...]:
        """For each measure of each row, whether anything was learnt: if not, the number is noise."""

    @property
    def keys_first(self) -> Self:
        """The same, with the columns grouped by before what was measured."""

    @property
    def interval_names(self) -> tuple[str | None, ...]:
        """What the intervals of each measure are called; None for a measure that has none."""

    @property
    def practice_notice(self) -> str | None:
        """What stands above an answer about made-up rows; None above others."""


def boxes(answer: ChartedAnswer, *, axes: Axes | None = None) -> Figure:
    """Draw a box plot for each group of an answer with five quantiles: whisker, box, median, box, whisker.

    Ask for them with, for example, `QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9)`.
    """
    answer = answer.keys_first
    if not answer.rows or len(answer.rows[0]) < BOX or len(answer.intervals[0]) != BOX:
        raise InvalidParameter(f"a box needs {BOX} quantiles, got another answer; ask for {BOX} of a column")
    ax = panel(axes)
    days = isinstance(answer.rows[0][-1], date)
    statistics = [
        {"label": label(row[:-BOX]), **dict(zip(PARTS, (_height(value) for value in row[-BOX:]), strict=True))}
        for row in answer.rows
    ]
    style = {"color": COLOURS[0], "linewidth": 1.6}
    ax.bxp(
        statistics,
        showfliers=False,
        boxprops=style,
        whiskerprops=style,
        capprops=style,
        medianprops={"color": COLOURS[1], "linewidth": 2.2},
    )
    if days:
        ax.yaxis_date()
    ax.set_ylabel(f"{answer.columns[-1].split('_', 2)[-1]} ({NO_INTERVAL})")
    as_written([*ax.get_xticklabels(), ax.yaxis.label])
    return _figure(ax)


def bars(answer: ChartedAnswer, *, horizontal: bool = False, axes: Axes | None = None) -> Figure:
    """Draw a bar for each row of an answer with one measure, with its interval as a line.

    A measure without an interval, such as a median, is drawn as points: a bar would look more certain than it is.
    Where nothing was learnt, there is the interval alone.
    Intervals come from the raw measurements, so in a table that adds up a bar may end outside its interval.
    `horizontal` bars leave room for names of any length.
    """
    answer = answer.keys_first
    if not 1 <= len(answer.rows) <= MOST_BARS or len(answer.intervals[0]) != 1:
        raise InvalidParameter(
            f"bars are drawn for one measure of up to {MOST_BARS} groups, got another answer; ask for fewer"
        )
    ax = panel(axes)
    if horizontal:
        return _draw_lying_bars(answer, ax)
    places, name = range(len(answer.rows)), answer.interval_names[0]
    values = learnt_values(answer)
    if name is None:
        ax.plot(places, values, **POINTS)
    else:
        ax.bar(places, values, color=COLOURS[0], width=0.7)
    for place, (interval,) in zip(places, answer.intervals, strict=True):
        if interval is not None:
            ax.plot([place, place], list(interval), color=GREY, linewidth=1.4, marker="_", markersize=8)
    ax.set_xticks(list(places), [label(row[:-1]) for row in answer.rows], rotation=30, ha="right")
    ax.set_xlabel(said_of(name, "line"))
    ax.set_ylabel(answer.columns[-1])
    as_written([*ax.get_xticklabels(), ax.yaxis.label])
    return _figure(ax)


def learnt_values(answer: ChartedAnswer) -> list[Any]:
    """Return what is drawn of the last column: no number where nothing was learnt."""
    return [row[-1] if learnt[-1] else nan for row, learnt in zip(answer.rows, answer.learnt, strict=True)]


def said_of(interval: str | None, drawn_as: str) -> str:
    """Say how intervals are drawn and what they are about, or that there is none."""
    return NO_INTERVAL if interval is None else f"{drawn_as}: {interval}"


def _draw_lying_bars(answer: ChartedAnswer, ax: Axes) -> Figure:
    ink = ax.xaxis.label.get_color()
    places, name = range(len(answer.rows)), answer.interval_names[0]
    values = learnt_values(answer)
    if name is None:
        ax.plot(values, places, **POINTS)
    else:
        ax.barh(places, values, color=COLOURS[0], alpha=0.65, height=0.7)
    for place, (interval,) in zip(places, answer.intervals, strict=True):
        if interval is not None:
            ax.plot(list(interval), [place, place], color=ink, linewidth=1.3, marker="|", markersize=7)
    ax.set_yticks(list(places), [label(row[:-1]) for row in answer.rows])
    ax.set_ylim(len(answer.rows) - 0.4, -0.6)
    ax.set_xlabel(f"{answer.columns[-1]}\n{said_of(name, 'line')}")
    as_written([*ax.get_yticklabels(), ax.xaxis.label])
    return _figure(ax)


def _height(value: Any) -> Any:
    return matplotlib_or_error().dates.date2num(value) if isinstance(value, date) else value


def label(keys: Sequence[Any]) -> str:
    """Return what a group is called."""
    return ", ".join("(all)" if key is None else str(key) for key in keys)


def _figure(ax: Axes) -> Figure:
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure  # type: ignore[return-value]  # a panel's, not a sub-figure's
