"""What to expect of a release, in the units of the answer: everything a mechanism can say about its own accuracy."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from inbounds.accuracy.distribution import Accuracy
from inbounds.accuracy.true_answers import FLAT, TrueAnswers
from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import as_written, exact, infinity, round_down, round_nearest, round_up, shown
from inbounds.mechanisms.averages import Averages
from inbounds.privacy.claim import Claim

if TYPE_CHECKING:
    from inbounds.mechanisms.averages import Floats, Spans


class Expectations(Averages):
    """Closed forms for the distribution of a release around a true answer.

    None of this costs privacy as long as the true answers asked about are not the secret one: `error(97)` says how far
    off a release would be *if* the true answer were 97.
    """

    claim: Claim

    def __init__(self, claim: Claim, answers: Answers) -> None:
        self.__dict__.update(claim=claim, _answers=answers)

    @cached_property
    def _accuracy(self) -> Accuracy:
        return Accuracy(self.claim.law)

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self.claim.promise.bounds

    def _errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._accuracy.tables.at(spans, below, above).error

    def _at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._accuracy.at_ends(spans, below, above)

    def _looked_at(self, first: int, last: int) -> TrueAnswers:
        scale = max(1.0, 1 / self._accuracy.rate)
        return TrueAnswers(self.claim.lattice, scale, FLAT * scale, first, last)

    def error(self, value: Any) -> float:
        """Return the expected absolute error of a release if the true answer is `value`; in days for dates."""
        centre, offset = self._answers.centre(value)
        moments = self._accuracy.moments(centre)
        below, at, above = self._accuracy.sides(centre, moments)
        return float(moments.error[0]) * self._step + offset * (below - above) + abs(offset) * at

    def bias(self, value: Any) -> float:
        """Return by how much releases are too high on average if the true answer is `value`; in days for dates."""
        centre, offset = self._answers.centre(value)
        return float(self._accuracy.moments(centre).bias[0]) * self._step - offset

    def mean(self, value: Any) -> Any:
        """Return the mean of releases if the true answer is `value`: a float, or for dates a datetime."""
        centre = self._answers.projected(value)
        bias = float(self._accuracy.moments(centre).bias[0])
        if self._answers.is_dates:
            return datetime.fromordinal(centre) + timedelta(days=bias)
        return round_nearest(self.claim.lattice.value(centre)) + bias * self._step

    def variance(self, value: Any) -> float:
        """Return the variance of releases if the true answer is `value`; in squared days for dates."""
        centre = self._answers.projected(value)
        return float(self._accuracy.moments(centre).variance[0]) * self._step**2

    def pmf(self, released: Any, value: Any) -> float:
        """Return the probability that `released` is released if the true answer is `value`."""
        index = self._answers.point(released)
        return 0.0 if index is None else self._accuracy.pmf(index, self._answers.projected(value))

    def cdf(self, released: Any, value: Any) -> float:
        """Return the probability that at most `released` is released if the true answer is `value`."""
        if infinity(released):
            return float(infinity(released) > 0)
        index = self._answers.point(released)
        if index is None:
            lattice = self.claim.lattice
            index = int((exact(released, "released", InvalidParameter) - lattice.offset) // lattice.step)
        return self._accuracy.cdf(index, self._answers.projected(value))

    def quantile(self, probability: float, value: Any) -> Any:
        """Return the least answer that releases exceed with probability at most `1 - probability`."""
        _check_probability(probability, "probability")
        index = self._accuracy.quantile(float(probability), self._answers.projected(value))
        return self._answers.writer(type(value))(index)

    def interval(self, released: Any, confidence: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that holds the true answer with at least this confidence.

        Whatever the true answer is, intervals computed from its releases hold it this often.  Costs no privacy.
        """
        _check_probability(confidence, "confidence")
        index, _ = self.claim.lattice.project(self._answers.index(released))
        low, high = self._accuracy.interval(index, float(confidence))
        return self._outward(low, -1, type(released)), self._outward(high, 1, type(released))

    def _outward(self, index: int, sign: int, kind: type) -> Any:
        """Write an end of an interval for the answers that round to its indices, not for the indices alone.

        Where the caller gave a step, answers are taken to be on it.
        """
        bounds, lattice = self.claim.promise.bounds, self.claim.lattice
        write = self._answers.writer(kind)
        if bounds.step is not None:
            return write(index)
        if index != (lattice.low_list[0] if sign < 0 else lattice.high_list[-1]):
            return write(index + sign)
        if issubclass(kind, Decimal):
            return write(index)
        end = bounds.unit * cast("int", bounds.ends[0 if sign < 0 else -1])
        if issubclass(kind, Fraction):
            return end
        return round_down(end) if sign < 0 else round_up(end)


def _check_probability(value: float, name: str) -> None:
    if not 0 < as_written(value, name, InvalidParameter) < 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {shown(value)}; give for example 0.95")
