"""Lying bars as places and sizes, which a template writes as SVG into a page, under the page's own style.

A picture that follows from a text somebody tries has no address to be loaded from: the text is not kept, and true
figures must be in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inbounds.publish.destinations.page.mark import Look, shorten
from inbounds.publish.destinations.page.scale import Scale

LOOKS = (Look("wide", 520, 20), Look("narrow", 344, 14))
"""Half of a wide page, and a telephone."""

BAR, BETWEEN, GAP, ABOVE, BELOW = 16, 3, 12, 4, 26
"""Heights, in pixels: of a bar, between bars, between rows, and around them."""

LETTER = 7.5
"""The width of a letter, in pixels."""


@dataclass(frozen=True)
class Bar:
    """Parts one after another, each of a kind, and what is written behind them."""

    parts: tuple[tuple[str, float], ...]
    words: str


@dataclass(frozen=True)
class Row:
    """A name and its bars; a mark stands below the name of one to be found at once."""

    name: str
    bars: tuple[Bar, ...]
    mark: str = ""


@dataclass(frozen=True)
class Rectangle:
    """A part of a bar."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True)
class Line:
    """A line from the top to the bottom."""

    x: float
    kind: str


@dataclass(frozen=True)
class Words:
    """A text in a picture."""

    x: float
    y: float
    text: str
    anchor: str
    kind: str = ""


@dataclass
class Drawing:
    """A picture for one kind of screen."""

    look: str
    width: int
    height: float
    bottom: float
    rectangles: list[Rectangle] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)


@dataclass(frozen=True)
class Picture:
    """Bars with a title, what their colours mean, and what is said to who does not see them."""

    title: str
    legend: tuple[tuple[str, str], ...]
    """Each kind of part, and what it is."""
    label: str
    rows: tuple[Row, ...]
    unit: str = ""
    """What stands behind the numbers of the axis."""

    @property
    def drawings(self) -> Iterator[Drawing]:
        """The picture for wide screens, and for narrow ones."""
        return (_draw(self.rows, self.unit, look) for look in LOOKS)


def _draw(rows: Sequence[Row], unit: str, look: Look) -> Drawing:
    # Names on the left, words on the right, and in between an axis on which all bars have their length.
    names = [shorten(row.name, look.letters) for row in rows]
    written = [bar.words for row in rows for bar in row.bars]
    left = 14 + LETTER * max(map(len, (*names, *(row.mark for row in rows))), default=0)
    right = look.width - 10 - LETTER * max(map(len, written), default=0)
    lengths = [sum(length for _, length in bar.parts) for row in rows for bar in row.bars]
    scale = Scale.of([0.0, *lengths], left, right)
    heights = [_height(row) for row in rows]
    bottom = ABOVE + sum(heights)
    drawing = Drawing(look.name, look.width, bottom + BELOW, bottom)
    for value, text in scale.ticks(2 if look.is_narrow else 5):
        x = scale.place(value)
        drawing.lines.append(Line(x, "axis" if value == 0 else "grid"))
        drawing.words.append(Words(x, bottom + 17, f"{text}{unit}", "middle", "soft"))
    top = float(ABOVE)
    for row, name, height in zip(rows, names, heights, strict=True):
        _add_row(drawing, row, name, top, height, scale)
        top += height
    return drawing


def _height(row: Row) -> float:
    bars = len(row.bars) * (BAR + BETWEEN) - BETWEEN
    return max(bars, 2 * BAR if row.mark else 0) + GAP


def _add_row(drawing: Drawing, row: Row, name: str, top: float, height: float, scale: Scale) -> None:
    middle = top + height / 2
    if row.mark:
        drawing.rectangles.append(Rectangle(0, top + 1, drawing.width, height - 2, "marked"))
        drawing.words.append(Words(scale.start - 8, middle + 13, row.mark, "end", "mark"))
    drawing.words.append(Words(scale.start - 8, middle + (-2 if row.mark else 4.5), name, "end"))
    y = middle - (len(row.bars) * (BAR + BETWEEN) - BETWEEN) / 2
    for bar in row.bars:
        length = 0.0
        for kind, part in bar.parts:
            x = scale.place(length)
            length += part
            drawing.rectangles.append(Rectangle(x, y, scale.place(length) - x, BAR, kind))
        drawing.words.append(Words(drawing.width - 4, y + BAR - 3.5, bar.words, "end"))
        y += BAR + BETWEEN


def per_cent(part: int, whole: int) -> float:
    """Return the length of a bar that shows a share."""
    return 100 * part / whole if whole else 0.0
