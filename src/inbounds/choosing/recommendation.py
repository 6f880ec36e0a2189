"""Which mechanism to take: the least error of all that are private and in range."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from textwrap import fill
from typing import Any

from inbounds.accuracy.window import Window, stated_window, written_end
from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import Question
from inbounds.choosing.objective import objectives
from inbounds.choosing.trials import Trials
from inbounds.choosing.tuning import Trial
from inbounds.display.facts import Facts
from inbounds.display.progress import Progress, reporting
from inbounds.display.text import WIDTH
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, as_written, shown
from inbounds.limit.optimal import checked_goal, is_optimum_wanted, refuse_without_optimum
from inbounds.limit.optimum import Minimise
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import GuaranteeName

TIE = 1e-9
"""Errors no farther apart than this are alike.  Then less pooling is preferred, folding to snapping, and to all of them
plain noise where everything is possible: there it is the same law by its plain name."""

AS_GOOD = 1e-6
"""An error so near to a proved limit, relatively, is the limit."""


@dataclass(frozen=True)
class Recommendation:
    """A mechanism to release from, and why this one."""

    mechanism: Mechanism
    name: str
    """What it is called, with the pooling or width that was found for it."""
    reason: str
    error: float
    """Its mean or worst expected absolute error, whichever was to be least."""
    considered: tuple[tuple[str, float], ...]
    """What was considered, with its error, best first; on many spans, the best of each kind."""
    sample: int | None = None
    """At how many true answers errors were looked at, spread evenly over all of them; None if at all of them."""

    def __str__(self) -> str:
        return fill(self.reason, WIDTH, break_long_words=False, break_on_hyphens=False)

    def __repr__(self) -> str:
        return f"<Recommendation: {self.name}, error {self.error:.4g}>"

    def _repr_html_(self) -> str:
        others = [f"{name}: {error:.4g}" for name, error in self.considered if name != self.name][:5]
        return Facts(
            [
                ("mechanism", self.name),
                ("privacy", str(self.mechanism.label)),
                ("bounds", self.mechanism.bounds.brief()),
                ("expected error", f"{self.error:.4g}"),
                ("why", self.reason),
                ("next best", ", ".join(others)),
            ],
            "Recommended mechanism",
        ).html()


def recommend(  # noqa: PLR0913  each is a choice that the caller may leave to us
    bounds: Bounds,
    sensitivity: Number | timedelta,
    epsilon: Number,
    *,
    minimise: Minimise = "mean",
    pooling_limit: Number = 1,
    window: Window | None = None,
    guarantee: GuaranteeName = "standard",
    trusted: bool = False,
    even_timing: bool = False,
    optimum: bool | None = None,
    progress: Progress | None = None,
) -> Recommendation:
    """Return the mechanism with the least error of all that keep epsilon (no delta) and stay in range.

    * `minimise`: the "mean" error over true answers, each counted alike, or the "worst".
    * `pooling_limit`: how much of the noise that would leave the bounds may stay at their ends, from 0 to 1.  Snapping
      (clamping) counts as 1, folding (reflecting) as 0.  The optimum pools as it likes, so it is considered only if the
      limit is 1.
    * `window`: over which true answers; see `compare`.
    * `guarantee`, `trusted`: as for `BoundedLaplace`.  Only what keeps the distance guarantee is considered for it: of
      the others, snapped and folded Laplace or geometric noise.
    * `even_timing`: whether to consider only mechanisms whose draws do the same work for every true answer.  That
      leaves out the optimum and explicit fair.
    * `optimum`: whether to consider the best of all mechanisms, by linear programming.  If not given, where the lattice
      is small enough for that to be quick and the solver is installed (`inbounds[optimal]`).  If it is asked for and
      cannot be had, that is an error.
    * `progress`: called with a line of text now and then.  If not given, a terminal shows it.

    On bounds of many spans errors are looked at for a sample of true answers, lest it take minutes; the recommendation
    says so.  Privacy is proved over all of them whatever the sample.
    """
    promise = Promise.of(bounds, sensitivity, epsilon, guarantee, 0, trusted)
    goal, limit = checked_goal(minimise), _limit(pooling_limit)
    if not isinstance(even_timing, bool):
        raise InvalidParameter(f"even_timing must be True or False, got {shown(even_timing)}; give one of them")
    if goal == "mean" and window is None:
        window = stated_window(bounds, promise.plain_scale)
    with_optimum = is_optimum_wanted(optimum, bounds) and limit == 1
    if optimum:
        refuse_without_optimum(bounds, sensitivity, epsilon)
        _refuse_contradiction(pooling_limit, limit, guarantee, even_timing=even_timing)
    rough, final = objectives(promise, goal, window)
    question = Question(bounds, sensitivity, epsilon)
    with reporting(progress) as report:
        trials = Trials(
            question,
            rough,
            final,
            limit,
            guarantee,
            trusted,
            even_timing,
            with_optimum=with_optimum,
            must_find=optimum is True,
            report=report,
        )
        tried = list(trials.everything())
        if not tried:
            _refuse(promise)
        decided = trials.decided(tried)
    best = _best(decided)
    considered = tuple((one.name, one.error) for one in sorted(decided, key=lambda one: one.error))
    reason = _reason(trials, best, tried, decided)
    sample = None if final.sample is None else len(final.sample)
    return Recommendation(best.mechanism, best.name, reason, best.error, considered, sample)


def _best(trials: list[Trial]) -> Trial:
    least = min(one.error for one in trials)
    alike = [one for one in trials if one.error <= least * (1 + TIE)]
    return min(alike, key=lambda one: (not one.plain, one.mechanism.pooling))


def _refuse(promise: Promise) -> None:
    """Refuse bounds for which no mechanism keeps the guarantee.

    Whatever keeps even the least demanding mechanism from being made is the reason, but for gaps that need trust.
    """
    bounds, guarantee = promise.bounds, promise.guarantee
    trusted = promise.trusted or guarantee == "distance"
    BoundedLaplace(bounds, promise.sensitivity, promise.epsilon, guarantee=guarantee, trusted=trusted)
    raise InvalidParameter(
        f"no mechanism keeps the {guarantee} guarantee on {bounds.brief()}; with inner gaps and the distance "
        "guarantee vouch for the answers (trusted), or allow a pooling of up to 1 (pooling_limit)"
    )


def _refuse_contradiction(pooling_limit: Any, limit: Fraction, guarantee: GuaranteeName, *, even_timing: bool) -> None:
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
    if even_timing:
        raise InvalidParameter(
            "optimum=True needs even_timing=False, got True: how long a draw of the optimum takes depends on the true "
            "answer; leave one of the two out"
        )


def _limit(pooling_limit: Any) -> Fraction:
    found = as_written(pooling_limit, "pooling_limit", InvalidParameter)
    if not 0 <= found <= 1:
        raise InvalidParameter(
            f"pooling_limit must be from 0 to 1, got {shown(pooling_limit)}; leave it out for no limit"
        )
    return found


def _reason(trials: Trials, best: Trial, tried: list[Trial], decided: list[Trial]) -> str:
    """Say why this mechanism, in a sentence or two."""
    objective, question = trials.final, trials.question
    over = "" if objective.window is None else f" over true answers from {_shown(objective.window)}"
    if objective.sample is not None:
        over += f", at {len(objective.sample)} true answers spread evenly"
    kept = [f"keep epsilon = {shown(question.epsilon)}", f"stay in {question.bounds.brief()}"]
    if trials.even_timing:
        kept.append("do the same work for every true answer")
    text = (
        f"{best.name} has the least {objective.minimise} error{over}, {best.error:.4g}, of {_counted(tried)} "
        f"that {', '.join(kept[:-1])} and {kept[-1]}"
    )
    return text + _beaten(best, decided) + _against_the_limit(trials, best) + "."


def _counted(tried: list[Trial]) -> str:
    """Say how much was tried: a mechanism with another pooling or width is another setting of the same one."""
    families = sorted({trial.family for trial in tried})
    mechanisms = f"{len(families)} mechanisms" if len(families) > 1 else families[0]
    return mechanisms if 1 < len(families) == len(tried) else f"{len(tried)} settings of {mechanisms}"


def _beaten(best: Trial, trials: list[Trial]) -> str:
    """Say how much is gained on what everybody else would do."""
    others = {0: "normalising (pooling 0)", 1: "snapping (pooling 1)"}
    title = BoundedLaplace.title
    beaten = []
    for pooling, name in others.items():
        error = next((one.error for one in trials if one.name == f"{title}, pooling {pooling}"), None)
        if error and best.error < error * (1 - 1e-4):
            beaten.append(f"{1 - best.error / error:.1%} below {name}")
    return f": {' and '.join(beaten)}" if beaten else ""


def _against_the_limit(trials: Trials, best: Trial) -> str:
    """Say how much better any mechanism could be, where that is known; the limit is one for answers not trusted."""
    everywhere = trials.final.minimise == "mean" or trials.final.window is None
    limit = best.mechanism.limit
    if limit is None or not everywhere or trials.trusted:
        return ""
    if best.error <= limit * (1 + AS_GOOD):
        return ". No mechanism whatever can do better"
    return f". No mechanism whatever has an error below {limit:.4g}"


def _shown(window: Window) -> str:
    return " to ".join(written_end(end) for end in window)
