"""Lines over time, each with its intervals as a band; groups have a panel each, with one axis for all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any

from inbounds.publish.destinations.page.figures import write_key
from inbounds.publish.destinations.page.mark import Look, Mark, Series, draw_line, shorten, write_text
from inbounds.publish.destinations.page.scale import Scale

ALONE, SHARED = 250, 165
"""The height of a panel by itself, and of one of several."""

LEFT, RIGHT, TOP, TITLE, BELOW = 56, 14, 10, 22, 26
"""Around a panel, in pixels."""

DAY_SECONDS = 86_400
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def draw_lines(panels: Sequence[Series], look: Look) -> tuple[str, int]:
    """Return the picture and its height."""
    across = 1 if look.is_narrow or len(panels) == 1 else 2
    width, high = look.width / across, ALONE if len(panels) == 1 else SHARED
    title = TITLE if panels[0].label is not None else 0
    values = [value for panel in panels for value in panel.values]
    times = [mark.keys[-1] for panel in panels for mark in panel.marks]
    ends = (min(map(_seconds, times)), max(map(_seconds, times)))
    parts = []
    for at, panel in enumerate(panels):
        x, y = (at % across) * width, (at // across) * (high + title + BELOW)
        if panel.label is not None:
            parts.append(write_text(x + LEFT, y + 15, shorten(panel.label, look.letters + 10)))
        scale = Scale.of(values, y + title + high, y + title + TOP)
        across_time = Scale(*ends, x + LEFT, x + width - RIGHT)
        most = 2 if width < 400 else 5
        parts.append(_draw_axes(scale, across_time, [mark.keys[-1] for mark in panel.marks], most))
        parts.append(_draw(panel.marks, scale, across_time))
    rows = -(-len(panels) // across)
    return "".join(parts), rows * (high + title + BELOW)


def _draw_axes(scale: Scale, across: Scale, times: Sequence[Any], most: int) -> str:
    parts = []
    for value, words in scale.ticks(4):
        y = scale.place(value)
        parts.append(draw_line((across.start, y, across.end, y), "axis" if value == 0 else "grid"))
        parts.append(write_text(across.start - 6, y + 4.5, words, anchor="end", kind="soft"))
    every = -(-(len(times) - 1) // most) or 1
    last = len(times) - 1
    for at in range(0, last + 1, every):
        anchor = "start" if at == 0 else "end" if at == last else "middle"
        place = across.place(_seconds(times[at]))
        parts.append(write_text(place, scale.start + 18, _write_time(times[at], times), anchor=anchor, kind="soft"))
    return "".join(parts)


def _draw(marks: Sequence[Mark], scale: Scale, across: Scale) -> str:
    """Draw what belongs together: where nothing was learnt, the line is interrupted."""
    parts = []
    for known, run in groupby(marks, lambda mark: mark.value is not None):
        if not known:
            continue
        points = [(across.place(_seconds(mark.keys[-1])), mark) for mark in run]
        if all(mark.ends is not None for _, mark in points):
            upper = [f"{x:.1f} {scale.place(mark.ends[1]):.1f}" for x, mark in points if mark.ends is not None]
            lower = [
                f"{x:.1f} {scale.place(mark.ends[0]):.1f}" for x, mark in reversed(points) if mark.ends is not None
            ]
            shape = "M" + "L".join(upper + lower) + "z"
            parts.append(f'<path d="{shape}" class="band"/>')
            if len(points) == 1:
                x, mark = points[0]
                assert mark.ends is not None
                parts.append(draw_line((x, scale.place(mark.ends[0]), x, scale.place(mark.ends[1])), "whisker"))
            line = "M" + "L".join(f"{x:.1f} {scale.place(mark.value or 0):.1f}" for x, mark in points)
            parts.append(f'<path d="{line}" class="line"/>')
        radius = 3 if len(points) <= 40 else 1.5
        parts += [
            f'<circle cx="{x:.1f}" cy="{scale.place(mark.value or 0):.1f}" r="{radius}" class="dot"/>'
            for x, mark in points
        ]
    return "".join(parts)


def _seconds(moment: date) -> float:
    """Return how late a day or a time is."""
    if isinstance(moment, datetime):
        return moment.toordinal() * DAY_SECONDS + moment.hour * 3600 + moment.minute * 60 + moment.second
    return moment.toordinal() * DAY_SECONDS


def _write_time(moment: date, others: Sequence[date]) -> str:
    """Return a day as shortly as it can be told from the others."""
    if isinstance(moment, datetime):
        if any(other.hour or other.minute or other.second for other in others if isinstance(other, datetime)):
            return write_key(moment)
        moment = moment.date()
    if all(other.day == 1 for other in others):
        return (
            str(moment.year)
            if all(other.month == 1 for other in others)
            else f"{MONTHS[moment.month - 1]} {moment.year}"
        )
    return moment.isoformat()
