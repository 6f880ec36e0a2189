"""The paper's class (a) as a mechanism: Croft, Sack & Shi 2022, Theorem 1, under its true label.

On a half-line every true answer gets a scale of its own, the smaller the farther it is from the border.  The paper says
that this is epsilon-differentially private.  It is not: far out, the law of the answer nearer to the border is heavier
without limit.  It is (epsilon, delta)-differentially private with a delta that is computed and proved here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.accuracy.true_answers import TrueAnswers
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import FAR
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import lock, lower, upper, workprec
from inbounds.exact.rational import as_written, shown
from inbounds.privacy.certificate import Certificate, brief
from inbounds.privacy.label import written_up
from inbounds.privacy.law import PRECISION
from inbounds.published.croft2022.adaptive_delta import Delta, certified_delta
from inbounds.published.croft2022.adaptive_law import AdaptiveLaw
from inbounds.published.mechanism import Ground, Mechanism
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.mechanisms.averages import Floats, Spans

SLOW = 1000
"""So many scales from the border, the scale is still falling, but by less than a millionth over the next one."""

WITNESS_BITS = 512


class AdaptiveLaplace(Mechanism):
    """Laplace noise truncated to a half-line and normalised, with a scale for every true answer: (epsilon, delta).

    * `bounds`: one half-line, such as `Bounds(0, None)` or `Bounds(None, 10)`.
    * `delta`: the greatest delta that is acceptable.  The mechanism has the delta it has: if that is more, and it is
      always more than 0, it is refused with the counterexample.  If none is given, whatever it has is accepted.

    How long a release takes depends on the true answer: its scale is computed for each draw, with Lambert's W for most
    answers but not for all.  Where releases can be timed, make them at fixed times, or use BoundedLaplace.
    """

    paper: ClassVar[str] = "Croft et al. 2022"
    name = "adaptive Laplace"
    in_range = True
    law: AdaptiveLaw

    def __init__(self, bounds: Bounds, sensitivity: Any, epsilon: Any, *, delta: Any = None) -> None:
        ground = Ground.of(bounds, sensitivity, epsilon)
        _need_half_line(ground)
        law = AdaptiveLaw(ground.distance, ground.epsilon)
        found = certified_delta(law)
        upwards = ground.lattice.unbounded_above
        border = ground.lattice.low_list[0] if upwards else ground.lattice.high_list[-1]
        parts = {"law": law, "_upwards": upwards, "_border": border, "_found": found}
        super().__init__(ground, self._certificate(ground, border, upwards, found), **parts)
        if delta is not None:
            self._refuse_less(delta)

    _upwards: bool
    _border: int
    _found: Delta

    @staticmethod
    def _certificate(ground: Ground, border: int, upwards: bool, found: Delta) -> Certificate:
        lattice = ground.lattice
        pair = (border + location * (1 if upwards else -1) for location in found.pair)
        first, second = (ground.bounds.as_answer(lattice.value(index)) for index in pair)
        return Certificate(
            holds=True,
            bound=ground.epsilon,
            witnessed=ground.epsilon,
            worst_pair=(first, second),
            epsilon=ground.epsilon,
            guarantee="standard",
            scale=None,
            step=lattice.step,
            pairs=1,
            method="branch and bound",
            precision=PRECISION,
            delta=found.bound,
        )

    def _refuse_less(self, delta: Any) -> None:
        allowed = as_written(delta, "delta", InvalidParameter)
        if not 0 <= allowed < 1:
            raise InvalidParameter(
                f"delta must be from 0 to below 1, got {shown(delta)}; leave it out to take what is proved"
            )
        if allowed >= self._found.bound:
            return
        refuted = self.counterexample()
        first, second = (brief(answer) for answer in refuted.worst_pair)
        raise NotPrivate(
            f"adaptive Laplace keeps epsilon but for delta = {written_up(self._found.bound, 4)}, and delta = "
            f"{shown(delta)} was asked for: between the true answers {first} and {second} the loss passes epsilon at "
            f"the release {float(self.broken_from):.6g} and grows without limit from there; use bounded Laplace, which "
            f"keeps epsilon. {refuted}",
            refuted,
        )

    @property
    def delta(self) -> Fraction:
        """The probability that is exempt from epsilon, proved from above."""
        return self._found.bound

    @property
    def broken_from(self) -> Fraction:
        """From this release on, away from the border, the loss between the worst pair is above epsilon."""
        return self._value(ceil(self._found.broken_from))

    def counterexample(self) -> Certificate:
        """Return the proof that it does not keep epsilon alone: a pair whose loss at some release is more."""
        first, second = self._found.pair
        output = 2 * ceil(self._found.broken_from)
        with lock(), workprec(WITNESS_BITS):
            loss = (self._single(output, first) / self._single(output, second)).log()
            proved = self.certificate
            values = {"holds": False, "bound": upper(loss), "witnessed": lower(loss), "delta": Fraction(0)}
            return Certificate(**{**proved.__dict__, **values, "method": "one release", "precision": WITNESS_BITS})

    def _single(self, output: int, location: int) -> arb:
        rate = self.law.rate(location, WITNESS_BITS)
        whole = 1 - (-rate).exp() * (-location * rate).expm1()
        return (-abs(output - location) * rate).exp() * -(-rate).expm1() / whole

    def _value(self, location: int) -> Fraction:
        return self._ground.lattice.value(self._border + (location if self._upwards else -location))

    def _location(self, index: int) -> int:
        return abs(self._ground.clipped(index) - self._border)

    @property
    def scale(self) -> float:
        """The greatest scale, that of a true answer on the border."""
        return self.scale_at(self._ground.bounds.as_answer(self._value(0)))

    def scale_at(self, value: Any) -> float:
        """Return the scale of the noise if the true answer is `value`."""
        location = np.array([float(self._location(self._answers.index(value)))])
        return float(self._step / self.law.rates(location)[0])

    def _draw(self, index: int, entropy: Entropy) -> int:
        location = self._location(index)
        near = min(location, FAR)  # from there on the scale is the same everywhere
        drawn = draw(_Around(self.law, near, {}), entropy) + location - near
        return self._border + (drawn if self._upwards else -drawn)

    def _error(self, centre: int, excess: float) -> float:
        location = np.array([float(abs(centre - self._border))])
        plain = float(self.law.errors(location)[0])
        if not excess:
            return plain
        outward = excess if self._upwards else -excess
        at = float(self.law.probabilities(location, location)[0])
        lower_part = float(self.law.below(int(location[0]) - 1, int(location[0]), PRECISION))
        # As long as the excess is within half a step, or beyond the border, no release is between the two.
        return plain + outward * (lower_part - (1 - lower_part - at)) + abs(excess) * at

    def _probability(self, index: int, centre: int) -> float:
        sign = 1 if self._upwards else -1
        output, location = (np.array([float(sign * (x - self._border))]) for x in (index, centre))
        return float(self.law.probabilities(output, location)[0])

    def _errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self.law.errors(below if self._upwards else above)

    def _at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        locations = below if self._upwards else above
        return self.law.probabilities(np.zeros_like(locations), locations)

    def _looked_at(self, first: int, last: int) -> TrueAnswers:
        scale = max(1.0, float(1 / self.law.rates(np.zeros(1))[0]))
        return TrueAnswers(self._ground.lattice, scale, SLOW * scale, first, last)

    def prove_again(self) -> Certificate:
        """Prove the delta again, from the law alone."""
        found = certified_delta(AdaptiveLaw(self._ground.distance, self._ground.epsilon))
        return self._certificate(self._ground, self._border, self._upwards, found)


@dataclass(frozen=True, eq=False)
class _Around:
    """The law of one location, its rate computed once for a draw."""

    law: AdaptiveLaw
    location: int
    rates: dict[int, arb]

    def below(self, index: int, bits: int) -> arb:
        if bits not in self.rates:
            self.rates[bits] = self.law.rate(self.location, bits)
        return self.law.below(index, self.location, bits, self.rates[bits])

    def guess(self, probability: float, rest: float) -> int:
        return self.law.guess(probability, rest, self.location)


def _need_half_line(ground: Ground) -> None:
    lattice = ground.lattice
    if len(lattice) > 1 or lattice.bounded or (lattice.unbounded_below and lattice.unbounded_above):
        raise InvalidParameter(
            f"adaptive Laplace is for one half-line, such as [0, inf), and {ground.bounds.brief()} is none; "
            "use bounded Laplace, which is for any bounds"
        )
