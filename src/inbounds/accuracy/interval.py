"""Intervals for the truth behind a release, by likelihood ratio.

A truth `t` accepts the releases that speak for it best: in the order of `P_t(x)` over the greatest `P_u(x)` of any
truth `u`, until they have the stated confidence together.  The interval of a release runs from the least to the
greatest truth that accepts it.  Whatever the truth is, it accepts its own releases with at least that probability, so
intervals hold it that often (docs/accuracy.md, "Intervals").

On few points all of that is written out.  On fine lattices each truth has a lower and an upper tail of releases that it
does not accept, which share the odds that are left; how, is found by likelihood ratio at some truths, and held between
them.  That shares differ from the best ones costs length, never coverage.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import apart
from inbounds.accuracy.search import least_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Distribution, Floats, Indices
    from inbounds.accuracy.prior import Prior

SLACK = 1e-11
"""Relative room for rounding: an interval is rather too wide than too narrow."""

TIE = 1e-9
"""Likelihood ratios that are nearer to each other than this, relatively, are alike."""

MOST_LISTED = 512
"""From the least to the greatest answer, up to so many are listed."""

MOST_LISTED_AT_ALL = 4096
"""Up to so many if there is no other way."""

NODES = 96
"""Truths to look at beside each end, and between the ends."""

CELLS = 192
"""Into how many runs releases are cut there."""

SEEN, QUANTILES = 64, 64
"""Truths and quantiles of releases that the mean width of intervals is taken over, where there are many."""

REMEMBERED = 16
"""For so many confidences the shares are kept."""


class Intervals:
    """The intervals of all releases of a distribution."""

    def __init__(self, law: Distribution) -> None:
        self._law = law
        self._shares: dict[float, tuple[Indices, Floats]] = {}

    def around(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        """Return the least and the greatest truth that accepts each release."""
        law, lattice = self._law, self._law.lattice
        size = lattice.width + 1 if lattice.bounded else None
        if size is not None and size <= (MOST_LISTED if law.rises else MOST_LISTED_AT_ALL):
            return self._in_table(released, confidence)
        return self._by_tails(released, confidence) if law.rises else law.wide_interval(released, confidence)

    def expected_width(self, truths: Prior, confidence: float) -> float:
        """Return the mean width of intervals, in steps, over releases and truths."""
        law, lattice = self._law, self._law.lattice
        if lattice.bounded and lattice.width < MOST_LISTED:
            releases = np.arange(lattice.first, lattice.last + 1)
            if law.in_range:
                releases = np.array(lattice.indices(), dtype=np.int64)
            centres, weights = truths.points
            return float(weights @ self._widths_at(releases, centres, confidence))
        seen = truths.quantile((np.arange(SEEN) + 0.5) / SEEN)
        quantiles = (np.arange(QUANTILES) + 0.5) / QUANTILES
        releases = law.quantile(np.tile(quantiles, SEEN), np.repeat(law.truths(seen), QUANTILES))
        return float(self._widths(releases, confidence).mean())

    def _widths_at(self, releases: Indices, centres: Indices, confidence: float) -> Floats:
        """Return the mean width over releases, for some truths."""
        from_on = self._law.at_least(releases[1:], centres[:, None])
        rows: Floats = -np.diff(from_on, prepend=1.0, append=0.0, axis=1)
        return rows @ self._widths(releases, confidence)

    def _widths(self, releases: Indices, confidence: float) -> Floats:
        distinct, which = np.unique(releases, return_inverse=True)
        low, high = (self._law.lattice.nearest(end) for end in self.around(distinct, confidence))
        return apart(high, low)[which]

    # Few points: everything is written out.

    def _in_table(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        # A truth accepts a release unless all releases that speak no better for it have at most the odds that are left
        # out.
        truths, releases, odds = self._table
        column = np.searchsorted(releases, np.clip(released, releases[0], releases[-1]))
        accepted = odds[:, column] > (1 - confidence) * (1 - SLACK)
        last = len(truths) - 1 - np.argmax(accepted[::-1], axis=0)
        return truths[np.argmax(accepted, axis=0)], truths[last]

    @cached_property
    def _table(self) -> tuple[Indices, Indices, Floats]:
        """All truths, all releases, and for each pair the odds, under the truth, of a release that speaks no better."""
        law, lattice = self._law, self._law.lattice
        every = np.arange(lattice.first, lattice.last + 1)
        truths, beyond = np.unique(law.truths(every)), not law.in_range
        releases = every if beyond else np.array(lattice.indices(), dtype=np.int64)
        table = law.probability(releases[None, :], truths[:, None])
        if beyond:  # all releases beyond an end speak alike, or are taken to
            table[:, 0] = law.up_to(releases[:1], truths)
            table[:, -1] = law.at_least(releases[-1:], truths)
        with np.errstate(under="ignore"):
            ratios = table / table.max(axis=0)
            odds = np.array([no_better(*row) for row in zip(table, ratios, strict=True)])
        return truths, releases, odds

    # Fine lattices: two tails, and how they share the odds.

    def _by_tails(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        # The least truth whose upper tail still reaches the release, and the last whose lower tail does not pass it.
        # Both tails are monotone in the truth, because the law rises and shares never fall, so bisection finds them.
        law, odds = self._law, (1 - confidence) * (1 - SLACK)
        nodes, shares = self._shares_at(confidence)
        here = law.truths(released)

        def share(truths: Indices) -> Floats:
            return shares[np.maximum(np.searchsorted(nodes, truths, side="right") - 1, 0)]

        def reaches(places: Indices) -> NDArray[np.bool_]:
            truths = law.truths(places)
            left = odds * (1 - share(truths))
            return (left <= 0) | (law.tail_bound(released[:, None], truths) > left)

        def passes(places: Indices) -> NDArray[np.bool_]:
            truths = law.truths(places)
            left = odds * share(truths)
            return (left > 0) & (law.head_bound(released[:, None], truths) <= left)

        ends = law.least_answer, law.greatest_answer
        low = law.truths(least_from(reaches, here, law.stride, *ends))
        high = law.truths(least_from(passes, here, law.stride, *ends) - 1)
        return np.minimum(low, here), np.maximum(high, here)  # a release that no truth accepts is evidence for itself

    def _shares_at(self, confidence: float) -> tuple[Indices, Floats]:
        """Return some truths, and which part of the odds the lower tail has from each of them on: it never falls."""
        if confidence not in self._shares:
            if len(self._shares) >= REMEMBERED:
                self._shares.clear()
            nodes = self._nodes(confidence)
            shares = np.maximum.accumulate(self._best_shares(nodes, confidence))
            self._shares[confidence] = nodes, shares
        return self._shares[confidence]

    def _nodes(self, confidence: float) -> Indices:
        """Return truths where shares are found: near the ends, where they change, and some between."""
        law, far = self._law, 8 - np.log1p(-confidence)
        low, high = law.least_answer, law.greatest_answer
        # However small the noise is, the truths next to an end are no ends: what holds for them holds far from it.
        beside = np.unique(np.concatenate([np.arange(3), _whole(np.linspace(0, far * law.scale, NODES))]))
        nodes = [np.zeros(1, dtype=np.int64)] if low is None and high is None else []
        if low is not None:
            nodes.append(low + beside)
        if high is not None:
            nodes.append(high - beside[::-1])
        if low is not None and high is not None:
            nodes.append(low + _whole(np.linspace(0, float(high - low), NODES)))
        return np.unique(law.truths(np.concatenate(nodes)))

    def _best_shares(self, nodes: Indices, confidence: float) -> Floats:
        """Return which part of the odds the lower tail has at some truths, by likelihood ratio."""
        law = self._law
        # 1. Cut the releases around each truth into cells, and what is beyond them into two more.
        # 2. Order cells by likelihood ratio, and accept them until they have the confidence together.
        # 3. Of the odds below the first accepted cell and above the last, the share that is below.
        reach = (10 - np.log1p(-confidence)) * law.scale
        edges = self._clip(nodes[:, None] + _whole(np.linspace(-reach, reach, CELLS + 1)))
        up_to = law.up_to(edges - 1, nodes[:, None])
        masses: Floats = np.diff(up_to, prepend=0.0, append=1.0)
        middles = self._law.possible(
            np.column_stack([edges[:, :1], edges[:, :-1] + np.diff(edges) // 2, edges[:, -1:]])
        )
        with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
            ratios = law.probability(middles, nodes[:, None]) / law.probability(middles, law.truths(middles))
        order = np.argsort(-np.nan_to_num(ratios), axis=1)
        before = np.cumsum(np.take_along_axis(masses, order, 1), 1) - np.take_along_axis(masses, order, 1)
        accepted = np.zeros(masses.shape, dtype=bool)
        np.put_along_axis(accepted, order, before < confidence, 1)
        rows, first = np.arange(len(nodes)), np.argmax(accepted, axis=1)
        last = masses.shape[-1] - 1 - np.argmax(accepted[:, ::-1], axis=1)
        total = np.cumsum(masses, axis=1)
        lower, upper = total[rows, first] - masses[rows, first], np.maximum(1 - total[rows, last], 0)
        left = lower + upper
        with np.errstate(invalid="ignore"):
            # What is left by rounding alone says nothing about which tail it is in.
            return np.where(left > TIE, np.clip(lower / left, 0, 1), self._even_shares(nodes))

    def _even_shares(self, nodes: Indices) -> Floats:
        """Return a half for truths that have releases on both sides; an end has them on one."""
        low, high = self._law.least_answer, self._law.greatest_answer
        shares = np.full(len(nodes), 0.5)
        shares[nodes == low] = 0.0
        shares[nodes == high] = 1.0
        return shares

    def _clip(self, places: Indices) -> Indices:
        first, last = self._law.releases
        return np.clip(places, first, None if last is None else last + 1)  # the last one is in a run of its own


def no_better(probabilities: Floats, ratios: Floats) -> Floats:
    """Return, for each release, the probability of all that have no greater ratio; those that are alike included."""
    order = np.argsort(ratios)
    sums = np.cumsum(probabilities[order])
    return sums[np.searchsorted(ratios[order], ratios * (1 + TIE), side="right") - 1]


def _whole(distances: Floats) -> Indices:
    """Return whole numbers near these, within what an index can be."""
    return np.rint(np.clip(distances, -(2.0**61), 2.0**61)).astype(np.int64)
