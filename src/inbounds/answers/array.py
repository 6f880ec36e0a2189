"""Arrays of answers, read onto a lattice and written back.

Which of the ways below an array takes depends on its dtype and on the lattice, not on the answers in it.  Indices are
int64, or doubles where the lattice is of a power of two and fine: every double is then exactly a multiple of a step, or
a fraction of one.  Only an array with an answer so vast that its index is beyond those, on a side without an end, is
read and drawn one by one, as single answers are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.answers.rational_steps import RationalSteps
from inbounds.answers.single import DAYS, LARGEST, NO_DAY, Answers, tells_days
from inbounds.bounds.days import EPOCH
from inbounds.errors import InvalidAnswer

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLAMP = 2**61 - 2**10
"""How many steps from zero an answer can be, in an array, on an unbounded lattice that is counted in int64."""

INT64 = 2**63 - 1

PLAIN = {int, float}
"""The kinds whose releases make an array of numbers."""

TINY = Fraction(1, 2**960)

COARSE = Fraction(1, 2**8)
"""From this step on, CLAMP steps are beyond 2**53, where doubles have no fractions left: clamping there is harmless."""


Reader = Callable[[slice], "NDArray[Any]"]
"""Returns the indices nearest to a part of an array of answers."""


class AnswerArrays:
    """Reads and writes flat arrays of answers."""

    def __init__(self, answers: Answers) -> None:
        lattice = answers.lattice
        self._answers, self._lattice = answers, lattice
        reach = lattice.reach
        self._clamp = 2**61 if lattice.bounded else CLAMP
        self._counts = answers.integral and not answers.is_dates and (answers.factor, answers.shift) == (1, 0)
        self._doubles = answers.dyadic and not answers.integral and TINY < lattice.step < 1 / TINY and reach < 2**53
        self._rational = RationalSteps(lattice) if RationalSteps.suits(lattice) and not answers.is_dates else None
        # The largest index that can be written: as an int64, or as a quotient of integers that are doubles.
        self._writable = ((INT64 if answers.integral else 2**53) - abs(answers.shift)) // answers.factor
        held = max(answers.divisor, answers.factor) < 2**53
        self._quotient = held and not answers.integral and lattice.bounded and reach <= self._writable
        farthest = reach if lattice.bounded else 2**30  # beyond that, what does not fit is clipped
        self._int64 = answers.integral and answers.factor <= INT64 and farthest <= self._writable

    def reader(self, answers: NDArray[Any]) -> Reader | list[int]:
        """Check all answers, then return what reads a part of them; or their indices, if these may not fit int64."""
        kind, size = answers.dtype.kind, answers.dtype.itemsize
        if kind not in "iufOM":
            raise InvalidAnswer(
                f"an array of answers must hold numbers or dates, got {answers.dtype.type.__name__}; convert it"
            )
        if self._answers.is_dates and kind == "M":
            days = _days(answers)
            return lambda part: days[part]
        if kind == "f" and size <= 8 and (self._counts or self._doubles):
            return self._read_floats(answers)
        if kind in "iu" and self._counts:
            return lambda part: np.clip(answers[part], *_within(answers.dtype, self._clamp)).astype(np.int64)
        if kind in "iu" and self._doubles and (size <= 4 or (self._lattice.bounded and self._lattice.step <= 1)):
            # Beyond 2**53 is beyond every end; where a step is more than 1, an end may be farther than doubles count.
            return lambda part: self._nearest(np.clip(answers[part], *_within(answers.dtype, 2**53)).astype(np.float64))
        if self._rational and (kind in "iu" or (kind == "f" and size <= 8)):
            return self._read_rational(answers, self._rational)
        return self._read_each(answers)

    def _read_floats(self, answers: NDArray[Any]) -> Reader | list[int]:
        self._check_finite(answers)
        if self._doubles and self._are_vast(answers):
            return self._read_one_by_one(answers)
        return lambda part: self._nearest(answers[part].astype(np.float64, copy=False))

    def _read_rational(self, answers: NDArray[Any], steps: RationalSteps) -> Reader:
        if answers.dtype.kind == "f":
            self._check_finite(answers)
            return lambda part: steps.nearest(answers[part].astype(np.float64, copy=False))
        within = _within(answers.dtype, 2**53)  # beyond that is beyond every end
        return lambda part: steps.nearest(np.clip(answers[part], *within).astype(np.float64))

    def _read_each(self, answers: NDArray[Any]) -> Reader | list[int]:
        for type_ in set(map(type, answers.tolist())):
            self._answers.writer(type_)  # so that what cannot be written is refused before anything is drawn
        indices = self._read_one_by_one(answers)
        coarse = self._lattice.step >= COARSE and answers.dtype.kind != "O"
        if not (self._lattice.bounded or coarse):
            return indices
        if not (self._lattice.bounded or self._answers.integral) and any(abs(index) > CLAMP for index in indices):
            return indices
        fitting = np.array([max(-self._clamp, min(self._clamp, index)) for index in indices], dtype=np.int64)
        return lambda part: fitting[part]

    def _read_one_by_one(self, answers: NDArray[Any]) -> list[int]:
        return [self._answers.index(answer) for answer in answers.tolist()]

    def _are_vast(self, answers: NDArray[Any]) -> bool:
        """Return whether a double is more steps from zero than doubles count, on a side without an end."""
        if self._lattice.step >= 1 or not answers.size:
            return False
        most = LARGEST * float(self._lattice.step)
        is_low = self._lattice.unbounded_below and float(answers.min()) < -most
        return bool(is_low or (self._lattice.unbounded_above and float(answers.max()) > most))

    def write(self, indices: NDArray[Any], answers: NDArray[Any]) -> NDArray[Any]:
        """Return the answers that indices stand for, as the kind of the answers that were read."""
        if answers.dtype.kind == "M":
            return (indices - EPOCH).astype("datetime64[D]")
        if answers.dtype.kind == "O":
            return self.write_each(indices.tolist(), answers)
        if indices.dtype == np.float64:
            return indices * float(self._lattice.step)
        factor, shift, divisor = self._answers.factor, self._answers.shift, self._answers.divisor
        if self._int64:
            return np.clip(indices, -self._writable, self._writable) * factor + shift
        if self._quotient:  # of integers that are doubles, so it is the nearest double
            return (indices * factor + shift) / divisor
        return self.write_each(indices.tolist(), answers)

    def write_each(self, indices: list[int], answers: NDArray[Any]) -> NDArray[Any]:
        """`write`, one by one: each as the kind of its own answer, if they are not all plain numbers."""
        kinds = [type(answer) for answer in answers.tolist()]
        if self._int64 and set(kinds) <= PLAIN:  # never wider than int64, lest the dtype tell how large an answer was
            fitting = (max(-self._writable, min(self._writable, index)) for index in indices)
            return np.array([self._answers.writer(int)(index) for index in fitting], dtype=np.int64)
        values = [self._answers.writer(kind)(index) for index, kind in zip(indices, kinds, strict=True)]
        if not set(kinds) <= PLAIN:
            return _objects(values)
        if not self._answers.integral:
            return np.array(values, dtype=np.float64)
        return _objects(values)

    def _check_finite(self, answers: NDArray[Any]) -> None:
        if np.isfinite(answers).all():
            return
        if np.isnan(answers).any():
            self._answers.end(0)
        for sign in (-1, 1):
            if (answers == sign * np.inf).any():
                self._answers.end(sign)

    def _nearest(self, answers: NDArray[np.float64]) -> NDArray[Any]:
        """Return `floor(answer / step + 1/2)`, exactly, or at least something beyond the same end."""
        lows, highs = self._lattice.ends[answers.dtype]
        least, most = (-LARGEST, LARGEST) if self._counts else (lows[0] - 1, highs[-1] + 1)
        with np.errstate(over="ignore", under="ignore"):
            scaled = answers * float(1 / self._lattice.step)
        np.clip(scaled, max(least, -LARGEST), min(most, LARGEST), out=scaled)
        whole = np.floor(scaled)
        scaled -= whole
        whole += scaled >= 0.5
        return np.clip(whole, -self._clamp, self._clamp).astype(np.int64) if self._counts else whole


def _days(answers: NDArray[np.datetime64]) -> NDArray[np.int64]:
    if not tells_days(answers.dtype):
        raise InvalidAnswer(
            f"dates in an array must be datetime64[D] or finer, got {answers.dtype}; convert them to that"
        )
    if np.isnat(answers).any():
        raise InvalidAnswer(NO_DAY)
    return np.clip(answers.astype(DAYS).astype(np.int64), -CLAMP, CLAMP) + EPOCH


def _within(dtype: np.dtype[Any], limit: int) -> tuple[int, int]:
    """Return the part of ±limit that an integer dtype can hold."""
    info = np.iinfo(dtype)
    return max(int(info.min), -limit), min(int(info.max), limit)


def as_array(answers: Any) -> NDArray[Any]:
    """Return answers as an array whose dtype depends on their kinds, never on their values."""
    if isinstance(answers, np.ma.MaskedArray):
        raise InvalidAnswer("an array of answers must not be masked; fill it or compress it first")
    if not isinstance(answers, list | tuple):
        _refuse_time_zone(answers)
        return np.asarray(answers)
    try:
        array = np.array(answers, dtype=object)
    except ValueError:  # its message tells how the answers are nested
        array = _objects([answers])
    kinds = set(map(type, array.ravel().tolist()))
    if kinds & {list, tuple}:
        raise InvalidAnswer(
            "a list of answers must be a rectangular array, got rows of different lengths; pad or split it"
        )
    return array.astype(np.float64) if kinds <= {float} else array


def _refuse_time_zone(answers: Any) -> None:
    """Refuse moments with a time zone, of pandas, polars or Arrow: as an array they would be the days of another one.

    Two answers a day apart by their own clocks may be two days apart by the clock of UTC.
    """
    kind = getattr(answers, "dtype", getattr(answers, "type", None))
    kinds = (kind, getattr(kind, "pyarrow_dtype", None))
    if any(getattr(dtype, name, None) is not None for dtype in kinds for name in ("tz", "time_zone")):
        raise InvalidAnswer(
            "an answer about dates must not have a time zone, because the date depends on the zone; "
            "take the dates first (.dt.date() of a polars Series, .dt.date of a pandas one)"
        )


def _objects(items: list[Any]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
