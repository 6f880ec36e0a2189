"""BoundedLaplace: private answers that are always possible."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from inbounds.answer import Answers
from inbounds.answer_array import AnswerArrays, as_array
from inbounds.bounds import Bounds
from inbounds.calibration import calibrate
from inbounds.certificate import Certificate
from inbounds.claim import Claim, Promise
from inbounds.expectation import Expectations
from inbounds.guarantee import GuaranteeName
from inbounds.rational import shown
from inbounds.sampling.entropy import Entropy, system
from inbounds.sampling.many import ArraySampler, chunks
from inbounds.sampling.one import Sampler


@final
class BoundedLaplace(Expectations):
    """Laplace noise, truncated to the possible answers and scaled so that this stays private.

    Making one finds the least scale that keeps the guarantee, and proves that it does: see `certificate`.

    >>> satisfaction = BoundedLaplace(Bounds(0, 100), sensitivity=2, epsilon=0.5)
    >>> 0 <= satisfaction.release(97.0) <= 100
    True

    * `bounds`: which answers are possible, as everyone knows.
    * `sensitivity`: the most that one person can change the answer; for dates in days, or a timedelta.
    * `epsilon`: the privacy loss of one release, from 1e-9 to 1000.
    * `guarantee`: "standard" is epsilon-DP.  "distance" promises a loss of `i * epsilon` for answers `i` sensitivities
      apart (whole `i`; in between up to the rounding to a step), which is what adds up when one person can change
      several answers a little each.
    * `pooling`: what happens to noise that would leave the bounds, from 0 (the law is normalised without it) to 1 (it
      stays at the end it would have left by).
    * `trusted`: whether you vouch that every answer is possible.  If not, answers outside the bounds are projected to
      the nearest possible one, and the scale accounts for that.
    """

    claim: Claim
    """What is promised, and the exact law that keeps it."""
    certificate: Certificate
    """The proof that it does."""
    _given: dict[str, Any]
    _sampler: Sampler

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Any,
        epsilon: Any,
        *,
        guarantee: GuaranteeName = "standard",
        pooling: Any = 0.0,
        trusted: bool = False,
    ) -> None:
        found = calibrate(Promise.of(bounds, sensitivity, epsilon, guarantee, pooling, trusted))
        answers = Answers(bounds, found.claim.lattice)
        super().__init__(found.claim, answers)
        self.__dict__.update(
            certificate=found.certificate,
            _given={"sensitivity": sensitivity, "epsilon": epsilon, "pooling": pooling},
            _sampler=Sampler(found.claim.law),
        )

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self.claim.promise.bounds

    @property
    def sensitivity(self) -> Any:
        """The most that one person can change the answer, as it was given."""
        return self._given["sensitivity"]

    @property
    def epsilon(self) -> Any:
        """The privacy loss of one release, as it was given."""
        return self._given["epsilon"]

    @property
    def guarantee(self) -> GuaranteeName:
        """Which guarantee is kept: "standard" or "distance"."""
        return self.claim.promise.guarantee

    @property
    def pooling(self) -> Any:
        """How much of the noise that would leave the bounds stays at their ends, as it was given."""
        return self._given["pooling"]

    @property
    def trusted(self) -> bool:
        """Whether every answer was vouched to be possible."""
        return self.claim.promise.trusted

    @property
    def scale(self) -> float:
        """The scale of the noise.  The scale that is used is exactly this double."""
        return float(self.claim.scale)

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring possible answers."""
        return self.claim.lattice.step

    def release(self, answer: Any) -> Any:
        """Return a private answer in place of a true one.

        One number or date gives one of the same kind: an int on an integer lattice, a Fraction or Decimal for such, a
        date for a date, else a float.  An array of any shape gives an array of independent releases, one for each
        element.  Each of them costs epsilon: if one person can change `n` elements by a sensitivity each, the whole
        array costs `n * epsilon`.

        Answers outside the bounds are projected to the nearest possible one first.
        """
        is_array = hasattr(answer, "__array__") and not isinstance(answer, np.generic)
        if is_array or isinstance(answer, list | tuple):
            return self._release_array(answer, system)
        return self._release_one(answer, system)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        index = self._answers.index(answer)
        write = self._answers.writer(type(answer))
        return write(self._draw(index, entropy))

    def _release_array(self, answers: Any, entropy: Entropy) -> Any:
        array = as_array(answers)
        flat = array.ravel()
        read = self._arrays.reader(flat)
        if isinstance(read, list):
            drawn = [self._draw(index, entropy) for index in read]
            return self._arrays.write_each(drawn, flat).reshape(array.shape)
        pieces = []
        for part, words in chunks(len(flat), entropy):
            centres, spans = self.claim.lattice.project_many(read(part))
            drawn_part = self._array_sampler.draw(words, centres, spans, entropy)
            pieces.append(self._arrays.write(drawn_part, flat[part]))
        return np.concatenate(pieces).reshape(array.shape)

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self._sampler.draw(*self.claim.lattice.project(index), entropy)

    @cached_property
    def _arrays(self) -> AnswerArrays:
        return AnswerArrays(self._answers)

    @cached_property
    def _array_sampler(self) -> ArraySampler:
        return ArraySampler(self._sampler)

    def __repr__(self) -> str:
        promise = self.claim.promise
        parts = [
            self.bounds.brief(),
            f"sensitivity={shown(self.sensitivity)}",
            f"epsilon={shown(self.epsilon)}",
            *([f"guarantee={promise.guarantee!r}"] if promise.guarantee != "standard" else []),
            *([f"pooling={shown(self.pooling)}"] if promise.pooling else []),
            *(["trusted=True"] if promise.trusted else []),
        ]
        return f"<BoundedLaplace({', '.join(parts)}): scale {self.scale:.6g}, proved>"

    def __eq__(self, other: object) -> bool:
        return self.claim.promise == other.claim.promise if isinstance(other, BoundedLaplace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.claim.promise)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot set {name}: another mechanism needs a proof of its own, so make a new one")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name}: a mechanism is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for; whoever unpickles proves it again."""
        promise, given = self.claim.promise, self._given
        return _make, (self.bounds, given, promise.guarantee, promise.trusted)


def _make(bounds: Bounds, given: dict[str, Any], guarantee: GuaranteeName, trusted: bool) -> BoundedLaplace:
    return BoundedLaplace(bounds, **given, guarantee=guarantee, trusted=trusted)
