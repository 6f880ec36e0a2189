"""Lying bars, one for each group, each with its interval as a line across its end."""

from __future__ import annotations

from inbounds.publish.destinations.page.figures import Figures, write_key
from inbounds.publish.destinations.page.mark import Look, Mark, Series, draw_line, shorten, write_text
from inbounds.publish.destinations.page.scale import Scale

ROW, BAR, BELOW = 28, 16, 26
"""Heights, in pixels."""

LETTER = 8
"""The width of a letter, in pixels: of a wide font, so that no name is cut off."""

NOTHING = "nothing learnt"


def draw_bars(series: Series, figures: Figures, look: Look) -> tuple[str, int]:
    """Return the picture and its height; a number without an interval is a diamond, which promises less than a bar."""
    names = [shorten(", ".join(map(write_key, mark.keys)), look.letters) for mark in series.marks]
    numbers = ["" if mark.value is None else figures.write(mark.value) for mark in series.marks]
    left = 10 + min(max(map(len, names)), look.letters) * LETTER
    right = look.width - 14 - max(map(len, numbers)) * LETTER
    scale = Scale.of(series.values, left, right)
    bottom = 4 + ROW * len(series.marks)
    parts = []
    for value, words in scale.ticks(3 if look.is_narrow else 6):
        x = scale.place(value)
        parts.append(draw_line((x, 2, x, bottom), "axis" if value == 0 else "grid"))
        parts.append(write_text(x, bottom + 17, words, anchor="middle", kind="soft"))
    for at, (mark, name, number) in enumerate(zip(series.marks, names, numbers, strict=True)):
        middle = 4 + ROW * (at + 0.5)
        parts.append(write_text(left - 8, middle + 4.5, name, anchor="end"))
        if mark.value is None:
            parts.append(write_text(scale.place(0) + 6, middle + 4.5, NOTHING, kind="soft"))
            continue
        parts.append(_draw(mark, mark.value, scale, middle))
        parts.append(write_text(look.width - 4, middle + 4.5, number, anchor="end"))
    return "".join(parts), bottom + BELOW


def _draw(mark: Mark, value: float, scale: Scale, middle: float) -> str:
    x, zero = scale.place(value), scale.place(0)
    if mark.ends is None:
        return f'<path d="M{x - 6:.1f} {middle:.1f}l6 -6 6 6 -6 6z" class="dot"/>'
    start, width = min(x, zero), abs(x - zero)
    bar = f'<rect x="{start:.1f}" y="{middle - BAR / 2:.1f}" width="{width:.1f}" height="{BAR}" class="bar"/>'
    low, high = (scale.place(end) for end in mark.ends)
    whisker = f"M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 4:.1f}v8M{high:.1f} {middle - 4:.1f}v8"
    return f'{bar}<path d="{whisker}" class="whisker"/>'
