"""Which answers are possible: unions of spans and days, their notation, and the lattice behind them."""

from inbounds.bounds.bounds import Bounds

__all__ = ["Bounds"]
