"""Pictures of mechanisms: what they release, how far off that is, and what it costs.  Needs `inbounds[plot]`."""

from inbounds.plot.pictures import against_epsilon, densities, errors, loss

__all__ = ["against_epsilon", "densities", "errors", "loss"]
