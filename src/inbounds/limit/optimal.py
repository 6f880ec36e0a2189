"""The limit: the mechanism with the least error of all that keep epsilon, on a lattice of few points.

Any mechanism on a finite lattice is a table of probabilities, the guarantee is linear in them, and so is the error.
Linear programming finds the best (`limit`); the solution is repaired to exact integers and drawn from exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from inbounds.accuracy.few_points import FewPoints
from inbounds.accuracy.window import Window, indices_of
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.display.progress import Progress, reporting
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.exact.rational import Number, as_written, shown
from inbounds.limit.exact_table import BITS, ExactTable, greatest_ratio
from inbounds.limit.linear_program import NOT_INSTALLED
from inbounds.limit.optimum import MOST_TRUE_ANSWERS, Minimise, solve, solver_is_installed
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Floats, Indices

QUICK_POINTS = 64
"""Up to so many points the linear program is solved without being asked for: it takes seconds."""


class TableDistribution(FewPoints):
    """The law that is a table: one row for each answer from the least to the greatest, those in gaps included."""

    def __init__(self, lattice: Lattice, table: ExactTable) -> None:
        super().__init__(lattice)
        self.probabilities = np.array([[weight / 2**BITS for weight in row] for row in table.weights])

    def rows(self, centres: Indices) -> Floats:
        """Return the rows of some answers."""
        return self.probabilities[centres - self.points[0]]


class Optimal(Mechanism):
    """The least mean or worst error of all mechanisms that keep epsilon, on a bounded lattice of up to 400 points.

    * `minimise`: the "mean" error, over true answers weighted by the prior, or the "worst".
    * `prior`: how much each possible answer counts, in rising order; all alike if not given.  It must be public.
    * `progress`: called with a line of text now and then.  If not given, a terminal shows it.

    The best for the mean leans towards the middle where epsilon is small; the best for the worst does not.

    Epsilon is at most 15.  Hundreds of points take seconds at an epsilon near 1, and more the smaller it is; the
    work is bounded.  A search that ends early is within 1 % of `limit`, or refused (docs/choosing.md, "How it is
    found").
    """

    title: ClassVar[str] = "optimal"
    paper: ClassVar[str] = "linear programming"

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        minimise: Minimise = "mean",
        prior: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        _need_few_points(setting)
        goal = checked_goal(minimise)
        weights, possible = _prior(prior, setting.lattice)
        costs = abs(np.subtract.outer(_answers(setting.lattice), setting.lattice.indices())).astype(float)
        costs[~possible] = 0.0  # what is released for an impossible answer is of no account, as long as it is private
        with reporting(progress) as report:
            found = solve(costs, _adjacent(setting), setting.epsilon, minimise=goal, prior=weights, progress=report)
        self._settle(setting, found.table, goal, found.limit * float(setting.lattice.step))

    def _settle(self, setting: Setting, table: ExactTable, minimise: Minimise, limit: float) -> None:
        """Become the mechanism of a table, or refuse to if the table does not keep epsilon."""
        certificate = _proved(setting, table)
        if not certificate.holds:
            raise NotPrivate(f"the optimum could not be proved to keep epsilon. {certificate}", certificate)
        super().__init__(setting, certificate)
        self._table, self._minimise, self._limit = table, minimise, limit
        self._indices = setting.lattice.indices()

    @property
    def table(self) -> ExactTable:
        """The probabilities, exactly, in units of 2**-64.

        One column for each possible answer; one row for each from the least to the greatest, the impossible ones
        between them included, because a true answer that is not trusted may be one of those.
        """
        return self._table

    @property
    def minimise(self) -> Minimise:
        """Which error is least: the "mean" or the "worst"."""
        return self._minimise

    @property
    def limit(self) -> float:
        """An error that no mechanism is below: this one is a hair above it, or up to 1 % if the search ended early."""
        return self._limit

    @property
    def name(self) -> str:
        """What it is called in a comparison."""
        return optimal_name(self._minimise)

    @property
    def pooling(self) -> int:
        """How much of the noise that would leave the bounds stays at their ends: as it likes."""
        return 1

    @cached_property
    def probabilities(self) -> Floats:
        """The table as doubles."""
        return self._distribution.probabilities

    @cached_property
    def _cumulative(self) -> list[list[int]]:
        return [list(accumulate(row)) for row in self._table.weights]

    def _draw(self, index: int, entropy: Entropy) -> int:
        word = int.from_bytes(entropy(BITS // 8))
        row = self._setting.clipped(index) - self._indices[0]
        return self._indices[bisect_right(self._cumulative[row], word)]

    @cached_property
    def _distribution(self) -> TableDistribution:
        return TableDistribution(self._setting.lattice, self._table)

    @property
    def choices(self) -> dict[str, Any]:
        """What was to be least."""
        return {"minimise": self._minimise}

    @property
    def _key(self) -> tuple[object, ...]:
        return (*super()._key, self._table.weights)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table too, lest it be searched for again; whoever unpickles proves it again."""
        return _restored, (self.bounds, self._setting.given._asdict(), self._table, self._minimise, self._limit)

    def prove_again(self) -> Certificate:
        """Compare every entry of the table with every other of its column that must be close, in exact integers."""
        return _proved(self._setting, self._table)


def optimal_name(minimise: Minimise) -> str:
    """Return what the optimum is called."""
    return f"optimal for the {minimise} error"


def checked_goal(minimise: object) -> Minimise:
    """Return what is to be least, or refuse it."""
    for name in get_args(Minimise):
        if isinstance(minimise, str) and minimise == name:
            return name
    raise InvalidParameter(f"minimise must be 'mean' or 'worst', got {shown(minimise)}; take 'mean' if in doubt")


def optimum_is_offered(bounds: Bounds) -> bool:
    """Return whether the optimum can be had for these bounds within seconds, without having been asked for."""
    if bounds.step is None or not bounds.bounded or not solver_is_installed():
        return False
    return _size(Lattice.of(bounds, bounds.step)) <= QUICK_POINTS


def is_optimum_wanted(optimum: object, bounds: Bounds) -> bool:
    """Return whether the optimum is to be computed: as the caller says; if they leave it open, where it is offered."""
    if optimum is None:
        return optimum_is_offered(bounds)
    if not isinstance(optimum, bool):
        raise InvalidParameter(f"optimum must be True, False or None, got {shown(optimum)}; leave it out if in doubt")
    return optimum


def refuse_without_optimum(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
    """Refuse bounds for which there is no optimum, or a place without the solver, to whoever asked for it."""
    _need_few_points(Setting.of(bounds, sensitivity, epsilon))
    if not solver_is_installed():
        raise InvalidParameter(NOT_INSTALLED)


def uniform_prior(bounds: Bounds, window: Window | None) -> list[int] | None:
    """Return the prior that counts the possible answers in a window alike and no others; None for all of them."""
    if window is None or bounds.step is None or not bounds.bounded:
        return None
    lattice = Lattice.of(bounds, bounds.step)
    if _size(lattice) > MOST_TRUE_ANSWERS:
        return None
    first, last = indices_of(window, bounds, lattice)
    return [int(first <= index <= last) for index in lattice.indices()]


def _need_few_points(setting: Setting) -> None:
    setting.need_step("the optimal mechanism", "do without it")
    if not setting.lattice.bounded or _size(setting.lattice) > MOST_TRUE_ANSWERS:
        raise InvalidParameter(
            f"the optimal mechanism is for at most {MOST_TRUE_ANSWERS} answers from the least to the greatest, those "
            f"in gaps too, and {setting.bounds.brief()} has more; give the bounds ends or a larger step"
        )


def _size(lattice: Lattice) -> int:
    return lattice.width + 1


def _answers(lattice: Lattice) -> list[int]:
    """Return all indices from the least to the greatest possible one."""
    return list(range(lattice.first, lattice.last + 1))


def _adjacent(setting: Setting) -> NDArray[np.bool_]:
    """Return which true answers neighbours can have."""
    rows = np.arange(_size(setting.lattice))
    apart = abs(np.subtract.outer(rows, rows))
    return (apart <= setting.distance) & (apart > 0)


def _prior(prior: Sequence[Any] | None, lattice: Lattice) -> tuple[Floats, NDArray[np.bool_]]:
    """Return how much each true answer counts, nothing if it is impossible, and which are possible."""
    possible = np.isin(_answers(lattice), lattice.indices())
    count = int(possible.sum())
    given: Any = [1] * count if prior is None else prior
    if not isinstance(given, Iterable):
        raise InvalidParameter(
            f"prior must be a list of weights, one for each possible answer, got {shown(given)}; put them in [ ]"
        )
    weights = [as_written(weight, "a weight of the prior", InvalidParameter) for weight in given]
    if len(weights) != count:
        raise InvalidParameter(
            f"prior must have one weight for each of {count} possible answers, got {len(weights)}; "
            "give so many, or leave it out"
        )
    if min(weights) < 0 or not sum(weights):
        raise InvalidParameter(
            "prior must have weights that are not negative, and not all zero, got others; leave it out for equal ones"
        )
    total = sum(weights, Fraction(0))
    counted = np.zeros(len(possible))
    counted[possible] = [float(weight / total) for weight in weights]
    return counted, possible


def _proved(setting: Setting, table: ExactTable) -> Certificate:
    """Write down the greatest ratio in a column between true answers that neighbours can have."""
    adjacent, indices = _adjacent(setting), _answers(setting.lattice)
    ratio, first, second, _ = greatest_ratio(table, adjacent)
    with lock(), workprec(PRECISION):
        loss = ball(ratio).log()
        bound, witnessed = upper(loss), lower(loss)
    return Certificate.of(
        setting.promise,
        setting.lattice,
        bound=bound,
        witnessed=witnessed,
        pair=(indices[first], indices[second]),
        pairs=int(adjacent.sum()) // 2,
        method="every pair, every output",
        precision=PRECISION,
    )


def _restored(bounds: Bounds, given: dict[str, Any], table: ExactTable, minimise: Minimise, limit: float) -> Optimal:
    """Make a mechanism that was pickled, and prove it."""
    if any(min(row) < 0 or sum(row) != 2**BITS for row in table.weights):
        raise InvalidParameter("every row of the table of an optimum must add up to 2**64; build the mechanism again")
    made = object.__new__(Optimal)
    made._settle(Setting.of(bounds, **given), table, minimise, limit)
    return made
