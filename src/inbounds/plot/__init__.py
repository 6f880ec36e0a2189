"""Pictures of mechanisms and of private tables: what is released, how far off that is, and what it costs.

Needs `inbounds[plot]`.
"""

from inbounds.plot.pictures import against_epsilon, densities, errors, loss
from inbounds.plot.tables import bars, boxes

__all__ = ["against_epsilon", "bars", "boxes", "densities", "errors", "loss"]
