"""Mechanisms side by side: what each costs and gives for the same bounds, sensitivity and epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inbounds.bounds import Bounds
from inbounds.candidates import NOT_APPLICABLE, Candidate, Comparable, Question, candidates
from inbounds.claim import Promise
from inbounds.limit.optimum import Minimise
from inbounds.optimal import Optimal, optimal_name, optimum_is_offered, uniform_prior
from inbounds.progress import Progress, reporting
from inbounds.rational import shown
from inbounds.table import Row, as_html, as_rich, as_text
from inbounds.window import Window, stated_window, written_end

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Comparison:
    """Mechanisms for the same bounds, best first: private and in range before others, by mean error.

    `print` it, let rich print it, let a notebook show it, or take its `rows` or `data()`.
    """

    bounds: Bounds
    sensitivity: Any
    epsilon: Any
    window: Window | None
    """Over which true answers means are taken; None for all."""
    rows: tuple[Row, ...]

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
        if self.window is None:
            return "means over all possible true answers, each counted alike"
        low, high = (written_end(end) for end in self.window)
        return f"means over the possible true answers from {low} to {high}, each counted alike"

    def __str__(self) -> str:
        return as_text(self.title, self.caption, self.rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.title, self.caption, self.rows)

    def __rich__(self) -> RenderableType:
        return as_rich(self.title, self.caption, self.rows)


def compare(
    bounds: Bounds,
    sensitivity: Any,
    epsilon: Any,
    *,
    window: Window | None = None,
    delta: Any = 1e-6,
    optimum: bool | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare every mechanism there is for these bounds: privacy, range, scale, errors, probability at the ends.

    * `window`: over which true answers to average, as a pair (low, high).  If the bounds have no end and no window is
      given, it reaches ten plain scales (sensitivity / epsilon) beyond their last end; the comparison says so.
    * `delta`: for the mechanisms that need one.
    * `optimum`: whether to compute the least error that any mechanism can have, by linear programming.  If not given,
      where the lattice is small enough for that to be quick and the solver is installed (`inbounds[optimal]`).
    * `progress`: called with a line of text now and then, while something takes long.
    """
    promise = Promise.of(bounds, sensitivity, epsilon, "standard", 0, False)
    stated = window if window is not None else stated_window(bounds, promise.sensitivity / promise.epsilon)
    question = Question(bounds, sensitivity, epsilon)
    with_optimum = optimum_is_offered(bounds) if optimum is None else optimum
    with reporting(progress) as report:
        everything = [*candidates(question, delta), *(_optima(question, stated, report) if with_optimum else [])]
        found = {}
        for candidate in everything:
            report(f"comparing {candidate.name}")
            found[candidate.name] = measured(candidate, stated, window)
    rows = _related(found, everywhere=window is None) if with_optimum else list(found.values())
    return Comparison(bounds, sensitivity, epsilon, stated, tuple(sorted(rows, key=_order)))


def _optima(question: Question, window: Window | None, report: Progress) -> list[Candidate]:
    goals: dict[Minimise, Any] = {"mean": uniform_prior(question.bounds, window), "worst": None}
    return [
        Candidate(
            optimal_name(goal),
            Optimal.paper,
            partial(question.make, Optimal, minimise=goal, prior=prior, progress=report),
        )
        for goal, prior in goals.items()
    ]


def measured(candidate: Candidate, mean_window: Window | None, worst_window: Window | None) -> Row:
    """Make a mechanism and measure it, or say why it is not for these bounds."""
    try:
        made: Comparable = candidate.make()
    except NOT_APPLICABLE as refusal:
        return Row(candidate.name, candidate.paper, not_applicable=str(refusal))
    return Row(
        name=candidate.name,
        paper=candidate.paper,
        mechanism=made,
        label=made.label,
        in_range=made.in_range,
        scale=made.scale,
        mean_error=made.mean_error(mean_window),
        worst_error=made.worst_error(worst_window),
        at_ends=made.at_ends(mean_window),
    )


def _related(found: dict[str, Row], *, everywhere: bool) -> list[Row]:
    """Relate all errors to those of the optima; that for the worst error is one over all true answers only."""
    mean, worst = found[optimal_name("mean")].mean_error, found[optimal_name("worst")].worst_error
    worst = worst if everywhere else None

    def related(row: Row) -> Row:
        return replace(
            row,
            mean_over_optimum=row.mean_error / mean if row.mean_error and mean else None,
            worst_over_optimum=row.worst_error / worst if row.worst_error and worst else None,
        )

    return [related(row) for row in found.values()]


def _order(row: Row) -> tuple[Any, ...]:
    if row.label is None or row.mean_error is None:
        return (4, 0.0)
    group = 0 if row.eligible else 1 if row.label.pure else 2 if row.label.private else 3
    return (group, row.mean_error)
