"""What is given beside a question, checked: epsilon, pooling, confidence, numbers of rows."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidParameter
from inbounds.exact.amount import fraction, units
from inbounds.exact.rational import as_written, shown
from inbounds.privacy.claim import checked_epsilon

LEAST_ODDS = Fraction(1, 10**9)
"""Intervals are neither surer nor less sure than this, where doubles still tell odds from none."""


def read_cost(epsilon: Any) -> Fraction:
    """Return what a ledger can charge; what it cannot is refused by the range of every epsilon, where that is why."""
    try:
        return fraction(units(epsilon))
    except InvalidParameter:
        if isinstance(epsilon, int | float | Decimal | Fraction):
            checked_epsilon(epsilon)
        raise


def settle_cost(epsilon: Any, stated: Fraction | None) -> Fraction:
    """Return what a query costs: what is given beside it, or what its SQL says; both only if they are the same."""
    if epsilon is None:
        if stated is None:
            raise InvalidParameter(
                "a query needs an epsilon, got none; give one such as 0.5, or write SELECT WITH DIFFERENTIAL_PRIVACY "
                "OPTIONS (epsilon = 0.5) in its SQL"
            )
        return stated
    cost = read_cost(epsilon)
    if stated is not None and cost != stated:
        raise InvalidParameter(
            f"a query has one epsilon, got {shown(epsilon)} beside the SQL and {write_end(stated)} in it; leave one of "
            "them out"
        )
    return cost


def read_pooling(pooling: Any) -> Fraction | None:
    """Return the pooling that is fixed, None if it is to be chosen."""
    return None if pooling is None else as_written(pooling, "pooling", InvalidParameter)


def read_confidence(confidence: Any) -> float:
    """Return the confidence of intervals."""
    value = as_written(confidence, "confidence", InvalidParameter)
    if not LEAST_ODDS <= value <= 1 - LEAST_ODDS:
        raise InvalidParameter(
            f"confidence must be above 0 and below 1, by 1e-9 or more, got {shown(confidence)}; give one like "
            f"{CONFIDENCE}"
        )
    return float(value)


def check_at_once(confidence: float, at_once: int) -> None:
    """Refuse so many intervals at once, where each would have to be surer than doubles tell."""
    most = 1 - at_once * LEAST_ODDS
    if Fraction(confidence) > most:
        remedy = f"give at most {floor(most * 1000) / 1000:g}" if most > LEAST_ODDS * 1000 else "ask for fewer groups"
        raise InvalidParameter(
            f"confidence must be at most 1 - {at_once:,}e-9 for {at_once:,} simultaneous intervals, got "
            f"{shown(confidence)}; {remedy}"
        )
