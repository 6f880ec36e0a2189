"""What there is to choose from, for people: a table of facts, or lines to copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from inbounds.display.table import Column, TextTable
from inbounds.display.text import escape_html, printable


@dataclass(frozen=True, repr=False)
class Listing(Sequence[dict[str, str]]):
    """Facts in rows, each a dictionary by the names of the columns; shown as a table in text and in notebooks."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""

    def data(self) -> list[dict[str, str]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    @overload
    def __getitem__(self, place: int) -> dict[str, str]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, str]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, str] | list[dict[str, str]]:
        """Return a row, or several."""
        return self.data()[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return str(self._table)

    def _repr_html_(self) -> str:
        return self._table.html()

    @property
    def _table(self) -> TextTable:
        """The table, without columns that say nothing."""
        places = [place for place in range(len(self.names)) if place == 0 or any(row[place] for row in self.rows)]
        columns = [Column(self.names[place], left=True) for place in places]
        return TextTable(columns, [[row[place] for place in places] for row in self.rows], title=self.title)


class Lines(tuple[str, ...]):
    """Texts to copy, one a line: shown in full, however long they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(printable, self))

    def _repr_html_(self) -> str:
        lines = "\n".join(map(escape_html, self))
        return f"<pre>{lines}</pre>"


def fold(summary: str, text: str) -> str:
    """Return HTML that shows a line, and a longer text once it is opened; both are escaped."""
    lines = "\n".join(map(escape_html, text.split("\n")))
    return f"<details><summary>{escape_html(summary)}</summary><pre>{lines}</pre></details>"
