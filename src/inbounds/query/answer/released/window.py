"""Windows over an answer: what a function makes of several of its rows, such as `SUM(COUNT(*)) OVER ()`.

A window looks at released numbers and public keys only, as everything does that is computed from an answer: it costs
nothing beyond what was released.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from inbounds.query.answer.released.leaf import Ends, Exact, Leaf, Named, ReleasedRow, measures_in
from inbounds.query.answer.released.order import Order
from inbounds.query.expressions.node import Constant, Node

Offset = int | Fraction | None
"""How far a frame reaches from a row, less than 0 before it; None to the first or the last row."""


@dataclass(frozen=True)
class Frame:
    """Which rows around a row a function sees: counted in rows, in groups of equal rows, or by how far values are."""

    unit: Literal["ROWS", "RANGE", "GROUPS"]
    start: Offset
    end: Offset

    @property
    def most_rows(self) -> int | None:
        """How many rows it can hold at most; None if that depends on the answer."""
        if self.unit != "ROWS" or self.start is None or self.end is None:
            return None
        return int(self.end - self.start) + 1

    def __str__(self) -> str:
        return f"{self.unit} BETWEEN {_write_end(self.start, 'PRECEDING')} AND {_write_end(self.end, 'FOLLOWING')}"


def _write_end(offset: Offset, side: str) -> str:
    if offset is None:
        return f"UNBOUNDED {side}"
    if offset == 0:
        return "CURRENT ROW"
    return f"{Constant(abs(offset))} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


DEFAULT = Frame("RANGE", None, 0)
"""With an order, all rows up to those that are equal to the row; without one, all rows are equal."""


@dataclass(frozen=True)
class WindowFunction:
    """What a function over rows takes, and what of it follows."""

    least: int
    most: int
    """How many arguments it takes."""
    like: str
    framed: bool = False
    """Whether it looks at the rows of a frame."""
    of_numbers: bool = False
    """Whether its first argument must be a number."""
    keeps_kind: bool = False
    """Whether it returns one of the values that it is given."""
    one_row: bool = False
    """Whether it returns what is in one row: its interval and its noise are those of that row."""
    any_order: bool = False
    """Whether it is the same in whatever order the rows are that it sees."""
    picks: bool = False
    """Whether it returns its first argument in the row that its second one picks: there is no interval around that."""


WINDOWS = {
    "SUM": WindowFunction(1, 1, "SUM(COUNT(*)) OVER ()", framed=True, of_numbers=True, any_order=True),
    "AVG": WindowFunction(1, 1, "AVG(COUNT(*)) OVER ()", framed=True, of_numbers=True, any_order=True),
    "MIN": WindowFunction(1, 1, "MIN(COUNT(*)) OVER ()", framed=True, keeps_kind=True, any_order=True),
    "MAX": WindowFunction(1, 1, "MAX(COUNT(*)) OVER ()", framed=True, keeps_kind=True, any_order=True),
    "COUNT": WindowFunction(0, 1, "COUNT(*) OVER ()", framed=True, any_order=True),
    "ARG_MAX": WindowFunction(2, 2, "ARG_MAX(clinic, COUNT(*)) OVER ()", framed=True, keeps_kind=True, picks=True),
    "ARG_MIN": WindowFunction(2, 2, "ARG_MIN(clinic, COUNT(*)) OVER ()", framed=True, keeps_kind=True, picks=True),
    "LAG": WindowFunction(1, 3, "LAG(COUNT(*), 12) OVER (ORDER BY month)", keeps_kind=True, one_row=True),
    "LEAD": WindowFunction(1, 3, "LEAD(COUNT(*), 12) OVER (ORDER BY month)", keeps_kind=True, one_row=True),
    "FIRST_VALUE": WindowFunction(
        1, 1, "FIRST_VALUE(COUNT(*)) OVER (ORDER BY month)", framed=True, keeps_kind=True, one_row=True
    ),
    "LAST_VALUE": WindowFunction(
        1, 1, "LAST_VALUE(COUNT(*)) OVER (ORDER BY month)", framed=True, keeps_kind=True, one_row=True
    ),
    "NTH_VALUE": WindowFunction(
        2, 2, "NTH_VALUE(COUNT(*), 2) OVER (ORDER BY month)", framed=True, keeps_kind=True, one_row=True
    ),
    "ROW_NUMBER": WindowFunction(0, 0, "ROW_NUMBER() OVER (ORDER BY COUNT(*))"),
    "RANK": WindowFunction(0, 0, "RANK() OVER (ORDER BY COUNT(*))"),
    "DENSE_RANK": WindowFunction(0, 0, "DENSE_RANK() OVER (ORDER BY COUNT(*))"),
    "PERCENT_RANK": WindowFunction(0, 0, "PERCENT_RANK() OVER (ORDER BY COUNT(*))"),
    "CUME_DIST": WindowFunction(0, 0, "CUME_DIST() OVER (ORDER BY COUNT(*))"),
    "NTILE": WindowFunction(1, 1, "NTILE(4) OVER (ORDER BY COUNT(*))"),
}


@dataclass(frozen=True)
class WindowCell:
    """What a window is in one row."""

    value: Exact
    ends: Ends | None = None
    """Where it lies if everything that it is made of lies in its interval."""
    risk: Fraction = Fraction(0)
    """With which probability something that it is made of may lie outside its interval."""
    noise: float | None = None


@dataclass(frozen=True)
class Window(Leaf):
    """A function of the rows of an answer around each of them."""

    function: str
    arguments: tuple[Node, ...] = ()
    """None for COUNT(*)."""
    partition: tuple[Node, ...] = ()
    order: tuple[Order, ...] = ()
    frame: Frame | None = None

    @property
    def described(self) -> WindowFunction:
        """What its function takes."""
        return WINDOWS[self.function]

    @property
    def has_interval(self) -> bool:
        """Whether its function has an interval, if everything in it has: a rank has none."""
        return (self.described.framed or self.described.one_row) and not self.described.picks

    @property
    def has_public_rows(self) -> bool:
        """Whether public keys alone say which rows it looks at."""
        named: tuple[Node, ...] = self.partition
        if not (self.described.any_order and (not self.order or self.frame in WHOLE)):
            named = (*named, *self.order)
        return not any(map(measures_in, named))

    @property
    def most_rows(self) -> int | None:
        """How many rows it is made of at most; None if that depends on the answer."""
        if self.described.one_row:
            return 1
        return self.frame.most_rows if self.frame is not None else None

    def parts(self) -> tuple[Node, ...]:
        """Return everything that it looks at."""
        return *self.arguments, *self.partition, *self.order

    def value(self, row: ReleasedRow) -> Exact:
        """Return what was computed for a row."""
        return row.windows[self].value

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return where that lies, if it follows."""
        return row.windows[self].ends

    def __str__(self) -> str:
        arguments = ", ".join(map(str, self.arguments)) or ("*" if self.function == "COUNT" else "")
        clauses = [f"PARTITION BY {', '.join(map(str, self.partition))}"] if self.partition else []
        clauses += [f"ORDER BY {', '.join(map(str, self.order))}"] if self.order else []
        clauses += [] if self.frame is None else [str(self.frame)]
        return f"{self.function}({arguments}) OVER ({' '.join(clauses)})"


class Aggregate(Window):
    """A function of all rows of an answer, or of those with the same keys, of which one row is made."""

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments)) or '*'})"


WHOLE = tuple(Frame(unit, None, None) for unit in ("ROWS", "RANGE", "GROUPS"))
"""Frames that hold all rows."""


def windows_in(*nodes: Node) -> Iterator[Window]:
    """Yield the windows in some expressions, each after those that it is made of; not those of an inner SELECT."""
    for node in nodes:
        if isinstance(node, Named):
            continue
        yield from windows_in(*node.parts())
        if isinstance(node, Window):
            yield node
