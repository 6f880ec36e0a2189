"""What can be predicted of releases: how accurate they will be, at one true answer and over all of them."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.interval import Intervals
from inbounds.accuracy.prior import Prior, PriorLike
from inbounds.accuracy.true_answers import TrueAnswers, greatest, mean
from inbounds.accuracy.window import Window, indices_of, refuse_both, refuse_infinite
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import Number, as_written, round_nearest, shown
from inbounds.mechanisms.containers import Arguments, Column, Kind, Many, Plain, Series, Single
from inbounds.mechanisms.described import Described
from inbounds.mechanisms.truths import Truths, Units

if TYPE_CHECKING:
    from datetime import date, datetime

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

VAST = 1e290
"""So many steps from every release, a true answer makes an error of its distance, to far below the last digit."""


class Predictable(Described):
    """The accuracy of a mechanism, derived from the distribution of its releases.

    None of it costs privacy, as long as you do not ask about the secret value itself: `error(97)` is the expected error
    of a release *if* the true value were 97.  For lists, arrays and Series there is one result for each value, in the
    same shape.
    """

    @property
    @abstractmethod
    def _distribution(self) -> Distribution:
        """The law of releases for every true answer, in doubles."""

    # What to expect if the true answer is such and such.

    @overload
    def error(self, value: Single) -> float: ...
    @overload
    def error(self, value: Column) -> Column: ...
    @overload
    def error(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def error(self, value: Any) -> Any:
        """Return the expected absolute error of a release if the true value is `value`; for dates, in days."""
        arguments, truths = self._truths(value)
        pairs = list(zip(arguments.values(0), truths.exact, strict=True))
        above = [self._units.steps_above(truth, index) for truth, index in pairs]
        steps = np.array([max(-VAST, min(VAST, steps_up)) for steps_up in above])
        errors = self._units.lengths(self._distribution.error(truths.near, steps))
        for place, (truth, index) in enumerate(pairs):
            if abs(above[place]) >= VAST:
                errors[place] = abs(round_nearest(self._units.excess(truth, index)))
        return arguments.wrap_numbers(errors)

    @overload
    def bias(self, value: Single) -> float: ...
    @overload
    def bias(self, value: Column) -> Column: ...
    @overload
    def bias(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def bias(self, value: Any) -> Any:
        """Return the bias of releases (positive: too high) if the true value is `value`; for dates, in days."""
        arguments, truths = self._truths(value)
        pairs = zip(arguments.values(0), truths.exact, strict=True)
        excess = [self._units.excess(truth, index) for truth, index in pairs]
        return arguments.wrap_numbers(self._units.above(self._distribution.bias_and_variance(truths.near)[0], excess))

    @overload
    def mean(self, value: date | np.datetime64) -> datetime: ...
    @overload
    def mean(self, value: Number) -> float: ...
    @overload
    def mean(self, value: Column) -> Column: ...
    @overload
    def mean(self, value: Many) -> Array: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def mean(self, value: Any) -> Any:
        """Return the mean of releases if the true value is `value`: a float, or a datetime for dates."""
        arguments, truths = self._truths(value)
        biases = self._units.lengths(self._distribution.bias_and_variance(truths.near)[0]).tolist()
        means: list[float | datetime] = [self._units.mean(*at) for at in zip(truths.exact, biases, strict=True)]
        return arguments.wrap(means if self.bounds.is_dates else np.array(means))

    @overload
    def variance(self, value: Single) -> float: ...
    @overload
    def variance(self, value: Column) -> Column: ...
    @overload
    def variance(self, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def variance(self, value: Any) -> Any:
        """Return the variance of releases if the true value is `value`; for dates, in squared days."""
        arguments, truths = self._truths(value)
        return arguments.wrap_numbers(
            self._units.lengths(self._distribution.bias_and_variance(truths.near)[1], power=2)
        )

    @overload
    def pmf(self, released: Single, value: Single) -> float: ...
    @overload
    def pmf(self, released: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def pmf(self, released: Single, value: Column) -> Column: ...
    @overload
    def pmf(self, released: Many, value: Single | Many | Series) -> Floats: ...
    @overload
    def pmf(self, released: Single, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def pmf(self, released: Any, value: Any) -> Any:
        """Return the probability that the release is `released` if the true value is `value`."""
        arguments, truths = self._truths(released, value)
        indices = [self._answers.point(release) for release in arguments.values(0)]
        at = truths.beside([0 if index is None else index for index in indices])
        probabilities = self._distribution.probability(at, truths.near)
        if None in indices:
            probabilities = np.where([index is None for index in indices], 0.0, probabilities)
        return arguments.wrap_numbers(probabilities)

    @overload
    def cdf(self, released: Single, value: Single) -> float: ...
    @overload
    def cdf(self, released: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def cdf(self, released: Single, value: Column) -> Column: ...
    @overload
    def cdf(self, released: Many, value: Single | Many | Series) -> Floats: ...
    @overload
    def cdf(self, released: Single, value: Many) -> Floats: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def cdf(self, released: Any, value: Any) -> Any:
        """Return the probability that the release is at most `released` if the true value is `value`."""
        arguments, truths = self._truths(released, value)
        indices, known = self._units.floors(arguments.values(0))
        probabilities = self._distribution.up_to(truths.beside(indices), truths.near)
        for place, probability in known.items():
            probabilities[place] = probability
        return arguments.wrap_numbers(probabilities)

    @overload
    def quantile(self, probability: float, value: Kind) -> Kind: ...
    @overload
    def quantile(self, probability: float, value: Plain) -> float: ...
    @overload
    def quantile(self, probability: Column, value: Single | Many | Series) -> Column: ...
    @overload
    def quantile(self, probability: float, value: Column) -> Column: ...
    @overload
    def quantile(self, probability: Many, value: Single | Many | Series) -> Array: ...
    @overload
    def quantile(self, probability: float, value: Many) -> Array: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def quantile(self, probability: Any, value: Any) -> Any:
        """Return the smallest value that releases do not exceed with at least this probability."""
        arguments, truths = self._truths(probability, value)
        for number in arguments.values(0):
            _check_probability(number, "probability")
        quantiles = self._distribution.quantile(np.array(arguments.values(0), dtype=np.float64), truths.near)
        places = zip(truths.move_back(quantiles), arguments.values(1), strict=True)
        return arguments.wrap_answers([self._outputs.writer(type(value))(index) for index, value in places])

    @overload  # nothing is both a single answer and a column
    def interval(self, released: Kind, confidence: float = ...) -> tuple[Kind, Kind]: ...
    @overload
    def interval(self, released: Plain, confidence: float = ...) -> tuple[float, float]: ...
    @overload
    def interval(self, released: Column, confidence: float = ...) -> tuple[Column, Column]: ...
    @overload
    def interval(self, released: Many, confidence: float = ...) -> tuple[Array, Array]: ...
    @np.errstate(all="ignore")  # whatever the caller has set
    def interval(self, released: Any, confidence: float = CONFIDENCE) -> tuple[Any, Any]:
        """Return the ends of a confidence interval for the true value, given a release.

        Whatever the true value, the intervals of its releases contain it with at least this probability; a value that
        is not possible counts as the nearest one that is.  Both ends are possible values.  Costs no privacy.
        """
        _check_probability(confidence, "confidence")
        arguments = Arguments(released)
        values = arguments.values(0)
        indices = [self._answers.index_of_release(value) for value in values]
        if self.in_range:
            indices = [self._setting.lattice.project(index)[0] for index in indices]
        releases = Truths.of(indices)
        distinct, which = np.unique(releases.near, return_inverse=True)

        def write(end: Indices, sign: int) -> Any:
            ends = zip(releases.move_back(end[which]), values, strict=True)
            return arguments.wrap_answers([self._units.outward(index, sign, type(value)) for index, value in ends])

        low, high = (self._setting.lattice.nearest(end) for end in self._intervals.around(distinct, float(confidence)))
        return write(low, -1), write(high, 1)

    # What to expect over all true answers.

    @np.errstate(all="ignore")
    def worst_error(self, window: Window | None = None) -> float:
        """Return the largest expected absolute error over all possible true values, or those in a window."""
        return self._length(greatest(self._true_answers(window), self._distribution.errors))

    @np.errstate(all="ignore")
    def mean_error(self, window: Window | None = None, *, prior: PriorLike | Prior | None = None) -> float:
        """Return the expected absolute error averaged over the possible true values, all weighted equally.

        The average is over all of them, or over those from `window[0]` to `window[1]`; unbounded bounds need a window.
        With a `prior`, each value is weighted by it: see `remapped` for what a prior can be.
        """
        if prior is not None:
            refuse_both(window)
            believed = Prior.of(prior, self.bounds, self._setting.lattice)
            return self._length(believed.mean(self._distribution))
        refuse_infinite(window, self.bounds)
        return self._length(mean(self._true_answers(window), self._distribution.errors))

    @np.errstate(all="ignore")
    def expected_width(self, confidence: float = CONFIDENCE, window: Window | None = None) -> float:
        """Return the average width of intervals over releases and true values: the smaller, the more a release tells.

        True values are weighted as for `mean_error`.  Up to 512 possible values the average is over all releases;
        beyond, over an evenly spread sample, which is accurate to about one percent.
        """
        _check_probability(confidence, "confidence")
        refuse_infinite(window, self.bounds)
        first, last = indices_of(window, self.bounds, self._setting.lattice)
        truths = Prior.uniform(self._setting.lattice, first, last)
        return self._length(self._intervals.expected_width(truths, float(confidence)))

    @np.errstate(all="ignore")
    def at_ends(self, window: Window | None = None) -> float:
        """Return the probability that a release is an end of a span, averaged like `mean_error`."""
        refuse_infinite(window, self.bounds)
        return mean(self._true_answers(window), self._distribution.at_ends)

    # Helpers.

    def _centre(self, index: int) -> int:
        """Return the index that a true answer counts as: between the least and the greatest possible one."""
        return self._setting.clip(index)

    def _truths(self, *parts: Any) -> tuple[Arguments, Truths]:
        """Read the last of some parts as true answers."""
        arguments = Arguments(*parts)
        values = arguments.values(len(parts) - 1)
        return arguments, Truths.of([self._centre(self._answers.index(value)) for value in values])

    def _true_answers(self, window: Window | None) -> TrueAnswers:
        return self._distribution.true_answers(*indices_of(window, self.bounds, self._setting.lattice))

    def _length(self, steps: float) -> float:
        return float(self._units.lengths(np.array([steps]))[0])

    @cached_property
    def _units(self) -> Units:
        return Units(self.bounds, self._setting.lattice, self._answers)

    @cached_property
    def _intervals(self) -> Intervals:
        return Intervals(self._distribution)


def _check_probability(value: Any, name: str) -> None:
    if not 0 < as_written(value, name, InvalidParameter) < 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {shown(value)}; give for example {CONFIDENCE}")
