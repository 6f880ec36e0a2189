"""The catalogue: every kind of mechanism there is to choose from, the optimum among them.

`compare`, `recommend`, the pictures and the tests of the documents take the mechanisms from here, so that a new one is
its own module and one line in `CATALOGUE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any, get_args

from inbounds.accuracy.prior import PriorLike
from inbounds.accuracy.window import Window
from inbounds.bounds import Bounds
from inbounds.display.progress import Progress
from inbounds.errors import InboundsError, InvalidParameter
from inbounds.exact.rational import Number, as_written, shown
from inbounds.limit.goal import Minimise
from inbounds.limit.optimal import Optimal, optimal_name, uniform_prior
from inbounds.mechanisms.additive.additive import MANNERS
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.published import (
    AdaptiveLaplace,
    BoundedGaussian,
    ExplicitFair,
    Geometric,
    HolohanLaplace,
    Hybrid,
    Laplace,
    NaiveLaplace,
    OptimalPiecewise,
    Piecewise,
    SquareWave,
    Staircase,
    TruncatedLaplacian,
    TwoPoint,
)

NOT_APPLICABLE = InboundsError
"""What a mechanism raises when it is not for these bounds; the parameters were checked before."""

Choices = Mapping[str, Any]

ENDS: dict[str, Choices] = {f"{manner} {{}}": {"ends": ends} for ends, manner in MANNERS.items()}
"""The rules at the ends that noise is compared with."""

POOLINGS: dict[str, Choices] = {"{}, pooling 0": {}, "{}, pooling 1": {"pooling": 1}, "{}, pooling ½": {"pooling": 0.5}}

SIGMAS: dict[str, Choices] = {"{}": {}, "{}, least σ": {"sigma": "least"}}

GOALS: dict[str, Choices] = {optimal_name(goal): {"minimise": goal} for goal in get_args(Minimise)}
"""The errors that a search can make least."""


@dataclass(frozen=True)
class CatalogueEntry:
    """A kind of mechanism, and with which choices it is compared and, if it is pure, recommended."""

    kind: type[Mechanism]
    variants: Mapping[str, Choices] = field(default_factory=lambda: {"{}": {}})
    """What it is compared with, by name; `{}` stands for its title."""
    takes_delta: bool = False
    searched: bool = False
    """Whether it is the best for one error, found by a search: it is made only where that is wanted."""
    takes_trust: bool = False
    """Whether it gains from answers that are vouched to be possible."""
    with_step: str | None = None
    """What it is the same as on bounds with a step, where it is not listed again."""
    tuned: str | None = None
    """The choice whose best value `recommend` looks for."""
    drawn: tuple[str, ...] = ()
    """Which variants are drawn against epsilon."""

    def name_of(self, pattern: str) -> str:
        """Return what a variant is called."""
        return pattern.format(self.kind.title)


CATALOGUE = (
    CatalogueEntry(
        BoundedLaplace, POOLINGS, takes_trust=True, tuned="pooling", drawn=("{}, pooling 0", "{}, pooling 1")
    ),
    CatalogueEntry(AdaptiveLaplace),
    CatalogueEntry(HolohanLaplace),
    CatalogueEntry(NaiveLaplace),
    CatalogueEntry(Laplace, ENDS, with_step=Geometric.title, drawn=("folded {}",)),
    CatalogueEntry(Geometric, ENDS, drawn=("folded {}",)),
    CatalogueEntry(Staircase, ENDS, tuned="width", drawn=("snapped {}",)),
    CatalogueEntry(TruncatedLaplacian, ENDS, takes_delta=True),
    CatalogueEntry(ExplicitFair),
    CatalogueEntry(BoundedGaussian, SIGMAS),
    CatalogueEntry(TwoPoint),
    CatalogueEntry(Piecewise),
    CatalogueEntry(Hybrid),
    CatalogueEntry(SquareWave),
    CatalogueEntry(OptimalPiecewise),
    CatalogueEntry(Optimal, GOALS, searched=True),
)


@dataclass(frozen=True)
class Requirements:
    """What a mechanism is made for: the bounds of the answer, its sensitivity and epsilon."""

    bounds: Bounds
    sensitivity: Number | timedelta
    epsilon: Number

    def make(self, entry: CatalogueEntry, **choices: Any) -> Mechanism:
        """Make a mechanism for it, or refuse what it is not for."""
        if entry.with_step is not None and self.bounds.step is not None:
            raise InvalidParameter(
                f"with a step, {entry.kind.title} noise is the two-sided {entry.with_step}; "
                f"see {entry.with_step} in this table"
            )
        kind: Callable[..., Mechanism] = entry.kind
        return kind(self.bounds, self.sensitivity, self.epsilon, **choices)

    def search(
        self, choices: Choices, window: Window | None, prior: PriorLike | None, time_limit: Number, report: Progress
    ) -> dict[str, Any]:
        """Return what a search is told: which error, over which true answers if it is a mean, and for how long."""
        if choices["minimise"] != "mean":
            prior = None
        elif prior is None:
            prior = uniform_prior(self.bounds, window)
        return {**choices, "prior": prior, "time_limit": time_limit, "progress": report}


@dataclass(frozen=True)
class Candidate:
    """A mechanism to be made, and what to call it before it is."""

    name: str
    paper: str
    make: Callable[[], Mechanism]


def candidates(requirements: Requirements, delta: Number) -> Iterator[Candidate]:
    """Yield every mechanism that needs no search; whether the bounds suit it shows when it is made."""
    for entry, pattern, choices in _variants(searched=False):
        given = {"delta": delta} if entry.takes_delta else {}
        yield Candidate(entry.name_of(pattern), entry.kind.paper, partial(requirements.make, entry, **choices, **given))


def searched_candidates(
    requirements: Requirements, window: Window | None, prior: PriorLike | None, time_limit: Number, report: Progress
) -> Iterator[Candidate]:
    """Yield every mechanism that is searched for, the mean error one over the true answers in a window or a prior."""
    for entry, pattern, choices in _variants(searched=True):
        make = partial(requirements.make, entry, **requirements.search(choices, window, prior, time_limit, report))
        yield Candidate(entry.name_of(pattern), entry.kind.paper, make)


def _variants(*, searched: bool) -> Iterator[tuple[CatalogueEntry, str, Choices]]:
    for entry in CATALOGUE:
        if entry.searched is searched:
            yield from ((entry, pattern, choices) for pattern, choices in entry.variants.items())


def drawn_mechanisms(requirements: Requirements) -> Iterator[tuple[str, Callable[[Number], Mechanism]]]:
    """Yield what is drawn against epsilon, of all that these bounds suit."""
    for entry in CATALOGUE:
        for pattern in entry.drawn:
            choices = entry.variants[pattern]
            try:
                requirements.make(entry, **choices)
            except NOT_APPLICABLE:
                continue
            yield entry.name_of(pattern), partial(_at, requirements, entry, choices)


def _at(requirements: Requirements, entry: CatalogueEntry, choices: Choices, epsilon: Number) -> Mechanism:
    return Requirements(requirements.bounds, requirements.sensitivity, epsilon).make(entry, **choices)


def tuned_choice(mechanism: Mechanism) -> str | None:
    """Return which choice sets mechanisms of its kind apart."""
    return next((entry.tuned for entry in CATALOGUE if type(mechanism) is entry.kind), None)


def refuse_delta(delta: Number) -> None:
    """Refuse a delta that no mechanism could be made with."""
    if not 0 < as_written(delta, "delta", InvalidParameter) < Fraction(1, 2):
        raise InvalidParameter(
            f"delta must be above 0 and below 1/2, got {shown(delta)}; "
            "it should be far below one over the number of people"
        )
