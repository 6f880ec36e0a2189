"""The canonical form of a union of spans: equal sets have equal forms, however they were built."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from inbounds.bounds import notation
from inbounds.bounds.notation import Span
from inbounds.bounds.spans import (
    Edges,
    Ratio,
    as_edges,
    as_end,
    as_ends,
    common,
    common_unit,
    merge,
    outside,
    pairs,
    place_ends,
    read_ends,
)
from inbounds.bounds.times import Values, write_duration
from inbounds.errors import InvalidBounds
from inbounds.exact.rational import Number, as_written, cut, shown


class Grid(NamedTuple):
    """What two unions must share to be united: with a step, every value is `offset + k * step`."""

    step: Fraction | None
    offset: Fraction
    values: Values

    @classmethod
    def of_times(cls, values: Values, step: Fraction, offset: Fraction = Fraction(0)) -> Grid:
        """Return the grid of moments or times of day, whose steps are counted from a midnight."""
        if step <= 0:
            raise InvalidBounds("step must be above 0, got 0; write it like step 1s")
        return cls(step, offset % step, values)

    @classmethod
    def read(cls, step: Number | None, offset: Number) -> Grid:
        """Return the grid of numbers that a caller described; without a step, every number is on it."""
        start = as_written(offset, "offset")
        if step is None:
            if start:
                raise InvalidBounds(f"offset must come with a step, got offset={shown(offset)} alone; give a step too")
            return cls(None, start, "number")
        pitch = as_written(step, "step")
        if pitch <= 0:
            raise InvalidBounds(f"step must be above 0, got {shown(step)}; leave it out for bounds without a step")
        common_unit((pitch.denominator, start.denominator))  # so that every lattice point can be written and read again
        return cls(pitch, start % pitch, "number")

    def __str__(self) -> str:
        if self.values == "day":
            return "dates"
        if self.values != "number" and self.step is not None:
            of = "times" if self.values == "time" else "times of day"
            return f"{of} in steps of {write_duration(self.step)}"
        return cut(notation.write((), self.step, self.offset).strip() or "no step")


DAYS = Grid(Fraction(1), Fraction(0), "day")


@dataclass(frozen=True, slots=True)
class Union:
    """A union of spans on a grid: each finite end is `offset + n * unit` for the int n kept, and None is no end.

    The ends are low and high in turn, in order, with something missing between any two spans.  The unit is the step, or
    else the largest 1/k that reaches every end.
    """

    grid: Grid
    unit: Fraction
    ends: tuple[int | None, ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[Number | None, Number | None]], grid: Grid) -> Union:
        """Return the union of (low, high) pairs in any order; days come as day numbers."""
        ends = read_ends(spans, is_dates=False, what="a span")
        unit = grid.step or common_unit(denominator for _, denominator in ends)
        edges = place_ends(ends, unit, grid.offset, inward=True)
        _check_that_spans_hold_points(edges, ends, grid)
        return cls._of_edges(edges, unit, grid, "a span with low == high" if ends else "an empty list")

    @classmethod
    def _of_edges(cls, edges: Edges, unit: Fraction, grid: Grid, source: str) -> Union:
        """Return the canonical form of `edges`, which count units; `source` is what a message says led to them."""
        edges = merge(edges, reach=0 if grid.step is None else 1)
        if not edges:
            raise InvalidBounds(f"bounds must hold a possible value, got none from {source}; keep some value possible")
        # Equal unions must have equal ends, whatever unit they were computed in: so the largest unit that reaches every
        # end.
        divisor = 1
        if grid.step is None:
            _check_that_no_point_is_alone(edges, unit, source)
            divisor = math.gcd(unit.denominator, *(edge for edge in edges if isinstance(edge, int)))
        return cls(grid, unit * divisor, as_ends(edges, divisor))

    def unite(self, other: Union) -> Union:
        """Return what is in either."""
        unit = self._shared_unit(other, "|")
        return self._of_edges(self.edges(unit) + other.edges(unit), unit, self.grid, "|")

    def intersect(self, other: Union, source: str) -> Union:
        """Return what is in both."""
        unit = self._shared_unit(other, "&")
        return self._of_edges(common(self.edges(unit), other.edges(unit)), unit, self.grid, source)

    def without(self, gaps: list[Ratio], source: str) -> Union:
        """Return what is left without the open intervals between each two ends."""
        unit = self.unit if self.grid.step else common_unit({self.unit.denominator, *(d for _, d in gaps)})
        remaining = outside(place_ends(gaps, unit, self.grid.offset, inward=False))
        return self._of_edges(common(self.edges(unit), remaining), unit, self.grid, source)

    def edges(self, unit: Fraction) -> Edges:
        """Return the ends as multiples of a unit that divides the own one."""
        return as_edges(self.ends, int(self.unit / unit))

    def _shared_unit(self, other: Union, operation: str) -> Fraction:
        """Return a unit that reaches every end of both."""
        if self.grid != other.grid:
            raise InvalidBounds(
                f"both sides of {operation} must be dates, or numbers or times with the same step and offset, "
                f"got {self.grid} and {other.grid}; build both with the same step and offset"
            )
        return self.grid.step or common_unit((self.unit.denominator, other.unit.denominator))


def _check_that_spans_hold_points(edges: Edges, ends: list[Ratio], grid: Grid) -> None:
    for (low, high), span in zip(pairs(edges), pairs(ends), strict=True):
        if low > high:
            got = cut(notation.write_span(Span(*map(as_end, span))), 130)  # two doubles in full
            raise InvalidBounds(
                f"a span must hold a point of the lattice, got {got} with {grid}; "
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
