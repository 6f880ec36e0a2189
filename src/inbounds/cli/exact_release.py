"""Many exact answers released at once, each as if it were alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.bounds.lattice import Lattice

NEAR = 2**52
"""Answers fewer steps than this from zero are held by doubles and 64-bit integers exactly, with room for noise."""


def release_all(mechanism: Any, answers: list[Any]) -> list[Any]:
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
    lattice = Lattice.of(bounds, mechanism.step)
    indices = [lattice.index(answer.numerator, answer.denominator) for answer in answers]
    near = [place for place, index in enumerate(indices) if abs(index) < NEAR]
    held = np.array([indices[place] for place in near], dtype=np.int64)
    # The product is exact: a step that was chosen is a power of two.
    points = held if bounds.step is not None else held * float(mechanism.step)
    released = [
        None if abs(index) < NEAR else mechanism.release(Fraction(answer))
        for answer, index in zip(answers, indices, strict=True)
    ]
    for place, value in zip(near, mechanism.release(points).tolist() if near else [], strict=True):
        released[place] = value
    return released
