"""Which mechanisms there are to choose from for some bounds, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

from inbounds.accuracy.window import Window
from inbounds.bounds import Bounds
from inbounds.errors import InboundsError, InvalidParameter
from inbounds.exact.rational import as_written, shown
from inbounds.mechanisms.additive.additive import MANNERS, Additive
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.privacy.label import Label
from inbounds.published import (
    AdaptiveLaplace,
    ExplicitFair,
    Geometric,
    HolohanLaplace,
    Laplace,
    NaiveLaplace,
    Staircase,
    TruncatedLaplacian,
)


class Comparable(Protocol):
    """What a mechanism must tell to take part in a comparison or a picture."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def label(self) -> Label:
        """Its privacy, as proved."""

    @property
    def in_range(self) -> bool:
        """Whether every release is a possible answer."""

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""

    @property
    def sensitivity(self) -> Any:
        """The most that one person can change the answer."""

    @property
    def epsilon(self) -> Any:
        """The privacy loss of one release."""

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring releases."""

    @property
    def scale(self) -> float | None:
        """The scale of its noise."""

    def release(self, answer: Any) -> Any:
        """Return a private answer in place of a true one."""

    def pmf(self, released: Any, value: Any) -> float:
        """Return the probability that `released` is released if the true answer is `value`."""

    def error(self, value: Any) -> float:
        """Return the expected absolute error if the true answer is `value`."""

    def mean_error(self, window: Window | None = None) -> float:
        """Return the expected absolute error averaged over true answers."""

    def worst_error(self, window: Window | None = None) -> float:
        """Return the greatest expected absolute error."""

    def at_ends(self, window: Window | None = None) -> float:
        """Return how probable it is that a release is an end of a span."""


@dataclass(frozen=True)
class Question:
    """What the mechanisms are to answer."""

    bounds: Bounds
    sensitivity: Any
    epsilon: Any

    def make(self, kind: Callable[..., Any], **choices: Any) -> Any:
        """Make a mechanism for it."""
        return kind(self.bounds, self.sensitivity, self.epsilon, **choices)


@dataclass(frozen=True)
class Candidate:
    """A mechanism to be made, and what to call it before it is."""

    name: str
    paper: str
    make: Callable[[], Any]


def candidates(question: Question, delta: Any) -> Iterator[Candidate]:
    """Yield every mechanism that is not the optimum itself; whether the bounds suit it shows when it is made."""
    make = question.make
    croft = "Croft et al. 2022, sharpened"
    yield Candidate("bounded Laplace, pooling 0", croft, partial(make, BoundedLaplace))
    yield Candidate("bounded Laplace, pooling 1", "this library", partial(make, BoundedLaplace, pooling=1))
    yield Candidate("bounded Laplace, pooling ½", "this library", partial(make, BoundedLaplace, pooling=0.5))
    yield Candidate(AdaptiveLaplace.title, AdaptiveLaplace.paper, partial(make, AdaptiveLaplace))
    yield Candidate(HolohanLaplace.title, HolohanLaplace.paper, partial(make, HolohanLaplace))
    yield Candidate(NaiveLaplace.title, NaiveLaplace.paper, partial(make, NaiveLaplace))
    kinds: list[tuple[type[Additive[Any]], Callable[..., Any]]] = [
        (Laplace, _continuous_laplace),
        (Geometric, Geometric),
        (Staircase, Staircase),
        (TruncatedLaplacian, partial(TruncatedLaplacian, delta=delta)),
    ]
    for kind, making in kinds:
        for ends, manner in MANNERS.items():
            yield Candidate(f"{manner} {kind.title}", kind.paper, partial(make, making, ends=ends))
    yield Candidate(ExplicitFair.title, ExplicitFair.paper, partial(make, ExplicitFair))


def refuse_delta(delta: Any) -> None:
    """Refuse a delta that no mechanism could be made with."""
    if not 0 < as_written(delta, "delta", InvalidParameter) < Fraction(1, 2):
        raise InvalidParameter(
            f"delta must be above 0 and below 1/2, got {shown(delta)}; "
            "it should be far below one over the number of people"
        )


def _continuous_laplace(bounds: Bounds, sensitivity: Any, epsilon: Any, **choices: Any) -> Laplace:
    if bounds.step is not None:
        raise InvalidParameter("with a step, Laplace noise is the two-sided geometric; see there")
    return Laplace(bounds, sensitivity, epsilon, **choices)


NOT_APPLICABLE = InboundsError
"""What a mechanism raises when it is not for these bounds; the parameters were checked before."""
