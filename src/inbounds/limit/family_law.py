"""Mechanisms of one scale as laws to choose from: on wide ranges they are as accurate as any can be, nearly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inbounds.accuracy.distribution import Distribution
from inbounds.answers.array import Reader
from inbounds.errors import InboundsError, InvalidParameter
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.published.geng2014 import Staircase
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FamilyLaw:
    """The law of another mechanism."""

    mechanism: Mechanism

    @classmethod
    def of(cls, mechanism: Mechanism, setting: Setting) -> FamilyLaw:
        """Return the law of a mechanism, or refuse one that is for something else: a pickle may hold anything."""
        theirs = mechanism._setting
        if theirs.promise != setting.promise or not _suits(mechanism, setting):
            raise InvalidParameter("the mechanism of an optimum must be for the same question; build the optimum again")
        return cls(mechanism)

    @property
    def distribution(self) -> Distribution:
        """The law in doubles."""
        return self.mechanism._distribution

    def draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer."""
        return self.mechanism._draw(index, entropy)

    @property
    def draw_near(self) -> Callable[[float, Entropy], float] | None:
        """What does the same for an index that is a double, if there is something."""
        return self.mechanism._draw_near

    def draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield what was drawn for one part of an array after another."""
        return self.mechanism._draw_parts(read, count, entropy)

    @property
    def name(self) -> str:
        """What kind of mechanism it is."""
        return self.mechanism.name

    @property
    def key(self) -> Mechanism:
        """What makes it equal to another."""
        return self.mechanism

    def pickle_parts(self) -> Mechanism:
        """Return what it can be made of again."""
        return self.mechanism

    def prove_again(self) -> Certificate:
        """Prove it by another road."""
        return self.mechanism.prove_again()

    def certify(self) -> Certificate:
        """Return what was proved of it."""
        return self.mechanism.certificate


FAMILIES: tuple[tuple[type[Mechanism], dict[str, Any]], ...] = (
    (Staircase, {"ends": "snap"}),
    (Staircase, {"ends": "fold"}),
    (BoundedLaplace, {"pooling": 1}),
    (BoundedLaplace, {"pooling": 0}),
)


def families(setting: Setting) -> Iterator[FamilyLaw]:
    """Yield the families that the bounds suit and that work on the same lattice."""
    given = setting.given
    for kind, choices in FAMILIES:
        make: Any = kind
        try:
            mechanism: Mechanism = make(setting.bounds, given.sensitivity, given.epsilon, **choices)
        except InboundsError:
            continue
        if _suits(mechanism, setting):
            yield FamilyLaw(mechanism)


def _suits(mechanism: Mechanism, setting: Setting) -> bool:
    return mechanism.label.pure and mechanism.in_range and mechanism.step == setting.lattice.step
