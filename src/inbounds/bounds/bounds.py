"""Bounds: the publicly known set of possible answers, a canonical union of closed spans on a lattice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from inbounds.bounds import notation
from inbounds.bounds.days import Closed, Day, Weekdays, day_number, open_runs
from inbounds.bounds.notation import End, Span
from inbounds.bounds.spans import (
    Edges,
    Ratio,
    as_edges,
    as_end,
    as_ends,
    common,
    common_unit,
    holds,
    merged,
    neighbours,
    outside,
    pairs,
    placed,
    read_ends,
)
from inbounds.errors import InvalidBounds
from inbounds.exact.rational import (
    Number,
    as_written,
    cut,
    finite_ratio,
    is_number,
    round_half_up,
    round_nearest,
    shown,
)


class _Lattice(NamedTuple):
    """What two bounds must share to be united or intersected."""

    step: Fraction | None
    offset: Fraction
    is_dates: bool

    def __str__(self) -> str:
        if self.is_dates:
            return "dates"
        return cut(notation.write((), self.step, self.offset).strip() or "no step")


_DAYS = _Lattice(Fraction(1), Fraction(0), is_dates=True)


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Bounds:
    """The set of possible answers: closed spans of numbers or days, on a lattice when there is a step.

    >>> Bounds(0, 5) | Bounds(7, None)
    [0, 5] | [7, inf)
    >>> Bounds(0, 2.5, step=1)
    [0, 2] step 1
    >>> Bounds(0, 100).excluding((40, 60))
    [0, 40] | [60, 100]
    >>> Bounds.dates("2026-01-01", "2026-01-09", weekdays="Mon-Fri")
    [2026-01-01, 2026-01-02] | [2026-01-05, 2026-01-09]

    `None` or an infinity is no end. With a step the possible values are the points `offset + k * step` in the span.
    Equal sets are equal objects, however they were built.

    Numbers are kept exactly, and a float is the decimal that it prints as: `Bounds(0, 1, step=0.1)` has tenths.

    `value in bounds` is exact, with one exception: a float is also possible when it is the one nearest to a possible
    value, so that 0.3 is in `Bounds(0, 1, step=0.1)` and in `Bounds(0.3, 1)`.

    The set is kept as `ends`, low and high in turn: each finite end is `offset + n * unit` for the int n kept, and
    None is no end. The unit is the step, or else the largest 1/k that reaches every end.
    """

    step: Fraction | None
    offset: Fraction
    unit: Fraction
    ends: tuple[int | None, ...]
    is_dates: bool

    def __init__(
        self, low: Number | None, high: Number | None, step: Number | None = None, *, offset: Number = 0
    ) -> None:
        self._build([(low, high)], _read_lattice(step, offset))

    @classmethod
    def everything(cls) -> Bounds:
        """Return the whole line."""
        return cls(None, None)

    @classmethod
    def union(
        cls, spans: Iterable[tuple[Number | None, Number | None]], step: Number | None = None, offset: Number = 0
    ) -> Bounds:
        """Return the union of (low, high) pairs in any order; a million take a few seconds."""
        return object.__new__(cls)._build(spans, _read_lattice(step, offset))

    @classmethod
    def dates(cls, first: Day, last: Day, weekdays: Weekdays | None = None, closed: Closed = ()) -> Bounds:
        """Return the days from `first` to `last` that fall on one of the `weekdays` and are not `closed`.

        Days are dates or ISO texts. `weekdays` is a text like "Mon-Fri" or "Mon,Wed", or a list of names or numbers
        (Monday is 0). `closed` lists days and (first, last) pairs of days, both ends closed.
        """
        return object.__new__(cls)._build(open_runs(first, last, weekdays, closed), _DAYS)

    @classmethod
    def parse(cls, text: str) -> Bounds:
        """Return the bounds that `text` describes, in the form that `repr` writes."""
        if not isinstance(text, str):
            raise InvalidBounds(f"text of bounds must be a str, got {shown(text)}; call Bounds(low, high) with numbers")
        spans, step, offset, is_dates = notation.read(text)
        lattice = _DAYS if is_dates else _read_lattice(step, offset)
        return object.__new__(cls)._build(spans, lattice)

    def __or__(self, other: Bounds) -> Bounds:
        """Return what is possible in either."""
        if not isinstance(other, Bounds):
            return NotImplemented
        unit = self._shared_unit(other, "|")
        return self._like(self._edges(unit) + other._edges(unit), unit, "|")

    def __and__(self, other: Bounds) -> Bounds:
        """Return what is possible in both."""
        if not isinstance(other, Bounds):
            return NotImplemented
        unit = self._shared_unit(other, "&")
        both = common(self._edges(unit), other._edges(unit))
        return self._like(both, unit, f"{self.brief()} & {other.brief()}")

    def excluding(self, *gaps: tuple[Number | Day | None, Number | Day | None]) -> Bounds:
        """Return these bounds without what lies strictly between the ends of each gap; the ends stay possible."""
        ends = read_ends(gaps, is_dates=self.is_dates, what="a gap")
        if any(low == high for low, high in pairs(ends)):
            raise InvalidBounds(
                f"a gap must have low < high, got {shown(gaps)}; give the values that stay on each side"
            )
        unit = self.unit if self.step else common_unit({self.unit.denominator, *(d for _, d in ends)})
        kept = outside(placed(ends, unit, self.offset, inward=False))
        removed = ", ".join(map(shown, gaps)) if len(gaps) < 4 else f"{len(gaps)} gaps"
        return self._like(common(self._edges(unit), kept), unit, f"{self.brief()} excluding {removed}")

    def __contains__(self, value: object) -> bool:
        """Return whether a number, or a date if these are dates, is possible; raise TypeError for other kinds."""
        if self.is_dates and (day := day_number(value)) is not None:
            return holds(self.ends, Fraction(day))
        if not is_number(value):
            # The kind only, for the value may be an answer.
            kind = "date" if self.is_dates else "number"
            raise TypeError(f"bounds of {kind}s hold no {type(value).__name__}; ask for a {kind}")
        found = finite_ratio(value)
        if self.is_dates or found is None:
            return False
        place = (Fraction(*found) - self.offset) / self.unit
        if (self.step is None or place.denominator == 1) and holds(self.ends, place):
            return True
        near = (self.offset + n * self.unit for n in neighbours(self.ends, place))
        return isinstance(value, float | np.floating) and any(type(value)(round_nearest(x)) == value for x in near)

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans in order; ends are ints, or fractions where not integral, or dates, or ±inf."""
        return (Span(self._at(low), self._at(high)) for low, high in pairs(self._edges(self.unit)))

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self.ends) // 2

    def __repr__(self) -> str:
        """Return the text that `parse` reads."""
        return notation.write(self, None if self.is_dates else self.step, self.offset)

    @property
    def low(self) -> End:
        """The least possible value, or -inf."""
        return -math.inf if self.ends[0] is None else self._at(self.ends[0])

    @property
    def high(self) -> End:
        """The greatest possible value, or inf."""
        return math.inf if self.ends[-1] is None else self._at(self.ends[-1])

    def nearest(self, value: Fraction) -> Fraction:
        """Return the possible value nearest to a number, a day number for dates; half a step goes up.

        In the middle of a gap that is the value on its left, as a mechanism has it.
        """
        place = (value - self.offset) / self.unit
        if self.step is not None:
            place = Fraction(round_half_up(place))
        if holds(self.ends, place):
            return self.offset + place * self.unit
        return self.offset + min(neighbours(self.ends, place), key=lambda n: abs(n - place)) * self.unit

    def as_answer(self, value: Fraction) -> int | Fraction | date:
        """Return `value` as the ends are: a date if these are dates, else an int or, where not integral, a fraction."""
        return notation.as_answer(value, is_dates=self.is_dates)

    @property
    def least(self) -> Fraction | None:
        """The least possible value exactly, of dates a day number, or None."""
        return None if self.ends[0] is None else self.offset + self.ends[0] * self.unit

    @property
    def greatest(self) -> Fraction | None:
        """The greatest possible value exactly, of dates a day number, or None."""
        return None if self.ends[-1] is None else self.offset + self.ends[-1] * self.unit

    @property
    def finite_ends(self) -> list[Fraction]:
        """The ends that there are, exactly and in order; of dates, day numbers."""
        return [self.offset + end * self.unit for end in self.ends if end is not None]

    @property
    def bounded(self) -> bool:
        """Whether there is both a least and a greatest possible value."""
        return self.ends[0] is not None and self.ends[-1] is not None

    def _build(self, spans: Iterable[tuple[Any, Any]], lattice: _Lattice) -> Bounds:
        """Become the union of `spans` and return self; for a new object only. Days come as day numbers."""
        ends = read_ends(spans, is_dates=False, what="a span")
        unit = lattice.step or common_unit(denominator for _, denominator in ends)
        edges = placed(ends, unit, lattice.offset, inward=True)
        _check_that_spans_hold_points(edges, ends, lattice)
        return self._settle(edges, unit, lattice, "a span with low == high" if ends else "an empty list")

    def _settle(self, edges: Edges, unit: Fraction, lattice: _Lattice, source: str) -> Bounds:
        """Become the canonical form of `edges`, which `source` led to, and return self; for a new object only."""
        edges = merged(edges, reach=0 if lattice.step is None else 1)
        if not edges:
            raise InvalidBounds(f"bounds must hold a possible value, got none from {source}; keep some value possible")
        divisor = 1
        if lattice.step is None:
            _check_that_no_point_is_alone(edges, unit, source)
            divisor = math.gcd(unit.denominator, *(edge for edge in edges if isinstance(edge, int)))
        fields = lattice._asdict() | {"unit": unit * divisor, "ends": as_ends(edges, divisor)}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        return self

    def _like(self, edges: Edges, unit: Fraction, source: str) -> Bounds:
        """Return new bounds on the lattice of these."""
        return object.__new__(Bounds)._settle(edges, unit, self._lattice, source)

    @property
    def _lattice(self) -> _Lattice:
        return _Lattice(self.step, self.offset, self.is_dates)

    def _shared_unit(self, other: Bounds, operation: str) -> Fraction:
        """Return a unit that reaches every end of both."""
        if self._lattice != other._lattice:
            raise InvalidBounds(
                f"both sides of {operation} must be dates, or numbers with the same step and offset, got "
                f"{self._lattice} and {other._lattice}; build both with the same step and offset"
            )
        return self.step or common_unit((self.unit.denominator, other.unit.denominator))

    def _edges(self, unit: Fraction) -> Edges:
        return as_edges(self.ends, int(self.unit / unit))

    def _at(self, edge: int | float) -> End:
        """Return the value that an entry of `_edges` stands for."""
        if isinstance(edge, float):
            return edge
        return self.as_answer(self.offset + edge * self.unit)

    def brief(self) -> str:
        """Return the text of these bounds at a length for a message, long numbers rounded: `parse` may read others."""
        written = notation.write_briefly
        if len(self) < 4:
            return cut(notation.write(self, None if self.is_dates else self.step, self.offset, written), 100)
        low, high = (written(end) for end in (self.low, self.high))
        return f"{len(self)} spans from {low} to {high}"


def _read_lattice(step: Number | None, offset: Number) -> _Lattice:
    start = as_written(offset, "offset")
    if step is None:
        if start:
            raise InvalidBounds(f"offset must come with a step, got offset={shown(offset)} alone; give a step too")
        return _Lattice(None, start, is_dates=False)
    pitch = as_written(step, "step")
    if pitch <= 0:
        raise InvalidBounds(f"step must be above 0, got {shown(step)}; leave it out for bounds without a step")
    common_unit((pitch.denominator, start.denominator))  # so that every lattice point can be written and read again
    return _Lattice(pitch, start % pitch, is_dates=False)


def _check_that_spans_hold_points(edges: Edges, ends: list[Ratio], lattice: _Lattice) -> None:
    for (low, high), span in zip(pairs(edges), pairs(ends), strict=True):
        if low > high:
            got = cut(notation.write_span(Span(*map(as_end, span))), 130)  # two doubles in full
            raise InvalidBounds(
                f"a span must hold a point of the lattice, got {got} with {lattice}; "
                "widen the span, or take a finer step or another offset"
            )


def _check_that_no_point_is_alone(edges: Edges, unit: Fraction, source: str) -> None:
    for low, high in pairs(edges):
        if low == high:
            point = cut(notation.write_end(int(low) * unit))
            raise InvalidBounds(
                f"bounds without a step must not hold an isolated point, got {point} alone from {source}; "
                "widen it to a span, exclude it too, or give a step"
            )
