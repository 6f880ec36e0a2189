"""Laplace noise, truncated to the possible answers: what is claimed of it, what was proved, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from inbounds.accuracy.truncated_laplace import TruncatedLaplaceDistribution
from inbounds.answers.array import Reader
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.certify import prove_again
from inbounds.privacy.claim import Claim
from inbounds.sampling.array import ArraySampler, chunks
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.scalar import Sampler

if TYPE_CHECKING:
    from inbounds.mechanisms.mechanism import Indices


class TruncatedLaplace(Mechanism):
    """A mechanism with truncated Laplace noise, described by a claim about its scale."""

    even_timing: ClassVar[bool] = True

    def __init__(self, setting: Setting, claim: Claim, certificate: Certificate) -> None:
        super().__init__(setting, certificate)
        self._claim, self._sampler = claim, Sampler(claim.law)

    @property
    def claim(self) -> Claim:
        """The promise, and the exact distribution that satisfies it."""
        return self._claim

    @property
    def scale(self) -> float:
        """The scale of the noise.  The scale that is used is exactly this double."""
        return float(self._claim.scale)

    @property
    def unbiased(self) -> bool | None:
        """Whether releases are unbiased, which is so if nothing is truncated: the noise is symmetric."""
        lattice = self._setting.lattice
        everything = len(lattice) == 1 and lattice.unbounded_below and lattice.unbounded_above
        return True if everything else super().unbiased

    def prove_again(self) -> Certificate:
        """Prove the claim again, from the promise, the step and the exact scale alone."""
        return prove_again(self._claim)

    def _centre(self, index: int) -> int:
        return self._claim.lattice.project(index)[0]

    @property
    def _draw_near(self) -> Callable[[float, Entropy], float]:
        return self._sampler.draw_near

    def _draw(self, index: int, entropy: Entropy) -> int:
        lattice = self._claim.lattice
        if lattice.in_doubles:
            return int(self._sampler.draw_near(lattice.place(index), entropy))
        return self._sampler.draw(*lattice.project(index), entropy)

    def _draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        for part, words in chunks(count, entropy):
            centres, spans = self._claim.lattice.project_many(read(part))
            yield part, self._array_sampler.draw(words, centres, spans, entropy)

    @cached_property
    def _array_sampler(self) -> ArraySampler:
        return ArraySampler(self._claim.law)

    @cached_property
    def _distribution(self) -> TruncatedLaplaceDistribution:
        return TruncatedLaplaceDistribution(self._claim.law)
