"""What is promised, and between which pairs of answers it has to be checked.

* `standard`: answers at most one sensitivity apart have a loss of at most epsilon.  This is epsilon-DP.
* `distance`: answers `i` sensitivities apart have a loss of at most `i * epsilon`, for every whole number `i`, and for
  every other up to the rounding to a step.

Only finitely many pairs decide, at most four for each span: docs/mathematics.md, "Which pairs decide".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from inbounds.bounds.index_span import LIMIT, finite
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter, LatticeTooFine
from inbounds.exact.rational import concise, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

GuaranteeName = Literal["standard", "distance"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of feasible indices whose losses decide a guarantee.

    The guarantee holds when the loss of each is at most epsilon, or `allowance` times their distance of it.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    first_span: NDArray[np.intp]
    second_span: NDArray[np.intp]
    allowance: Fraction | None
    """What a distance of one index is worth, in epsilons; None if every pair is worth one epsilon."""

    def __post_init__(self) -> None:
        for column in (self.first, self.second, self.first_span, self.second_span):
            column.flags.writeable = False  # a proof may rest on them

    def __len__(self) -> int:
        return len(self.first)

    def only(self, chosen: NDArray[np.intp]) -> Pairs:
        """Return some of the pairs."""
        return Pairs(
            self.first[chosen],
            self.second[chosen],
            self.first_span[chosen],
            self.second_span[chosen],
            self.allowance,
        )

    @property
    def reach(self) -> Fraction:
        """The greatest distance, in indices, per epsilon allowed: `rate * reach` is the least loss possible."""
        if self.allowance is not None:
            return 1 / self.allowance
        return Fraction(max((abs(self.first - self.second)).tolist(), default=0))


def deciding_pairs(lattice: Lattice, sensitivity: Fraction, guarantee: GuaranteeName, trusted: bool) -> Pairs:
    """Return the pairs that decide whether a law on this lattice keeps the guarantee."""
    if guarantee == "distance":
        if len(lattice) > 1 and not trusted:
            raise InvalidParameter(
                "the distance guarantee on bounds with inner gaps holds only for answers that are inside the bounds, "
                "because projection can move two close answers to opposite ends of a gap; "
                "confirm that every answer is possible (trusted), or use the standard guarantee"
            )
        # Rounding brings answers a sensitivity apart to that many whole steps, all of which may cost one epsilon.
        return _to_pairs(lattice, *_neighbouring_pairs(lattice), Fraction(1, whole_steps(lattice, sensitivity)))
    distance = _distance_in_steps(lattice, sensitivity)
    if trusted:
        # An answer beside an end that is not a lattice point may round into the gap and be pushed back, on either side.
        return _to_pairs(lattice, *_trusted_pairs(lattice, distance if lattice.ends_kept else distance + 2), None)
    return _to_pairs(lattice, *_projected_pairs(lattice, distance), None)


def whole_steps(lattice: Lattice, sensitivity: Fraction) -> int:
    """Return how many steps apart answers within one sensitivity of each other can be after rounding."""
    return -(-sensitivity // lattice.step)


def _distance_in_steps(lattice: Lattice, sensitivity: Fraction) -> int:
    distance = whole_steps(lattice, sensitivity)
    if lattice.bounded:
        return min(distance, lattice.width)
    if distance > LIMIT:
        raise LatticeTooFine(
            f"a sensitivity of {rounded(sensitivity, 6)} is 2**61 steps of {concise(lattice.step)} or more; "
            "give the bounds a larger step"
        )
    return distance


Ends = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _projected_pairs(lattice: Lattice, distance: int) -> Ends:
    """Each end with the farthest feasible indices that answers one sensitivity away can be projected to.

    The end itself is reached from up to half a gap away on its outer side.
    """
    # An end of an inner gap stands for all answers in its half of the gap, so what is a sensitivity away from one of
    # them can be half a gap farther out than what is a sensitivity away from the end itself.
    lows, highs = finite(lattice.lows), finite(lattice.highs)
    if not len(lows) + len(highs):
        return _anywhere(distance)
    if len(lattice) == 1:
        return np.concatenate([lows, highs]), np.concatenate(
            [np.minimum(lows + distance, lattice.last), np.maximum(highs - distance, lattice.first)]
        )
    gaps = lattice.gaps
    outer_low = lattice.lows[1:] - gaps // 2 - distance
    outer_high = lattice.highs[:-1] + (gaps + 1) // 2 + distance
    ends = np.concatenate([lows, highs, lattice.lows[1:], lattice.highs[:-1]])
    targets = np.concatenate([lows + distance, highs - distance, outer_low, outer_high])
    return ends, lattice.nearest(targets)


def _trusted_pairs(lattice: Lattice, distance: int) -> Ends:
    """Each end with the farthest feasible indices within one sensitivity, on either side."""
    ends = np.concatenate([finite(lattice.lows), finite(lattice.highs)])
    if not len(ends):
        return _anywhere(distance)
    partners = [lattice.farthest_within(ends, reach) for reach in (distance, -distance)]
    return np.concatenate([ends, ends]), np.concatenate(partners)


def _neighbouring_pairs(lattice: Lattice) -> Ends:
    """The first two and the last two indices of each span, and the two ends of each gap.

    Losses add up along a path, so neighbours bound every pair; and they are largest beside the ends.
    """
    # A span of one point has no neighbours within it; its pairs are the ends of the gaps beside it.
    long = lattice.highs > lattice.lows
    lows, highs = finite(lattice.lows[long]), finite(lattice.highs[long])
    if not len(lows) + len(highs) + len(lattice.gaps):
        return _anywhere(1) if not lattice.bounded else (lattice.lows, lattice.highs)
    return (
        np.concatenate([lows, highs - 1, lattice.highs[:-1]]),
        np.concatenate([lows + 1, highs, lattice.lows[1:]]),
    )


def _anywhere(distance: int) -> Ends:
    return np.array([0]), np.array([distance])


def _to_pairs(
    lattice: Lattice, first: NDArray[np.int64], second: NDArray[np.int64], allowance: Fraction | None
) -> Pairs:
    apart = first != second
    first, second = first[apart], second[apart]
    return Pairs(first, second, lattice.span_of(first), lattice.span_of(second), allowance)
