"""Many exact answers released at once, each as if it were alone.

Doubles hold fewer releases than fractions do: a release that no double has would tell that its answer was not read as
one.  So the bounds and the step alone decide which of the two all answers take.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.answers.array import TINY
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.mechanisms.mechanism import Mechanism


def release_all(mechanism: Mechanism, answers: list[Any]) -> list[Any]:
    """Return an independent release for each answer: a day for a day, a number for an exact number.

    Each answer is put on the lattice by itself, exactly.  Where every possible answer is a double, they are then drawn
    as doubles or 64-bit integers, and else as fractions.
    """
    if not answers:
        return []
    bounds = mechanism.bounds
    if bounds.is_dates:
        return list(mechanism.release(np.array(answers, dtype="datetime64[D]")).tolist())
    lattice = Lattice.of(bounds, mechanism.step)
    if not _in_arrays(bounds, lattice):
        return list(mechanism.release([Fraction(answer) for answer in answers]).tolist())
    indices = [lattice.clip(lattice.index(answer.numerator, answer.denominator)) for answer in answers]
    if bounds.step is not None:
        return list(mechanism.release(np.array(indices, dtype=np.int64)).tolist())
    return list(mechanism.release(np.array(indices, dtype=np.float64) * float(lattice.step)).tolist())


def _in_arrays(bounds: Bounds, lattice: Lattice) -> bool:
    """Return whether arrays of 64 bits hold every possible answer, and every index, exactly."""
    chosen = bounds.step is None and TINY < lattice.step < 1 / TINY
    return lattice.in_doubles and (chosen or (bounds.step == 1 and bounds.offset == 0))
