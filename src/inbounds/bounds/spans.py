"""Unions of spans as flat lists of ends: the arithmetic beneath `Bounds`, linear in the number of spans but to sort.

What the caller passed is read as ratios, placed on a lattice as ints, and from then on is ints.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from typing import TypeAlias, TypeVar, cast

import numpy as np

from inbounds.bounds.days import read_day
from inbounds.errors import InvalidBounds
from inbounds.exact.rational import LIMIT, LIMIT_BITS, infinity, ratio, shown, written_ratio

# Numerator and denominator. -1/0 and 1/0 are the infinities: cross multiplication orders them rightly.
Ratio: TypeAlias = tuple[int, int]
# Low and high ends in turn: ints, which count units, or ±inf, which Python compares to ints exactly.
Edges: TypeAlias = list[int | float]
# The same with None for the infinities, as `Bounds` keeps them.
Ends: TypeAlias = Sequence[int | None]

_T = TypeVar("_T")


def pairs(ends: Sequence[_T]) -> Iterator[tuple[_T, _T]]:
    """Yield the low and the high end of each span."""
    return zip(ends[::2], ends[1::2], strict=True)


def read_ends(spans: object, *, is_dates: bool, what: str) -> list[Ratio]:
    """Return the ends of each (low, high) pair in turn; `what` is what a message calls a pair."""
    if not isinstance(spans, Iterable):
        raise InvalidBounds(f"spans must be a list of (low, high) pairs, got {shown(spans)}; put them in [ ]")
    ends: list[Ratio] = []
    for span in spans:
        try:
            low, high = span
        except (TypeError, ValueError):
            raise InvalidBounds(f"{what} must be a (low, high) pair, got {shown(span)}; use None for no end") from None
        (n, d), (m, e) = _read_end(low, "low", -1, is_dates), _read_end(high, "high", 1, is_dates)
        if n * e > m * d:
            raise InvalidBounds(f"low must be at most high, got low={shown(low)} and high={shown(high)}; swap them")
        ends += ((n, d), (m, e))
    return ends


def _read_end(end: object, name: str, outward: int, is_dates: bool) -> Ratio:
    """Return an end as a ratio, `outward`/0 if there is none; `outward` is -1 for a low end and 1 for a high one."""
    if type(end) is int and not is_dates:  # spares a million spans the questions below
        return ratio(end, name)
    direction = outward if end is None else infinity(end)
    if direction == outward:
        return outward, 0
    if direction:
        raise InvalidBounds(f"{name} must leave room for values, got {shown(end)}; use None for no end")
    if is_dates:
        return read_day(end, name), 1
    if isinstance(end, (str, date, np.datetime64)):
        raise InvalidBounds(f"{name} must be a number, got {shown(end)}; Bounds.parse takes text, Bounds.dates days")
    return written_ratio(end, name)


def as_end(end: Ratio) -> Fraction | float:
    """Return an end as a fraction or an infinity."""
    numerator, denominator = end
    return Fraction(numerator, denominator) if denominator else numerator * math.inf


def common_unit(denominators: Iterable[int]) -> Fraction:
    """Return the largest 1/k of which every fraction with one of these denominators is a multiple."""
    scale = 1
    for denominator in set(denominators) - {0}:
        scale = math.lcm(scale, denominator)
        if scale >= LIMIT:
            raise InvalidBounds(
                f"ends, step and offset must have a common denominator below 2**{LIMIT_BITS}, got a larger one; "
                "round them to a common decimal or binary place"
            )
    return Fraction(1, scale)


def place_ends(ends: Iterable[Ratio], unit: Fraction, offset: Fraction, *, inward: bool) -> Edges:
    """Return each end as n of `offset + n * unit`, rounded into its span, or else out of it."""
    (a, b), (c, d) = unit.as_integer_ratio(), offset.as_integer_ratio()
    edges: Edges = []
    up = inward
    for n, m in ends:
        top, bottom = (n * d - c * m) * b, m * d * a  # their ratio is (n/m - c/d) / (a/b)
        if not m:
            edges.append(n * math.inf)
        else:
            edges.append(-(-top // bottom) if up else top // bottom)
        up = not up
    return edges


def as_edges(ends: Ends, factor: int) -> Edges:
    """Return `ends` as multiples of a unit `factor` times smaller."""
    edges = cast("Edges", [end if end is None else end * factor for end in ends] if factor > 1 else list(ends))
    if ends[0] is None:
        edges[0] = -math.inf
    if ends[-1] is None:
        edges[-1] = math.inf
    return edges


def as_ends(edges: Edges, divisor: int) -> tuple[int | None, ...]:
    """Return `edges`, multiples of `divisor` each, as multiples of a unit `divisor` times larger."""
    ends = cast("list[int | None]", edges.copy())
    if edges[0] == -math.inf:
        ends[0] = None
    if edges[-1] == math.inf:
        ends[-1] = None
    return tuple([end if end is None else end // divisor for end in ends] if divisor > 1 else ends)


def merge(edges: Edges, reach: int) -> Edges:
    """Return the same union with its spans in order, those merged that are no more than `reach` apart."""
    spans = sorted(pairs(edges))
    union: Edges = [*spans[0]] if spans else []
    for low, high in spans[1:]:
        if low > union[-1] + reach:
            union += (low, high)
        elif high > union[-1]:
            union[-1] = high
    return union


def common(first: Edges, second: Edges) -> Edges:
    """Return the intersection of two unions, each with its spans in order and disjoint."""
    # Both unions side by side: what the two spans at hand share, then on in the one that ends first.
    both: Edges = []
    i = j = 0
    while i < len(first) and j < len(second):
        low, high = max(first[i], second[j]), min(first[i + 1], second[j + 1])
        if low <= high:
            both += (low, high)
        if first[i + 1] < second[j + 1]:
            i += 2
        else:
            j += 2
    return both


def outside(gaps: Edges) -> Edges:
    """Return what is left of the line without these open intervals, in order; single points can be left."""
    edges: Edges = [-math.inf]  # while building, the last entry is where the last gap ends
    for low, high in sorted(pairs(gaps)):
        if -math.inf < low >= edges[-1]:
            edges += (low, high)
        else:
            edges[-1] = max(edges[-1], high)
    return edges[:-1] if edges[-1] == math.inf else [*edges, math.inf]


def holds(ends: Ends, place: Fraction) -> bool:
    """Return whether `place` is in one of the spans; None is an infinite end."""
    # Ends are low and high in turn, so an odd number of them at or below a place means that it is within a span.
    index = bisect_right(ends, place, *_finite(ends))  # type: ignore[type-var]  # no None within these limits
    return index % 2 == 1 or (index > 0 and ends[index - 1] == place)


def neighbours(ends: Ends, place: Fraction) -> list[int]:
    """Return the nearest ints in the spans at or below `place`, and at or above, where there are such."""
    below, above = math.floor(place), math.ceil(place)
    ends_below = bisect_right(ends, below, *_finite(ends))  # type: ignore[type-var]  # no None within these limits
    ends_above = bisect_left(ends, above, *_finite(ends))  # type: ignore[type-var]  # no None within these limits
    # An odd count of ends on the left is a place within a span.
    nearest_below = below if ends_below % 2 else ends[ends_below - 1] if ends_below else None
    nearest_above = above if ends_above % 2 else ends[ends_above] if ends_above < len(ends) else None
    return [n for n in (nearest_below, nearest_above) if n is not None]


def _finite(ends: Ends) -> tuple[int, int]:
    """Return the limits within which `ends` are ints."""
    return int(ends[0] is None), len(ends) - int(ends[-1] is None)
