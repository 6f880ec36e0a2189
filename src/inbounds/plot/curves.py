"""What is in a picture of a mechanism: where answers are on an axis, and lines, stairs and spikes for its law.

Nothing here draws; `plot` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.days import EPOCH
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.plot.style import matplotlib_or_error
from inbounds.privacy.claim import Promise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pieces = list[tuple[Floats, Floats]]
    Runs = list[tuple[int, int]]

FIRST_DAY, LAST_DAY = date.min.toordinal(), date.max.toordinal()

POINTS, FEW_POINTS = 240, 160
"""Points of a curve, or a few more: of one with corners, or of a smooth one."""

JUMP, FINEST = 0.05, 2**13
"""A curve that changes between two points by so much of its height is looked at so closely, in parts of its width."""

SCALES = 5
"""How far a picture goes beyond the true answers, in scales."""

SPIKE = 2
"""An end with so many times the greatest probability of all other answers is a spike."""

LEAST_SPIKE, LEAST_WRITTEN = 1e-3, 1e-2
"""Spikes of less probability are not drawn, or nothing is written beside them."""

MARGIN, NARROW = 0.18, 0.05
"""How far a picture goes beyond an end of the bounds, as a part of its width: of releases, or of true answers."""


class View(NamedTuple):
    """Indices in a picture: the possible ones, and those with a margin."""

    first: int
    last: int
    left: int
    right: int


@dataclass(frozen=True, eq=False)
class AnswerAxis:
    """Where the answers of a mechanism are on an x axis."""

    bounds: Bounds
    lattice: Lattice
    plain: Fraction
    """The plain scale, `sensitivity / epsilon`."""
    answers: Answers

    @classmethod
    def of(cls, mechanism: Mechanism) -> AnswerAxis:
        """Return the axis for a mechanism, or refuse what is none."""
        given: object = mechanism
        if not isinstance(given, Mechanism):
            raise InvalidParameter(f"a picture must be of a mechanism, got {type(mechanism).__name__}; make one")
        bounds = mechanism.bounds
        lattice = Lattice.of(bounds, mechanism.step)
        promise = Promise.of(bounds, mechanism.sensitivity, mechanism.epsilon, "standard", 0, False)
        return cls(bounds, lattice, promise.sensitivity / promise.epsilon, Answers(bounds, lattice))

    @property
    def half(self) -> Fraction:
        """Half the width of what stands for one answer, in steps; without a step that is nothing."""
        return Fraction(0) if self.bounds.step is None else Fraction(1, 2)

    def value(self, index: int) -> Any:
        """Return the answer that an index stands for."""
        return self.lattice.answer(index)

    def place(self, index: int | Fraction) -> float:
        """Return where an index is on the axis; dates are where matplotlib has them."""
        value = self.lattice.offset + index * self.lattice.step
        if self.bounds.is_dates:
            return float(value - EPOCH) + float(matplotlib_or_error().dates.date2num(date.fromordinal(EPOCH)))
        return float(value)

    def places(self, indices: Iterable[int | Fraction]) -> Floats:
        """Return where some indices are on the axis."""
        return np.array([self.place(index) for index in indices])

    def mark(self, value: Any) -> int:
        """Return the index of a true answer, at the nearest end if it is beyond all of them."""
        index = self.answers.index(value)
        return self.lattice.clip(index)

    def runs(self, first: int, last: int) -> Runs:
        """Return the possible indices from one to another, as runs."""
        cut_off = ((max(low, first), min(high, last)) for low, high in self.lattice.spans)
        return [(low, high) for low, high in cut_off if low <= high]

    def around(self, marks: Sequence[int], scale: Fraction) -> View:
        """Return what to show of releases: all that are possible, or those some scales from the true answers."""
        low, high = self.lattice.first, self.lattice.last
        reach = math.ceil(SCALES * scale / self.lattice.step) + 2
        if self.lattice.bounded and high - low <= 4 * reach:
            return self.view(low, high)
        near = [*marks, *(self.lattice.project(mark)[0] for mark in marks)]
        return self.view(max(low, min(near) - reach), min(high, max(near) + reach))

    def view(self, first: int, last: int, margin: float = MARGIN) -> View:
        """Return these indices with a margin at every end of the bounds."""
        beyond = max(1, int(margin * (last - first)))
        left = first - beyond if first == self.lattice.first else first
        right = last + beyond if last == self.lattice.last else last
        if self.bounds.is_dates:
            left, right = max(left, FIRST_DAY), min(right, LAST_DAY)
        return View(first, last, left, right)

    def limits(self, view: View) -> tuple[float, float]:
        """Return the places between which a view is."""
        left, right = view.left - self.half, view.right + self.half
        if self.bounds.is_dates:
            left, right = max(left, Fraction(FIRST_DAY)), min(right, Fraction(LAST_DAY))
        return self.place(left), self.place(right)

    def gaps(self, view: View) -> list[tuple[float, float]]:
        """Return the places in a view that are impossible."""
        left, right = self.limits(view)
        edges = [(self.place(low - self.half), self.place(high + self.half)) for low, high in self.runs(*view[2:])]
        inner = [(before[1], after[0]) for before, after in pairwise([(left, left), *edges, (right, right)])]
        return [(low, high) for low, high in inner if low < high]


class Spike(NamedTuple):
    """An end of a span that is probable by itself."""

    end: int
    probability: float
    side: int
    """On which side of it there is a gap."""


class Shape(NamedTuple):
    """A law to be drawn: pieces of a line, and spikes."""

    pieces: Pieces
    spikes: list[Spike]

    def top(self, plain: float) -> float:
        """Return the greatest height, given the plain scale, over which spikes are spread."""
        spikes = [spike.probability / plain for spike in self.spikes]
        return max(spikes + [float(ys.max()) for _, ys in self.pieces])


def probability_of(mechanism: Mechanism, axis: AnswerAxis, mark: int) -> Callable[[int], float]:
    """Return the function that gives the probability of each index, if the true answer is at a mark."""
    value = axis.value(mark)
    return lambda index: mechanism.pmf(axis.value(index), value)


def stairs(axis: AnswerAxis, runs: Runs, _mark: int, probability: Callable[[int], float]) -> Shape:
    """Draw every probability as wide as a step."""
    pieces = []
    for low, high in runs:
        heights = np.array([probability(index) for index in range(low, high + 1)])
        pieces.append(steps(axis, low, heights))
    return Shape(pieces, [])


def steps(axis: AnswerAxis, low: int, heights: Floats) -> tuple[Floats, Floats]:
    """Return the outline of stairs of these heights, from an index on."""
    edges = axis.places(low + number - axis.half for number in range(len(heights) + 1))
    return np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])


def curve(axis: AnswerAxis, runs: Runs, mark: int, probability: Callable[[int], float]) -> Shape:
    """Draw the density between the ends of runs, and the ends as spikes where they stand out.

    What is next to an end stands for it: an end itself is pooled at, or counted once where folding counts twice.
    """
    step = float(axis.lattice.step)
    long = [(low, high) for low, high in runs if high - low > 1]
    pieces: Pieces = []
    for (low, high), indices in zip(long, sample([(low + 1, high - 1) for low, high in long], mark), strict=True):
        heights = _with_jumps(indices, lambda index: probability(index) / step)
        xs, ys = axis.places([low - axis.half, *heights, high + axis.half]), list(heights.values())
        pieces.append((xs, np.array([ys[0], *ys, ys[-1]])))
    limit = SPIKE * step * max((float(ys.max()) for _, ys in pieces), default=math.inf)
    spikes: list[Spike] = []
    for low, high in runs:
        ends = [Spike(low, probability(low), -1), Spike(high, probability(high), 1)][low == high :]
        outstanding = [end for end in ends if end.probability > limit]
        if high - low > 1:
            spikes.extend(outstanding)
        elif outstanding:
            spikes.extend(ends)
        else:
            pieces.append(steps(axis, low, np.array([end.probability / step for end in ends])))
    return Shape(pieces, [spike for spike in spikes if spike.probability > LEAST_SPIKE])


def _with_jumps(indices: Sequence[int], height: Callable[[int], float]) -> dict[int, float]:
    """Return the heights at some indices, and at others next to every jump between them."""
    heights = {index: height(index) for index in indices}
    jump, finest = JUMP * max(heights.values()), 1 + (indices[-1] - indices[0]) // FINEST
    # Halve every stretch across which the curve jumps, until it is as narrow as can be seen.
    pairs = list(pairwise(indices))
    while pairs:
        low, high = pairs.pop()
        if high - low > finest and abs(heights[high] - heights[low]) > jump:
            middle = (low + high) // 2
            heights[middle] = height(middle)
            pairs += [(low, middle), (middle, high)]
    return dict(sorted(heights.items()))


def plain_stairs(axis: AnswerAxis, mark: int, view: View) -> tuple[Floats, Floats]:
    """Return plain geometric noise around a mark."""
    rate = float(axis.lattice.step / axis.plain)
    away = abs(np.arange(view.left - mark, view.right - mark + 1, dtype=np.float64))
    return steps(axis, view.left, math.tanh(rate / 2) * np.exp(-rate * away))


def plain_curve(axis: AnswerAxis, mark: int, view: View) -> tuple[Floats, Floats]:
    """Return the density of plain Laplace noise around a mark."""
    scale = float(axis.plain)
    xs = axis.places(sample([view[2:]], mark)[0])
    return xs, np.exp(-abs(xs - axis.place(mark)) / scale) / (2 * scale)


def sample(runs: Runs, *also: int, points: int = POINTS) -> list[list[int]]:
    """Return some indices of each run: its ends, those asked for, and others evenly between; all if they are few."""
    total = sum(high - low + 1 for low, high in runs)
    samples = []
    for low, high in runs:
        parts = max(1, min(high - low, math.ceil(points * (high - low + 1) / total)))
        even = {low + (high - low) * part // parts for part in range(parts + 1)}
        samples.append(sorted(even | {index for index in also if low <= index <= high}))
    return samples


def join_pieces(pieces: Pieces) -> tuple[Floats, Floats]:
    """Join pieces to one line that is broken between them."""
    gap = np.array([math.nan])
    xs, ys = (
        np.concatenate([part for piece in column for part in (piece, gap)]) for column in zip(*pieces, strict=True)
    )
    return xs[:-1], ys[:-1]
