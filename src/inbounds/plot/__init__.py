"""Charts of mechanisms and of private tables: releases, their errors, and their cost.

Needs `inbounds[plot]`.
"""

from inbounds.plot.answers import chart, lines
from inbounds.plot.pictures import against_epsilon, densities, errors, loss
from inbounds.plot.tables import bars, boxes

__all__ = ["against_epsilon", "bars", "boxes", "chart", "densities", "errors", "lines", "loss"]
