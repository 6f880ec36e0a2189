"""What every mechanism is: a description with a proof, from which one can release, and which knows its accuracy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from inbounds.answers.array import AnswerArrays, Reader, as_array
from inbounds.bounds.index_span import within_64_bits
from inbounds.mechanisms.containers import Column, Kind, Many, Plain, are_many, refuse_fixed_point, rewrap
from inbounds.mechanisms.predictable import Predictable
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.prior import Prior, PriorLike
    from inbounds.mechanisms.remapped import Remapped

    Array = NDArray[Any]
    Indices = NDArray[Any]  # int64, or float64 holding integers


class Mechanism(Predictable):
    """A differentially private release of a true value, with its guarantee, the proof of it and the expected error.

    A mechanism of a new paper is a class with

    * `title` and `paper`, `even_timing` or `keeps_distance` where they are true of it, and `pure` where it is not;
      `in_range` and `unbiased`, unless every release is possible;
    * an `__init__(bounds, sensitivity, epsilon, *, choices)` that makes a `Setting` of the first three, refuses what it
      is not for, and passes the setting and a `Certificate` of its proof to `super().__init__`;
    * `_draw`, which returns the index to release for the index of a true answer, exactly by its law;
    * `_distribution`, its law in doubles, from which everything about its accuracy follows.  On few points that is
      `FewPoints` with the probabilities in rows; for noise that is the same for all answers, derive from `Additive`
      instead, and only describe the noise;
    * `prove_again`, a second proof;
    * `choices`, what it was made with beyond bounds, sensitivity and epsilon.

    What it is and how it is compared comes from `Described`, what it says of its accuracy from `Predictable`.

    Attributes are read-only: another epsilon needs another proof, so make a new mechanism.

    Asking about accuracy costs no privacy, as long as you do not ask about the secret value itself: `error(97)` is the
    expected error of a release *if* the true value were 97.  For lists, arrays and Series, every method returns one
    result for each value, in the same shape.
    """

    @abstractmethod
    def _draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer, which may be outside the bounds."""

    @property
    def _draw_near(self) -> Callable[[float, Entropy], float] | None:
        """What does the same as `_draw` for an index that is a double, always with the same work, if there is such."""
        return None

    @overload
    def release(self, answer: Kind) -> Kind: ...
    @overload
    def release(self, answer: Plain) -> float: ...
    @overload
    def release(self, answer: Column) -> Column: ...
    @overload
    def release(self, answer: Many) -> Array: ...
    @np.errstate(all="ignore")  # whatever the caller has set: no answer may decide whether there is an error
    def release(self, answer: Any) -> Any:
        """Return a private release of a true value.

        A single number or date gives one of the same kind: an int on an integer lattice, a Fraction or Decimal for one
        of those, a date for a date, and otherwise a float.  A list or an array of any shape gives an array of
        independent releases, and a Series gives a Series with the same name and index.  Each release costs epsilon: if
        one person can change `n` elements by up to the sensitivity each, the whole array costs `n * epsilon`.

        Values outside the bounds are first moved to the nearest possible one.
        """
        if type(answer) is float:  # what is usual need not be looked at twice
            return self._release_one(answer, system)
        if type(answer) is int:
            return self._release_one(self._answers.usual(answer), system)
        if are_many(answer):
            refuse_fixed_point(answer)
            return rewrap(self._release_array(answer, system), answer)
        return self._release_one(answer, system)

    def remapped(self, prior: PriorLike | Prior | None) -> Remapped:
        """Return this mechanism with each release replaced by the best estimate under a prior, at no privacy cost.

        * `prior`: the public belief about the true value; None counts all possible values equally.  Give a weight for
          each possible value (without a step: for equal parts of the range), or `(weights, edges)` as
          `numpy.histogram` returns them, or a function of the value.

        **A prior must not come from the data.**  Take it from published figures, common knowledge or a public survey.
        A prior computed from the secret values discloses them, whatever epsilon is.

        The expected error under the prior never increases.  The price: releases are biased towards the prior, the worst
        error may be larger, and a remap discards information that intervals and later analysis need.  To keep both, use
        `base.release(answer)` and then `remap(drawn)`.
        """
        from inbounds.mechanisms.remapped import Remapped  # noqa: PLC0415  which is a mechanism itself

        return Remapped(self, prior)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        # Doubles stay doubles where they can: integers take longer the larger they are.
        answers, near = self._answers, self._draw_near
        if near is not None and type(answer) is float and not answers.integral:
            place = answers.place(answer)
            if place is not None:
                return answers.at(near(place, entropy))
        index = self._answers.index(answer)
        write = self._outputs.writer(type(answer))
        return write(self._draw(index, entropy))

    @np.errstate(all="ignore")
    def _release_array(self, answers: Any, entropy: Entropy) -> Array:
        array = as_array(answers)
        flat = array.ravel()
        read, writer = self._arrays.reader(flat), self._output_arrays
        if isinstance(read, list):
            drawn = [self._draw(index, entropy) for index in read]
            return writer.write_each(drawn, flat).reshape(array.shape)
        pieces = [writer.write(drawn, flat[part]) for part, drawn in self._draw_parts(read, len(flat), entropy)]
        return np.concatenate(pieces).reshape(array.shape)

    def _draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        """Yield what was drawn for one part of an array after another; here one element at a time."""
        part = slice(0, count)
        indices = read(part)
        drawn = [self._draw(int(index), entropy) for index in indices.tolist()]
        if indices.dtype == np.int64:
            drawn = [within_64_bits(index) for index in drawn]
        yield part, np.array(drawn, dtype=indices.dtype)

    @cached_property
    def _arrays(self) -> AnswerArrays:
        return AnswerArrays(self._answers)

    @property
    def _output_arrays(self) -> AnswerArrays:
        return self._arrays
