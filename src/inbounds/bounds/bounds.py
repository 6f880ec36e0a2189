"""Bounds: the publicly known set of possible answers, a canonical union of closed spans on a lattice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from inbounds.bounds import notation
from inbounds.bounds.days import Closed, Day, Weekdays, day_number, open_runs
from inbounds.bounds.notation import End, Span
from inbounds.bounds.spans import holds, neighbours, pairs, read_ends
from inbounds.bounds.times import Values, clock_number, moment_number, read_clock, read_duration, read_moment
from inbounds.bounds.union import DAYS, Grid, Union
from inbounds.errors import InvalidBounds
from inbounds.exact.rational import Number, cut, finite_ratio, is_number, round_half_up, round_nearest, shown

Moment: TypeAlias = "datetime | date | str"
Clock: TypeAlias = "time | str"

SECOND = "1s"
"""The step of times, unless another is given."""


@final
class Bounds:
    """The set of possible answers: closed spans of numbers, days or times, on a lattice when there is a step.

    >>> Bounds(0, 5) | Bounds(7, None)
    [0, 5] | [7, inf)
    >>> Bounds(0, 2.5, step=1)
    [0, 2] step 1
    >>> Bounds(0, 100).excluding((40, 60))
    [0, 40] | [60, 100]
    >>> Bounds.dates("2026-01-01", "2026-01-09", weekdays="Mon-Fri")
    [2026-01-01, 2026-01-02] | [2026-01-05, 2026-01-09]
    >>> Bounds.times("2026-01-01 00:00", "2026-01-31 23:59", step="1h")
    [2026-01-01 00:00:00, 2026-01-31 23:00:00] step 1h

    `None` or an infinity is no end. With a step the possible values are the points `offset + k * step` in the span.
    Equal sets are equal objects, however they were built.

    Numbers are kept exactly, and a float is the decimal that it prints as: `Bounds(0, 1, step=0.1)` has tenths.

    `value in bounds` is exact, with one exception: a float is also possible when it is the one nearest to a possible
    value, so that 0.3 is in `Bounds(0, 1, step=0.1)` and in `Bounds(0.3, 1)`.
    """

    __slots__ = ("_union",)

    def __init__(
        self, low: Number | None, high: Number | None, step: Number | None = None, *, offset: Number = 0
    ) -> None:
        self._union = Union.of([(low, high)], Grid.read(step, offset))

    @classmethod
    def _of(cls, union: Union) -> Bounds:
        bounds = cls.__new__(cls)
        bounds._union = union
        return bounds

    @classmethod
    def everything(cls) -> Bounds:
        """Return the whole line."""
        return cls(None, None)

    @classmethod
    def union(
        cls, spans: Iterable[tuple[Number | None, Number | None]], step: Number | None = None, offset: Number = 0
    ) -> Bounds:
        """Return the union of (low, high) pairs in any order; a million take a few seconds."""
        return cls._of(Union.of(spans, Grid.read(step, offset)))

    @classmethod
    def dates(cls, first: Day, last: Day, weekdays: Weekdays | None = None, closed: Closed = ()) -> Bounds:
        """Return the days from `first` to `last` that fall on one of the `weekdays` and are not `closed`.

        Days are dates or ISO texts. `weekdays` is a text like "Mon-Fri" or "Mon,Wed", or a list of names or numbers
        (Monday is 0). `closed` lists days and (first, last) pairs of days, both ends closed.
        """
        return cls._of(Union.of(open_runs(first, last, weekdays, closed), DAYS))

    @classmethod
    def times(cls, first: Moment, last: Moment, step: str = SECOND) -> Bounds:
        """Return the times from `first` to `last`, in steps from midnight: datetimes without a zone, or ISO texts.

        A step is a whole number of us, ms, s, min, h or d, such as "15min".
        """
        ends = read_moment(first, "first"), read_moment(last, "last")
        return cls._of(Union.of([ends], Grid.of_times("time", read_duration(step, "step"))))

    @classmethod
    def clock(cls, first: Clock, last: Clock, step: str = SECOND) -> Bounds:
        """Return the times of day from `first` to `last`, in steps from midnight."""
        ends = read_clock(first, "first"), read_clock(last, "last")
        return cls._of(Union.of([ends], Grid.of_times("clock", read_duration(step, "step"))))

    @classmethod
    def parse(cls, text: str) -> Bounds:
        """Return the bounds that `text` describes, in the form that `repr` writes."""
        if not isinstance(text, str):
            raise InvalidBounds(f"text of bounds must be a str, got {shown(text)}; call Bounds(low, high) with numbers")
        spans, step, offset, values = notation.read(text)
        if values == "day":
            return cls._of(Union.of(spans, DAYS))
        if values == "number":
            return cls._of(Union.of(spans, Grid.read(step, offset)))
        pitch = read_duration(SECOND, "step") if step is None else step
        return cls._of(Union.of(spans, Grid.of_times(values, pitch, offset)))

    def __or__(self, other: Bounds) -> Bounds:
        """Return what is possible in either."""
        if not isinstance(other, Bounds):
            return NotImplemented
        return self._of(self._union.unite(other._union))

    def __and__(self, other: Bounds) -> Bounds:
        """Return what is possible in both."""
        if not isinstance(other, Bounds):
            return NotImplemented
        return self._of(self._union.intersect(other._union, f"{self.brief()} & {other.brief()}"))

    def excluding(self, *gaps: tuple[Number | Day | None, Number | Day | None]) -> Bounds:
        """Return these bounds without what lies strictly between the ends of each gap; the ends stay possible."""
        if self.values in ("time", "clock"):
            read = read_moment if self.values == "time" else read_clock
            gaps = tuple((read(low, "low"), read(high, "high")) for low, high in gaps)
        ends = read_ends(gaps, is_dates=self.is_dates, what="a gap")
        if any(low == high for low, high in pairs(ends)):
            raise InvalidBounds(
                f"a gap must have low < high, got {shown(gaps)}; give the values that stay on each side"
            )
        removed = ", ".join(map(shown, gaps)) if len(gaps) < 4 else f"{len(gaps)} gaps"
        return self._of(self._union.without(ends, f"{self.brief()} excluding {removed}"))

    def __contains__(self, value: object) -> bool:
        """Return whether a number, or a date or a time if these are such, is possible; raise TypeError for others."""
        if self.is_dates and (day := day_number(value)) is not None:
            return holds(self.ends, Fraction(day))
        if self.values in ("time", "clock") and (seconds := _seconds(value, self.values)) is not None:
            place = (seconds - self.offset) / self.unit
            return place.denominator == 1 and holds(self.ends, place)
        if not is_number(value):
            # The kind only, for the value may be an answer.
            kind = {"number": "number", "day": "date", "time": "datetime", "clock": "time of day"}[self.values]
            plural = "times of day" if self.values == "clock" else f"{kind}s"
            raise TypeError(f"bounds of {plural} hold no {type(value).__name__}; ask for a {kind}")
        ratio = finite_ratio(value)
        if self.values != "number" or ratio is None:
            return False
        place = (Fraction(*ratio) - self.offset) / self.unit
        if (self.step is None or place.denominator == 1) and holds(self.ends, place):
            return True
        near = (self.offset + n * self.unit for n in neighbours(self.ends, place))
        return isinstance(value, float | np.floating) and any(type(value)(round_nearest(x)) == value for x in near)

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans in order; ends are ints, or fractions where not integral, or dates, or times, or ±inf."""
        return (Span(self._at(low), self._at(high)) for low, high in pairs(self._union.edges(self.unit)))

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self.ends) // 2

    def __repr__(self) -> str:
        """Return the text that `parse` reads."""
        return notation.write(self, self.step, self.offset, self.values)

    def __eq__(self, other: object) -> bool:
        return self._union == other._union if isinstance(other, Bounds) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._union)

    @property
    def step(self) -> Fraction | None:
        """The distance between two possible values, None where every number of a span is possible."""
        return self._union.grid.step

    @property
    def offset(self) -> Fraction:
        """The least value of the lattice that is not negative, 0 where there is no step."""
        return self._union.grid.offset

    @property
    def values(self) -> Values:
        """What the possible values are: "number", "day", "time", or "clock" for times of day."""
        return self._union.grid.values

    @property
    def is_dates(self) -> bool:
        """Whether the possible values are days."""
        return self.values == "day"

    @property
    def unit(self) -> Fraction:
        """The step, or else the largest 1/k of which every end is a multiple."""
        return self._union.unit

    @property
    def ends(self) -> tuple[int | None, ...]:
        """Low and high ends in turn, each the n of `offset + n * unit`, or None where there is no end."""
        return self._union.ends

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

    def as_answer(self, value: Fraction) -> int | Fraction | date | time:
        """Return `value` as the ends are: a date or a time if these are such, else an int, or a fraction."""
        return notation.as_answer(value, self.values)

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

    def _at(self, edge: int | float) -> End:
        """Return the value that an entry of `edges` stands for."""
        if isinstance(edge, float):
            return edge
        return self.as_answer(self.offset + edge * self.unit)

    def brief(self) -> str:
        """Return the text of these bounds at a length for a message, long numbers rounded: `parse` may read others."""
        write_number = notation.write_briefly
        if len(self) < 4:
            return cut(notation.write(self, self.step, self.offset, self.values, write_number), 100)
        low, high = (write_number(end) for end in (self.low, self.high))
        return f"{len(self)} spans from {low} to {high}"


def _seconds(value: object, values: Values) -> Fraction | None:
    """Return the seconds of a moment or a time of day without a zone, None for anything else."""
    if values == "time":
        return moment_number(value) if isinstance(value, datetime) and value.tzinfo is None else None
    return clock_number(value) if isinstance(value, time) and value.tzinfo is None else None
