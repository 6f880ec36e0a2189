"""The limit: the mechanism with the least error of all that keep epsilon, on a lattice of few points.

Any mechanism on a finite lattice is a table of probabilities, the guarantee is linear in them, and so is the error.
Linear programming finds the best (`limit`); the solution is repaired to exact integers and drawn from exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from inbounds.accuracy.window import Window, indices_of
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.display.progress import Progress, reporting
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.exact.rational import as_written, shown
from inbounds.limit.exact_table import BITS, ExactTable, greatest_ratio
from inbounds.limit.linear_program import NOT_INSTALLED
from inbounds.limit.optimum import MOST_TRUE_ANSWERS, Minimise, solve, solver_is_installed
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.published.listed import Listed
from inbounds.published.mechanism import Ground, need_step
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.mechanisms.averages import Floats

QUICK_POINTS = 64
"""Up to so many points the linear program is solved without being asked for: it takes seconds."""


class Optimal(Listed):
    """The least mean or worst error of all mechanisms that keep epsilon, on a bounded lattice of up to 400 points.

    * `minimise`: the "mean" error, over true answers weighted by the prior, or the "worst".
    * `prior`: how much each possible answer counts, in rising order; all alike if not given.  It must be public.
    * `progress`: called with a line of text now and then.  If not given, a terminal shows it.

    The best for the mean leans towards the middle where epsilon is small; the best for the worst does not.

    Epsilon is at most 15.  Hundreds of points take seconds at an epsilon near 1, and more the smaller it is; a search
    that takes too many rounds is refused (docs/choosing.md, "How it is found").
    """

    paper: ClassVar[str] = "linear programming"
    minimise: Minimise
    limit: float
    """The least error that any mechanism can have, as the solver found it: `error` of this one is a hair above."""

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Any,
        epsilon: Any,
        *,
        minimise: Minimise = "mean",
        prior: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        ground = Ground.of(bounds, sensitivity, epsilon)
        _need_few_points(ground)
        goal = checked_goal(minimise)
        weights, possible = _prior(prior, ground.lattice)
        costs = abs(np.subtract.outer(_answers(ground.lattice), ground.lattice.indices())).astype(float)
        costs[~possible] = 0.0  # what is released for an impossible answer is of no account, as long as it is private
        with reporting(progress) as report:
            found = solve(costs, _adjacent(ground), ground.epsilon, minimise=goal, prior=weights, progress=report)
        self._settle(ground, found.table, goal, found.limit * float(ground.lattice.step))

    def _settle(self, ground: Ground, table: ExactTable, minimise: Minimise, limit: float) -> None:
        """Become the mechanism of a table, or refuse to if the table does not keep epsilon."""
        certificate = _proved(ground, table)
        if not certificate.holds:
            raise NotPrivate(f"the optimum could not be proved to keep epsilon. {certificate}", certificate)
        indices = ground.lattice.indices()
        super().__init__(ground, certificate, table=table, minimise=minimise, limit=limit, _indices=indices)

    table: ExactTable
    """The probabilities, exactly, in units of 2**-64.

    One column for each possible answer; one row for each from the least to the greatest, the impossible ones between
    them included, because a true answer that is not trusted may be one of those.
    """
    _indices: list[int]

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in a comparison."""
        return optimal_name(self.minimise)

    def _row(self, index: int) -> int:
        """Return the row of an index, of the nearest end if it is beyond them."""
        return self._ground.clipped(index) - self._ground.lattice.low_list[0]

    @cached_property
    def _cumulative(self) -> list[list[int]]:
        return [list(accumulate(row)) for row in self.table.weights]

    def _draw(self, index: int, entropy: Entropy) -> int:
        word = int.from_bytes(entropy(BITS // 8))
        return self._indices[bisect_right(self._cumulative[self._row(index)], word)]

    @cached_property
    def probabilities(self) -> Floats:
        """The probabilities as doubles."""
        return np.array([[weight / 2**BITS for weight in row] for row in self.table.weights])

    @cached_property
    def errors(self) -> Floats:
        """The expected distance in steps for every possible true answer."""
        distances = abs(np.subtract.outer(self._indices, self._indices))
        return (self._possible * distances).sum(1)

    @property
    def _possible(self) -> Floats:
        """The rows of possible answers."""
        return self.probabilities[[self._row(index) for index in self._indices]]

    @cached_property
    def ends(self) -> Floats:
        """The probability that a release is an end of a span, for every possible true answer."""
        lattice = self._ground.lattice
        return self._possible[:, np.isin(self._indices, [*lattice.low_list, *lattice.high_list])].sum(1)

    def _error(self, centre: int, excess: float) -> float:
        distances = abs(np.array(self._indices) - (centre + excess))
        return float(self.probabilities[self._row(centre)] @ distances)

    def _probability(self, index: int, centre: int) -> float:
        if index not in self._indices:
            return 0.0
        return float(self.probabilities[self._row(centre), self._indices.index(index)])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table too, lest it be searched for again; whoever unpickles proves it again."""
        return _restored, (self.bounds, self._ground.given, self.table, self.minimise, self.limit)

    def prove_again(self) -> Certificate:
        """Compare every entry of the table with every other of its column that must be close, in exact integers."""
        return _proved(self._ground, self.table)


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


def wants_optimum(optimum: object, bounds: Bounds) -> bool:
    """Return whether the optimum is to be computed: as the caller says; if they leave it open, where it is offered."""
    if optimum is None:
        return optimum_is_offered(bounds)
    if not isinstance(optimum, bool):
        raise InvalidParameter(f"optimum must be True, False or None, got {shown(optimum)}; leave it out if in doubt")
    return optimum


def refuse_without_optimum(bounds: Bounds, sensitivity: Any, epsilon: Any) -> None:
    """Refuse bounds for which there is no optimum, or a place without the solver, to whoever asked for it."""
    _need_few_points(Ground.of(bounds, sensitivity, epsilon))
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


def _need_few_points(ground: Ground) -> None:
    need_step(ground, "the optimal mechanism", "do without it")
    if not ground.lattice.bounded or _size(ground.lattice) > MOST_TRUE_ANSWERS:
        raise InvalidParameter(
            f"the optimal mechanism is for at most {MOST_TRUE_ANSWERS} answers from the least to the greatest, those "
            f"in gaps too, and {ground.bounds.brief()} has more; give the bounds ends or a larger step"
        )


def _size(lattice: Lattice) -> int:
    return lattice.high_list[-1] - lattice.low_list[0] + 1


def _answers(lattice: Lattice) -> list[int]:
    """Return all indices from the least to the greatest possible one."""
    return list(range(lattice.low_list[0], lattice.high_list[-1] + 1))


def _adjacent(ground: Ground) -> NDArray[np.bool_]:
    """Return which true answers neighbours can have."""
    rows = np.arange(_size(ground.lattice))
    apart = abs(np.subtract.outer(rows, rows))
    return (apart <= ground.distance) & (apart > 0)


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


def _proved(ground: Ground, table: ExactTable) -> Certificate:
    """Write down the greatest ratio in a column between true answers that neighbours can have."""
    adjacent, indices = _adjacent(ground), _answers(ground.lattice)
    ratio, first, second, _ = greatest_ratio(table, adjacent)
    with lock(), workprec(PRECISION):
        loss = ball(ratio).log()
        bound, witnessed = upper(loss), lower(loss)
    one, other = (ground.bounds.as_answer(ground.lattice.value(indices[which])) for which in (first, second))
    return Certificate(
        holds=bound <= ground.epsilon,
        bound=bound,
        witnessed=witnessed,
        worst_pair=(one, other),
        epsilon=ground.epsilon,
        guarantee="standard",
        scale=None,
        step=ground.lattice.step,
        pairs=int(adjacent.sum()) // 2,
        method="every pair, every output",
        precision=PRECISION,
    )


def _restored(bounds: Bounds, given: dict[str, Any], table: ExactTable, minimise: Minimise, limit: float) -> Optimal:
    """Make a mechanism that was pickled, and prove it."""
    if any(min(row) < 0 or sum(row) != 2**BITS for row in table.weights):
        raise InvalidParameter("every row of the table of an optimum must add up to 2**64; make the mechanism anew")
    made = object.__new__(Optimal)
    made._settle(Ground.of(bounds, **given), table, minimise, limit)
    return made
