"""What was spent over time, as a picture: everybody together, and each analyst."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from inbounds.ledger.values.amount import UNIT
from inbounds.ledger.values.entry import Entry
from inbounds.plot.style import COLOURS
from inbounds.server.pages.pictures.answer_picture import dates
from inbounds.server.pages.pictures.figure import Look, svg
from inbounds.server.pages.words import shortened

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
    end = max(until, begin + timedelta(minutes=1))
    charges = [one for one in entries if one.kind == "charge"]
    spent: dict[str, int] = {}
    for one in charges:
        spent[one.analyst] = spent.get(one.analyst, 0) + one.amount
    caps = [one for one in entries if one.kind == "open" or (one.kind == "grant" and not one.analyst)]
    _steps(axes, caps, (begin, end), label=CAP, color=look.ink, linewidth=1.2)
    _steps(axes, charges, (begin, end), label=ALL, color=COLOURS[0], linewidth=2.4)
    most = sorted(spent, key=lambda who: -spent[who])[:MOST] if len(spent) > 1 else []
    for name, colour, style in zip(most, COLOURS[1:], STYLES, strict=False):
        own = [one for one in charges if one.analyst == name]
        _steps(axes, own, (begin, end), label=shortened(name, 17), color=colour, linewidth=1.8, linestyle=style)
    axes.set_ylabel("ε spent")
    axes.set_ylim(bottom=0)
    axes.set_xlim(begin, end)
    _legend(axes, look)
    axes.spines[["top", "right"]].set_visible(False)
    dates(axes)


def _legend(axes: Any, look: Look) -> None:
    """Name the lines below the picture, also those of analysts whose names matplotlib takes for hidden ones."""
    lines = axes.get_lines()
    columns, place = 2 if look.narrow else 3, "outside lower center"
    found = axes.figure.legend(lines, ["…"] * len(lines), loc=place, ncols=columns, frameon=False, fontsize="small")
    for text, line in zip(found.get_texts(), lines, strict=True):
        text.set_text(line.get_label())


def _steps(axes: Any, entries: Sequence[Entry], ends: tuple[datetime, datetime], **style: Any) -> None:
    """Draw what entries add up to, from the beginning to now."""
    total, times, sums = 0, [ends[0]], [0.0]
    for one in entries:
        total += one.amount
        times.append(datetime.fromisoformat(one.time))
        sums.append(total / UNIT)
    axes.plot([*times, ends[1]], [*sums, sums[-1]], drawstyle="steps-post", **style)
