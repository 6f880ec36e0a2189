"""What a mechanism is: what it was asked for, what was proved of it, and what makes two of them equal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar

from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, shown
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.label import Label


class Described(ABC):
    """The parameters, the guarantee and the proof of a mechanism."""

    title: ClassVar[str]
    """The name of this kind of mechanism."""
    paper: ClassVar[str]
    """The paper that introduced it."""
    even_timing: ClassVar[bool] = False
    """Whether a draw does the same work for every true answer."""
    keeps_distance: ClassVar[bool] = False
    """Whether it can keep the distance guarantee (metric privacy), and takes `guarantee="distance"`."""
    pure: ClassVar[bool] = True
    """Whether all of its kind keep epsilon without a delta; what was proved of one of them says its `label`."""

    leans = False
    """Whether releases are drawn towards what is believed beforehand, rather than towards the truth alone."""
    release_count: int | None = None
    """The number of different releases, if it is small by design."""

    def __init__(self, setting: Setting, certificate: Certificate) -> None:
        self._setting, self._certificate = setting, certificate
        self._answers = Answers(setting.bounds, setting.lattice)

    @abstractmethod
    def prove_again(self) -> Certificate:
        """Prove its privacy again by a second method, if there is one."""

    @property
    def name(self) -> str:
        """Its name in a comparison."""
        return self.title

    @property
    def bounds(self) -> Bounds:
        """The set of possible answers."""
        return self._setting.bounds

    @property
    def sensitivity(self) -> Number | timedelta:
        """The most one person can change the true value, as given."""
        return self._setting.given.sensitivity

    @property
    def epsilon(self) -> Number:
        """The privacy loss of one release, as given."""
        return self._setting.given.epsilon

    @property
    def guarantee(self) -> GuaranteeName:
        """The guarantee, "standard" or "distance"."""
        return self._setting.guarantee

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring releases."""
        return self._setting.lattice.step

    @property
    def scale(self) -> float | None:
        """The distance over which the noise falls by a factor of e, in the units of the answer, if there is one."""
        return None

    @property
    def pooling(self) -> Number:
        """The share of the probability outside the bounds that is added to their ends, from 0 to 1."""
        return 0

    @property
    def limit(self) -> float | None:
        """A lower bound on the error of any mechanism, if one was found when this one was made."""
        return None

    @property
    def in_range(self) -> bool:
        """Whether every release is a possible answer."""
        return True

    @property
    def unbiased(self) -> bool | None:
        """Whether releases are unbiased for every possible true value; None if that is not known.

        Exactly so for values on the lattice; others are rounded first, by up to half a step.  No private mechanism that
        stays within an end of the bounds is unbiased: for a true value at that end, every release would have to be it.
        """
        lattice = self._setting.lattice
        if not self.in_range or (lattice.unbounded_below and lattice.unbounded_above):
            return None
        return lattice.bounded and lattice.width == 0

    @property
    def certificate(self) -> Certificate:
        """The proof of its privacy."""
        return self._certificate

    @property
    def label(self) -> Label:
        """The privacy that was proved."""
        proved = self._certificate
        return Label(self._setting.epsilon, proved.delta, None if proved.holds else proved.witnessed)

    @property
    def _outputs(self) -> Answers:
        """What writes releases: as answers are read, unless releases may be outside the bounds."""
        return self._answers

    # What it is made of: equal if that is, whatever its memory; pickled, and proved again by whoever unpickles it.

    @property
    def choices(self) -> dict[str, Any]:
        """The parameters other than bounds, sensitivity and epsilon that differ from their defaults."""
        return {} if self.guarantee == "standard" else {"guarantee": self.guarantee}

    @property
    def _key(self) -> tuple[object, ...]:
        """What makes it equal to another of its class."""
        return self._setting.promise, *self.choices.items()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Described)
        return self._key == other._key

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for; whoever unpickles proves it again."""
        return again, (type(self), self.bounds, {**self._setting.given._asdict(), **self.choices})

    def __repr__(self) -> str:
        given = {"sensitivity": self.sensitivity, "epsilon": self.epsilon, **self.choices}
        arguments = ", ".join([self.bounds.brief(), *(f"{name}={shown(value)}" for name, value in given.items())])
        scale = "" if self.scale is None else f"scale {self.scale:.6g}, "
        return f"<{type(self).__name__}({arguments}): {scale}{self.label}>"


def again(kind: type[Described], bounds: Bounds, given: dict[str, Any]) -> Described:
    """Make a mechanism that was pickled."""
    given_kind: object = kind
    if not (isinstance(given_kind, type) and issubclass(given_kind, Described)):
        raise InvalidParameter("only a mechanism can be unpickled here; create it again")
    make: Any = kind  # each has choices of its own
    return make(bounds, **given)
