"""The paper's class (a) as a mechanism: Croft, Sack & Shi 2022, Theorem 1, under its true label.

On a half-line every true answer gets a scale of its own, the smaller the farther it is from the border.  The paper says
that this is epsilon-differentially private.  It is not: far out, the law of the answer nearer to the border is heavier
without limit.  It is (epsilon, delta)-differentially private with a delta that is computed and proved here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.accuracy.distribution import Distribution, apart
from inbounds.accuracy.laplace_sums import geometric_sums
from inbounds.accuracy.true_answers import TrueAnswers
from inbounds.bounds import Bounds
from inbounds.bounds.index_span import within_64_bits
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import lock, lower, upper, workprec
from inbounds.exact.rational import Number, as_written, shown
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate, brief
from inbounds.privacy.label import format_up
from inbounds.privacy.law import PRECISION
from inbounds.published.croft2022.adaptive_delta import Delta, certified_delta
from inbounds.published.croft2022.adaptive_law import AdaptiveLaw
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans
    from inbounds.accuracy.laplace_sums import Sums

SLOW = 1000
"""So many scales from the border, the scale is still falling, but by less than a millionth over the next one."""

WITNESS_BITS = 512


class AdaptiveLaplace(Mechanism):
    """Laplace noise truncated to a half-line and normalised, with a scale of its own for every true value.

    It is (epsilon, delta)-differentially private, with a delta that is always above 0.

    * `bounds`: one half-line, such as `Bounds(0, None)` or `Bounds(None, 10)`.
    * `delta`: the largest acceptable delta.  If the mechanism has a larger one, it is refused with a counterexample.
      By default any delta is accepted.

    The time of a release depends on the true value: its scale is computed for each draw, by Lambert's W for most values
    but not for all.  Where releases can be timed, make them at fixed times, or use BoundedLaplace.
    """

    title: ClassVar[str] = "adaptive Laplace"
    paper: ClassVar[str] = "Croft et al. 2022"
    pure: ClassVar[bool] = False

    def __init__(
        self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, *, delta: Number | None = None
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        _need_half_line(setting)
        self._law = AdaptiveLaw(setting.distance, setting.epsilon)
        self._found = certified_delta(self._law)
        self._upwards = setting.lattice.unbounded_above
        self._border = setting.lattice.first if self._upwards else setting.lattice.last
        super().__init__(setting, self._certify(setting, self._found))
        if delta is not None:
            self._refuse_less(delta)
        self._delta = delta

    @property
    def law(self) -> AdaptiveLaw:
        """The distributions of all locations on the half-line."""
        return self._law

    @property
    def choices(self) -> dict[str, Any]:
        """The largest acceptable delta, if one was given."""
        return {} if self._delta is None else {"delta": self._delta}

    def _certify(self, setting: Setting, delta: Delta) -> Certificate:
        first, second = (self._border + location * (1 if self._upwards else -1) for location in delta.pair)
        return Certificate.of(
            setting.promise,
            setting.lattice,
            bound=setting.epsilon,
            witnessed=setting.epsilon,
            pair=(first, second),
            pairs=1,
            method="branch and bound",
            precision=PRECISION,
            delta=delta.bound,
            law=self._law.state,
        )

    def _refuse_less(self, delta: Number) -> None:
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
            f"adaptive Laplace keeps epsilon but for delta = {format_up(self._found.bound, 4)}, and delta = "
            f"{shown(delta)} was asked for: between the true answers {first} and {second} the loss passes epsilon at "
            f"the release {float(self.broken_from):.6g} and grows without limit from there; use bounded Laplace, which "
            f"keeps epsilon. {refuted}",
            refuted,
        )

    @property
    def delta(self) -> Fraction:
        """The proved upper bound on delta."""
        return self._found.bound

    @property
    def broken_from(self) -> Fraction:
        """Beyond this release, away from the border, the loss between the worst pair exceeds epsilon."""
        return self._value(ceil(self._found.broken_from))

    def counterexample(self) -> Certificate:
        """Return the proof that it does not satisfy pure epsilon: a pair whose loss at some release is greater."""
        first, second = self._found.pair
        output = 2 * ceil(self._found.broken_from)
        with lock(), workprec(WITNESS_BITS):
            loss = (self._single(output, first) / self._single(output, second)).log()
            proved = self.certificate
            return replace(
                proved,
                holds=False,
                bound=upper(loss),
                witnessed=lower(loss),
                delta=Fraction(0),
                method="one release",
                precision=WITNESS_BITS,
            )

    def _single(self, output: int, location: int) -> arb:
        rate = self._law.rate(location, WITNESS_BITS)
        whole = 1 - (-rate).exp() * (-location * rate).expm1()
        return (-abs(output - location) * rate).exp() * -(-rate).expm1() / whole

    def _value(self, location: int) -> Fraction:
        return self._setting.lattice.value(self._border + (location if self._upwards else -location))

    def _location(self, index: int) -> int:
        return abs(self._setting.clip(index) - self._border)

    @property
    def scale(self) -> float:
        """The largest scale, that of a true value on the border."""
        return self.scale_at(self._setting.bounds.as_answer(self._value(0)))

    def scale_at(self, value: Any) -> float:
        """Return the scale of the noise if the true value is `value`."""
        location = np.array([float(self._location(self._answers.index(value)))])
        return self._length(float(1 / self._law.rates(location)[0]))

    def _draw(self, index: int, entropy: Entropy) -> int:
        location = self._location(index)
        near = within_64_bits(location)  # from there on the scale is the same everywhere
        drawn = draw(_Around(self._law, near, {}), entropy) + location - near
        return self._border + (drawn if self._upwards else -drawn)

    @cached_property
    def _distribution(self) -> AdaptiveDistribution:
        return AdaptiveDistribution(self._setting.lattice, self._law, self._border, upwards=self._upwards)

    def prove_again(self) -> Certificate:
        """Prove the delta again, from the distribution alone."""
        return self._certify(self._setting, certified_delta(AdaptiveLaw(self._setting.distance, self._setting.epsilon)))


class AdaptiveDistribution(Distribution):
    """The laws of all true answers, in doubles."""

    def __init__(self, lattice: Lattice, law: AdaptiveLaw, border: int, *, upwards: bool) -> None:
        self.lattice, self._law, self._border, self._upwards = lattice, law, np.int64(border), upwards
        self.scale = float(1 / law.rates(np.zeros(1))[0])

    def _locations(self, indices: Indices) -> Floats:
        """Return how far above the border something is, or below it if the half-line goes down."""
        return apart(indices, self._border) if self._upwards else apart(self._border, indices)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        return self._law.probabilities(self._locations(released), self._locations(centres))

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        outputs, locations = self._locations(released), self._locations(centres)
        return self._law.nearer(outputs, locations) if self._upwards else self._law.farther(outputs, locations)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        outputs, locations = self._locations(released), self._locations(centres)
        return self._law.farther(outputs, locations) if self._upwards else self._law.nearer(outputs, locations)

    def tail_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return what `at_least` is at most, for this true answer and every lesser one."""
        return self.at_least(released, centres) if not self._upwards else self._farthest(released, centres)

    def head_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return what `up_to` is at most, for this true answer and every greater one."""
        return self.up_to(released, centres) if self._upwards else self._farthest(released, centres)

    def _farthest(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at least so far from the border, at most, for locations up to the centres.

        The scale is greatest at the border: far out its tail is the heaviest, and near by that of the centre is.
        """
        outputs, locations = self._locations(released), self._locations(centres)
        return np.maximum(self._law.farther(outputs, locations), self._law.farther(outputs, np.zeros_like(locations)))

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance; no release may be strictly between a true answer and its index."""
        single, inner, outer = self._sums(centres)
        outward = excess if self._upwards else -excess
        moved = outward * (inner[0] - outer[0]) + abs(excess) * single
        return (inner[1] + outer[1] + moved) / (single + inner[0] + outer[0])

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return bias and variance of releases."""
        single, inner, outer = self._sums(centres)
        whole = single + inner[0] + outer[0]
        bias = (outer[1] - inner[1]) / whole
        return bias if self._upwards else -bias, (outer[2] + inner[2]) / whole - bias**2

    def _sums(self, centres: Indices) -> tuple[Floats, Sums, Sums]:
        """Return the mass of the centre, and the sums of mass and moments towards the border and away from it."""
        locations = self._locations(centres)
        rates = self._law.rates(locations)
        inner, outer = geometric_sums(locations, rates), geometric_sums(np.full_like(locations, np.inf), rates)
        return -np.expm1(-rates), inner, outer

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for true answers so far from the border."""
        return self._law.errors(below if self._upwards else above)

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that a release is the border."""
        locations = below if self._upwards else above
        return self._law.probabilities(np.zeros_like(locations), locations)

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, to be looked at scale by scale."""
        scale = max(1.0, self.scale)
        return TrueAnswers(self.lattice, scale, SLOW * scale, first, last)


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


def _need_half_line(setting: Setting) -> None:
    lattice = setting.lattice
    if len(lattice) > 1 or lattice.bounded or (lattice.unbounded_below and lattice.unbounded_above):
        raise InvalidParameter(
            f"adaptive Laplace needs one half-line, such as [0, inf), got {setting.bounds.brief()}; "
            "use bounded Laplace, which is for any bounds"
        )
