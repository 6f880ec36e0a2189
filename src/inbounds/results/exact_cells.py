"""The cells of an answer as exact numbers, to compute with."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any


def are_numbers(*values: Any) -> bool:
    """Return whether values are numbers, of which none is missing."""
    return all(isinstance(value, int | Fraction) for value in values)


def to_exact(value: Any) -> Any:
    """Return a released value or key exactly, a float as the decimal that it is written as; None for an infinity."""
    if not isinstance(value, float):
        return value
    return Fraction(repr(value)) if isfinite(value) else None
