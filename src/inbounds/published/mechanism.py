"""What every published mechanism has: a law, a scale, a privacy label, whether it stays in range, releases, errors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import FAR, Lattice, fine_step
from inbounds.errors import InvalidParameter, LatticeTooFine
from inbounds.exact.rational import concise, shown
from inbounds.mechanisms.averages import Averages
from inbounds.mechanisms.releases import Releases
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.claim import Promise
from inbounds.privacy.guarantee import GuaranteeName, whole_steps
from inbounds.privacy.label import Label

WIDEST = 2**54
"""On unbounded bounds noise may be this many steps wide, so that it stays within 64 bits."""

SLACK = Fraction(1, 2**48)
"""Laws lose this much less than epsilon allows, relatively: a proof in balls confirms an inequality, no equality."""

VAST = 1e290
"""So many steps from every release, a true answer makes an error of its distance, to far below the last digit."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What a mechanism stands on: bounds on a lattice, a sensitivity in whole steps, and epsilon."""

    promise: Promise
    lattice: Lattice
    distance: int
    """How many steps apart the answers of two neighbours can be, after rounding and after being brought into range."""
    given: dict[str, Any]
    """Sensitivity and epsilon as they were given."""

    @classmethod
    def of(cls, bounds: Bounds, sensitivity: Any, epsilon: Any, guarantee: GuaranteeName = "standard") -> Ground:
        """Check what a caller passed, and put it on the lattice of the bounds or on one far finer than the noise.

        For the standard guarantee, a sensitivity above the width of the bounds is that width.
        """
        promise = Promise.of(bounds, sensitivity, epsilon, guarantee, 0, False)
        plain = promise.sensitivity / promise.epsilon
        lattice = Lattice.of(bounds, bounds.step or fine_step(bounds, plain, promise.sensitivity))
        distance = whole_steps(lattice, promise.sensitivity)
        if lattice.bounded and guarantee == "standard":
            distance = min(distance, lattice.high_list[-1] - lattice.low_list[0])
        if not lattice.bounded and distance / promise.epsilon > WIDEST:
            raise LatticeTooFine(
                f"noise for sensitivity {shown(sensitivity)} and epsilon {shown(epsilon)} on unbounded bounds needs "
                f"more than 62 bits to count in steps of {concise(lattice.step)}; "
                "give the bounds a larger step, or ends"
            )
        return cls(promise, lattice, max(distance, 1), {"sensitivity": sensitivity, "epsilon": epsilon})

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of one release."""
        return self.promise.epsilon

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self.promise.bounds

    def clipped(self, index: int) -> int:
        """Return the index nearest to this one that is between the least and the greatest possible answer."""
        low, high = self.lattice.low_list[0], self.lattice.high_list[-1]
        if index < low and low != -FAR:
            return low
        return high if index > high and high != FAR else index


def _as_far(index: int) -> int:
    """Return an index as far from every end as this one: beyond FAR all are alike."""
    return max(-FAR, min(FAR, index))


def need_step(ground: Ground, name: str, remedy: str) -> None:
    """Refuse bounds without a step, for a mechanism that is defined on a lattice."""
    if ground.bounds.step is None:
        raise InvalidParameter(
            f"{name} is for lattices, and {ground.bounds.brief()} has no step; give the bounds one, or {remedy}"
        )


def need_one_span(ground: Ground, name: str, remedy: str) -> None:
    """Refuse bounds with gaps or without ends, for a mechanism that is defined on one interval."""
    if len(ground.lattice) > 1 or not ground.lattice.bounded:
        raise InvalidParameter(f"{name} is for one bounded interval, and {ground.bounds.brief()} is none; {remedy}")


def again(kind: type, bounds: Bounds, given: dict[str, Any]) -> Any:
    """Make a mechanism that was pickled."""
    return kind(bounds, **given)


class Mechanism(Averages, Releases):
    """A published mechanism on a lattice."""

    paper: ClassVar[str]
    """Where it is from."""
    name: str
    """What it is called in a comparison."""
    in_range: bool
    """Whether every release is a possible answer."""
    certificate: Certificate
    """What was proved of its privacy."""
    _ground: Ground

    def __init__(self, ground: Ground, certificate: Certificate, **parts: Any) -> None:
        answers = Answers(ground.bounds, ground.lattice)
        self.__dict__.update(_ground=ground, _answers=answers, certificate=certificate, **parts)

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self._ground.bounds

    @property
    def sensitivity(self) -> Any:
        """The most that one person can change the answer, as it was given."""
        return self._ground.given["sensitivity"]

    @property
    def epsilon(self) -> Any:
        """The privacy loss of one release, as it was given."""
        return self._ground.given["epsilon"]

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring releases."""
        return self._ground.lattice.step

    @property
    def scale(self) -> float | None:
        """Over which distance the noise falls by a factor e, in the units of the answer; None if it has no such."""
        return None

    @property
    def label(self) -> Label:
        """The privacy that was proved."""
        proved = self.certificate
        return Label(self._ground.epsilon, proved.delta, None if proved.holds else proved.witnessed)

    def error(self, value: Any) -> float:
        """Return the expected absolute error of a release if the true answer is `value`; in days for dates."""
        centre = self._ground.clipped(self._answers.index(value))
        excess = self._answers.excess(value, centre)
        if abs(excess) > VAST * min(self._step, 1.0):  # in steps it may be beyond doubles
            return abs(excess)
        return self._error(_as_far(centre), excess / self._step) * self._step

    def pmf(self, released: Any, value: Any) -> float:
        """Return the probability that `released` is released if the true answer is `value`."""
        index = self._answers.point(released)
        centre = self._ground.clipped(self._answers.index(value))
        near = _as_far(centre)
        return 0.0 if index is None else self._probability(index - centre + near, near)

    @abstractmethod
    def _error(self, centre: int, excess: float) -> float:
        """Return the expected distance, in steps, from a true answer so far above an index."""

    @abstractmethod
    def _probability(self, index: int, centre: int) -> float:
        """Return the probability that an index is released for another."""

    @abstractmethod
    def prove_again(self) -> Certificate:
        """Prove its privacy by another road than the first time, where there is one."""

    @property
    def _choices(self) -> dict[str, Any]:
        """What it was made with, other than bounds, sensitivity and epsilon."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for; whoever unpickles proves it again."""
        return again, (type(self), self.bounds, {**self._ground.given, **self._choices})

    def __repr__(self) -> str:
        scale = "" if self.scale is None else f", scale {self.scale:.6g}"
        given = f"sensitivity={shown(self.sensitivity)}, epsilon={shown(self.epsilon)}"
        return f"<{self.name} ({self.paper}) on {self.bounds.brief()}, {given}{scale}: {self.label}>"
