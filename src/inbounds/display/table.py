"""A table for people: plain text of 80 columns, HTML for notebooks, or rich for terminals in colour.

    table = TextTable(
        [Column("dataset", left=True), Column("spent")],
        [["clinic", "0.5"], ["census", Cell("1.25", "best")]],
        title="What was spent",
        notes=["in epsilon"],
    )
    str(table), table.html(), table.rich()

A cell is a text, or a `Cell` that stands out.  Whatever a text holds, it is shown as it is: HTML is escaped, and what
cannot be printed, such as a line break or a terminal's control character, is written as Python writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, NamedTuple

from inbounds.display.text import WIDTH, escape_html, fit, printable, text_width

if TYPE_CHECKING:
    from rich.console import RenderableType

NARROWEST = 6
"""A column that is no wider than this is not cut, even if the table is then wider than a terminal."""

Look = Literal["plain", "best", "alarm", "faint"]

_RICH_STYLES: dict[Look, str] = {"plain": "", "best": "bold green", "alarm": "bold red", "faint": "dim"}
_HTML_TAGS: dict[Look, str] = {"best": "b", "alarm": "strong"}


class Column(NamedTuple):
    """What a column is called, where there is room and where there is little; numbers are aligned to the right."""

    name: str
    short: str | None = None
    left: bool = False
    below: str = ""
    """What stands in a second line of the head, where a single one would be too wide."""

    @classmethod
    def in_two(cls, name: str) -> Column:
        """Return a column of numbers whose name has its part in parentheses in a second line."""
        first, bracket, rest = name.partition(" (")
        return cls(first, below=f"({rest}" if bracket else "")


class Cell(NamedTuple):
    """A text that stands out; the best of a column has an asterisk in plain text.  The hint is shown in HTML only."""

    text: str
    look: Look = "plain"
    hint: str = ""


@dataclass(frozen=True)
class TextTable:
    """Columns and rows, under a title and above notes."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Cell]]
    title: str = ""
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        """Write it as plain text: too wide for a terminal, the widest columns are cut."""
        cells = [[_plain(cell) for cell in row] for row in self.rows]
        widths, gap = _widths([*self._head, *cells])
        lines = [self._line(row, widths, gap) for row in (*self._head, *cells)]
        lines.insert(len(self._head), "-" * max(map(text_width, lines)))
        title = [*wrap(printable(self.title), WIDTH), ""] if self.title else []
        notes = [
            line
            for note in self.notes
            for line in wrap(printable(note), WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        ]
        return "\n".join([*title, *lines, *([""] if notes else []), *notes])

    def html(self) -> str:
        """Write it for a notebook or a page."""
        head = "".join(_html("th", column, Cell(f"{column.name} {column.below}".strip())) for column in self.columns)
        body = "".join(f"<tr>{self._html_row(row)}</tr>" for row in self.rows)
        caption = f"<caption>{escape_html(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p>{escape_html(note)}</p>" for note in self.notes)
        return f"<div><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"

    def rich(self) -> RenderableType:
        """Return it for rich to print, with the columns of the plain text where the terminal has 80 of them."""
        try:
            from rich.box import SIMPLE_HEAD  # noqa: PLC0415  only whoever has rich comes here
            from rich.console import Group  # noqa: PLC0415
            from rich.table import Table as RichTable  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415
        except ImportError as missing:
            raise ImportError(
                "tables in colour are drawn by rich, which is not installed: pip install 'rich>=13.9,<16'; "
                "print the table for plain text"
            ) from missing

        widths, gap = _widths([*self._head, *([_plain(cell) for cell in row] for row in self.rows)])
        drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
        names = ["\n".join(lines).rstrip() for lines in zip(*self._head, strict=True)]
        for column, name, width in zip(self.columns, names, widths, strict=True):
            drawn.add_column(Text(name), justify="left" if column.left else "right", no_wrap=True, min_width=width)
        for row in self.rows:
            drawn.add_row(*(Text(printable(cell.text), _RICH_STYLES[cell.look]) for cell in map(_cell, row)))
        title = [Text(printable(self.title), "bold"), Text()] if self.title else []
        notes = [Text(printable(note), "italic") for note in self.notes]
        return Group(*title, drawn, *([Text()] if notes else []), *notes)

    @property
    def _head(self) -> list[list[str]]:
        """The line of names, and the one below it if there is any."""
        names = [printable(column.short or column.name) for column in self.columns]
        below = [printable(column.below) for column in self.columns]
        return [names, below] if any(below) else [names]

    def _line(self, texts: Iterable[str], widths: Sequence[int], gap: int) -> str:
        cells = [fit(text, width, column.left) for text, width, column in zip(texts, widths, self.columns, strict=True)]
        return (" " * gap).join(cells).rstrip()

    def _html_row(self, row: Sequence[str | Cell]) -> str:
        return "".join(_html("td", column, _cell(cell)) for column, cell in zip(self.columns, row, strict=True))


def _cell(cell: str | Cell) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell


def _plain(cell: str | Cell) -> str:
    styled = _cell(cell)
    return ("*" if styled.look == "best" else "") + printable(styled.text)


def _widths(rows: Sequence[Sequence[str]]) -> tuple[list[int], int]:
    """Return the width of each column, and of what is between them; the widest are cut until the table fits."""
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else 1
    while sum(widths) + gap * (len(widths) - 1) > WIDTH and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths, gap


def _html(tag: str, column: Column, cell: Cell) -> str:
    text, inner = escape_html(cell.text), _HTML_TAGS.get(cell.look)
    shown = f"<{inner}>{text}</{inner}>" if inner else text
    hint = f' title="{escape_html(cell.hint)}"' if cell.hint else ""
    return f'<{tag} style="text-align:{"left" if column.left else "right"}"{hint}>{shown}</{tag}>'
