"""A goodness-of-fit test whose false alarms are too rare to be seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

FLOOR = 1e-9
"""A p-value below this rejects: right draws fail a test once in a thousand million runs."""

LEAST = 1000
"""Cells are pooled until this many draws are expected in each, so that chi-square's far tail can be believed."""


def p_value(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """Return how probable it is that draws with these probabilities fit no better than these counts do."""
    seen = np.asarray(counts, dtype=float).ravel()
    expected = np.asarray(probabilities, dtype=float).ravel() * seen.sum()
    order = np.argsort(expected)
    starts, pooled = [0], 0.0
    for place, cell in enumerate(expected[order]):
        if pooled >= LEAST:
            starts.append(place)
            pooled = 0.0
        pooled += cell
    if pooled < LEAST and len(starts) > 1:
        starts.pop()  # what is left over joins the cell before it
    seen, expected = np.add.reduceat(seen[order], starts), np.add.reduceat(expected[order], starts)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, max(len(seen) - 1, 1)))
