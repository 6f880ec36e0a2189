"""What is given beside a question, checked: epsilon, pooling, confidence, numbers of rows."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.ledger.values.amount import fraction, units
from inbounds.privacy.claim import checked_epsilon

LEAST_ODDS = Fraction(1, 10**9)
"""Intervals are neither surer nor less sure than this, where doubles still tell odds from none."""


def cost_of(epsilon: Any) -> Fraction:
    """Return what a ledger can charge; what it cannot is refused by the range of every epsilon, where that is why."""
    try:
        return fraction(units(epsilon))
    except InvalidParameter:
        if isinstance(epsilon, int | float | Decimal | Fraction):
            checked_epsilon(epsilon)
        raise


def fixed_pooling(pooling: Any) -> Fraction | None:
    """Return the pooling that is fixed, None if it is to be chosen."""
    return None if pooling is None else as_written(pooling, "pooling", InvalidParameter)


def whole_number(given: Any) -> int:
    """Return a number of rows."""
    if type(given) is not int or given < 0:
        raise InvalidQuestion(f"limit takes whole numbers, 0 or more, got {shown(given)}; give such a number")
    return given


def checked_confidence(given: Any) -> float:
    """Return the confidence of intervals."""
    found = as_written(given, "confidence", InvalidParameter)
    if not LEAST_ODDS <= found <= 1 - LEAST_ODDS:
        raise InvalidParameter(
            f"confidence must be above 0 and below 1, by 1e-9 or more, got {shown(given)}; give one like {CONFIDENCE}"
        )
    return float(found)
