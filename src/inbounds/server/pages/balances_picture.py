"""What was spent over time, as a picture: everybody together, and each analyst."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from inbounds.ledger.amount import UNIT
from inbounds.ledger.entry import Entry
from inbounds.plot.style import COLOURS
from inbounds.server.pages.figure import svg

MOST = 5
"""So many analysts have a line of their own: those who spent most."""


def balances_picture(entries: Sequence[Entry], *, dark: bool) -> bytes:
    """Return the picture, as SVG."""
    return svg(lambda axes: _draw(entries, axes), dark=dark)


def _draw(entries: Sequence[Entry], axes: Any) -> None:
    charges = [one for one in entries if one.kind == "charge"]
    spent: dict[str, int] = {}
    for one in charges:
        spent[one.analyst] = spent.get(one.analyst, 0) + one.amount
    _steps(axes, charges, "everybody", COLOURS[0], 2.2)
    for name, colour in zip(sorted(spent, key=lambda who: -spent[who])[:MOST], COLOURS[1:], strict=False):
        _steps(axes, [one for one in charges if one.analyst == name], name, colour, 1.4)
    _caps(entries, axes)
    axes.set_ylabel("epsilon spent")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.autofmt_xdate()


def _steps(axes: Any, charges: Sequence[Entry], label: str, colour: str, width: float) -> None:
    total, times, sums = 0, [], []
    for one in charges:
        total += one.amount
        times.append(datetime.fromisoformat(one.time))
        sums.append(total / UNIT)
    axes.plot(times, sums, drawstyle="steps-post", label=label, color=colour, linewidth=width, marker="o", markersize=3)


def _caps(entries: Sequence[Entry], axes: Any) -> None:
    """Draw how much there is in all: from the opening on, and after each grant to everybody."""
    cap, times, caps = 0, [], []
    for one in entries:
        if one.kind == "open" or (one.kind == "grant" and not one.analyst):
            cap += one.amount
            times.append(datetime.fromisoformat(one.time))
            caps.append(cap / UNIT)
    if entries and times:
        times.append(datetime.fromisoformat(entries[-1].time))
        caps.append(cap / UNIT)
        axes.plot(times, caps, drawstyle="steps-post", label="cap", color="#888888", linestyle="--", linewidth=1.2)
