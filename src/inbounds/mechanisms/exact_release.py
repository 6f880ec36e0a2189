"""Many exact answers released at once, each as if it were alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.entropy import system

NEAR = 2**52
"""Answers fewer steps than this from zero are held by doubles and 64-bit integers exactly, with room for noise."""


@np.errstate(all="ignore")  # whatever the caller has set
def release_all(mechanism: Mechanism, answers: list[Any]) -> list[Any]:
    """Return an independent release for each answer: a day for a day, a number for an exact number.

    Each answer is put on the lattice by itself, exactly.  Those that an array of numbers can hold are drawn together.
    """
    if not answers:
        return []
    bounds = mechanism.bounds
    if bounds.is_dates:
        return list(mechanism.release(np.array(answers, dtype="datetime64[D]")).tolist())
    if bounds.step is not None and (bounds.step != 1 or bounds.offset != 0):
        return list(mechanism.release([Fraction(answer) for answer in answers]).tolist())
    lattice = mechanism._setting.lattice
    indices = [lattice.index(answer.numerator, answer.denominator) for answer in answers]
    near = [place for place, index in enumerate(indices) if abs(index) < NEAR]
    held = np.array([indices[place] for place in near], dtype=np.int64 if bounds.step is not None else np.float64)
    released = [
        None if abs(index) < NEAR else mechanism.release(Fraction(answer))
        for answer, index in zip(answers, indices, strict=True)
    ]
    for part, drawn in mechanism._drawn(held.__getitem__, len(held), system) if near else ():
        written = mechanism._output_arrays.write(drawn, held[part]).tolist()
        for place, value in zip(near[part], written, strict=True):
            released[place] = value
    return released
