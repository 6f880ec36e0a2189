"""Numbers of rows that somebody who asks gives: how many are shown, and how many are assumed."""

from __future__ import annotations

from typing import Any

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.rational import shown

MOST_ROWS = 2**50
"""So many rows may be assumed in a group."""


def read_row_count(number: Any) -> int:
    """Return a number of rows."""
    if type(number) is not int or number < 0:
        raise InvalidQuestion(f"limit takes whole numbers, 0 or more, got {shown(number)}; give such a number")
    return number


def read_assumed_rows(rows: Any) -> int | None:
    """Return how many rows are assumed in each group, if that was said."""
    if rows is None:
        return None
    if type(rows) is not int or not 1 <= rows <= MOST_ROWS:
        raise InvalidParameter(f"rows must be a whole number from 1 to 2^50, got {shown(rows)}; give one such as 1000")
    return rows
