"""A statement of account: entries, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.ledger.amount import fraction, written
from inbounds.ledger.entry import Entry

WIDTH = 80

_COLUMNS = ("seq", "time (UTC)", "kind", "dataset", "analyst", "epsilon")
_SHARING = (3, 4)
"""The columns that share what the others leave of the width."""

_RIGHT = (0, 5)


@dataclass(frozen=True)
class Statement:
    """Entries of a ledger in their order: all, or those about one dataset or one analyst."""

    entries: Sequence[Entry]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def spent(self) -> Fraction:
        """The sum of the charges, in epsilon."""
        return fraction(sum(self._charges().values()))

    @property
    def spent_by(self) -> dict[tuple[str, str], Fraction]:
        """The sum of the charges for each dataset and analyst, in epsilon."""
        return {account: fraction(units) for account, units in self._charges().items()}

    def _charges(self) -> dict[tuple[str, str], int]:
        sums: dict[tuple[str, str], int] = {}
        for entry in self.entries:
            if entry.kind == "charge":
                account = entry.dataset, entry.analyst
                sums[account] = sums.get(account, 0) + entry.amount
        return sums

    def data(self) -> list[dict[str, Any]]:
        """Return every field of every entry as plain data, amounts in epsilon as decimal text."""
        return [entry.data() for entry in self.entries]

    def __str__(self) -> str:
        rows = [_COLUMNS, *map(_cells, self.entries)]
        widths = _widths(rows)
        lines = [_line(row, widths) for row in rows]
        sums = [(dataset, analyst, written(units)) for (dataset, analyst), units in sorted(self._charges().items())]
        foot = [_line(("", "spent by", "", *account), widths) for account in sums]
        total = written(sum(self._charges().values()))
        charges = sum(entry.kind == "charge" for entry in self.entries)
        return "\n".join([*lines, "", *foot, f"{charges} charge{'' if charges == 1 else 's'}, {total} spent in all"])


def _cells(entry: Entry) -> tuple[str, ...]:
    moment = entry.time[:19].replace("T", " ")
    amount = "" if entry.kind == "answer" else written(entry.amount)
    analyst = f"each {written(entry.per_analyst)}" if entry.per_analyst is not None else entry.analyst
    return str(entry.seq), moment, entry.kind, entry.dataset, analyst, amount


def _widths(rows: Sequence[tuple[str, ...]]) -> list[int]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = WIDTH - (len(widths) - 1) - sum(width for i, width in enumerate(widths) if i not in _SHARING)
    first, second = (widths[i] for i in _SHARING)
    if first + second > left:
        first = min(first, max(left // 2, left - second))
        second = min(second, left - first)
    widths[_SHARING[0]], widths[_SHARING[1]] = first, second
    return widths


def _line(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    fitted = [
        _fit(cell, width).rjust(width) if i in _RIGHT else _fit(cell, width).ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return " ".join(fitted).rstrip()


def _fit(cell: str, width: int) -> str:
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"
