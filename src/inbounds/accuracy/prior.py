"""What is publicly believed of the true answer before anything is released: a weight for every possible answer.

A prior decides which errors count how much, never how private a release is.  It must not come from the data: a release
would still keep epsilon, but the choice of the mechanism would tell what the prior was made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.given_prior import PriorLike, as_list, edges_of, weights_of
from inbounds.accuracy.true_answers import AnswerStretches, weighted_mean
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Distribution

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

__all__ = ["Prior", "PriorLike"]

MOST_POINTS = 2**14
"""Up to so many possible answers with a step, a function is asked for the weight of each."""

PARTS = 1024
"""Where there are more, it is asked in the middle of so many equal parts of the range, and holds in all of each."""


@dataclass(frozen=True, eq=False)
class Prior:
    """A prior that is piecewise constant: a weight for each stretch of consecutive possible answers.

    Two priors with the same stretches on the same lattice are equal, however they were specified.
    """

    lattice: Lattice
    lows: Indices
    """The first index of each stretch, in rising order."""
    highs: Indices
    weights: Floats
    """How much each stretch counts; all above zero, and together 1."""

    def __post_init__(self) -> None:
        for column in (self.lows, self.highs, self.weights):
            column.flags.writeable = False  # what was computed from them is remembered

    @classmethod
    def uniform(cls, lattice: Lattice, first: int | None = None, last: int | None = None) -> Prior:
        """Return the uniform prior over all possible answers, or over those between two indices."""
        lows = lattice.lows if first is None else np.maximum(lattice.lows, first)
        highs = lattice.highs if last is None else np.minimum(lattice.highs, last)
        held = lows <= highs
        return cls._of(lattice, lows[held], highs[held], (highs - lows)[held].astype(float) + 1)

    @classmethod
    def of(cls, given: PriorLike | Prior | None, bounds: Bounds, lattice: Lattice) -> Prior:
        """Read a prior in any of its forms; None is the uniform one."""
        if not lattice.bounded:
            raise InvalidParameter(
                f"a prior needs bounds with both ends, got {bounds.brief()}; give both ends, or leave the prior out"
            )
        if given is None:
            return cls.uniform(lattice)
        if isinstance(given, Prior):
            return given._on(bounds, lattice)
        if callable(given):
            return cls._of_function(given, bounds, lattice)
        parts = as_list(given)
        if len(parts) == 2 and all(isinstance(part, Iterable) for part in parts):
            weights = weights_of(parts[0])
            return cls._in_parts(lattice, edges_of(parts[1], len(weights), bounds, lattice), weights)
        return cls._of_list(weights_of(parts), bounds, lattice)

    @classmethod
    def _of_list(cls, weights: Floats, bounds: Bounds, lattice: Lattice) -> Prior:
        if bounds.step is None:
            return cls._in_parts(lattice, _equal_parts(lattice, len(weights)), weights)
        if len(weights) != lattice.points:
            raise InvalidParameter(
                f"prior must have one weight for each of {lattice.points} possible answers, got {len(weights)}; "
                f"give {lattice.points}, or a pair (weights, edges), or leave it out"
            )
        points = np.array(lattice.indices(), dtype=np.int64)
        return cls._of(lattice, points, points, weights)

    @classmethod
    def _of_function(cls, function: Callable[[Any], Any], bounds: Bounds, lattice: Lattice) -> Prior:
        if bounds.step is not None and lattice.points <= MOST_POINTS:
            lows = highs = np.array(lattice.indices(), dtype=np.int64)
        else:
            lows, highs, _ = _cut(lattice, _equal_parts(lattice, PARTS))
        middles = (lows + (highs - lows) // 2).tolist()
        density = weights_of([function(_plain(lattice.answer(middle))) for middle in middles])
        return cls._of(lattice, lows, highs, density * ((highs - lows).astype(float) + 1))

    @classmethod
    def _in_parts(cls, lattice: Lattice, cuts: Indices, weights: Floats) -> Prior:
        """Return the prior with these weights between cuts, each spread evenly over the possible answers there."""
        lows, highs, part = _cut(lattice, cuts)
        counts = (highs - lows).astype(float) + 1
        totals = np.bincount(part, counts, len(weights))
        empty = np.flatnonzero((totals == 0) & (weights > 0))
        if len(empty):
            raise InvalidParameter(
                "a prior must have no weight where no answer is possible, got some in part "
                f"{empty[0] + 1} of {len(weights)}; set it to 0"
            )
        return cls._of(lattice, lows, highs, weights[part] * counts / totals[part])

    @classmethod
    def _of(cls, lattice: Lattice, lows: Indices, highs: Indices, weights: Floats) -> Prior:
        """Return a prior in its one form: no stretch without weight, and none that goes on as the one before it."""
        total = float(weights.sum())
        if not total > 0:
            raise InvalidParameter("prior must have some weight above zero, got none; leave it out for equal weights")
        held = weights > 0
        lows, highs, weights = lows[held], highs[held], weights[held] / total
        density = weights / ((highs - lows).astype(float) + 1)
        first = np.flatnonzero(np.append(True, (lows[1:] != highs[:-1] + 1) | (density[1:] != density[:-1])))
        last = np.append(first[1:], len(lows)) - 1
        return cls(lattice, lows[first], highs[last], np.add.reduceat(weights, first))

    def _on(self, bounds: Bounds, lattice: Lattice) -> Prior:
        """Return this prior if it is about the possible answers of a lattice."""
        if _points(self.lattice) != _points(lattice):
            raise InvalidParameter(
                f"a prior must be about the possible answers of {bounds.brief()}, got one about others; create it again"
            )
        return self

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What makes two of them equal."""
        return (*_points(self.lattice), *(column.tobytes() for column in (self.lows, self.highs, self.weights)))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Prior) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        lattice = self.lattice
        made_of = (lattice.step, lattice.offset, lattice.lows, lattice.highs, lattice.ends_kept, lattice.is_dates)
        return _again, (made_of, self.lows, self.highs, self.weights)

    def __repr__(self) -> str:
        if self.is_uniform:
            return "Prior(all alike)"
        return f"Prior({len(self.weights)} weight{'' if len(self.weights) == 1 else 's'})"

    @property
    def is_uniform(self) -> bool:
        """Whether it is uniform over all possible answers."""
        if sum((self.highs - self.lows + 1).tolist()) != self.lattice.points:
            return False
        density = self._stretches.densities
        return bool(np.ptp(density) <= 1e-12 * density.max())

    @cached_property
    def _stretches(self) -> AnswerStretches:
        return AnswerStretches(self.lows, self.highs, self.weights)

    def mass(self, cuts: NDArray[Any]) -> Floats:
        """Return the total weight of the answers below these indices, which may be fractions."""
        return self._sums(cuts)[0]

    def moment(self, cuts: NDArray[Any]) -> Floats:
        """Return the sum of weight times index, counted from the first index, over the answers below these indices."""
        return self._sums(cuts)[1]

    @cached_property
    def _running(self) -> tuple[Floats, Floats, Floats, Floats]:
        lows, counts = (self.lows - self.lattice.first).astype(float), self._stretches.counts
        before = np.concatenate([[0.0], np.cumsum(self.weights)])
        moments = np.concatenate([[0.0], np.cumsum(self.weights * (lows + (counts - 1) / 2))])
        return lows, counts, before, moments

    def _sums(self, cuts: NDArray[Any]) -> tuple[Floats, Floats]:
        lows, counts, before, moments = self._running
        first, last = self.lattice.first, self.lattice.last
        at = (np.clip(cuts, first, last + 1) - first).astype(float)
        stretch = np.maximum(np.searchsorted(lows, at, side="right") - 1, 0)
        inside = np.clip(at - lows[stretch], 0.0, counts[stretch])
        weight = self.weights[stretch] * inside / counts[stretch]
        return before[stretch] + weight, moments[stretch] + weight * (lows[stretch] + (inside - 1) / 2)

    def distances(self, cuts: Indices, targets: Indices) -> Floats:
        """Return, for each cell between cuts and each target, the sum of weight times distance from the target."""
        # A sum of `w |t - x|` is that below the target and that above it, each from running sums of `w` and `w x`.
        inner = np.clip(targets[None, :], cuts[:-1, None], cuts[1:, None])
        mass, moment = self._sums(cuts)
        inner_mass, inner_moment = self._sums(inner)
        aims = (targets - self.lattice.first).astype(float)
        masses = 2 * inner_mass - (mass[:-1] + mass[1:])[:, None]
        return np.maximum(aims * masses - 2 * inner_moment + (moment[:-1] + moment[1:])[:, None], 0.0)

    def mean(self, law: Distribution) -> float:
        """Return the mean expected error of a distribution under this prior, in steps."""
        answers = law.true_answers(int(self.lows[0]), int(self.highs[-1]))
        return weighted_mean(answers, self._stretches, law.errors)

    @cached_property
    def points(self) -> tuple[Indices, Floats]:
        """Every answer that has weight, and its weight: for few answers."""
        counts = self.highs - self.lows + 1
        indices = np.repeat(self.lows - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        return indices, np.repeat(self._stretches.densities, counts)

    def quantile(self, masses: Floats) -> Indices:
        """Return the possible answers at which the running weight reaches each of these masses."""
        _, counts, before, _ = self._running
        stretch = np.clip(np.searchsorted(before, masses, side="right") - 1, 0, len(counts) - 1)
        inside = (masses - before[stretch]) * counts[stretch] / self.weights[stretch]
        indices = self.lows[stretch] + np.clip(inside, 0, counts[stretch] - 1).astype(np.int64)
        return np.minimum(indices, self.highs[stretch])

    def least_density(self, starts: Indices, count: int) -> Floats:
        """Return the least weight of so many indices from each of these on, impossible ones counting as 0."""
        density, ends = self._stretches.densities, starts + count
        first = np.minimum(np.searchsorted(self.highs, starts), len(density) - 1)
        last = np.maximum(np.searchsorted(self.lows, ends, side="left") - 1, first)
        # What is not all possible has the least weight 0: it begins late, ends early, or has a gap in it.
        gaps = np.append(0, np.cumsum(self.lows[1:] != self.highs[:-1] + 1))
        whole = (self.lows[first] <= starts) & (self.highs[last] >= ends - 1) & (gaps[first] == gaps[last])
        least = np.minimum.reduceat(np.append(density, 0.0), np.column_stack([first, last + 1]).ravel())[::2]
        return np.where(whole, least, 0.0)


def _equal_parts(lattice: Lattice, parts: int) -> Indices:
    """Return where each of some equal parts of the range begins, and where the last one ends."""
    return np.array([lattice.first + part * (lattice.width + 1) // parts for part in range(parts + 1)], dtype=np.int64)


def _cut(lattice: Lattice, cuts: Indices) -> tuple[Indices, Indices, NDArray[np.intp]]:
    """Return the stretches of possible answers between cuts, and between which two each is."""
    starts = np.union1d(lattice.lows, np.clip(cuts, lattice.first, lattice.last + 1))
    highs = lattice.highs[lattice.last_span(starts)]
    ends = np.minimum(np.append(starts[1:], lattice.last + 1) - 1, highs)
    part = np.searchsorted(cuts, starts, side="right") - 1
    held = (starts <= ends) & (part >= 0) & (part < len(cuts) - 1)
    return starts[held], ends[held], part[held]


def _points(lattice: Lattice) -> tuple[object, ...]:
    return lattice.step, lattice.offset, lattice.lows.tobytes(), lattice.highs.tobytes()


def _plain(answer: Any) -> Any:
    """Return an answer as functions take it: a float for a fraction."""
    return float(answer) if isinstance(answer, Fraction) else answer


def _again(made_of: tuple[Any, ...], lows: Indices, highs: Indices, weights: Floats) -> Prior:
    """Make a prior that was pickled."""
    return Prior(Lattice(*made_of), lows, highs, weights)
