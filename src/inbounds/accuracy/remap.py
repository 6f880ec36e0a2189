"""Which release best replaces which, given what is believed of the truth.

No number has a smaller expected distance from the truth than a median of the truth's posterior law, given a release.
What a release is replaced by depends on nothing else, so it costs no privacy.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.prior import Prior
from inbounds.bounds.guide import Guide
from inbounds.bounds.index_span import FAR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Floats, Indices

MOST_LISTED = 2048
"""Up to so many possible answers, each release is replaced by itself."""

TRUTHS = 1024
"""If there are more, so many true answers stand for all: one for each part of the prior of equal weight."""

EQUAL = 256
"""If there are more, releases are cut into so many groups of equal width,"""

SEEN, QUANTILES = 16, 16
"""and where releases for so many true answers have so many quantiles."""


@dataclass(frozen=True, eq=False)
class Remap:
    """Releases in groups of consecutive indices, and what each group is replaced by; that rises from group to group."""

    edges: Indices
    """The first index of each group but the first, which begins below everything."""
    targets: Indices

    @classmethod
    def of(cls, edges: Indices, targets: Indices) -> Remap:
        """Join the groups that have the same target."""
        first = np.flatnonzero(np.diff(targets, prepend=targets[0] - 1))
        return cls(edges[first[1:] - 1], targets[first])

    def index(self, released: int) -> int:
        """Return what replaces a release, after the same number of comparisons for each."""
        edges, targets = self._padded_groups
        return targets[bisect_right(edges, released)]

    def indices(self, released: NDArray[Any]) -> NDArray[Any]:
        """`index` for an array: int64, or doubles that hold integers."""
        guide, targets = self._of_doubles if released.dtype == np.float64 else self._of_integers
        return targets.take(guide.count(released))

    @cached_property
    def _padded_groups(self) -> tuple[list[int], list[int]]:
        """Edges and targets, filled up so that a bisection always takes the same number of steps."""
        # A bisection of 2^k - 1 numbers always takes k steps, so its time does not tell where the release is.
        missing = (1 << len(self.edges).bit_length()) - 1 - len(self.edges)
        edges, targets = self.edges.tolist(), self.targets.tolist()
        return edges + [4 * FAR] * missing, targets + targets[-1:] * missing

    @cached_property
    def _of_integers(self) -> tuple[Guide, NDArray[Any]]:
        return Guide(self.edges), self.targets

    @cached_property
    def _of_doubles(self) -> tuple[Guide, NDArray[Any]]:
        return Guide(self.edges.astype(np.float64)), self.targets.astype(np.float64)


@np.errstate(all="ignore")  # whatever the caller has set
def best_remap(law: Distribution, prior: Prior) -> Remap:
    """Return what to replace releases by: for each group of them the median of the truth, given one of the group.

    Medians that do not rise are not used; what rises and has the least expected error is looked for then.
    """
    # 1. Cut releases into groups, and take true answers that stand for all.
    # 2. The posterior of the truth given each group, up to a factor: prior times probability.
    # 3. Its median, which no other number is below in expected distance.
    # 4. Medians may fall where the law is odd; then the best targets that do not are looked for.
    edges = _edges(law, prior)
    truths = _Truths.of(prior)
    weights = truths.masses[:, None] * group_probabilities(law, edges, truths.indices)
    targets = _fill_unseen(truths.medians(prior, weights), weights.sum(axis=0) > 0)
    if (np.diff(targets) < 0).any():
        targets = _best_rising(truths, weights, np.union1d(truths.indices, law.lattice.nearest(edges)))
    return Remap.of(edges, targets)


@dataclass(frozen=True, eq=False)
class _Truths:
    """True answers that stand for all: every one that has weight, or one for each of many parts of equal weight."""

    indices: Indices
    masses: Floats
    each: bool

    @classmethod
    def of(cls, prior: Prior) -> _Truths:
        if prior.lattice.points <= MOST_LISTED:
            return cls(*prior.points, each=True)
        middles = (np.arange(TRUTHS) + 0.5) / TRUTHS
        return cls(prior.quantile(middles), np.full(TRUTHS, 1 / TRUTHS), each=False)

    def medians(self, prior: Prior, weights: Floats) -> Indices:
        """Return the median of the truth for each column of weights; within a part by what is believed there."""
        running = np.cumsum(weights, axis=0)
        half, columns = running[-1] / 2, np.arange(weights.shape[1])
        row = np.minimum((running <= half).sum(axis=0), len(weights) - 1)
        if self.each:
            return self.indices[row]
        here = weights[row, columns]
        share = np.divide(half - (running[row, columns] - here), here, out=np.full(len(row), 0.5), where=here > 0)
        return prior.quantile((row + np.clip(share, 0.0, 1.0)) / len(weights))


def _edges(law: Distribution, prior: Prior) -> Indices:
    """Return where groups of releases begin: at every possible answer, or where many releases are."""
    lattice = law.lattice
    if lattice.points <= MOST_LISTED:
        return np.array(lattice.indices()[1:], dtype=np.int64)
    equal = [lattice.first + part * lattice.width // EQUAL for part in range(1, EQUAL)]
    seen = prior.quantile((np.arange(SEEN) + 0.5) / SEEN)
    quantiles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    likely = law.quantile(np.tile(quantiles, SEEN), np.repeat(seen, QUANTILES))
    ends = [lattice.first + 1, lattice.last]  # an end may be released far more often than what is beside it
    if law.in_range:
        likely = np.clip(likely, ends[0], ends[1])
    return np.unique(np.concatenate([np.array(equal + ends, dtype=np.int64), likely]))


def group_probabilities(law: Distribution, edges: Indices, centres: Indices) -> Floats:
    """Return the probability of each group of releases, a row for each index of a true answer."""
    rows = np.zeros((len(centres), 1))
    up_to = np.hstack([rows, law.up_to(edges - 1, centres[:, None]), rows + 1])
    at_least = np.hstack([rows + 1, law.at_least(edges, centres[:, None]), rows])
    return difference(up_to[:, :-1], up_to[:, 1:], at_least[:, :-1], at_least[:, 1:])


def difference(below: Floats, up_to: Floats, at_least: Floats, above: Floats) -> Floats:
    """Return the probability between two places from what is on both sides of each, by the smaller numbers."""
    return np.maximum(np.where(up_to <= at_least, up_to - below, at_least - above), 0.0)


def _fill_unseen(targets: Indices, seen: NDArray[np.bool_]) -> Indices:
    """Return targets, with that of the nearest group below for groups that are never seen."""
    places = np.maximum.accumulate(np.where(seen, np.arange(len(seen)), -1))
    return targets[np.where(places < 0, np.argmax(seen), places)]


def _best_rising(truths: _Truths, weights: Floats, candidates: Indices) -> Indices:
    """Return the targets of the least expected error that never fall, by dynamic programming."""
    # Group after group, the least total cost if this group's target is a given candidate: its own cost, and the least
    # total of the group before over all candidates that are not above.  Then back along the choices that were made.
    costs = weights.T @ np.abs(truths.indices[:, None] - candidates).astype(float)
    came_from = np.zeros(costs.shape, np.int32)
    total, places = np.zeros(len(candidates)), np.arange(len(candidates))
    for group, cost in enumerate(costs):
        least = np.minimum.accumulate(total)
        came_from[group] = np.maximum.accumulate(np.where(total == least, places, 0))
        total = least + cost
    targets, place = np.zeros(len(costs), np.int64), int(np.argmin(total))
    for group in range(len(costs) - 1, -1, -1):
        targets[group] = candidates[place]
        place = int(came_from[group, place])
    return targets
