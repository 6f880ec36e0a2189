"""What is to be least: the mean or the worst error, over all true answers or over a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.prior import PriorLike
from inbounds.accuracy.window import Window, indices_of
from inbounds.bounds.lattice import Lattice
from inbounds.limit.goal import Minimise
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.claim import Promise

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW_SPANS = 16
"""Up to so many spans, errors are over all true answers: the time that takes grows with the number of spans."""

FEW_POINTS = 512
"""So are those of the last few mechanisms, up to so many possible answers."""

ROUGH_SPANS = 8
"""A rough sample has true answers of so many spans."""

CLOSE_SPANS = 48

PLACES = 3
"""So many true answers are looked at where a sample hits a span, in the middle of equal parts of it."""


@dataclass(frozen=True)
class Objective:
    """The error that is to be least."""

    minimise: Minimise
    window: Window | None
    prior: PriorLike | None = None
    """What the mean is over, if not all true answers alike."""
    sample: tuple[Any, ...] | None = None
    """The true answers that are looked at; None for all of them."""
    weights: tuple[float, ...] = ()
    """How many true answers each of them stands for."""

    def of(self, mechanism: Mechanism) -> float:
        """Return the error of a mechanism."""
        if self.sample is None:
            if self.minimise == "worst":
                return mechanism.worst_error(self.window)
            return mechanism.mean_error(self.window, prior=self.prior)
        errors = np.array([mechanism.error(list(self.sample))], dtype=np.float64)[0]
        return float(np.average(errors, weights=self.weights) if self.minimise == "mean" else errors.max())


def objectives(
    promise: Promise, minimise: Minimise, window: Window | None, prior: PriorLike | None = None
) -> tuple[Objective, Objective]:
    """Return the objective to search with and the one to decide by: the same where there are few spans."""
    exact = Objective(minimise, window, prior)
    bounds = promise.bounds
    if len(bounds) <= FEW_SPANS or prior is not None:
        return exact, exact
    lattice = Lattice.of(bounds, promise.step_for(promise.plain_scale))
    first, last = indices_of(window, bounds, lattice)
    lows, highs = np.maximum(lattice.lows, first), np.minimum(lattice.highs, last)
    inside = lows <= highs
    lows, highs = lows[inside], highs[inside]
    if len(lows) <= FEW_SPANS:
        return exact, exact
    few = bounds.step is not None and int((highs - lows + 1).sum()) <= FEW_POINTS
    rough, close = (_sample(exact, lattice, lows, highs, spans) for spans in (ROUGH_SPANS, CLOSE_SPANS))
    return rough, exact if few else close


def _sample(
    exact: Objective,
    lattice: Lattice,
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
    count: int,
) -> Objective:
    """Return an objective over true answers of so many spans, evenly spread over all true answers."""
    # Evenly spread ranks among all true answers hit long spans more often than short ones, as a mean over answers asks
    # for. Each hit stands for as many answers as any other, whatever the length of its span.
    sizes = (highs - lows).astype(float) + 1
    ranks = (np.arange(count) + 0.5) / count * sizes.sum()
    hit = np.minimum(np.searchsorted(np.cumsum(sizes), ranks), len(sizes) - 1)
    if exact.minimise == "worst":
        hit = np.concatenate([hit, _outstanding_spans(lows, highs)])
    sample: dict[int, float] = {}
    for span, times in zip(*(column.tolist() for column in np.unique(hit, return_counts=True)), strict=True):
        low, high = int(lows[span]), int(highs[span])
        parts = [(part + 0.5) / (PLACES * times) for part in range(PLACES * times)]
        indices = {low + round((high - low) * part) for part in parts}
        if exact.minimise == "worst":
            indices |= {low, high}
        sample |= dict.fromkeys(indices, times / len(indices))
    answers = tuple(map(lattice.answer, sample))
    return Objective(exact.minimise, exact.window, sample=answers, weights=tuple(sample.values()))


def _outstanding_spans(lows: NDArray[np.int64], highs: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the spans where errors are likely to be worst: the outermost, the longest, and those beside a wide gap."""
    widest = int((lows[1:] - highs[:-1]).argmax())
    return np.array([0, len(lows) - 1, int((highs - lows).argmax()), widest, widest + 1])
