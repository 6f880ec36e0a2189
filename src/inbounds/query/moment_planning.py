"""How values are cut into parts for moments: as finely as integers of 64 bits allow."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from inbounds.query.column import Numbers
from inbounds.query.statement.request import Parts

MOST_UNITS = 2**30
"""A value is counted in at most so many units: its square stays below 2**63."""

MOST_WHOLE = {1: 2**35, 2: 2**17}
"""The parts of a value add up to at most this, in questions about one column and about two: the products of a row stay
below 2**35, and times `MOST_ROWS` below 2**63."""


def parts_of(column: Numbers, *, squares: bool, columns: int) -> Parts:
    """Return how the values of a column are cut; two values have no square of their own."""
    width = 1
    while _nearest(column.steps, width) > MOST_UNITS:
        width *= 2
    steps, is_square = _nearest(column.steps, width), squares and column.steps > 1
    divisor = ceil(Fraction(steps**2 if is_square else steps, MOST_WHOLE[columns]))
    return Parts(column, width, steps, divisor, is_square)


def _nearest(steps: int, width: int) -> int:
    return (steps + width // 2) // width
