"""BoundedLaplace: private answers that are always possible."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

from inbounds.answers.array import Reader
from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.exact.rational import shown
from inbounds.mechanisms.expectation import Expectations
from inbounds.mechanisms.releases import Releases
from inbounds.privacy.calibration import calibrate
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.claim import Claim, Promise
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.label import Label
from inbounds.sampling.array import ArraySampler, chunks
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.scalar import Sampler

if TYPE_CHECKING:
    from inbounds.mechanisms.releases import Indices


class TruncatedLaplace(Expectations, Releases):
    """Laplace noise, truncated to the possible answers: what is claimed of it, and what was proved."""

    name: ClassVar[str]
    in_range: ClassVar[bool] = True
    claim: Claim
    """What is promised, and the exact law that is to keep it."""
    certificate: Certificate
    """What was proved of that."""
    _given: dict[str, Any]
    _sampler: Sampler

    def __init__(self, claim: Claim, certificate: Certificate, given: dict[str, Any]) -> None:
        super().__init__(claim, Answers(claim.promise.bounds, claim.lattice))
        self.__dict__.update(certificate=certificate, _given=given, _sampler=Sampler(claim.law))

    @property
    def sensitivity(self) -> Any:
        """The most that one person can change the answer, as it was given."""
        return self._given["sensitivity"]

    @property
    def epsilon(self) -> Any:
        """The privacy loss of one release, as it was given."""
        return self._given["epsilon"]

    @property
    def scale(self) -> float:
        """The scale of the noise.  The scale that is used is exactly this double."""
        return float(self.claim.scale)

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring possible answers."""
        return self.claim.lattice.step

    @property
    def label(self) -> Label:
        """The privacy that was proved."""
        holds = self.certificate.holds
        return Label(self.claim.promise.epsilon, loss=None if holds else self.certificate.witnessed)

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        # Doubles stay doubles where they can: integers take longer the larger they are.
        if type(answer) is float and (place := self._answers.place(answer)) is not None:
            return self._sampler.draw_near(place, entropy) * self._step
        return super()._release_one(answer, entropy)

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self._sampler.draw(*self.claim.lattice.project(index), entropy)

    def _drawn(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        for part, words in chunks(count, entropy):
            centres, spans = self.claim.lattice.project_many(read(part))
            yield part, self._array_sampler.draw(words, centres, spans, entropy)

    @cached_property
    def _array_sampler(self) -> ArraySampler:
        return ArraySampler(self.claim.law)


@final
class BoundedLaplace(TruncatedLaplace):
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

    name: ClassVar[str] = "bounded Laplace"

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
        given = {"sensitivity": sensitivity, "epsilon": epsilon, "pooling": pooling}
        super().__init__(found.claim, found.certificate, given)

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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was asked for; whoever unpickles proves it again."""
        promise, given = self.claim.promise, self._given
        return _make, (self.bounds, given, promise.guarantee, promise.trusted)


def _make(bounds: Bounds, given: dict[str, Any], guarantee: GuaranteeName, trusted: bool) -> BoundedLaplace:
    return BoundedLaplace(bounds, **given, guarantee=guarantee, trusted=trusted)
