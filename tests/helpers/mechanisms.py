"""One mechanism of every kind, each with true answers that reach its ends, its middles and its gaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

from inbounds import BoundedLaplace, Bounds


@dataclass(frozen=True)
class Kind:
    """What a mechanism is made of, and some true answers."""

    bounds: Bounds
    epsilon: float
    pooling: float
    answers: tuple[Any, ...]


ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 30)], step=1)
BANKS = Bounds(None, -3, step=1) | Bounds(4, None, step=1)
YEAR = Bounds.dates("2026-01-01", "2026-12-31", weekdays="Mon-Fri", closed=["2026-12-25"])
HOLIDAYS = (date(2026, 1, 1), date(2026, 7, 4), date(2026, 12, 25), date(2026, 12, 31))

KINDS = {
    "one span": Kind(Bounds(0, 20, step=1), 0.5, 0, (0, 7, 20)),
    "one span, pooling 0.4": Kind(Bounds(0, 20, step=1), 0.5, 0.4, (0, 7, 20)),
    "one span, pooling 1": Kind(Bounds(0, 20, step=1), 0.5, 1, (0, 7, 20)),
    "half-line upwards": Kind(Bounds(0, None, step=1), 0.5, 0, (0, 3, 40)),
    "half-line downwards": Kind(Bounds(None, 0, step=1), 0.5, 0.4, (0, -3, -40)),
    "half-line, pooling 1": Kind(Bounds(-2, None, step=1), 1, 1, (-2, 0, 9)),
    "whole line": Kind(Bounds(None, None, step=1), 0.7, 0, (0, -5, 10**6)),
    "islands": Kind(ISLANDS, 2, 0, (0, 5, 9, 13, 30)),
    "islands, pooling 0.4": Kind(ISLANDS, 2, 0.4, (0, 5, 9, 13, 30)),
    "islands, pooling 1": Kind(ISLANDS, 2, 1, (0, 5, 9, 13, 30)),
    "banks, pooling 0.4": Kind(BANKS, 1, 0.4, (-30, -3, 4, 6)),
    "narrow": Kind(Bounds(0, 10, step=1), 1e-6, 0, (0, 4, 10)),
    "narrow, pooling 0.4": Kind(Bounds(0, 10, step=1), 1e-6, 0.4, (0, 4, 10)),
    "narrow, pooling 1": Kind(Bounds(0, 10, step=1), 1e-6, 1, (0, 4, 10)),
    "narrow islands": Kind(ISLANDS, 1e-6, 0.4, (0, 9, 30)),
    "dates": Kind(YEAR, 1, 0.4, HOLIDAYS),
    "tenths": Kind(Bounds(0, 3, step=Fraction(1, 10)), 2, 0.4, (0.0, 1.5, 3.0)),
    "halves off zero": Kind(Bounds(0.5, 9.5, step=1, offset=0.5), 1, 0, (0.5, 4.5, 9.5)),
    "no step": Kind(Bounds(0, 100), 1, 0, (0.0, 12.345, 100.0)),
    "no step, pooling 0.4": Kind(Bounds(0, 5) | Bounds(7, None), 1, 0.4, (0.0, 4.9, 7.0)),
    "no step, whole line": Kind(Bounds.everything(), 1, 0, (-1e6, 0.1, 2.0**20)),
    "no step, narrow": Kind(Bounds(0, 1), 1e-6, 0, (0.0, 0.3, 1.0)),
}


@cache
def mechanism(name: str) -> BoundedLaplace:
    """Return the mechanism of a kind, calibrated once, at sensitivity 1."""
    kind = KINDS[name]
    return BoundedLaplace(kind.bounds, 1, kind.epsilon, pooling=kind.pooling)
