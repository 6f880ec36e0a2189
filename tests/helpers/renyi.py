"""Rényi divergences by their definition, and the rho that they come to."""

from __future__ import annotations

import math
from collections.abc import Sequence

ORDERS = (*(1 + 2.0**-k for k in range(14, 0, -1)), 2, 2.5, 3, 4, 6, 10, 20, 50, 100, 200, 500)
"""From nearly 1, where what is divided by the order is often greatest, up to where the loss itself is seen."""


def renyi(first: Sequence[float], second: Sequence[float], order: float) -> float:
    """Return the divergence of an order between two laws on the same points, all of them possible."""
    logs = [math.log(p) + (order - 1) * (math.log(p) - math.log(q)) for p, q in zip(first, second, strict=True)]
    most = max(logs)
    return (most + math.log(math.fsum(math.exp(log - most) for log in logs))) / (order - 1)


def greatest_rho_of(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the greatest divergence over its order, either way round, over many orders."""
    return max(max(renyi(first, second, order), renyi(second, first, order)) / order for order in ORDERS)
