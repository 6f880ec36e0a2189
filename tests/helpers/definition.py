"""The law of a release straight from its definition, at any precision: what every draw and figure must agree with.

The probability of index `k` around the centre `m` is proportional to `weight(k) * q^|k - m|`.  The weight is 1.  At an
end with nothing beyond it, it is more by `pooling` times `q/(1-q)`; at an end beside a gap of `g` missing indices, by
`pooling` times `q (1-q^g) / ((1-q) (1+q^(g+1)))`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from inbounds import BoundedLaplace, Bounds

Spans = list[tuple[int | None, int | None]]


def index_spans(bounds: Bounds, step: Fraction) -> Spans:
    """Return the spans of bounds as indices of the lattice with this step: those inside, neighbours joined."""
    found: list[list[int | None]] = []
    for low, high in bounds:
        first = None if low == -math.inf else math.ceil(_steps(low, bounds, step))
        last = None if high == math.inf else math.floor(_steps(high, bounds, step))
        if found and first is not None and found[-1][1] is not None and first - found[-1][1] <= 1:
            found[-1][1] = last
        else:
            found.append([first, last])
    return [(first, last) for first, last in found]


def _steps(end: Any, bounds: Bounds, step: Fraction) -> Fraction:
    return (Fraction(end.toordinal() if bounds.is_dates else end) - bounds.offset) / step


class Definition:
    """A law over the indices in some spans, in numbers of `bits` bits."""

    def __init__(self, spans: Spans, rate: Fraction, pooling: Fraction, bits: int = 400) -> None:
        self.spans, self.rate, self.pooling = spans, rate, pooling
        self.context = mpmath.mp.clone()
        self.context.prec = bits
        self._rate = self.context.mpf(rate.numerator) / rate.denominator
        self._q = self.context.exp(-self._rate)

    @classmethod
    def of(cls, mechanism: BoundedLaplace, bits: int = 400) -> Definition:
        """Return the law that a mechanism claims to draw from."""
        spans = index_spans(mechanism.bounds, mechanism.step)
        return cls(spans, mechanism.step / Fraction(mechanism.scale), mechanism.claim.promise.pooling, bits)

    def power(self, distance: int) -> Any:
        """Return `q ** distance`."""
        return self.context.exp(-self._rate * distance)

    def extra(self, span: int, *, upper: bool) -> Any:
        """Return the extra weight at an end of a span."""
        end = self.spans[span][upper]
        other = span + 1 if upper else span - 1
        share = self.context.mpf(self.pooling.numerator) / self.pooling.denominator * self._q / (1 - self._q)
        if end is None:
            return 0
        if not 0 <= other < len(self.spans):
            return share
        beyond = self.spans[other][not upper]
        assert beyond is not None
        gap = abs(beyond - end) - 1
        return share * (1 - self.power(gap)) / (1 + self.power(gap + 1))

    def mass(self, low: int | None, high: int | None, centre: int) -> Any:
        """Return the sum of `weight(k) * q^|k - centre|` over the feasible `k` from `low` to `high`."""
        total = self.context.mpf(0)
        for i, (first, last) in enumerate(self.spans):
            start = first if low is None else low if first is None else max(low, first)
            stop = last if high is None else high if last is None else min(high, last)
            if start is not None and stop is not None and start > stop:
                continue
            total += self._run(start, stop, centre)
            if first is not None and start == first:
                total += self.extra(i, upper=False) * self.power(abs(first - centre))
            if last is not None and stop == last:
                total += self.extra(i, upper=True) * self.power(abs(last - centre))
        return total

    def _run(self, start: int | None, stop: int | None, centre: int) -> Any:
        """Return the sum of `q^|k - centre|` over `k` from `start` to `stop`."""
        below = 0 if start is not None and start >= centre else self._distances(centre, start, stop, below=True)
        above = 0 if stop is not None and stop < centre else self._distances(centre, start, stop, below=False)
        return below + above

    def _distances(self, centre: int, start: int | None, stop: int | None, *, below: bool) -> Any:
        """Return the part of `_run` strictly below the centre, or from the centre on."""
        if below:
            near = 1 if stop is None else max(1, centre - stop)
            far = None if start is None else centre - start
        else:
            near = 0 if start is None else max(0, start - centre)
            far = None if stop is None else stop - centre
        return (self.power(near) - (0 if far is None else self.power(far + 1))) / (1 - self._q)

    def cdf(self, index: int, centre: int) -> Any:
        """Return the probability that a release around a centre is at most this index."""
        return self.mass(None, index, centre) / self.mass(None, None, centre)

    def pmf(self, index: int, centre: int) -> Any:
        """Return the probability that a release around a centre is this index."""
        return self.mass(index, index, centre) / self.mass(None, None, centre)

    def boundary(self, index: int, centre: int, bits: int) -> int:
        """Return the first `bits` bits of the distribution function at an index, as an integer."""
        return int(self.context.floor(self.cdf(index, centre) * self.context.mpf(2) ** bits))


class Table:
    """The law over all indices of a small lattice, or over those near a centre, as arrays of doubles."""

    def __init__(self, spans: Spans, rate: float, pooling: float, near: int = 0, reach: int = 0) -> None:
        ends = [(near - reach if a is None else a, near + reach if b is None else b) for a, b in spans]
        self.indices: NDArray[np.int64] = np.concatenate([np.arange(a, b + 1) for a, b in ends])
        self.rate = rate
        self.weights = np.ones(len(self.indices))
        q = math.exp(-rate)
        for i, (first, last) in enumerate(spans):
            for end, beyond in (
                (first, spans[i - 1][1] if i else None),
                (last, spans[i + 1][0] if i + 1 < len(spans) else None),
            ):
                if end is None:
                    continue
                extra = q / -math.expm1(-rate)
                if beyond is not None:
                    gap = abs(end - beyond) - 1
                    extra *= -math.expm1(-gap * rate) / (1 + math.exp(-(gap + 1) * rate))
                self.weights[self.indices == end] += pooling * extra

    @classmethod
    def of(cls, mechanism: BoundedLaplace, near: int = 0, reach: int = 0) -> Table:
        """Return the law that a mechanism claims to draw from; of an infinite span `reach` indices around `near`."""
        rate = float(mechanism.step / Fraction(mechanism.scale))
        spans = index_spans(mechanism.bounds, mechanism.step)
        return cls(spans, rate, float(mechanism.pooling), near, reach)

    def pmf(self, centre: int) -> NDArray[np.float64]:
        """Return the probabilities of all indices around a centre."""
        masses = self.weights * np.exp(-self.rate * np.abs(self.indices - centre))
        return masses / masses.sum()
