"""A table of the page: its numbers with intervals and noise, as many rows as one reads, and all of them as csv."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from inbounds.publish.destinations.facts import MARK
from inbounds.publish.destinations.page.figures import Figures, write_key, write_noise
from inbounds.publish.destinations.page.markup import named, said
from inbounds.publish.destinations.sheet import Sheet
from inbounds.results.answer import Answer
from inbounds.results.answer_table import ALL
from inbounds.results.nothing_learnt import NOTHING_LEARNT
from inbounds.results.shown_rows import choose_rows

MOST_AT_ONCE = 40
"""So many rows are seen at once; the others are folded away."""

MOST_WITH_NOISE = 2
"""Of more measures than this the noise has no columns: a page has no room for them."""

NOISE = "expected noise"
TOTAL = ' class="total"'
LONG_NAME = 15
"""The name of a column with more letters than this breaks anywhere."""

LONGEST_LINK = 1_500_000
"""Browsers refuse to save what is in a much longer link."""


def write_page_table(sheet: Sheet, title: str, number: int, *, practice: bool) -> str:
    """Return the table, and a second one for the rows that are folded away."""
    answer, shown = sheet.table.answer, choose_rows(sheet.table.answer)
    places = list(shown.places)
    first, rest = places[:MOST_AT_ONCE], places[MOST_AT_ONCE:]
    parts = [_write(answer, first, title, f"Table {number}")]
    if rest:
        more = _write(answer, rest, f"{title}, further rows", f"Table {number}, further rows")
        parts.append(f"<details><summary>Show {len(rest):,} more rows</summary>\n{more}\n</details>")
    left_out = len(answer.rows) - len(places)
    if left_out:
        parts.append(
            f'<p class="soft">{left_out:,} of {len(answer.rows):,} rows are not on this page: most are so small that '
            "noise alone could have made them. The data files of this report have every row.</p>"
        )
    return "\n".join([*parts, _link(sheet, practice=practice)])


def _write(answer: Answer, places: Sequence[int], title: str, label: str) -> str:
    columns, learnt = _columns(answer), answer.learnt
    several = ' class="several"' if _is_wide(answer) else ""
    head = "".join(cell for column in columns for cell in column.head)
    body = []
    for at in places:
        cells = [cell for column in columns for cell in column.cells(answer, at, learnt[at])]
        is_total = any(answer.rows[at][place] is None for place in answer.key_places)
        body.append(f"<tr{TOTAL if is_total else ''}>{''.join(cells)}</tr>")
    return "\n".join(
        [
            f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">',
            f"<table{several}><caption>{said(title)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *body,
            "</tbody></table></div>",
        ]
    )


def _is_wide(answer: Answer) -> bool:
    """Return whether a phone has no room for the table as it is."""
    return answer.measures > 1 or len(answer.key_places) > 1


@dataclass(frozen=True)
class PageColumn:
    """A column of an answer, with its interval and its noise beside it if it has them."""

    name: str
    place: int
    measure: int | None
    """None for a grouping column."""
    figures: Figures
    interval: str | None
    has_noise: bool

    @property
    def head(self) -> list[str]:
        """The cells above it."""
        if self.measure is None:
            return [f'<th scope="col"{self._kind()}>{named(self.name)}</th>']
        beside = [said(self.interval)] if self.interval else []
        beside += [NOISE] if self.has_noise else []
        first = f'<th scope="col"{self._kind("number")}>{named(self.name)}</th>'
        return [first, *(f'<th scope="col" class="number">{words}</th>' for words in beside)]

    def _kind(self, *kinds: str) -> str:
        """Return the class of the cell above it: a long name breaks anywhere."""
        found = [*kinds, *(["name"] if len(self.name) > LONG_NAME else [])]
        return f' class="{" ".join(found)}"' if found else ""

    def cells(self, answer: Answer, at: int, learnt: Sequence[bool]) -> list[str]:
        """Return the cells of a row."""
        cell = answer.rows[at][self.place]
        if self.measure is None:
            kind = "when" if isinstance(cell, date | time) else "name"
            return [f'<th scope="row" class="{kind}">{named(ALL if cell is None else write_key(cell))}</th>']
        is_learnt = learnt[self.measure]
        value = write_value(cell, self.figures) if is_learnt else NOTHING_LEARNT
        cells = [(self.name, "number" if is_learnt else "number soft", value)]
        if self.interval is not None:
            cells.append((self.interval, "number soft", _interval(answer.intervals[at][self.measure], self.figures)))
        if self.has_noise:
            noise = answer.noise[at][self.measure] if is_learnt else None
            cells.append((NOISE, "number soft", "" if noise is None else write_noise(noise)))
        if not _is_wide(answer):
            return [f'<td class="{kind}">{words}</td>' for _, kind, words in cells]
        # On a phone each number has a line of its own, with its name before it.
        return [f'<td class="{kind}" data-name="{said(name)}"><span>{words}</span></td>' for name, kind, words in cells]


def _columns(answer: Answer) -> list[PageColumn]:
    measures = {place: measure for measure, place in enumerate(answer.measure_places)}
    columns = []
    for place, name in enumerate(answer.columns):
        measure = measures.get(place)
        if measure is None:
            columns.append(PageColumn(name, place, None, Figures(), None, has_noise=False))
            continue
        noisy = answer.measures <= MOST_WITH_NOISE and any(row[measure] is not None for row in answer.noise)
        figures, interval = Figures.of(answer, measure), answer.interval_names[measure]
        columns.append(PageColumn(name, place, measure, figures, interval, has_noise=noisy))
    return columns


def write_value(cell: Any, figures: Figures) -> str:
    """Return a number as people read it, with all of its digits for programs."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return f'<data value="{cell!r}">{figures.write(cell)}</data>'
    return named(figures.write(cell)) if isinstance(cell, str) else said(figures.write(cell))


def _interval(ends: tuple[Any, Any] | None, figures: Figures) -> str:
    return "" if ends is None else f"{write_value(ends[0], figures)} to {write_value(ends[1], figures)}"


def _link(sheet: Sheet, *, practice: bool) -> str:
    """Return a link that saves all rows as csv, without asking anybody for it."""
    text = base64.b64encode(sheet.csv()).decode()
    if len(text) > LONGEST_LINK:
        return ""
    many = len(sheet.rows)
    name = f"{MARK if practice else ''}{said(sheet.name)}.csv"
    words = f"Save this table as csv ({many:,} row{'' if many == 1 else 's'})"
    return f'<p class="no-print"><a download="{name}" href="data:text/csv;charset=utf-8;base64,{text}">{words}</a></p>'
