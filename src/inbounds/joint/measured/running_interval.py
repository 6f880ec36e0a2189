"""Where the truth of running sums is, from the raw measurements of blocks.

The sum up to a key is made of few measured blocks: some of the widest, and then of each narrower width those that are
missing or too many, whichever are fewer.  The plan decides which, never the data.  Noises of one rate are added up,
and go beyond their reach with at most an equal part of the odds.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inbounds.joint.plan.noise_sum import reach
from inbounds.joint.plan.running_sums import blocks_along

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.measured.measurements import Measurements

    Places = NDArray[np.int64]
    Whole = NDArray[np.object_]


class Stretch(NamedTuple):
    """Blocks of one width, for the sum up to each key: those up to `stop` without those up to `start`.

    They are taken away where `stop` comes first.
    """

    start: Places
    stop: Places


def stretches(size: int, widths: list[int]) -> list[Stretch]:
    """Return which blocks make the sum up to each key, for each width."""
    # From narrow to wide: go to that end of the wider block around a place which fewer blocks lead to.
    found = []
    at = np.arange(1, size + 1)
    for width, wider in zip(widths, [*widths[1:], 0], strict=True):
        if not wider:
            found.append(Stretch(np.zeros_like(at), at))
            break
        ratio = wider // width
        first = at // ratio * ratio
        last = np.minimum(first + ratio, -(-size // width))
        is_nearer = last - at < at - first
        found.append(Stretch(np.where(is_nearer, last, first), at))
        at = at // ratio + is_nearer
    return found


def running_intervals(measured: Measurements, place: int, confidence: float) -> tuple[Whole, Whole]:
    """Return the ends of an interval for the sum up to each key of an axis, in whole steps and the shape of the cells.

    Each holds its truth with this confidence, as far as noise goes.  Where nothing is public.
    """
    plan = measured.plan
    groupings, widths = blocks_along(plan, place)
    found = stretches(plan.layout.shape[place], widths)
    # Python's integers, for many wide blocks may add up to more than 64 bits hold.
    pairs = zip(groupings, found, strict=True)
    sums = sum(_between(measured.grains[grouping], place, part) for grouping, part in pairs)
    rates = [plan.rate(grouping) for grouping in groupings]

    @cache
    def far(counts: tuple[int, ...]) -> int:
        together: Counter[float] = Counter()
        for count, rate in zip(counts, rates, strict=True):
            together[rate] += count
        noises = [(count, rate) for rate, count in together.items() if count]
        each = 1 - (1 - confidence) / max(len(noises), 1)
        return sum(reach(count, rate, each) for count, rate in noises)

    counts = np.array([np.abs(part.stop - part.start) for part in found]).T.tolist()
    reaches = np.array([far(tuple(each)) for each in counts], dtype=object)
    shape = [1] * len(plan.layout.shape)
    shape[place] = -1
    low, high = sums - reaches.reshape(shape), sums + reaches.reshape(shape)
    if plan.nonnegative:
        low, high = np.maximum(low, 0), np.maximum(high, 0)
    return low // plan.grain.denominator, -(-high // plan.grain.denominator)


def _between(grains: NDArray[np.int64], place: int, part: Stretch) -> Whole:
    """Return the sums of the blocks between two places on an axis, negative if the second place comes first."""
    sums = np.cumsum(grains.astype(object), axis=place)
    sums = np.insert(sums, 0, 0, axis=place)
    return np.asarray(np.take(sums, part.stop, axis=place) - np.take(sums, part.start, axis=place))
