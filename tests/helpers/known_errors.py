"""Least errors on few points that are known from elsewhere, as parts of the sensitivity.

Each line: epsilon, how many points, how many steps the sensitivity is, and the least mean and worst errors.
"""

from __future__ import annotations

Known = tuple[float, int, int, float, float]

NAMES = ("epsilon", "count", "steps", "mean", "worst")

OPTIMA: list[Known] = [
    (0.5, 31, 15, 0.4863, 0.6595),
    (1, 21, 20, 0.2239, 0.3160),
    (1, 31, 15, 0.4142, 0.4813),
    (1, 22, 7, 0.5467, 0.5852),
    (1, 41, 8, 0.6901, 0.7156),
    (2, 31, 15, 0.2717, 0.2884),
    (2, 41, 8, 0.3604, 0.3774),
]
"""Of any mechanism, by linear programming."""

STAIRS: list[Known] = [
    (0.5, 31, 15, 0.6290, 0.7787),
    (1, 21, 20, 0.3051, 0.3726),
    (1, 31, 15, 0.5222, 0.6062),
    (1, 41, 8, 0.7610, 0.8801),
    (2, 31, 15, 0.3155, 0.3677),
    (2, 41, 8, 0.3770, 0.4204),
]
"""Of staircases, over all first stairs, snapped or folded."""
