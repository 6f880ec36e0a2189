"""What every mechanism is: a description with a proof, from which one can release, and which knows its accuracy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.interval import Intervals
from inbounds.accuracy.true_answers import TrueAnswers, greatest, mean
from inbounds.accuracy.window import Window, indices_of, refuse_infinite
from inbounds.answers.array import AnswerArrays, Reader, as_array
from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.index_span import within_64_bits
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, as_written, round_nearest, shown
from inbounds.mechanisms.containers import (
    Asked,
    Column,
    Kind,
    Many,
    Plain,
    Series,
    Single,
    are_many,
    refuse_fixed_point,
    rewrapped,
)
from inbounds.mechanisms.setting import Setting
from inbounds.mechanisms.truths import Truths, Units
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.label import Label
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from datetime import date, datetime

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Indices = NDArray[Any]  # int64, or float64 holding integers

VAST = 1e290
"""So many steps from every release, a true answer makes an error of its distance, to far below the last digit."""


class Mechanism(ABC):
    """A private answer in place of a true one: what it promises, what was proved of that, and how far off it will be.

    A mechanism of a new paper is a class with

    * `title` and `paper`, `even_timing` or `keeps_distance` where they are true of it, and `pure` where it is not;
    * an `__init__(bounds, sensitivity, epsilon, *, choices)` that makes a `Setting` of the first three, refuses what it
      is not for, and passes the setting and a `Certificate` of its proof to `super().__init__`;
    * `_draw`, which returns the index to release for the index of a true answer, exactly by its law;
    * `_distribution`, its law in doubles, from which everything about its accuracy follows.  On few points that is
      `FewPoints` with the probabilities in rows; for noise that is the same for all answers, derive from `Additive`
      instead, and only describe the noise;
    * `prove_again`, a second proof;
    * `choices`, what it was made with beyond bounds, sensitivity and epsilon.

    All that is public can be read and not be set: another epsilon needs a proof of its own, so make a new mechanism.

    Nothing that a mechanism says of its accuracy costs privacy, as long as the true answers asked about are not the
    secret one: `error(97)` says how far off a release would be *if* the true answer were 97.  Lists, arrays and Series
    of values are answered one by one, in the same shape.
    """

    title: ClassVar[str]
    """What its kind is called."""
    paper: ClassVar[str]
    """Where it is from."""
    even_timing: ClassVar[bool] = False
    """Whether a draw does the same work wherever the true answer is."""
    keeps_distance: ClassVar[bool] = False
    """Whether it can keep the distance guarantee (metric privacy), and takes `guarantee="distance"`."""
    pure: ClassVar[bool] = True
    """Whether all of its kind keep epsilon without a delta; what was proved of one of them says its `label`."""

    def __init__(self, setting: Setting, certificate: Certificate) -> None:
        self._setting, self._certificate = setting, certificate
        self._answers = Answers(setting.bounds, setting.lattice)

    @abstractmethod
    def _draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer, which may be outside the bounds."""

    @property
    @abstractmethod
    def _distribution(self) -> Distribution:
        """The law of releases for every true answer, in doubles."""

    @abstractmethod
    def prove_again(self) -> Certificate:
        """Prove its privacy by another road than the first time, where there is one."""

    # What it is.

    @property
    def name(self) -> str:
        """What it is called in a comparison."""
        return self.title

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self._setting.bounds

    @property
    def sensitivity(self) -> Number | timedelta:
        """The most that one person can change the answer, as it was given."""
        return self._setting.given.sensitivity

    @property
    def epsilon(self) -> Number:
        """The privacy loss of one release, as it was given."""
        return self._setting.given.epsilon

    @property
    def guarantee(self) -> GuaranteeName:
        """Which guarantee is kept: "standard" or "distance"."""
        return self._setting.guarantee

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring releases."""
        return self._setting.lattice.step

    @property
    def scale(self) -> float | None:
        """Over which distance the noise falls by a factor e, in the units of the answer; None if it has no such."""
        return None

    @property
    def pooling(self) -> Number:
        """How much of the noise that would leave the bounds stays at their ends, from 0 to 1."""
        return 0

    @property
    def in_range(self) -> bool:
        """Whether every release is a possible answer."""
        return True

    @property
    def certificate(self) -> Certificate:
        """What was proved of its privacy."""
        return self._certificate

    @property
    def label(self) -> Label:
        """The privacy that was proved."""
        proved = self._certificate
        return Label(self._setting.epsilon, proved.delta, None if proved.holds else proved.witnessed)

    # Releasing.

    @overload
    def release(self, answer: Kind) -> Kind: ...
    @overload
    def release(self, answer: Plain) -> float: ...
    @overload
    def release(self, answer: Column) -> Column: ...
    @overload
    def release(self, answer: Many) -> Array: ...
    def release(self, answer: Any) -> Any:
        """Return a private answer in place of a true one.

        One number or date gives one of the same kind: an int on an integer lattice, a Fraction or Decimal for such, a
        date for a date, else a float.  A list or an array of any shape gives an array of independent releases, one for
        each element, and a Series one with the same name and index.  Each of them costs epsilon: if one person can
        change `n` elements by a sensitivity each, the whole array costs `n * epsilon`.

        Answers outside the bounds are brought to the nearest end first.
        """
        if type(answer) is float:  # what is usual need not be looked at twice
            return self._release_one(answer, system)
        if type(answer) is int:
            return self._release_one(self._answers.usual(answer), system)
        if are_many(answer):
            refuse_fixed_point(answer)
            return rewrapped(self._release_array(answer, system), answer)
        return self._release_one(answer, system)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        index = self._answers.index(answer)
        write = self._outputs.writer(type(answer))
        return write(self._draw(index, entropy))

    @np.errstate(all="ignore")  # whatever the caller has set: no answer may decide whether there is a warning
    def _release_array(self, answers: Any, entropy: Entropy) -> Array:
        array = as_array(answers)
        flat = array.ravel()
        read, written = self._arrays.reader(flat), self._output_arrays
        if isinstance(read, list):
            drawn = [self._draw(index, entropy) for index in read]
            return written.write_each(drawn, flat).reshape(array.shape)
        pieces = [written.write(drawn, flat[part]) for part, drawn in self._drawn(read, len(flat), entropy)]
        return np.concatenate(pieces).reshape(array.shape)

    def _drawn(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        """Yield what was drawn for one part of an array after another; here one element at a time."""
        part = slice(0, count)
        indices = read(part)
        drawn = [self._draw(int(index), entropy) for index in indices.tolist()]
        if indices.dtype == np.int64:
            drawn = [within_64_bits(index) for index in drawn]
        yield part, np.array(drawn, dtype=indices.dtype)

    @property
    def _outputs(self) -> Answers:
        """What writes releases: as answers are read, unless releases may be outside the bounds."""
        return self._answers

    @cached_property
    def _arrays(self) -> AnswerArrays:
        return AnswerArrays(self._answers)

    @property
    def _output_arrays(self) -> AnswerArrays:
        return self._arrays

    # What to expect if the true answer is such and such.

    @overload
    def error(self, value: Single) -> float: ...
    @overload
    def error(self, value: Column) -> Column: ...
    @overload
    def error(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def error(self, value: Any) -> Any:
        """Return the expected absolute error of a release if the true answer is `value`; in days for dates."""
        asked, truths, excess = self._with_excess(value)
        steps = np.array([round_nearest(above / self.step) if above else 0.0 for above in excess])
        found = self._units.lengths(self._distribution.error(truths.near, np.clip(steps, -VAST, VAST)))
        if (abs(steps) >= VAST).any():
            found = np.where(abs(steps) >= VAST, [abs(round_nearest(above)) for above in excess], found)
        return asked.numbers(found)

    @overload
    def bias(self, value: Single) -> float: ...
    @overload
    def bias(self, value: Column) -> Column: ...
    @overload
    def bias(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def bias(self, value: Any) -> Any:
        """Return by how much releases are too high on average if the true answer is `value`; in days for dates."""
        asked, truths, excess = self._with_excess(value)
        bias = self._units.lengths(self._distribution.bias_and_variance(truths.near)[0])
        return asked.numbers(bias - np.array([round_nearest(above) for above in excess]))

    @overload
    def mean(self, value: date | np.datetime64) -> datetime: ...
    @overload
    def mean(self, value: Number) -> float: ...
    @overload
    def mean(self, value: Column) -> Column: ...
    @overload
    def mean(self, value: Many) -> Array: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def mean(self, value: Any) -> Any:
        """Return the mean of releases if the true answer is `value`: a float, or for dates a datetime."""
        asked, truths = self._truths(value)
        biases = self._units.lengths(self._distribution.bias_and_variance(truths.near)[0]).tolist()
        found: list[float | datetime] = [self._units.mean(*at) for at in zip(truths.exact, biases, strict=True)]
        return asked.written(found if self.bounds.is_dates else np.array(found))

    @overload
    def variance(self, value: Single) -> float: ...
    @overload
    def variance(self, value: Column) -> Column: ...
    @overload
    def variance(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def variance(self, value: Any) -> Any:
        """Return the variance of releases if the true answer is `value`; in squared days for dates."""
        asked, truths = self._truths(value)
        return asked.numbers(self._units.lengths(self._distribution.bias_and_variance(truths.near)[1], power=2))

    @overload
    def pmf(self, released: Single, value: Single) -> float: ...
    @overload
    def pmf(self, released: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def pmf(self, released: Single, value: Column) -> Column: ...
    @overload
    def pmf(self, released: Many, value: Single | Many | Series) -> Floats: ...
    @overload
    def pmf(self, released: Single, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def pmf(self, released: Any, value: Any) -> Any:
        """Return the probability that `released` is released if the true answer is `value`."""
        asked, truths = self._truths(released, value)
        indices = [self._answers.point(one) for one in asked.values(0)]
        at = truths.beside([0 if index is None else index for index in indices])
        found = self._distribution.probability(at, truths.near)
        return asked.numbers(np.where([index is None for index in indices], 0.0, found))

    @overload
    def cdf(self, released: Single, value: Single) -> float: ...
    @overload
    def cdf(self, released: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def cdf(self, released: Single, value: Column) -> Column: ...
    @overload
    def cdf(self, released: Many, value: Single | Many | Series) -> Floats: ...
    @overload
    def cdf(self, released: Single, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def cdf(self, released: Any, value: Any) -> Any:
        """Return the probability that at most `released` is released if the true answer is `value`."""
        asked, truths = self._truths(released, value)
        indices, known = self._units.floors(asked.values(0))
        found = self._distribution.up_to(truths.beside(indices), truths.near)
        return asked.numbers(np.where(np.isnan(known), found, known))

    @overload
    def quantile(self, probability: float, value: Kind) -> Kind: ...
    @overload
    def quantile(self, probability: float, value: Plain) -> float: ...
    @overload
    def quantile(self, probability: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def quantile(self, probability: float, value: Column) -> Column: ...
    @overload
    def quantile(self, probability: Many, value: Single | Many | Series) -> Array: ...
    @overload
    def quantile(self, probability: float, value: Many) -> Array: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def quantile(self, probability: Any, value: Any) -> Any:
        """Return the least answer that releases exceed with probability at most `1 - probability`."""
        asked, truths = self._truths(probability, value)
        for one in asked.values(0):
            _check_probability(one, "probability")
        found = self._distribution.quantile(np.array(asked.values(0), dtype=np.float64), truths.near)
        return self._written(asked, 1, truths.moved_back(found), self._outputs)

    @overload  # nothing is both a single answer and a column
    def interval(self, released: Kind, confidence: float = ...) -> tuple[Kind, Kind]: ...
    @overload
    def interval(self, released: Plain, confidence: float = ...) -> tuple[float, float]: ...
    @overload
    def interval(self, released: Column, confidence: float = ...) -> tuple[Column, Column]: ...
    @overload
    def interval(self, released: Many, confidence: float = ...) -> tuple[Array, Array]: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def interval(self, released: Any, confidence: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that holds the true answer with at least this confidence.

        Whatever the true answer is, intervals computed from its releases hold it this often; an answer that is not
        possible counts as the nearest one that is.  Both ends are possible answers.  Costs no privacy.
        """
        _check_probability(confidence, "confidence")
        asked = Asked(released)
        values = asked.values(0)
        indices = [self._answers.index_of_release(value) for value in values]
        if self.in_range:
            indices = [self._setting.lattice.project(index)[0] for index in indices]
        releases = Truths.of(indices)
        distinct, which = np.unique(releases.near, return_inverse=True)

        def written(end: Indices, sign: int) -> Any:
            found = zip(releases.moved_back(end[which]), values, strict=True)
            return self._in_shape(asked, [self._units.outward(index, sign, type(value)) for index, value in found])

        low, high = (self._setting.lattice.nearest(end) for end in self._intervals.around(distinct, float(confidence)))
        return written(low, -1), written(high, 1)

    # What to expect over all true answers.

    @np.errstate(all="ignore")
    def worst_error(self, window: Window | None = None) -> float:
        """Return the greatest expected absolute error over all possible true answers, or those in a window."""
        return self._length(greatest(self._looked_at(window), self._distribution.errors))

    @np.errstate(all="ignore")
    def mean_error(self, window: Window | None = None) -> float:
        """Return the expected absolute error averaged over possible true answers, each counted alike.

        All of them, or those from `window[0]` to `window[1]`: if the bounds have no end, there must be a window.
        """
        refuse_infinite(window, self.bounds)
        return self._length(mean(self._looked_at(window), self._distribution.errors))

    @np.errstate(all="ignore")
    def at_ends(self, window: Window | None = None) -> float:
        """Return how probable it is that a release is an end of a span, averaged like `mean_error`."""
        refuse_infinite(window, self.bounds)
        return mean(self._looked_at(window), self._distribution.at_ends)

    # Helpers.

    def _centre(self, index: int) -> int:
        """Return the index that a true answer counts as: between the least and the greatest possible one."""
        return self._setting.clipped(index)

    def _truths(self, *parts: Any) -> tuple[Asked, Truths]:
        """Read the last of some parts as true answers."""
        asked = Asked(*parts)
        values = asked.values(len(parts) - 1)
        return asked, Truths.of([self._centre(self._answers.index(value)) for value in values])

    def _with_excess(self, value: Any) -> tuple[Asked, Truths, list[Fraction]]:
        """Read true answers, and how far each is above the index that it counts as."""
        asked, truths = self._truths(value)
        pairs = zip(asked.values(0), truths.exact, strict=True)
        return asked, truths, [self._units.excess(one, index) for one, index in pairs]

    def _written(self, asked: Asked, which: int, indices: list[int], outputs: Answers) -> Any:
        """Write indices as answers of the kinds of the values of one part."""
        kinds = [type(value) for value in asked.values(which)]
        return self._in_shape(asked, [outputs.writer(kind)(index) for index, kind in zip(indices, kinds, strict=True)])

    def _in_shape(self, asked: Asked, written: list[Any]) -> Any:
        """Return what was written in the shape of what was asked, plain numbers and days as arrays of such."""
        if asked.is_single:
            return written[0]
        kinds = {type(one) for one in written}
        if kinds <= {float} or kinds <= {np.datetime64} or (kinds <= {int} and self._fit_int64(written)):
            return asked.written(np.array(written))
        return asked.written(written)

    @staticmethod
    def _fit_int64(written: list[int]) -> bool:
        return all(-(2**63) <= one < 2**63 for one in written)

    def _looked_at(self, window: Window | None) -> TrueAnswers:
        return self._distribution.looked_at(*indices_of(window, self.bounds, self._setting.lattice))

    def _length(self, steps: float) -> float:
        return float(self._units.lengths(np.array([steps]))[0])

    @cached_property
    def _units(self) -> Units:
        return Units(self.bounds, self._setting.lattice, self._answers)

    @cached_property
    def _intervals(self) -> Intervals:
        return Intervals(self._distribution)

    # What it is made of: equal if that is, whatever its memory; pickled, and proved again by whoever unpickles it.

    @property
    def choices(self) -> dict[str, Any]:
        """What it was made with, other than bounds, sensitivity and epsilon, where it is not the usual."""
        return {} if self.guarantee == "standard" else {"guarantee": self.guarantee}

    @property
    def _key(self) -> tuple[object, ...]:
        """What makes it equal to another of its class."""
        return self._setting.promise, *self.choices.items()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Mechanism)
        return self._key == other._key

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for; whoever unpickles proves it again."""
        return again, (type(self), self.bounds, {**self._setting.given._asdict(), **self.choices})

    def __repr__(self) -> str:
        given = {"sensitivity": self.sensitivity, "epsilon": self.epsilon, **self.choices}
        made = ", ".join([self.bounds.brief(), *(f"{name}={shown(value)}" for name, value in given.items())])
        scale = "" if self.scale is None else f"scale {self.scale:.6g}, "
        return f"<{type(self).__name__}({made}): {scale}{self.label}>"


def again(kind: type[Mechanism], bounds: Bounds, given: dict[str, Any]) -> Mechanism:
    """Make a mechanism that was pickled."""
    given_kind: object = kind
    if not (isinstance(given_kind, type) and issubclass(given_kind, Mechanism)):
        raise InvalidParameter("what is unpickled here must be a mechanism; make it anew")
    make: Any = kind  # each has choices of its own
    made: Mechanism = make(bounds, **given)
    return made


def _check_probability(value: Any, name: str) -> None:
    if not 0 < as_written(value, name, InvalidParameter) < 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {shown(value)}; give for example 0.95")
