"""Which mechanism to take: the least error of all that are private and in range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.accuracy.window import Window, stated_window, written_end
from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import NOT_APPLICABLE, Comparable, Question
from inbounds.display.progress import Progress, reporting
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import as_written, shown
from inbounds.limit.optimal import (
    Optimal,
    checked_goal,
    optimal_name,
    refuse_without_optimum,
    uniform_prior,
    wants_optimum,
)
from inbounds.limit.optimum import Minimise
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.published import ExplicitFair, Geometric, Laplace, Staircase
from inbounds.published.ghosh2009 import GeometricNoise

HUNDREDTHS = 100
"""Poolings to choose from are multiples of 1/100: nobody would see a finer choice in the error."""

COARSE = 10
"""The search for a pooling looks at so many of them first."""

TIE = 1e-9
"""Errors no farther apart than this are alike.  Then less pooling is preferred, folding to snapping, and to all of them
plain noise where everything is possible: there it is the same law by its plain name."""

FEW_STAIRS = 24
"""Up to so many lengths of the first stair, all are tried."""

LEAST_FOR_STAIRS = 0.2
"""Below this epsilon, where there are more, only the one that is best for the noise alone: it gains no more than
epsilon squared over 24 on Laplace noise, 0.17 %, and to look for a better one takes seconds."""


@dataclass(frozen=True)
class Recommendation:
    """A mechanism to release from, and why this one."""

    mechanism: Any
    name: str
    """What it is called, with the pooling or width that was found for it."""
    reason: str
    error: float
    """Its mean or worst expected absolute error, whichever was to be least."""
    considered: tuple[tuple[str, float], ...]
    """Everything that was considered, with its error, best first."""

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Tried:
    """One mechanism that was measured."""

    name: str
    mechanism: Comparable
    error: float

    @property
    def pooling(self) -> Any:
        """How much it pools at the ends; 1 for the optimum, which may; less than nothing where there are no ends."""
        made: Any = self.mechanism
        if isinstance(made, BoundedLaplace):
            return made.pooling
        if isinstance(made, Additive) and made.ends.name == "leave":
            return -1
        return int(isinstance(made, Optimal) or (isinstance(made, Additive) and made.ends.name == "snap"))


def recommend(  # noqa: PLR0913  each is a choice that the caller may leave to us
    bounds: Bounds,
    sensitivity: Any,
    epsilon: Any,
    *,
    minimise: Minimise = "mean",
    pooling_limit: Any = 1,
    window: Window | None = None,
    guarantee: GuaranteeName = "standard",
    trusted: bool = False,
    even: bool = False,
    optimum: bool | None = None,
    progress: Progress | None = None,
) -> Recommendation:
    """Return the mechanism with the least error of all that keep epsilon (no delta) and stay in range.

    * `minimise`: the "mean" error over true answers, each counted alike, or the "worst".
    * `pooling_limit`: how much of the noise that would leave the bounds may stay at their ends, from 0 to 1.  Snapping
      counts as 1, folding as 0.  The optimum pools as it likes, so it is considered only if the limit is 1.
    * `window`: over which true answers; see `compare`.
    * `guarantee`, `trusted`: as for `BoundedLaplace`.  Only what keeps the distance guarantee is considered for it: of
      the others, snapped and folded Laplace or geometric noise.
    * `even`: whether to consider only mechanisms whose draws do the same work wherever the true answer is.  That leaves
      out the optimum and explicit fair.
    * `optimum`: whether to consider the best of all mechanisms, by linear programming.  If not given, where the lattice
      is small enough for that to be quick and the solver is installed (`inbounds[optimal]`).  If it is asked for and
      cannot be had, that is an error.
    """
    promise = Promise.of(bounds, sensitivity, epsilon, guarantee, 0, trusted)
    goal, limit = checked_goal(minimise), _limit(pooling_limit)
    if not isinstance(even, bool):
        raise InvalidParameter(f"even must be True or False, got {shown(even)}; give one of them")
    if goal == "mean" and window is None:
        window = stated_window(bounds, promise.sensitivity / promise.epsilon)
    with_optimum = wants_optimum(optimum, bounds) and limit == 1 and guarantee == "standard" and not even
    if optimum:
        refuse_without_optimum(bounds, sensitivity, epsilon)
        _refuse_contradiction(pooling_limit, limit, guarantee, even=even)
    with reporting(progress) as report:
        promised = {"guarantee": guarantee, "trusted": trusted}
        search = _Search(Question(bounds, sensitivity, epsilon), goal, limit, window, promised, even, report)
        tried = list(search.everything(with_optimum=with_optimum, asked=optimum is True))
    if not tried:
        # Whatever keeps even the least demanding mechanism from being made is the reason, but for gaps that need trust.
        search.question.make(BoundedLaplace, guarantee=guarantee, trusted=trusted or guarantee == "distance")
        raise InvalidParameter(
            f"no mechanism keeps the {guarantee} guarantee on {bounds.brief()}; with inner gaps and the distance "
            "guarantee vouch for the answers (trusted), or allow a pooling of up to 1 (pooling_limit)"
        )
    least = min(one.error for one in tried)
    best = min((one for one in tried if one.error <= least * (1 + TIE)), key=lambda one: one.pooling)
    considered = tuple((one.name, one.error) for one in sorted(tried, key=lambda one: one.error))
    return Recommendation(best.mechanism, best.name, search.reason(best, tried), best.error, considered)


def _refuse_contradiction(pooling_limit: Any, limit: Fraction, guarantee: GuaranteeName, *, even: bool) -> None:
    """Refuse to whoever asked for the optimum what would keep it from being considered."""
    if limit < 1:
        raise InvalidParameter(
            f"optimum=True needs pooling_limit=1, got {shown(pooling_limit)}: the optimum pools at the ends as it "
            "likes; leave one of the two out"
        )
    if guarantee != "standard":
        raise InvalidParameter(
            f"optimum=True needs guarantee='standard', got {guarantee!r}: the optimum does not keep it; "
            "leave one of the two out"
        )
    if even:
        raise InvalidParameter(
            "optimum=True needs even=False, got True: how long a draw of the optimum takes depends on the true answer; "
            "leave one of the two out"
        )


def _limit(pooling_limit: Any) -> Fraction:
    found = as_written(pooling_limit, "pooling_limit", InvalidParameter)
    if not 0 <= found <= 1:
        raise InvalidParameter(
            f"pooling_limit must be from 0 to 1, got {shown(pooling_limit)}; leave it out for no limit"
        )
    return found


@dataclass(frozen=True)
class _Search:
    """Makes and measures mechanisms, one after another."""

    question: Question
    minimise: Minimise
    limit: Fraction
    window: Window | None
    promised: dict[str, Any]
    even: bool
    report: Progress

    @property
    def epsilon(self) -> float:
        """What each of them is to keep."""
        return float(self.question.epsilon)

    def everything(self, *, with_optimum: bool, asked: bool) -> Iterator[Tried]:
        """Yield every mechanism that may be recommended, with its error; if the optimum was asked for, without fail."""
        if all(end is None for end in self.question.bounds.ends):  # then nothing is out of range
            yield from self._additive("plain", "leave")
        yield from self._poolings()
        yield from self._additive("folded", "fold")
        if self.limit == 1:
            yield from self._additive("snapped", "snap")
        if not self.even:
            yield from self._tried(ExplicitFair.title, ExplicitFair)
        if with_optimum:
            prior = uniform_prior(self.question.bounds, self.window) if self.minimise == "mean" else None
            choices = {"minimise": self.minimise, "prior": prior, "progress": self.report}
            yield from self._tried(optimal_name(self.minimise), Optimal, must=asked, **choices)

    def _tried(self, name: str, kind: Callable[..., Any], *, must: bool = False, **choices: Any) -> Iterator[Tried]:
        """Yield a mechanism if it is for these bounds; if it must be, refuse what it refuses."""
        self.report(f"trying {name}")
        try:
            made = self.question.make(kind, **choices)
        except NOT_APPLICABLE:
            if must:
                raise
            return
        if self._keeps(made):
            yield Tried(name, made, self._error(made))

    def _keeps(self, made: Any) -> bool:
        """Return whether a mechanism keeps the guarantee that was asked for; all keep the standard one.

        The distance guarantee wants a loss in proportion to the distance.  A stair is lost whole, however short the
        step that crosses it.
        """
        if self.promised["guarantee"] == "standard" or isinstance(made, BoundedLaplace):
            return True
        return isinstance(made, Additive) and isinstance(made.noise, GeometricNoise)

    def _error(self, made: Comparable) -> float:
        return made.mean_error(self.window) if self.minimise == "mean" else made.worst_error(self.window)

    def _poolings(self) -> Iterator[Tried]:
        """Yield the normalising, the snapping and the best mixture of the two."""
        most = max(part for part in range(HUNDREDTHS + 1) if Fraction(part, HUNDREDTHS) <= self.limit)
        found: dict[int, Tried | None] = {}

        def error(hundredths: int) -> float:
            if hundredths not in found:
                choices = {"pooling": hundredths / HUNDREDTHS, **self.promised}
                name = f"bounded Laplace, pooling {hundredths / HUNDREDTHS:g}"
                found[hundredths] = next(self._tried(name, BoundedLaplace, **choices), None)
            tried = found[hundredths]
            return math.inf if tried is None else tried.error

        grid = sorted({round(most * i / COARSE) for i in range(COARSE + 1)})
        _least(error, grid)
        yield from (tried for _, tried in sorted(found.items()) if tried is not None)

    def _additive(self, manner: str, ends: str) -> Iterator[Tried]:
        """Yield noise that does not depend on the answer, with one rule at the ends."""
        kind, name = (Laplace, "Laplace") if self.question.bounds.step is None else (Geometric, "geometric")
        yield from self._tried(f"{manner} {name}", kind, ends=ends, guarantee=self.promised["guarantee"])
        yield from self._staircases(manner, ends)

    def _staircases(self, manner: str, ends: str) -> Iterator[Tried]:
        """Yield staircases with the first stair as long as is best for the noise alone, and as is best here."""
        usual = next(self._tried(f"{manner} staircase", Staircase, ends=ends), None)
        if usual is None:
            return
        yield usual
        noise = usual.mechanism.noise  # type: ignore[attr-defined]
        distance = noise.distance
        found: dict[int, Tried] = {}

        def error(part: int) -> float:
            if part not in found:
                width = Fraction(part, parts)
                name = f"{manner} staircase, width {float(width):.3g}"
                found[part] = next(self._tried(name, Staircase, ends=ends, width=width))
            return found[part].error

        if distance > FEW_STAIRS and self.epsilon < LEAST_FOR_STAIRS:
            return
        if distance <= FEW_STAIRS:
            parts, grid = distance, list(range(1, distance + 1))
        else:
            parts = HUNDREDTHS
            usual_part = min(max(round(parts * noise.first / distance), 1), parts)
            grid = sorted({min(max(round(usual_part * i / 6), 1), parts) for i in range(2, 13)})
        _least(error, grid)
        yield from found.values()

    def reason(self, best: Tried, tried: list[Tried]) -> str:
        """Say why this mechanism, in a sentence or two."""
        over = "" if self.window is None else f" over true answers from {_shown(self.window)}"
        kept = [f"keep epsilon = {shown(self.question.epsilon)}", f"stay in {self.question.bounds.brief()}"]
        if self.even:
            kept.append("take as long for one answer as for another")
        text = (
            f"{best.name} has the least {self.minimise} error{over}, {best.error:.4g}, of {len(tried)} mechanisms that "
            f"{', '.join(kept[:-1])} and {kept[-1]}"
        )
        others = {0: "normalising (pooling 0)", 1: "snapping (pooling 1)"}
        beaten = []
        for pooling, name in others.items():
            error = next((one.error for one in tried if one.name == f"bounded Laplace, pooling {pooling}"), None)
            if error and _is_better(best.error, error):
                beaten.append(f"{1 - best.error / error:.1%} below {name}")
        if beaten:
            text += f": {' and '.join(beaten)}"
        everywhere = self.minimise == "mean" or self.window is None
        if isinstance(best.mechanism, Optimal) and everywhere and not self.promised["trusted"]:
            text += ". No mechanism whatever can do better"
        return text + "."


def _is_better(error: float, other: float) -> bool:
    """Return whether an error is visibly below another."""
    return error < other * (1 - 1e-4)


def _shown(window: Window) -> str:
    return " to ".join(written_end(end) for end in window)


def _least(error: Callable[[int], float], grid: list[int]) -> int:
    """Return the integer with the least error: on a grid first, then between the neighbours of the best on it.

    Between them the error is taken to have one valley; if it has more, a good choice is found, perhaps not the best.
    """
    best = min(grid, key=error)
    place = grid.index(best)
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    while high - low > 3:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, right) if error(left) <= error(right) else (left, high)
    return min(range(low, high + 1), key=error)
