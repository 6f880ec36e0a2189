"""As accurate as any private mechanism can be, on every bounded range: found by a search, proved from both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.prior import Prior, PriorLike
from inbounds.accuracy.window import Window, indices_of
from inbounds.answers.array import Reader
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.display.progress import Progress, reporting
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.rational import Number, as_written, round_nearest, shown
from inbounds.limit.cells.cell_law import CellLaw
from inbounds.limit.cells.exact_table import ExactTable
from inbounds.limit.cells.kernel import TableKernel
from inbounds.limit.family_law import FamilyLaw
from inbounds.limit.goal import Minimise, check_goal
from inbounds.limit.mixed_law import MixedLaw
from inbounds.limit.optimality import Optimality
from inbounds.limit.program.deadline import Deadline
from inbounds.limit.program.linear_program import NOT_INSTALLED, solver_is_installed
from inbounds.limit.search import GOOD, OptimalLaw, Search
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIME_LIMIT = 2.0
"""Seconds for the search, unless the caller allows more."""

MOST_SECONDS = 86_400

MOST_LISTED = 100_000
"""Up to so many possible answers, each has a weight of its own in the prior of a window."""

ROUNDING = 1e-11
"""Errors are rounded up by this share: more than doubles can have lost."""


class Optimal(Mechanism):
    """The least mean or worst error of all mechanisms that keep epsilon, on any bounds that have both ends.

    * `minimise`: the "mean" error, over true answers weighted by the prior, or the "worst".
    * `prior`: what is publicly believed of the true answer; all possible answers alike if not given.  Weights, one for
      each possible answer (without a step: for equal parts of the range); or `(weights, edges)` as `numpy.histogram`
      returns them; or a function of the answer.  **It must not come from the data.**
    * `time_limit`: for how many seconds of processor time to search.  `optimality` says how good what was found is.
    * `progress`: called with a line of text now and then.  If not given, a terminal shows it.

    Releases are a few hundred values at most, unless the best is a mechanism of one scale.  The best for the mean leans
    towards the middle of the prior where epsilon is small; the best for the worst does not.
    """

    title: ClassVar[str] = "optimal"
    paper: ClassVar[str] = "linear programming"
    even_timing: ClassVar[bool] = True

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        minimise: Minimise = "mean",
        prior: PriorLike | None = None,
        time_limit: Number = TIME_LIMIT,
        progress: Progress | None = None,
    ) -> None:
        goal, seconds = check_goal(minimise), check_seconds(time_limit)
        setting = Setting.of(bounds, sensitivity, epsilon)
        _need_ends(setting)
        believed = Prior.of(prior, bounds, setting.lattice)
        if goal == "worst" and prior is not None:
            raise InvalidParameter(
                "a prior applies to the mean error only, got one for the worst error; leave one of the two out"
            )
        with reporting(progress) as report:
            search = Search(setting, goal, believed, Deadline.after_work(seconds), report)
            search.run()
        if search.law is None or (search.ratio > 1 + GOOD and not solver_is_installed()):
            raise InvalidParameter(NOT_INSTALLED)
        self._settle(setting, search.law, goal, (search.error, search.limit))

    def _settle(self, setting: Setting, law: OptimalLaw, minimise: Minimise, steps: tuple[float, float]) -> None:
        """Become the mechanism of a law, or refuse to if it does not keep epsilon."""
        certificate = law.certify()
        if not certificate.holds:
            raise NotPrivate(f"the optimum could not be proved to keep epsilon. {certificate}", certificate)
        super().__init__(setting, certificate)
        self._law, self._minimise, self._steps = law, minimise, steps

    @property
    def minimise(self) -> Minimise:
        """Which error is least: the "mean" or the "worst"."""
        return self._minimise

    @cached_property
    def optimality(self) -> Optimality:
        """Its error, and the error that no mechanism is below."""
        error, limit = self._steps
        unit = round_nearest(self.step)
        return Optimality(self._minimise, error * unit * (1 + ROUNDING), limit * unit * (1 - ROUNDING), self._law.name)

    @property
    def limit(self) -> float:
        """An error that no mechanism is below which keeps epsilon, proved."""
        return self.optimality.limit

    @property
    def table(self) -> ExactTable | None:
        """The probabilities of all outcomes for all rows, exactly, if it is a table."""
        law = self._law
        return law.kernel.table if isinstance(law, CellLaw) and isinstance(law.kernel, TableKernel) else None

    @property
    def leans(self) -> bool:  # type: ignore[override]
        """Whether releases are drawn towards the middle of the prior: the best for the mean error are."""
        return self._minimise == "mean"

    @property
    def release_count(self) -> int | None:  # type: ignore[override]
        """How many values a release can have; None if the best is a mechanism of one scale."""
        return None if isinstance(self._law, FamilyLaw) else len(set(self._law.targets.tolist()))

    @property
    def name(self) -> str:
        """What it is called in a comparison."""
        return optimal_name(self._minimise)

    @property
    def pooling(self) -> int:
        """How much of the noise that would leave the bounds stays at their ends: as it likes."""
        return 1

    @cached_property
    def base(self) -> Mechanism:
        """The mechanism before its outcomes are replaced by the best guess of the truth: it tells more, and leans less.

        `remap` makes releases of this mechanism out of releases of that one, without further cost.
        """
        law = self._law
        if isinstance(law, FamilyLaw):
            return law.mechanism
        optimal = object.__new__(Optimal)
        optimal._settle(self._setting, law.unmapped(), self._minimise, (np.inf, self._steps[1]))
        return optimal

    def remap(self, drawn: Any) -> Any:
        """Return what this mechanism releases where `base` has drawn this."""
        if isinstance(self._law, FamilyLaw):
            return drawn
        index = self._law.replace_releases(self._answers.index(drawn))
        return self._outputs.writer(type(drawn))(index)

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self._law.draw(index, entropy)

    @property
    def _draw_near(self) -> Callable[[float, Entropy], float] | None:
        return self._law.draw_near

    def _draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, NDArray[Any]]]:
        return self._law.draw_parts(read, count, entropy)

    @property
    def _distribution(self) -> Distribution:
        return self._law.distribution

    @property
    def choices(self) -> dict[str, Any]:
        """What was to be least."""
        return {"minimise": self._minimise}

    @property
    def _key(self) -> tuple[object, ...]:
        return (*super()._key, self._law.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was found too, lest it be searched for again; whoever unpickles proves it again."""
        given = self._setting.given._asdict()
        return _restored, (self.bounds, given, self._law.pickle_parts(), self._minimise, self._steps)

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release where they are few, else every pair of rows."""
        return self._law.prove_again()


def optimal_name(minimise: Minimise) -> str:
    """Return what the optimum is called."""
    return f"optimal for the {minimise} error"


def is_optimum_wanted(optimum: object, bounds: Bounds) -> bool:
    """Return whether the optimum is to be searched for: as the caller says; if they leave it open, where it can be."""
    if optimum is None:
        return bounds.bounded and solver_is_installed()
    if not isinstance(optimum, bool):
        raise InvalidParameter(f"optimum must be True, False or None, got {shown(optimum)}; leave it out if in doubt")
    return optimum


def refuse_without_optimum(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
    """Refuse bounds for which there is no optimum, or a place without the solver, to whoever asked for it."""
    _need_ends(Setting.of(bounds, sensitivity, epsilon))
    if not solver_is_installed():
        raise InvalidParameter(NOT_INSTALLED)


def uniform_prior(bounds: Bounds, window: Window | None) -> PriorLike | None:
    """Return the prior that counts the possible answers in a window alike and no others; None for all of them."""
    if window is None or not bounds.bounded:
        return None
    lattice = None if bounds.step is None else Lattice.of(bounds, bounds.step)
    if lattice is None or lattice.points > MOST_LISTED:
        return ([1], list(window))
    first, last = indices_of(window, bounds, lattice)
    return [int(first <= index <= last) for index in lattice.indices()]


def _need_ends(setting: Setting) -> None:
    if not setting.lattice.bounded:
        raise InvalidParameter(
            f"the optimal mechanism needs bounds with both ends, got {setting.bounds.brief()}; give it ends, or use "
            "recommend without the optimum"
        )


def check_seconds(time_limit: object) -> float:
    """Return for how long to search, or refuse it."""
    seconds = as_written(time_limit, "time_limit", InvalidParameter)
    if not 0 < seconds <= MOST_SECONDS:
        raise InvalidParameter(
            f"time_limit must be above 0 and at most {MOST_SECONDS} seconds, got {shown(time_limit)}; "
            "leave it out for two seconds"
        )
    return float(seconds)


def _restored(
    bounds: Bounds, given: dict[str, Any], pickled: Any, minimise: Minimise, steps: tuple[float, float]
) -> Optimal:
    """Make a mechanism that was pickled, and prove it."""
    setting = Setting.of(bounds, **given)
    law: OptimalLaw
    if isinstance(pickled, Mechanism):
        law = FamilyLaw.of(pickled, setting)
    elif isinstance(pickled[0], tuple):
        law = MixedLaw.from_parts(setting, *pickled)
    else:
        law = CellLaw.from_parts(setting, *pickled)
    optimal = object.__new__(Optimal)
    optimal._settle(setting, law, check_goal(minimise), steps)
    return optimal
