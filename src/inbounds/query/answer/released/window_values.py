"""What windows are in the rows of an answer: values, and where they lie if everything in them lies in its interval.

The time that it takes grows with the number of rows and hardly faster, whatever the frames are: sums are differences of
running sums, which are exact, and the least and the greatest are kept as a frame moves on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from inbounds.query.answer.released.evaluate import evaluate, interval
from inbounds.query.answer.released.leaf import Ends, Exact, ReleasedRow, measures_in
from inbounds.query.answer.released.window import Window, WindowCell
from inbounds.query.answer.released.window_rows import Part, SortKey, Span, split_rows
from inbounds.query.expressions.node import Constant, Node

EMPTY = WindowCell(None)


@dataclass(frozen=True)
class Followed:
    """What follows for a window besides its values: nothing, if released numbers decide which rows it looks at."""

    risk: Callable[[Node, ReleasedRow], Fraction]
    """With which probability something in an expression may lie outside its interval."""
    noise: Callable[[Node, ReleasedRow], float | None]
    follows: bool = True


def compute_window(
    window: Window, rows: Sequence[ReleasedRow], sort_key: SortKey, followed: Followed
) -> list[WindowCell]:
    """Return what a window is in each row."""
    follows = followed.follows and window.has_public_rows
    cells = [EMPTY] * len(rows)
    for part in split_rows(window, rows, sort_key):
        seen = _Seen(window, part, [rows[place] for place in part.places], followed, follows)
        for place, cell in zip(part.places, seen.compute(), strict=True):
            cells[place] = cell
    return cells


class _Seen:
    """What a window sees of the rows of one part, in order."""

    def __init__(
        self, window: Window, part: Part, rows: Sequence[ReleasedRow], followed: Followed, follows: bool
    ) -> None:
        self.window, self.part, self.rows, self.followed, self.follows = window, part, rows, followed, follows

    def compute(self) -> list[WindowCell]:
        """Return what the window is in each of the rows."""
        function = self.window.function
        if function in RANKS:
            return [WindowCell(value) for value in RANKS[function](self)]
        if function in ("LAG", "LEAD"):
            return self._shift(-1 if function == "LAG" else 1)
        spans = self.part.spans(self.window.frame)
        if self.window.described.one_row:
            return [self._pick(span) for span in spans]
        if self.window.described.picks:
            return self._pick_extreme(spans)
        return {"COUNT": self._count, "SUM": self._add, "AVG": self._add}.get(function, self._extreme)(spans)

    # One row.

    def _cell(self, of: Node, row: ReleasedRow) -> WindowCell:
        """Return what an expression is in a row."""
        if not self.follows:
            return WindowCell(evaluate(of, row))
        risk, noise = self.followed.risk(of, row), self.followed.noise(of, row)
        return WindowCell(evaluate(of, row), interval(of, row), risk, noise)

    def _shift(self, sign: int) -> list[WindowCell]:
        of, *others = self.window.arguments
        offset = sign * (_whole(others[0]) if others else 1)
        default = others[1] if len(others) > 1 else Constant(None)
        rows = self.rows
        return [
            self._cell(of, rows[i + offset]) if 0 <= i + offset < len(rows) else self._cell(default, row)
            for i, row in enumerate(rows)
        ]

    def _pick(self, span: Span) -> WindowCell:
        of, *others = self.window.arguments
        start, end = span
        place = {"FIRST_VALUE": start, "LAST_VALUE": end - 1}.get(self.window.function, start)
        place += _whole(others[0]) - 1 if others else 0
        return self._cell(of, self.rows[place]) if start <= place < end else EMPTY

    def _pick_extreme(self, spans: Sequence[Span]) -> list[WindowCell]:
        """Return the value of the first row of each frame in which another value is the least or the greatest."""
        of, by = ([evaluate(argument, row) for row in self.rows] for argument in self.window.arguments)
        compared = [None if value is None else other for value, other in zip(of, by, strict=True)]
        places = _slide(compared, spans, is_least=self.window.function == "ARG_MIN")
        return [EMPTY if place is None else WindowCell(of[place]) for place in places]

    # All rows of a frame.

    def _count(self, spans: Sequence[Span]) -> list[WindowCell]:
        of = self.window.arguments
        present = [not of or evaluate(of[0], row) is not None for row in self.rows]
        counts = _differences(present, spans)
        is_public = self.follows and not any(map(measures_in, of))
        return [WindowCell(count, (count, count) if is_public else None) for count in counts]

    def _add(self, spans: Sequence[Span]) -> list[WindowCell]:
        (of,) = self.window.arguments
        values = [evaluate(of, row) for row in self.rows]
        sums = _differences([value or 0 for value in values], spans)
        counts = _differences([value is not None for value in values], spans)
        is_mean = self.window.function == "AVG"
        found = [
            None if not count else Fraction(total) / count if is_mean else total
            for total, count in zip(sums, counts, strict=True)
        ]
        ends = self._ends()
        lows, highs = (_differences([0 if end is None else end[i] for end in ends], spans) for i in (0, 1))
        unknown, risks = self._unknown(ends, spans), self._risks(spans)
        cells = []
        for i, value in enumerate(found):
            between: Ends | None = None if unknown[i] or value is None else (lows[i], highs[i])
            if between is not None and is_mean:
                between = Fraction(between[0]) / counts[i], Fraction(between[1]) / counts[i]
            cells.append(WindowCell(value, between, risks[i]))
        return cells

    def _extreme(self, spans: Sequence[Span]) -> list[WindowCell]:
        (of,), is_least = self.window.arguments, self.window.function == "MIN"
        found = _extremes([evaluate(of, row) for row in self.rows], spans, is_least=is_least)
        ends = self._ends()
        lows, highs = (_extremes([end and end[i] for end in ends], spans, is_least=is_least) for i in (0, 1))
        unknown, risks = self._unknown(ends, spans), self._risks(spans)
        return [
            WindowCell(value, None if unknown[i] or value is None else (lows[i], highs[i]), risks[i])
            for i, value in enumerate(found)
        ]

    def _ends(self) -> list[Ends | None]:
        (of,) = self.window.arguments
        return [interval(of, row) if self.follows else None for row in self.rows]

    def _unknown(self, ends: Sequence[Ends | None], spans: Sequence[Span]) -> list[int]:
        """Return in how many rows of each frame it is not known where a value lies."""
        return _differences([end is None for end in ends], spans)

    def _risks(self, spans: Sequence[Span]) -> list[Fraction]:
        (of,) = self.window.arguments
        return _differences([self.followed.risk(of, row) if self.follows else Fraction(0) for row in self.rows], spans)

    # Places.

    def row_numbers(self) -> list[Exact]:
        """Return the place of each row."""
        return list(range(1, len(self.rows) + 1))

    def ranks(self) -> list[Exact]:
        """Return the place of the first row that is equal to each."""
        return [self.part.peers(i)[0] + 1 for i in range(len(self.rows))]

    def dense_ranks(self) -> list[Exact]:
        """Return the number of each row's group of equal rows."""
        return [number + 1 for number in self.part.group_numbers]

    def percent_ranks(self) -> list[Exact]:
        """Return which part of the other rows comes before each."""
        others = max(len(self.rows) - 1, 1)
        return [Fraction(rank - 1, others) for rank in self.ranks()]

    def shares_up_to(self) -> list[Exact]:
        """Return which part of the rows comes before each or is equal to it."""
        return [Fraction(self.part.peers(i)[1], len(self.rows)) for i in range(len(self.rows))]

    def tiles(self) -> list[Exact]:
        """Return in which of so many parts of about the same size each row is; the first are larger by a row."""
        parts = _whole(self.window.arguments[0])
        size, larger = divmod(len(self.rows), parts)
        edge = larger * (size + 1)
        return [
            i // (size + 1) + 1 if i < edge else larger + (i - edge) // max(size, 1) + 1 for i in range(len(self.rows))
        ]


RANKS: dict[str, Callable[[_Seen], list[Exact]]] = {
    "ROW_NUMBER": _Seen.row_numbers,
    "RANK": _Seen.ranks,
    "DENSE_RANK": _Seen.dense_ranks,
    "PERCENT_RANK": _Seen.percent_ranks,
    "CUME_DIST": _Seen.shares_up_to,
    "NTILE": _Seen.tiles,
}


def _whole(node: Node) -> int:
    assert isinstance(node.number, int)
    return node.number


def _differences(values: Sequence[Any], spans: Sequence[Span]) -> list[Any]:
    """Return the sum of the values in each span."""
    sums = [0, *accumulate(values)]
    return [sums[end] - sums[start] for start, end in spans]


def _extremes(values: Sequence[Any], spans: Sequence[Span], *, is_least: bool) -> list[Any]:
    """Return the least or the greatest of the values in each span; None where there is none."""
    return [None if place is None else values[place] for place in _slide(values, spans, is_least=is_least)]


def _slide(values: Sequence[Any], spans: Sequence[Span], *, is_least: bool) -> list[int | None]:
    """Return the first place of the least or the greatest value in each span; spans begin and end ever later."""
    # Kept are the places that can still be the best: each is no worse than all that were read after it.
    kept: deque[int] = deque()
    best: list[int | None] = []
    read = 0
    for start, end in spans:
        for place in range(read, end):
            if (value := values[place]) is None:
                continue
            while kept and (values[kept[-1]] > value if is_least else values[kept[-1]] < value):
                kept.pop()
            kept.append(place)
        read = max(read, end)
        while kept and kept[0] < start:
            kept.popleft()
        best.append(kept[0] if kept and kept[0] < end else None)
    return best
