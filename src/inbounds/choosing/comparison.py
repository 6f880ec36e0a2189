"""Mechanisms side by side: what each costs and gives for the same bounds, sensitivity and epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

from inbounds.accuracy.prior import PriorLike
from inbounds.accuracy.window import Window, format_end, stated_window
from inbounds.bounds import Bounds
from inbounds.choosing.catalogue import (
    NOT_APPLICABLE,
    Candidate,
    Requirements,
    candidates,
    refuse_delta,
    searched_candidates,
)
from inbounds.choosing.row import Row
from inbounds.choosing.table import table_of
from inbounds.display.progress import Progress, reporting
from inbounds.display.table import TextTable
from inbounds.exact.rational import Number, shown
from inbounds.limit.goal import Minimise
from inbounds.limit.optimal import TIME_LIMIT, check_seconds, is_optimum_wanted, optimal_name
from inbounds.privacy.claim import Promise

if TYPE_CHECKING:
    from rich.console import RenderableType

TELLING = 1.0
"""Errors are related to the limit where the optimum itself comes this close to it, relatively: else none was found."""

ROUNDING = 1e-9
"""An error that is this much below the limit, relatively, is the limit: both were computed in doubles."""


@dataclass(frozen=True)
class Comparison:
    """Mechanisms for the same bounds, best first: private and in range before others, by mean error.

    `print` it, let rich print it, let a notebook show it, or take its `rows` or `data()`.
    """

    bounds: Bounds
    sensitivity: Number | timedelta
    epsilon: Number
    window: Window | None
    """Over which true answers means are taken; None for all."""
    rows: tuple[Row, ...]
    under_prior: bool = False
    """Whether means are over a prior that was given."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Row:
        """Return the row of a mechanism by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no mechanism is called {name!r}; there are {', '.join(row.name for row in self.rows)}")

    def data(self) -> list[dict[str, Any]]:
        """Return the rows as plain data, such as a data frame is made of."""
        return [row.data() for row in self.rows]

    @property
    def title(self) -> str:
        """What is compared."""
        return f"{self.bounds.brief()}, sensitivity {shown(self.sensitivity)}, epsilon {shown(self.epsilon)}"

    @property
    def caption(self) -> str:
        """Over which true answers the means are."""
        if self.under_prior:
            return "means over the prior that was given, worst errors over all possible true answers"
        if self.window is None:
            return "means over all possible true answers, each counted alike"
        low, high = (format_end(end) for end in self.window)
        return f"means over the possible true answers from {low} to {high}, each counted alike"

    @property
    def table(self) -> TextTable:
        """The rows for people."""
        return table_of(self.title, self.caption, self.rows)

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table.html()

    def __rich__(self) -> RenderableType:
        return self.table.rich()


def compare(  # noqa: PLR0913  each is a choice that the caller may leave to us
    bounds: Bounds,
    sensitivity: Number | timedelta,
    epsilon: Number,
    *,
    window: Window | None = None,
    prior: PriorLike | None = None,
    delta: Number = 1e-6,
    optimum: bool | None = None,
    time_limit: Number = TIME_LIMIT,
    progress: Progress | None = None,
) -> Comparison:
    """Compare every mechanism there is for these bounds: privacy, range, bias, scale, errors, probability at the ends.

    * `window`: over which true answers to average, as a pair (low, high).  If the bounds have no end and no window is
      given, it reaches ten plain scales (sensitivity / epsilon) beyond their last end; the comparison says so.
    * `delta`: for the mechanisms that need one, above 0 and below 1/2.
    * `prior`: what is publicly believed of the true answer, as for `Optimal`: then means are over it.  **It must not
      come from the data.**
    * `optimum`: whether to search for the best mechanisms, and for the errors that none is below.  If not given, where
      the bounds have both ends and the solver is installed (`inbounds[optimal]`).
    * `time_limit`: for how many seconds to search for each of the two, for the mean and for the worst error.
    * `progress`: called with a line of text now and then, while something takes long.
    """
    promise = Promise.of(bounds, sensitivity, epsilon, "standard", 0, False)
    refuse_delta(delta)
    check_seconds(time_limit)
    with_optimum = is_optimum_wanted(optimum, bounds)
    needed = window is None and prior is None
    stated = stated_window(bounds, promise.sensitivity / promise.epsilon) if needed else window
    requirements = Requirements(bounds, sensitivity, epsilon)
    with reporting(progress) as report:
        searched = searched_candidates(requirements, stated, prior, time_limit, report) if with_optimum else ()
        by_name = {}
        for candidate in (*candidates(requirements, delta), *searched):
            report(f"comparing {candidate.name}")
            by_name[candidate.name] = measure(candidate, stated, window, prior)
    rows = _relate_to_optimum(by_name, everywhere=window is None) if with_optimum else list(by_name.values())
    ordered = tuple(sorted(rows, key=_order))
    return Comparison(bounds, sensitivity, epsilon, stated, ordered, under_prior=prior is not None)


def measure(
    candidate: Candidate, mean_window: Window | None, worst_window: Window | None, prior: PriorLike | None = None
) -> Row:
    """Make a mechanism and measure it, or say why it is not for these bounds."""
    try:
        mechanism = candidate.make()
    except NOT_APPLICABLE as refusal:
        return Row(candidate.name, candidate.paper, not_applicable=str(refusal))
    return Row(
        name=candidate.name,
        paper=candidate.paper,
        mechanism=mechanism,
        label=mechanism.label,
        in_range=mechanism.in_range,
        unbiased=mechanism.unbiased,
        scale=mechanism.scale,
        mean_error=mechanism.mean_error(mean_window, prior=prior),
        worst_error=mechanism.worst_error(worst_window),
        at_ends=mechanism.at_ends(mean_window),
    )


def _relate_to_optimum(by_name: dict[str, Row], *, everywhere: bool) -> list[Row]:
    """Relate the errors of all that keep epsilon to the least that such a mechanism can have.

    The limit of the worst error is one over all true answers only.
    """
    # Only pure mechanisms are related to the limit, which is one for epsilon without a delta.
    mean_row, worst_row = (by_name[optimal_name(goal)] for goal in get_args(Minimise))
    mean = _limit(mean_row, mean_row.mean_error)
    worst = _limit(worst_row, worst_row.worst_error) if everywhere else None

    def relate(row: Row) -> Row:
        if row.label is None or not row.label.pure:
            return row
        return replace(
            row,
            mean_over_optimum=_times(row.mean_error, mean),
            worst_over_optimum=_times(row.worst_error, worst),
        )

    return [relate(row) for row in by_name.values()]


def _limit(optimum: Row, error: float | None) -> float | None:
    """Return the error that no mechanism is below, as the search for the optimum proved it; None if it says little."""
    limit = None if optimum.mechanism is None else optimum.mechanism.limit
    if limit is None or error is None:
        return None
    return limit if 0 < error <= limit * (1 + TELLING) else None


def _times(error: float | None, limit: float | None) -> float | None:
    """Return how many times a limit an error is: at least once, but for the rounding errors of doubles."""
    if error is None or limit is None:
        return None
    return max(error, limit) / limit if error > limit * (1 - ROUNDING) else error / limit


def _order(row: Row) -> tuple[Any, ...]:
    if row.label is None or row.mean_error is None:
        return (4, 0.0)
    group = 0 if row.eligible else 1 if row.label.pure else 2 if row.label.private else 3
    return (group, row.mean_error)
