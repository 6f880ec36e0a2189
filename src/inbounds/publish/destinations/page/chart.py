"""Charts of a table, as SVG inside the page: bars or lines, each with its intervals, for wide and narrow screens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from inbounds.publish.destinations.page.bars import draw_bars
from inbounds.publish.destinations.page.figures import Figures, write_key
from inbounds.publish.destinations.page.lines import draw_lines
from inbounds.publish.destinations.page.mark import LOOKS, Look, Mark, Series
from inbounds.publish.destinations.page.markup import named, said
from inbounds.publish.report import PublishedTable
from inbounds.results.answer import Answer

BARS, LINE, NONE = "bars", "line", "none"
"""The kinds of charts that can be asked for; a line that cannot be drawn is drawn as bars."""

MOST_BARS = 60
MOST_PANELS = 8
MOST_CHARTS = 3
"""So many measures of a table are drawn."""


def charts_of(table: PublishedTable, place: str) -> list[str]:
    """Return the charts of a table: of each measure that has numbers, for groups that are few enough."""
    answer = table.answer.keys_first
    if table.chart == NONE or not answer.key_places:
        return []
    found = [(measure, _draw(answer, measure, table.chart)) for measure in range(answer.measures)]
    drawn = [(measure, drawing) for measure, drawing in found if drawing.panels][:MOST_CHARTS]
    return [_figure(table, answer, measure, drawing, f"{place}-{measure + 1}") for measure, drawing in drawn]


@dataclass(frozen=True)
class Drawing:
    """What is drawn: one list of bars, or a line for each group."""

    shape: str
    panels: list[Series]


def _draw(answer: Answer, measure: int, wanted: str | None) -> Drawing:
    """Return what is drawn, with no panels if nothing can be."""
    keys, place = len(answer.key_places), len(answer.key_places) + measure
    cells = [row[place] for row in answer.rows]
    if any(isinstance(cell, bool) or not isinstance(cell, int | float | None) for cell in cells):
        return Drawing(NONE, [])
    learnt = answer.learnt
    marks = []
    for at, row in enumerate(answer.rows):
        if None in row[:keys]:  # totals would dwarf the rest
            continue
        tells = learnt[at][measure] and row[place] is not None
        ends = answer.intervals[at][measure] if tells and answer.intervals else None
        marks.append(Mark(row[:keys], row[place] if tells else None, ends))
    if sum(mark.value is not None for mark in marks) < 2:
        return Drawing(NONE, [])
    lines = [] if wanted == BARS else _lines(marks)
    if lines:
        return Drawing(LINE, lines)
    return Drawing(BARS, [Series(None, tuple(marks))] if len(marks) <= MOST_BARS else [])


def _lines(marks: list[Mark]) -> list[Series]:
    """Return a line for each group, if the last key, or the only other one, is a time."""
    if not all(isinstance(key, date) for mark in marks for key in _by_time(mark).keys[-1:]):
        return []
    groups: dict[tuple[Any, ...], list[Mark]] = {}
    for mark in map(_by_time, marks):
        groups.setdefault(mark.keys[:-1], []).append(mark)
    if len(groups) > MOST_PANELS or any(len(group) < 2 for group in groups.values()):
        return []
    return [
        Series(
            ", ".join(map(write_key, keys)) if keys else None,
            tuple(sorted(group, key=lambda mark: mark.keys[-1])),
        )
        for keys, group in groups.items()
    ]


def _by_time(mark: Mark) -> Mark:
    """Return a mark whose time comes last."""
    times = [key for key in mark.keys if isinstance(key, date)]
    if len(times) != 1:
        return mark
    return Mark((*(key for key in mark.keys if not isinstance(key, date)), times[0]), mark.value, mark.ends)


def _figure(table: PublishedTable, answer: Answer, measure: int, drawing: Drawing, place: str) -> str:
    """Return a chart with what it shows: in two widths, of which a screen shows one."""
    name = answer.columns[len(answer.key_places) + measure]
    shape = drawing.shape.capitalize()
    interval = answer.interval_names[measure]
    band = "band" if drawing.shape == LINE else "thin line"
    what = f"the {band} is the {interval}" if interval else "there is no interval"
    figures = Figures.of(answer, measure)
    pictures = [
        _picture(drawing, figures, look, f"{place}-{look.name}", table.title, f"{shape}: {name}") for look in LOOKS
    ]
    caption = f"<figcaption>{shape}: {named(name)}; {said(what)}. The table has every number.</figcaption>"
    return "\n".join(["<figure>", *pictures, caption, "</figure>"])


def _shape(drawing: Drawing, figures: Figures, look: Look) -> tuple[str, int]:
    return draw_lines(drawing.panels, look) if drawing.shape == LINE else draw_bars(drawing.panels[0], figures, look)


def _picture(drawing: Drawing, figures: Figures, look: Look, place: str, title: str, what: str) -> str:
    drawn, height = _shape(drawing, figures, look)
    about = f'<title id="{place}-t">{said(title)}</title><desc id="{place}-d">{said(what)}, with intervals</desc>'
    labelled = f'role="img" aria-labelledby="{place}-t" aria-describedby="{place}-d"'
    return f'<svg class="{look.name}" viewBox="0 0 {look.width} {height:.0f}" {labelled}>{about}{drawn}</svg>'
