"""A prior as a caller writes it, read: weights, and the edges of parts of the range; what makes no sense is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from inbounds.accuracy.window import value_of
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import as_written, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

PriorLike: TypeAlias = "Sequence[Any] | NDArray[Any] | Callable[[Any], Any]"
"""Weights, one for each possible answer, or without a step for equal parts of the range; or `(weights, edges)`, as
`numpy.histogram` returns them; or a function of the answer."""

EXACT = 2**53
"""Whole numbers up to this are doubles."""


def as_list(given: Any) -> list[Any]:
    """Return what a prior consists of, in the order in which it was written."""
    has_order = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Set)
    if not has_order or getattr(given, "ndim", 1) == 0:
        raise InvalidParameter(
            "prior must be a list of weights, a pair (weights, edges) or a function of the answer, got "
            f"{shown(given)}; put weights in [ ], in the order of the answers"
        )
    return list(given)


def weights_of(given: Iterable[Any]) -> Floats:
    """Return weights relative to the largest; refuse negative ones and values that are not numbers."""
    read = list(given)
    if not read:
        raise InvalidParameter("prior must have at least one weight, got none; leave it out for equal weights")
    if not all(map(_is_plain, read)):
        read = [as_written(weight, "a weight of the prior", InvalidParameter) for weight in read]
    least, greatest = min(read), max(read)
    if least < 0:
        raise InvalidParameter(f"no weight of the prior may be negative, got {shown(least)}; set it to 0")
    return np.array([float(weight / greatest) if greatest else 0.0 for weight in read])


def _is_plain(weight: object) -> bool:
    """Return whether a weight is a number that doubles hold: most are, and are read faster."""
    if isinstance(weight, float):
        return math.isfinite(weight)
    return type(weight) is int and abs(weight) <= EXACT


def edges_of(given: Iterable[Any], weights: int, bounds: Bounds, lattice: Lattice) -> Indices:
    """Return the first index of each part of a histogram, and the one after the last: its last edge belongs to it."""
    edges = list(given)
    if len(edges) != weights + 1:
        raise InvalidParameter(
            f"prior must have one more edge than weights, got {len(edges)} edges and {weights} weights; "
            "give (weights, edges) as numpy.histogram returns them"
        )
    values = [value_of(edge, bounds, "an edge of the prior") for edge in edges]
    for place, (low, high) in enumerate(pairwise(values)):
        if low >= high:
            raise InvalidParameter(
                f"the edges of a prior must rise, got {shown(edges[place])} before {shown(edges[place + 1])}; sort "
                "them, and give each once"
            )
    cuts = [lattice.between(value, value).low for value in values]
    cuts[-1] = lattice.between(values[-1], values[-1]).high + 1
    return np.array(cuts, dtype=np.int64)
