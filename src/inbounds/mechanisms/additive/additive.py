"""Noise that does not depend on the answer, and then a rule for what falls outside the bounds.

Adding the noise is private on the whole line; the rule is post-processing, so the result is as private.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from flint import arb

from inbounds.answers.array import AnswerArrays, Reader
from inbounds.answers.single import Answers
from inbounds.bounds.lattice import Lattice
from inbounds.exact.balls import lock, workprec
from inbounds.mechanisms.additive.distribution import AdditiveDistribution
from inbounds.mechanisms.additive.ends import Ends, EndsName
from inbounds.mechanisms.additive.noise import Noise
from inbounds.mechanisms.additive.proof import neighbours, prove_by_tails, state_noise
from inbounds.mechanisms.additive.snap import Snap
from inbounds.mechanisms.definition import SMALL, prove_by_definition
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.sampling.array import chunks
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.mechanisms.additive.noise import Adder
    from inbounds.mechanisms.mechanism import Indices

MANNERS: dict[EndsName, str] = {"leave": "plain", "snap": "snapped", "fold": "folded"}
"""What noise is called with each rule at the ends."""

MOST_IMAGES = 20_000
"""Up to so many outcomes of the noise, a proof by definition adds up where each of them goes."""


NoiseKind = TypeVar("NoiseKind", bound=Noise)


class Additive(Mechanism, Generic[NoiseKind]):
    """A mechanism that adds noise with the same distribution everywhere, and then applies a rule at the ends.

    A subclass makes a `Setting` and a `Noise`, and passes them to `super().__init__` with the rule.
    """

    even_timing: ClassVar[bool] = True

    def __init__(self, setting: Setting, noise: NoiseKind, ends: object) -> None:
        self._noise, self._ends = noise, Ends.of(ends, setting.lattice)
        super().__init__(setting, _prove(setting, noise, self._ends))

    @property
    def noise(self) -> NoiseKind:
        """The distribution of the noise, in steps."""
        return self._noise

    @property
    def ends(self) -> Ends:
        """The rule for noisy values outside the bounds: "leave", "snap" or "fold"."""
        return self._ends

    @property
    def name(self) -> str:
        return f"{MANNERS[self._ends.name]} {self.title}"

    @property
    def choices(self) -> dict[str, Any]:
        """The rule at the ends and the guarantee, where they differ from their defaults."""
        return {**super().choices, **({} if self._ends.name == "leave" else {"ends": self._ends.name})}

    @property
    def in_range(self) -> bool:
        lattice = self._setting.lattice
        everything = len(lattice) == 1 and lattice.unbounded_below and lattice.unbounded_above
        return everything or self._ends.name != "leave"

    @property
    def unbiased(self) -> bool | None:
        """Whether releases are unbiased, which is so without a rule at the ends: the noise is symmetric."""
        return True if self._ends.name == "leave" else super().unbiased

    @property
    def pooling(self) -> int:
        """The share of the probability outside the bounds that is added to their ends: 1 if it is snapped there."""
        return int(self._ends.name == "snap")

    @property
    def scale(self) -> float:
        return self._length(self._noise.scale)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        answers, snap = self._answers, self._snap
        if type(answer) is float and snap is not None and (place := answers.place(answer)) is not None:
            drawn = snap(place, self._noise.draw_double(entropy))
            return answers.at(drawn) if not answers.integral else answers.writer(float)(int(drawn))
        return super()._release_one(answer, entropy)

    def _draw(self, index: int, entropy: Entropy) -> int:
        if self._snap is not None:
            return int(self._snap(self._setting.lattice.place(index), self._noise.draw_double(entropy)))
        return self._ends.apply(self._setting.clip(index) + self._noise.draw(entropy))

    @cached_property
    def _snap(self) -> Snap | None:
        """What clamps in doubles, if that is the rule and doubles hold the lattice."""
        lattice = self._setting.lattice
        return Snap(lattice) if self._ends.name == "snap" and lattice.in_doubles else None

    def _draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        # Doubles hold no odd integers beyond 2**53, and folding would bring what was rounded back to near zero.
        indices = read(slice(0, 0))
        rounded = indices.dtype == np.float64 and self._noise.reach > 2**52 and self._ends.name == "fold"
        if self._adder is None or rounded:
            yield from super()._draw_parts(read, count, entropy)
            return
        for part, words in chunks(count, entropy):
            indices = read(part)
            lows, highs = self._setting.lattice.ends[indices.dtype]
            centres = np.clip(indices, lows[0], highs[-1])
            yield part, self._ends.apply_many(self._adder.draw(words, centres, entropy))

    @cached_property
    def _adder(self) -> Adder | None:
        return self._noise.adder()

    @cached_property
    def _outputs(self) -> Answers:
        if self._ends.name != "leave":
            return self._answers
        lattice = self._setting.lattice
        return Answers(self.bounds, Lattice.everywhere(lattice.step, lattice.offset))

    @cached_property
    def _output_arrays(self) -> AnswerArrays:
        return AnswerArrays(self._outputs)

    @cached_property
    def _distribution(self) -> AdditiveDistribution:
        return AdditiveDistribution(self._noise, self._ends)

    # The second proof: by definition, from where every outcome of the noise goes, or from the tails of the noise.

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release, where they are few; else look at the tails."""
        lattice = self._setting.lattice
        standard = self.guarantee == "standard"
        small = standard and lattice.bounded and lattice.width < SMALL
        if small and self.in_range and self._noise.reach * 3 < MOST_IMAGES and not self._noise.delta:
            return prove_by_definition(self._setting, self._row, partial(state_noise, self._noise, self._ends))
        return prove_by_tails(self._setting, self._noise, self._ends, self.certificate.delta)

    def _row(self, centre: int, bits: int) -> list[arb]:
        """Return balls around the probabilities of all possible answers."""
        lattice = self._setting.lattice  # every release must be reached, the rarest too
        reach = 3 * int(self._noise.reach) + 1 + lattice.width
        probabilities: dict[int, arb] = {}
        with lock(), workprec(bits):
            tails = [self._noise.tail(k, bits) for k in range(1, reach + 2)]
            singles = [1 - 2 * tails[0], *(near - far for near, far in pairwise(tails))]
            for noise in range(-reach, reach + 1):
                released = self._ends.apply(centre + noise)
                probabilities[released] = probabilities.get(released, arb(0)) + singles[abs(noise)]
            rest = arb(0).union(2 * tails[-1])  # where this goes was not looked at
            return [probabilities.get(index, arb(0)) + rest for index in lattice.indices()]


def _prove(setting: Setting, noise: Noise, ends: Ends) -> Certificate:
    """Write down what the noise says of itself, whatever happens at the ends; less may be lost there, never more."""
    loss = noise.loss * -(-setting.distance // noise.distance)
    return Certificate.of(
        setting.promise,
        setting.lattice,
        bound=loss,
        witnessed=loss if ends.name == "leave" else Fraction(0),
        pair=neighbours(setting, setting.distance),
        pairs=1,
        method="noise alone",
        precision=PRECISION,
        delta=noise.delta,
        law=partial(state_noise, noise, ends),
    )
