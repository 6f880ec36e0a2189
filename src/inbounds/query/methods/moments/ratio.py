"""A mean or a proportion over a private number of rows, and the count and the sum that go with it: two sums.

The rows' distances from the least value and from the greatest are added up, each sum is released, and the mean is
where the two balance.  They are the sum about the middle and the count in other coordinates (their difference, and
their sum): a row of any value moves them by the range together, so both are released at the whole epsilon, and no noise
can push the mean out of the bounds.  Count and sum follow from the same two, so that they never contradict the mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from inbounds.display.figures import format_error
from inbounds.query.methods.moments.averages import MeanAlone
from inbounds.query.methods.moments.moments import MomentsOfColumns, in_words
from inbounds.query.methods.moments.statistic import Statistic
from inbounds.query.methods.moments.statistics import STATISTICS, Statistics
from inbounds.query.question.measure import Count, Mean, Proportion, Sum


class Ratio(MomentsOfColumns):
    """A mean or a proportion: where two noisy sums balance."""

    foreseen_at, guessed_at = Fraction(0), Fraction(1, 2)
    """A mean has most noise at an end, and least in the middle."""
    all_sums = "both sums"
    kinds: ClassVar[Statistics] = {Mean: MeanAlone, Proportion: MeanAlone}

    def _title(self, statistic: Statistic) -> str:
        return "on average, for a mean at an end"

    def mechanism(self) -> str:
        return f"two sums, of the distances from the least and from the greatest value, each by {self.choice.reason}"

    def expected_noise(self) -> str:
        """Say how far off the noise will put the mean, before anything is asked."""
        return self._expected(self.statistics[0])

    def _expected(self, statistic: Statistic) -> str:
        middle = self.noise.at(0.5) / self.noise.each
        where = f"if the mean is at a bound; {100 * middle:.0f} % of that if it is mid-range"
        return f"{in_words(self._errors(statistic))}, {where}"


class TotalsOfColumn(Ratio):
    """Count, sum and mean of a column, whichever are asked for: the mean is the sum over the count, to the last digit.

    The count is rounded to a whole number, and the sum to its step; a group whose count is 0 has no mean.
    """

    kinds: ClassVar[Statistics] = STATISTICS

    def possible(self) -> str:
        """Say where the mean can be."""
        return self.columns[0].bounds.brief()

    def _title(self, statistic: Statistic) -> str:
        what = f"in a {statistic.measure.title}"
        return f"on average, {what} at an end" if statistic.is_of_rows else what

    def mechanism(self) -> str:
        """Say which mechanism answers, and why, and which rows are counted."""
        return f"{super().mechanism()}; rows without a value of {self.columns[0].name} are left out"

    def expected_noise(self) -> str:
        """Say how far off the noise will put a count, a sum, and a mean if it is asked for."""
        both = (self.kinds[kind](None, self.columns, self.counts) for kind in (Count, Sum))  # asked for or not
        count, total = (self._errors(statistic)["on average"] for statistic in both)
        means = [f"; for a mean, {self._expected(statistic)}" for statistic in self.statistics if statistic.is_of_rows]
        return f"{format_error(count)} for a count, {format_error(total)} for a sum, on average{''.join(means)}"
