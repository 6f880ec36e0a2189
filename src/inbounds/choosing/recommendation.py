"""Which mechanism to take: the least error of all that are private and in range."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from textwrap import fill
from typing import Any

from inbounds.accuracy.confidence import percent
from inbounds.accuracy.prior import PriorLike
from inbounds.accuracy.window import Window, format_end, indices_of, stated_window
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.choosing.catalogue import Requirements
from inbounds.choosing.objective import objectives
from inbounds.choosing.trials import Trials
from inbounds.choosing.tuning import Trial
from inbounds.display.facts import FactSheet
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress, reporting
from inbounds.display.text import WIDTH
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, as_written, shown
from inbounds.limit.goal import Minimise, check_goal
from inbounds.limit.optimal import TIME_LIMIT, check_seconds, is_optimum_wanted, refuse_without_optimum
from inbounds.limit.optimality import format_ratio_up
from inbounds.limit.widths.width_search import worst_without_ends
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import GuaranteeName

TIE = 1e-9
"""Errors no farther apart than this are alike.  Then less pooling is preferred, folding to snapping, and to all of them
plain noise where everything is possible: there it is the same law by its plain name."""

AS_GOOD = 1e-6
"""An error so near to a proved limit, relatively, is the limit."""

TELLING = 10.0
"""More times a limit says nothing."""

TIGHT = 10
"""Ranges narrower than so many plain scales (sensitivity over epsilon) are tight: beyond, the best mechanism for the
worst error gains a few hundredths at most on those of one scale."""


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
    limit: float | None = None
    """An error that no mechanism is below which keeps epsilon, proved; None where none was looked for."""

    def __str__(self) -> str:
        return fill(self.reason, WIDTH, break_long_words=False, break_on_hyphens=False)

    def __repr__(self) -> str:
        return f"<Recommendation: {self.name}, error {format_error(self.error)}>"

    def _repr_html_(self) -> str:
        others = [f"{name}: {format_error(error)}" for name, error in self.considered if name != self.name][:5]
        return FactSheet(
            [
                ("mechanism", self.name),
                ("privacy", str(self.mechanism.label)),
                ("bounds", self.mechanism.bounds.brief()),
                ("expected error", format_error(self.error)),
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
    minimise: Minimise | None = None,
    prior: PriorLike | None = None,
    pooling_limit: Number = 1,
    window: Window | None = None,
    guarantee: GuaranteeName = "standard",
    trusted: bool = False,
    even_timing: bool = False,
    optimum: bool | None = None,
    time_limit: Number = TIME_LIMIT,
    progress: Progress | None = None,
) -> Recommendation:
    """Return the mechanism with the least error of all that keep epsilon (no delta) and stay in range.

    * `minimise`: the "mean" error over true answers, each counted alike, or the "worst".  If it is not given, the mean
      counts, and only mechanisms are considered that do not lean towards the middle of the range.
    * `prior`: what is publicly believed of the true answer, as for `Optimal`: then the mean error under it counts.
      **It must not come from the data.**
    * `pooling_limit`: how much of the noise that would leave the bounds may stay at their ends, from 0 to 1.  Snapping
      (clamping) counts as 1, folding (reflecting) as 0.  The optimum pools as it likes, so it is considered only if the
      limit is 1.
    * `window`: over which true answers; see `compare`.
    * `guarantee`, `trusted`: as for `BoundedLaplace`.  Only what keeps the distance guarantee is considered for it: of
      the others, snapped and folded Laplace or geometric noise.
    * `even_timing`: whether to consider only mechanisms whose draws do the same work for every true answer.  That
      leaves out explicit fair.
    * `optimum`: whether to search for the best of all mechanisms.  If not given, where `minimise` or a `prior` was, or
      the range is tight, and the solver is installed (`inbounds[optimal]`).  If it is asked for and cannot be had, that
      is an error.
    * `time_limit`: for how many seconds to search for it.
    * `progress`: called with a line of text now and then.  If not given, a terminal shows it.

    On bounds of many spans errors are looked at for a sample of true answers, lest it take minutes; the recommendation
    says so.  Privacy is proved over all of them whatever the sample.
    """
    promise = Promise.of(bounds, sensitivity, epsilon, guarantee, 0, trusted)
    goal, limit = _goal(minimise, prior), _limit(pooling_limit)
    if not isinstance(even_timing, bool):
        raise InvalidParameter(f"even_timing must be True or False, got {shown(even_timing)}; give one of them")
    if goal == "mean" and window is None and prior is None:
        window = stated_window(bounds, promise.plain_scale)
    check_seconds(time_limit)
    if window is not None:
        indices_of(window, bounds, Lattice.of(bounds, promise.step_for(promise.plain_scale)))
    # The optimum may lean towards the middle of the range.  Who names an error to minimise has accepted that; else it
    # is searched for the worst error only, and only where a tight range makes it worth the time.
    leaning = minimise is not None or prior is not None
    searched = is_optimum_wanted(optimum, bounds) and limit == 1 and (optimum is True or leaning or _is_tight(promise))
    if optimum:
        refuse_without_optimum(bounds, sensitivity, epsilon)
        _refuse_contradiction(pooling_limit, limit, guarantee)
    # Every mechanism is measured roughly, and the best of each kind by what decides; on few spans the two are the same.
    rough, final = objectives(promise, goal, window, prior)
    requirements = Requirements(bounds, sensitivity, epsilon)
    with reporting(progress) as report:
        trials = Trials(
            requirements,
            rough,
            final,
            limit,
            guarantee,
            trusted,
            even_timing,
            searched=(goal if leaning else "worst") if searched else None,
            must_find=optimum is True,
            time_limit=time_limit,
            report=report,
        )
        tried = list(trials.everything())
        if not tried:
            _refuse(promise)
        decided = trials.decide(tried)
    best = _best(decided)
    considered = tuple((trial.name, trial.error) for trial in sorted(decided, key=lambda trial: trial.error))
    below = _known_limit(trials, tried)
    reason = _reason(trials, best, tried, decided, below)
    sample = None if final.sample is None else len(final.sample)
    return Recommendation(best.mechanism, best.name, reason, best.error, considered, sample, below)


def _best(trials: list[Trial]) -> Trial:
    # Of equal errors the plainest law wins: a reader should not wonder what a pooling is for that changes nothing.
    least = min(trial.error for trial in trials)
    alike = [trial for trial in trials if trial.error <= least * (1 + TIE)]
    return min(alike, key=lambda trial: (not trial.plain, trial.mechanism.pooling))


def _refuse(promise: Promise) -> None:
    """Refuse bounds for which no mechanism keeps the guarantee.

    Whatever keeps even the least demanding mechanism from being made is the reason, but for gaps that need trust.
    """
    bounds, guarantee = promise.bounds, promise.guarantee
    trusted = promise.trusted or guarantee == "distance"
    BoundedLaplace(bounds, promise.sensitivity, promise.epsilon, guarantee=guarantee, trusted=trusted)
    raise InvalidParameter(
        f"no mechanism keeps the {guarantee} guarantee on {bounds.brief()}; with inner gaps and the distance "
        "guarantee confirm the answers (trusted), or allow a pooling of up to 1 (pooling_limit)"
    )


def _goal(minimise: Minimise | None, prior: PriorLike | None) -> Minimise:
    """Return which error counts; a prior says over what the mean is taken."""
    if minimise is None:
        return "mean"
    if prior is not None and check_goal(minimise) == "worst":
        raise InvalidParameter(
            "a prior applies to the mean error only, got one for the worst error; leave one of the two out"
        )
    return check_goal(minimise)


def _is_tight(promise: Promise) -> bool:
    """Return whether a range is so narrow, beside the noise, that the best mechanism for it is much better."""
    least, greatest = promise.bounds.least, promise.bounds.greatest
    return least is not None and greatest is not None and greatest - least < TIGHT * promise.plain_scale


def _refuse_contradiction(pooling_limit: Any, limit: Fraction, guarantee: GuaranteeName) -> None:
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


def _limit(pooling_limit: Any) -> Fraction:
    limit = as_written(pooling_limit, "pooling_limit", InvalidParameter)
    if not 0 <= limit <= 1:
        raise InvalidParameter(
            f"pooling_limit must be from 0 to 1, got {shown(pooling_limit)}; leave it out for no limit"
        )
    return limit


def _reason(trials: Trials, best: Trial, tried: list[Trial], decided: list[Trial], limit: float | None) -> str:
    """Say why this mechanism, in a sentence or two."""
    objective, requirements = trials.final, trials.requirements
    over = "" if objective.window is None else f" over true answers from {_format_window(objective.window)}"
    if objective.sample is not None:
        over += f", at {len(objective.sample)} true answers spread evenly"
    conditions = [f"keep epsilon = {shown(requirements.epsilon)}", f"stay in {requirements.bounds.brief()}"]
    if trials.even_timing:
        conditions.append("do the same work for every true answer")
    text = (
        f"{best.name} has the least {objective.minimise} error{over}, {format_error(best.error)}, of "
        f"{_count_mechanisms(tried)} that {', '.join(conditions[:-1])} and {conditions[-1]}"
    )
    return text + _beaten(best, decided) + _price(best) + _against_the_limit(best, limit) + "."


def _count_mechanisms(tried: list[Trial]) -> str:
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
        error = next((trial.error for trial in trials if trial.name == f"{title}, pooling {pooling}"), None)
        if error and best.error < error * (1 - 1e-4):
            beaten.append(f"{1 - best.error / error:.1%} below {name}")
    return f": {' and '.join(beaten)}" if beaten else ""


def _known_limit(trials: Trials, tried: list[Trial]) -> float | None:
    """Return an error that no mechanism is below, where one was proved: it is one for answers not trusted."""
    objective = trials.final
    everywhere = objective.minimise == "mean" or objective.window is None
    if not everywhere or trials.trusted:
        return None
    asked = trials.requirements
    if objective.minimise == "worst" and not asked.bounds.bounded:
        return worst_without_ends(asked.bounds, asked.sensitivity, asked.epsilon)
    if trials.searched != objective.minimise:
        return None
    return max((trial.mechanism.limit for trial in tried if trial.mechanism.limit), default=None)


def _against_the_limit(best: Trial, limit: float | None) -> str:
    """Say how much better any mechanism could be, where that is known."""
    if limit is None:
        return ""
    ratio = best.error / limit
    if ratio <= 1 + AS_GOOD:
        return ". No mechanism can do better"
    most = format_ratio_up(ratio)
    return f". That is at most {most} times the least error that any mechanism can have" if ratio < TELLING else ""


def _price(best: Trial) -> str:
    """Say what the best mechanism for an error costs beside that error."""
    values = best.mechanism.release_count
    if values is None:
        return ""
    leans = " and are biased towards the middle of the prior" if best.mechanism.leans else ""
    width = f"{best.mechanism.expected_width():.3g}"
    return f". Releases are one of {values} values{leans}; their {percent()} intervals are {width} wide on average"


def _format_window(window: Window) -> str:
    return " to ".join(format_end(end) for end in window)
