"""What was spent over time, as a picture: everybody together, and each analyst."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from inbounds.exact.amount import UNIT
from inbounds.ledger.values.entry import Entry
from inbounds.plot.style import COLOURS
from inbounds.server.pages.pictures.answer_picture import format_dates
from inbounds.server.pages.pictures.figure import Look, svg
from inbounds.server.pages.words import shorten

HEIGHT = 3.4
MOST = 4
"""So many analysts have a line of their own: those who spent most."""

ALL, CAP = "all analysts", "cap (all analysts)"

STYLES = ("--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def balances_picture(entries: Sequence[Entry], until: datetime, look: Look) -> bytes:
    """Return the picture, as SVG."""
    return svg(lambda axes: _draw(entries, until, axes, look), look, HEIGHT)


def _draw(entries: Sequence[Entry], until: datetime, axes: Any, look: Look) -> None:
    begin = datetime.fromisoformat(entries[0].time) if entries else until
    end = max(until, begin + timedelta(minutes=1))  # an axis of no length cannot be drawn
    charges = [entry for entry in entries if entry.kind == "charge"]
    spent: dict[str, int] = {}
    for entry in charges:
        spent[entry.analyst] = spent.get(entry.analyst, 0) + entry.amount
    caps = [entry for entry in entries if entry.kind == "open" or (entry.kind == "grant" and not entry.analyst)]
    _steps(axes, caps, (begin, end), label=CAP, color=look.ink, linewidth=1.2)
    _steps(axes, charges, (begin, end), label=ALL, color=COLOURS[0], linewidth=2.4)
    most = sorted(spent, key=lambda who: -spent[who])[:MOST] if len(spent) > 1 else []
    for name, colour, style in zip(most, COLOURS[1:], STYLES, strict=False):
        own = [entry for entry in charges if entry.analyst == name]
        _steps(axes, own, (begin, end), label=shorten(name, 17), color=colour, linewidth=1.8, linestyle=style)
    axes.set_ylabel("ε spent")
    axes.set_ylim(bottom=0)
    axes.set_xlim(begin, end)
    _legend(axes, look)
    axes.spines[["top", "right"]].set_visible(False)
    format_dates(axes)


def _legend(axes: Any, look: Look) -> None:
    """Name the lines below the picture, also those of analysts whose names matplotlib takes for hidden ones."""
    lines = axes.get_lines()
    columns, place = 2 if look.narrow else 3, "outside lower center"
    legend = axes.figure.legend(lines, ["…"] * len(lines), loc=place, ncols=columns, frameon=False, fontsize="small")
    for text, line in zip(legend.get_texts(), lines, strict=True):
        text.set_text(line.get_label())


def _steps(axes: Any, entries: Sequence[Entry], ends: tuple[datetime, datetime], **style: Any) -> None:
    """Draw what entries add up to, from the beginning to now."""
    total, times, sums = 0, [ends[0]], [0.0]
    for entry in entries:
        total += entry.amount
        times.append(datetime.fromisoformat(entry.time))
        sums.append(total / UNIT)
    axes.plot([*times, ends[1]], [*sums, sums[-1]], drawstyle="steps-post", **style)
