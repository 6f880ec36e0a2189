"""A mechanism of the local model: a law of a few runs, its proof and its draw."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property

from flint import arb, fmpz

from inbounds.answers.array import AnswerArrays
from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter, LatticeTooFine
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.exact.rational import Number, concise, shown
from inbounds.mechanisms.definition import SMALL, prove_by_definition
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.published.local.distribution import RunsDistribution
from inbounds.published.local.runs import RunsLaw
from inbounds.sampling.entropy import Entropy

WIDEST = 2**53
"""Outputs are at most so many steps apart: doubles hold the distances, from which accuracy is computed."""

MOST_OUTPUTS = 20_000
"""Up to so many outputs, a proof by definition looks at each of them."""


class LocalMechanism(Mechanism):
    """A mechanism of the local model: each person releases their own value, and any two values are neighbours."""

    def __init__(self, setting: Setting, law: RunsLaw) -> None:
        if law.high - law.low > WIDEST:
            raise LatticeTooFine(
                f"the outputs of the {self.title} mechanism for epsilon {shown(setting.given.epsilon)} are more than "
                f"2**53 steps of {concise(setting.lattice.step)} apart; give the bounds a larger step"
            )
        self._law = law
        super().__init__(setting, _prove(setting, law))

    @property
    def law(self) -> RunsLaw:
        """The distribution, in whole numbers: answers and outputs are counted in steps from the lower bound."""
        return self._law

    @property
    def in_range(self) -> bool:
        return self._law.low >= 0 and self._law.high <= self._law.width

    def _draw(self, index: int, entropy: Entropy) -> int:
        lattice = self._setting.lattice
        return lattice.first + self._law.draw(self._setting.clip(index) - lattice.first, entropy)

    @cached_property
    def _distribution(self) -> RunsDistribution:
        return RunsDistribution(self._setting.lattice, self._law)

    @cached_property
    def _outputs(self) -> Answers:
        if self.in_range:
            return self._answers
        lattice = self._setting.lattice
        return Answers(self.bounds, Lattice.everywhere(lattice.step, lattice.offset))

    @cached_property
    def _output_arrays(self) -> AnswerArrays:
        return AnswerArrays(self._outputs)

    def prove_again(self) -> Certificate:
        """Compare every pair of answers and every output, where they are few; else the levels once more."""
        if self._setting.lattice.width >= SMALL or len(self._law.outputs) > MOST_OUTPUTS:
            return _prove(self._setting, self._law)
        return prove_by_definition(self._setting, self._row, self._law.state)

    def _row(self, centre: int, bits: int) -> list[arb]:
        answer, law = centre - self._setting.lattice.first, self._law
        with lock(), workprec(bits):
            return [arb(fmpz(law.weight(output, answer))) / fmpz(law.total) for output in law.outputs]


def local_setting(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> Setting:
    """Check what a caller passed, and refuse what the local model is not for.

    A sensitivity below the width is refused rather than taken to be the width: that would be private, but whoever has
    one is not in the local model, and is served far better by what uses it.
    """
    setting = Setting.of(bounds, sensitivity, epsilon)
    setting.need_one_span("the local model", "use bounded Laplace, which is for any bounds")
    if setting.lattice.width < 1:
        raise InvalidParameter(
            f"the local model needs at least two possible answers, got {bounds.brief()}; release the only one as it is"
        )
    if setting.distance < setting.lattice.width:
        raise InvalidParameter(
            f"the local model, in which each person releases their own answer, needs a sensitivity of the whole width "
            f"of the bounds, got {shown(sensitivity)} for {bounds.brief()}; give that width, or use bounded Laplace"
        )
    return setting


def _prove(setting: Setting, law: RunsLaw) -> Certificate:
    """Write down what the levels guarantee.

    The weights of all outputs add up to the same total whatever the true answer is, so the loss is the logarithm of a
    ratio of weights, and no ratio is above `law.ratio`: why is said where each law is made.  What is lost for certain
    is seen between the two ends, at the outputs where weights change.
    """
    ends = (0, law.width)
    places = {place for end in ends for run in law.runs(end) for place in (run.first, run.last)}
    pairs = [(law.weight(place, ends[0]), law.weight(place, ends[1])) for place in places]
    with lock(), workprec(2 * PRECISION):
        bound = upper(ball(law.ratio).log())
        losses = [
            lower(abs((arb(fmpz(at_low)) / fmpz(at_high)).log())) for at_low, at_high in pairs if at_low and at_high
        ]
    first = setting.lattice.first
    return Certificate.of(
        setting.promise,
        setting.lattice,
        bound=bound,
        witnessed=max(losses),
        pair=(first, first + law.width),
        pairs=1,
        method="levels",
        precision=2 * PRECISION,
        law=law.state,
    )
