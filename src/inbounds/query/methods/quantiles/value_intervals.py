"""Intervals of quantiles in values: true ones lie between other quantiles of the column that were released with them.

With the stated probability every released value is near its level in rank: fewer than `Miss` rows off.  So of at least
`n` rows, a value that was released for a level so far below another that `n` rows between them are more than it can be
off is at most the true quantile there; and likewise from above (docs/proofs.md, quantiles between quantiles).  Where
values share a bucket, the ends are those of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import Any

from inbounds.query.methods.method import Interval, write_value
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.methods.quantiles.ordered import Branch, OrderedQuantiles

ROOM = 1 + 1e-9
"""What doubles may be off by here, many times over."""


@dataclass(frozen=True)
class Miss:
    """How far a released value may be from its level in rank: by so many rows, and by so large a part of all rows."""

    rows: float
    part: float

    def between(self, other: Miss, share: float) -> Miss:
        """Return what is off at a share of the way to another."""
        return Miss(self.rows + share * (other.rows - self.rows), self.part + share * (other.part - self.part))

    def further(self, rows: float, part: float = 0.0) -> Miss:
        """Return what is off by more."""
        return Miss(self.rows + rows, self.part + part)

    def rows_for(self, distance: Fraction) -> float:
        """Return how many rows there must be, so that those between two levels are more than it may be off."""
        room = float(distance) - self.part * ROOM
        return self.rows * ROOM / room if room > 0 else inf


NONE = Miss(0.0, 0.0)


def misses(law: OrderedQuantiles, risk: float) -> tuple[Miss, ...]:
    """Return how far off the value of each level may be; with a probability of at most `risk` one is farther off.

    It is `OrderedQuantiles.rank_error` for rows of which any number may have the same value.
    """
    odds = log(law.buckets.before[-1] * len(law.levels) / risk)
    return tuple(_misses(law, law.whole, NONE, NONE, odds))


def _misses(law: OrderedQuantiles, branch: Branch, at_low: Miss, at_high: Miss, odds: float) -> Iterator[Miss]:
    """Yield them for the levels of a branch, whose range was split so far off at its ends."""
    if not branch.levels:
        return
    rate, aimed = float(branch.rate(law.limit)), at_low.between(at_high, float(branch.level))
    if branch.is_last:
        yield aimed.further(odds / rate)
        return
    # Some place misses nothing, of all places of a value; sharing one moves the split by its part of at most all rows.
    missed = aimed.further((odds + law.halvings * log(2)) / rate)
    split = missed.further(0.0, float(branch.share) / 2**law.halvings)
    below, above = branch.halves
    yield from _misses(law, below, at_low, split, odds)
    yield missed
    yield from _misses(law, above, split, at_high, odds)


def rows_needed(law: OrderedQuantiles, off: Sequence[Miss]) -> list[tuple[float, float]]:
    """Return for each level how many rows there must be for an end of its interval below it, and above it."""
    pairs = list(zip(law.levels, off, strict=True))
    return [
        (
            min(miss.rows_for(level - other) for other, miss in pairs),
            min(miss.rows_for(other - level) for other, miss in pairs),
        )
        for level in law.levels
    ]


def value_intervals(
    law: OrderedQuantiles, off: Sequence[Miss], rows: float, values: Sequence[Any]
) -> list[Interval | None]:
    """Return an interval for each of the released values of a group with at least so many rows, None if none follows.

    An end for which no other value is far enough away is that of the column.
    """
    # The highest level that is far enough below, the lowest that is far enough above; values rise with levels.
    levels, buckets = law.levels, law.buckets
    steps, found = [_step_of(buckets, value) for value in values], list[Interval | None]()
    for level in levels:
        pairs = list(zip(levels, off, steps, strict=True))
        below = [step for other, miss, step in pairs if rows >= miss.rows_for(level - other)]
        above = [step for other, miss, step in pairs if rows >= miss.rows_for(other - level)]
        if not below and not above:
            found.append(None)
            continue
        column = buckets.column
        low = _end(buckets, below[-1], -1) if below else column.value(0)
        high = _end(buckets, above[0], 1) if above else column.value(column.steps)
        found.append((write_value(column.bounds, low), write_value(column.bounds, high)))
    return found


def _step_of(buckets: Buckets, value: Any) -> int:
    """Return how many steps above the least a released value is."""
    column = buckets.column
    exact = Fraction(value) if isinstance(value, int | float) else column.literal(value)
    return column.lattice.index(*exact.as_integer_ratio()) - column.first


def _end(buckets: Buckets, step: int, outwards: int) -> Fraction:
    """Return the possible value at the end of a bucket; without a step, one step further, for values are rounded."""
    column, bucket = buckets.column, step // buckets.width
    first, after = buckets.before[bucket], buckets.before[bucket + 1]
    end = buckets.value(first if outwards < 0 else after - 1)
    if column.bounds.step is None:
        end += outwards * column.step
    return min(max(end, column.value(0)), column.value(column.steps))
