"""True answers and releases that a mechanism is asked about, as indices of 64 bits, and found indices as answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.answers.single import Answers
from inbounds.bounds import Bounds
from inbounds.bounds.index_span import within_64_bits
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import exact, infinity, round_nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

COMMON = 2**400
"""Steps between this and its inverse are doubles, or nearly, and so are the squares of multiples of them."""

NEAR = 5 * 2**60
"""As far as this from zero is far from every end, and leaves room on both sides for all the noise there is."""


@dataclass(frozen=True, eq=False)
class Truths:
    """The indices that some true answers count as."""

    exact: list[int]
    near: Indices
    """The same within 64 bits: on a side without an end all is alike far out, so what is farther is moved nearer."""

    @classmethod
    def of(cls, indices: list[int]) -> Truths:
        """Move what is too far for 64 bits."""
        return cls(indices, np.array([_near(index) for index in indices], dtype=np.int64))

    def beside(self, releases: list[int]) -> Indices:
        """Return releases moved as their true answers were."""
        moved = zip(releases, self.exact, self.near.tolist(), strict=True)
        places = (release - index + near for release, index, near in moved)
        return np.array([within_64_bits(place) for place in places], dtype=np.int64)

    def move_back(self, releases: Indices) -> list[int]:
        """Return indices that were found beside the true answers, where they really are."""
        moved = zip(releases.tolist(), self.exact, self.near.tolist(), strict=True)
        return [release + index - near for release, index, near in moved]


def _near(index: int) -> int:
    return max(-NEAR, min(NEAR, index))


class Units:
    """Lengths in steps and in the units of the answers, and answers for people."""

    def __init__(self, bounds: Bounds, lattice: Lattice, answers: Answers) -> None:
        self._bounds, self._lattice, self._answers = bounds, lattice, answers
        self.step = round_nearest(lattice.step)
        self._is_common = Fraction(1, COMMON) < lattice.step < COMMON

    def lengths(self, steps: Floats, power: int = 1) -> Floats:
        """Return lengths in the units of the answers, or their squares; what is beyond doubles is infinite."""
        if self._is_common:
            return steps * self.step if power == 1 else steps * self.step * self.step
        unit = self._lattice.step**power
        return np.array([round_nearest(Fraction(x) * unit) if np.isfinite(x) else x for x in steps.tolist()])

    def excess(self, value: Any, index: int) -> Fraction:
        """Return how far a true answer is above what an index stands for; in days for dates."""
        if self._answers.is_dates:
            return Fraction(self._answers.index(value) - index)
        return self._answers.number(value) - self._lattice.value(index)

    def above(self, steps: Floats, excess: list[Fraction]) -> Floats:
        """Return lengths that are so many steps less an excess; what is beyond doubles is infinite."""
        lengths = self.lengths(steps) - np.array([round_nearest(above) for above in excess])
        for i in np.flatnonzero(np.isnan(lengths)):  # both were beyond doubles
            lengths[i] = round_nearest(Fraction(float(steps[i])) * self._lattice.step - excess[i])
        return lengths

    def steps_above(self, value: Any, index: int) -> float:
        """Return how many steps a true answer is above an index, rounded to the nearest double."""
        steps = self._answers.steps_above(value, index) if type(value) is float else None
        return round_nearest(self.excess(value, index) / self._lattice.step) if steps is None else steps

    def mean(self, index: int, bias: float) -> float | datetime:
        """Return what is so far, in units, above an index: a float, or for dates a datetime."""
        if not self._answers.is_dates:
            return self._answers.nearest_double(index) + bias
        days = min(max(index + bias, 1.0), float(date.max.toordinal()))
        return datetime.fromordinal(int(days)) + timedelta(days=days - int(days))

    def floor(self, released: Any) -> int:
        """Return the index of a release, or of the next lower one if it is none."""
        if type(released) is float and (lower := self._answers.floor(released)) is not None:
            return lower
        index = self._answers.point(released)
        if index is not None:
            return index
        if self._answers.is_dates:
            return self._answers.index(released)
        return int((exact(released, "released", InvalidParameter) - self._lattice.offset) // self._lattice.step)

    def floors(self, released: list[Any]) -> tuple[list[int], dict[int, float]]:
        """Return `floor` of each, 0 for the infinite ones; and where these are, with the probability up to them."""
        signs = [infinity(value) for value in released]
        known = {place: float(sign > 0) for place, sign in enumerate(signs) if sign}
        return [0 if sign else self.floor(value) for sign, value in zip(signs, released, strict=True)], known

    def outward(self, index: int, sign: int, kind: type) -> Any:
        """Write an end of an interval for the answers that round to its indices, not for the indices alone.

        Where the caller gave a step, answers are taken to be on it.
        """
        bounds, lattice = self._bounds, self._lattice
        write: Callable[[int], Any] = self._answers.writer(kind)
        if bounds.step is not None:
            return write(index)
        if lattice.project(index + sign)[0] == index + sign:
            return write(index + sign)
        if issubclass(kind, Decimal):
            return write(index)
        end = bounds.nearest(lattice.value(index + sign))
        return end if issubclass(kind, Fraction) else round_nearest(end)
