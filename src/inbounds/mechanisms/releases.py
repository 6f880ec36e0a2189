"""Releasing: a true answer in, of any kind, and a private one of the same kind out.

What every mechanism that can be released from has in common, whatever its law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.answers.array import AnswerArrays, Reader, as_array
from inbounds.answers.single import Answers
from inbounds.bounds.lattice import FAR
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[Any]  # int64, or float64 holding integers


class Releases(ABC):
    """A frozen mechanism that draws one index for another."""

    _answers: Answers

    @abstractmethod
    def _draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer, which may be outside the bounds."""

    def release(self, answer: Any) -> Any:
        """Return a private answer in place of a true one.

        One number or date gives one of the same kind: an int on an integer lattice, a Fraction or Decimal for such, a
        date for a date, else a float.  An array of any shape gives an array of independent releases, one for each
        element.  Each of them costs epsilon: if one person can change `n` elements by a sensitivity each, the whole
        array costs `n * epsilon`.

        Answers outside the bounds are brought to the nearest end first.
        """
        if type(answer) is float or type(answer) is int:  # what is usual need not be looked at twice
            return self._release_one(answer, system)
        is_array = hasattr(answer, "__array__") and not isinstance(answer, np.generic)
        if is_array or isinstance(answer, list | tuple):
            return self._release_array(answer, system)
        return self._release_one(answer, system)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        index = self._answers.index(answer)
        write = self._outputs.writer(type(answer))
        return write(self._draw(index, entropy))

    def _release_array(self, answers: Any, entropy: Entropy) -> Any:
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
            drawn = [max(-FAR, min(FAR, index)) for index in drawn]
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

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot set {name}: another mechanism needs a proof of its own, so make a new one")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name}: a mechanism is frozen")
