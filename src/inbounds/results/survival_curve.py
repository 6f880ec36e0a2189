"""Survival curves after Kaplan and Meier, from released counts by time and by whether an event happened.

With d(i) events and c(i) units without one at the time i, N(i) = Σ d(j) + c(j) over j ≥ i are at risk, and the share
that survives the time t is S(t) = Π 1 - d(i) / N(i) over i ≤ t, a factor being 1 where nobody is at risk.

The band: if each count lies in its interval, S(t) lies between two corners of the box that the intervals span, since it
is monotone in each count.  It never falls as c(j) grows, or d(j) for j > t: both only add to those at risk.  It falls
as d(j) grows for j ≤ t: the derivative of log S(t) is -1 / N(j) plus the sum of 1 / (N(i) - d(i)) - 1 / N(i) for i < j.
There N(i) - d(i) is at least N(i + 1), so the sum is at most 1 / N(j) - 1 / N(1), and all of it at most -1 / N(1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import accumulate
from math import nextafter
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.results.exact_cells import are_numbers, to_exact
from inbounds.results.pivot_table import place_of_group

if TYPE_CHECKING:
    from inbounds.results.answer import Answer

MOST_TIMES = 2000
"""A curve has at most so many times: its band looks at every pair of them."""

SMALLEST = 1e-300
"""A share below this is as good as none, and is rounded down to it."""

Number = int | Fraction


@dataclass(frozen=True)
class Spread:
    """A released count, and the interval around it, if there is one; none of them is less than 0."""

    value: Number = 0
    low: Number = 0
    high: Number | None = 0
    """None if nothing says how large it may be."""

    @classmethod
    def of(cls, value: Any, interval: tuple[Any, Any] | None) -> Spread:
        """Read a cell of an answer."""
        exact = to_exact(value)
        released = max(exact, 0) if are_numbers(exact) else 0
        ends = (None, None) if interval is None else tuple(map(to_exact, interval))
        if not are_numbers(*ends):
            return cls(released, 0, None)
        return cls(released, max(ends[0], 0), max(ends[1], 0))


def estimate_survival(answer: Answer, time: str, event: str, happened: Any = True) -> Answer:
    """Return how many were at risk at each time, and which share survived it, with a band around the curve."""
    answer = answer.keys_first
    times, events = place_of_group(answer, time), place_of_group(answer, event)
    if answer.measures != 1 or times == events:
        raise InvalidQuestion(
            f"a survival curve needs one count by time and event, got {answer.measures} measures by "
            f"{shown(time)} and {shown(event)}; ask for COUNT(*) by both"
        )
    flags = list(dict.fromkeys(row[events] for row in answer.rows if row[events] is not None))
    if flags and happened not in flags:
        raise InvalidQuestion(
            f"happened must be a key of {event}, got {shown(happened)}; name one of {', '.join(map(repr, flags))}"
        )
    strata = _split(answer, times, events, happened)
    most = max((len(stratum) for stratum in strata.values()), default=0)
    if most > MOST_TIMES:
        raise InvalidQuestion(f"a survival curve may have at most {MOST_TIMES} times, got {most}; use longer ones")
    cells = most * len(flags)  # of one curve, by the union bound unless all hold at once
    confidence = 1 - (1 if answer.simultaneous else cells) * (1 - Fraction(answer.confidence))
    rows: list[tuple[Any, ...]] = []
    bands: list[tuple[float, float] | None] = []
    for others, stratum in strata.items():
        moments = _in_order(stratum)
        counts = [stratum[moment] for moment in moments]
        curve = _curve([count[0].value for count in counts], [count[1].value for count in counts])
        for moment, point in zip(moments, curve, strict=True):
            rows.append((*others, moment, *point))
        bands += _band(counts) if confidence > 0 else [None] * len(moments)
    keys = answer.columns[: len(answer.columns) - 1]
    groups = tuple(name for i, name in enumerate(keys) if i not in (times, events))
    return replace(
        answer,
        columns=(*groups, time, "at_risk", "survival"),
        rows=tuple(rows),
        noise=((None, None),) * len(rows),
        intervals=tuple((None, band) for band in bands),
        confidence=max(0.0, _round_down(confidence)) if confidence > 0 else answer.confidence,
        confidences=(),
        covers=(answer.interval_covers[0],) * 2,
        measured=(len(groups) + 1, len(groups) + 2),
        kept=answer.released,
        remarks=(*answer.remarks, *_remark(confidence, cells)),
        public=(),
    )


def _remark(confidence: Fraction, cells: int) -> list[str]:
    """Say what to ask for where the intervals of all counts do not hold at once."""
    if confidence > 0:
        return []
    return [f"There is no band: all {cells} counts of a curve must lie in their intervals; ask with simultaneous=True."]


Stratum = dict[Any, tuple[Spread, Spread]]


def _split(answer: Answer, times: int, events: int, happened: Any) -> Mapping[tuple[Any, ...], Stratum]:
    """Return for each of the other keys, and for each time, the events and those without one; totals are left out."""
    count = len(answer.columns) - 1
    strata: dict[tuple[Any, ...], Stratum] = {}
    for place, row in enumerate(answer.rows):
        keys = row[:count]
        if None in keys:
            continue
        others = tuple(key for i, key in enumerate(keys) if i not in (times, events))
        stratum = strata.setdefault(others, {})
        event, other = stratum.get(keys[times], (Spread(), Spread()))
        cell = Spread.of(row[-1], answer.intervals[place][0] if answer.intervals else None)
        stratum[keys[times]] = (cell, other) if keys[events] == happened else (event, _sum(other, cell))
    return strata


def _sum(a: Spread, b: Spread) -> Spread:
    high = None if a.high is None or b.high is None else a.high + b.high
    return Spread(a.value + b.value, a.low + b.low, high)


def _in_order(stratum: Stratum) -> list[Any]:
    """Return times in their order: that of numbers and days, else the order in which they come."""
    moments = list(stratum)
    is_ordered = all(isinstance(moment, int | float | date) for moment in moments)
    return sorted(moments) if is_ordered else moments


def _curve(events: Sequence[Number], others: Sequence[Number]) -> list[tuple[Any, float]]:
    """Return for each time how many are at risk, and which share survives it."""
    at_risk = sum(events) + sum(others)
    share, points = Fraction(1), []
    for event, other in zip(events, others, strict=True):
        share *= 1 if at_risk == 0 else Fraction(at_risk - event) / Fraction(at_risk)
        points.append((_to_cell(at_risk), float(share)))
        at_risk -= event + other
    return points


def _band(counts: Sequence[tuple[Spread, Spread]]) -> list[tuple[float, float] | None]:
    """Return between which shares each point of the curve lies if every count lies in its interval."""
    if any(spread.high is None for pair in counts for spread in pair):
        return [None] * len(counts)
    lows = [_corner(counts, last, is_low=True) for last in range(len(counts))]
    highs = [_corner(counts, last, is_low=False) for last in range(len(counts))]
    # A curve never rises, so an end that was rounded further out than the one beside it can be brought in again.
    lows = list(accumulate(reversed(lows), max))[::-1]
    return list(zip(lows, accumulate(highs, min), strict=True))


def _corner(counts: Sequence[tuple[Spread, Spread]], last: int, *, is_low: bool) -> float:
    """Return the least or the greatest share that can survive a time, rounded outwards."""
    # Up to that time as many events as can be, then as few, and as few others: or all of it the other way round.
    events = [_end(event, is_high=is_low == (i <= last)) for i, (event, _) in enumerate(counts)]
    others = [_end(other, is_high=not is_low) for _, other in counts]
    at_risk, share = sum(events) + sum(others), 1.0
    for event, other in zip(events[: last + 1], others, strict=False):
        share *= 1.0 if at_risk == 0 else float(Fraction(at_risk - event) / Fraction(at_risk))
        at_risk -= event + other
    # Each factor and each product is within 2⁻⁵³ of what it stands for, as long as it is no smaller than all doubles.
    slack = (last + 1) * 2.0**-50
    if is_low:
        return 0.0 if share < SMALLEST else max(0.0, share * (1 - slack))
    return min(1.0, max(share, SMALLEST) * (1 + slack))


def _end(spread: Spread, *, is_high: bool) -> Number:
    assert spread.high is not None
    return spread.high if is_high else spread.low


def _to_cell(value: Number) -> int | float:
    return value if isinstance(value, int) else float(value)


def _round_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else nextafter(nearest, 0)
