"""Small random lattices with something promised about them, on which the definitions can be written out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, Claim
from tests.helpers.brute_force import BruteForce, Spans

KINDS = ("projected", "trusted", "distance")


@dataclass(frozen=True)
class Scene:
    """A promise over the indices in `spans`; the sensitivity counts steps."""

    spans: Spans
    step: Fraction
    offset: Fraction
    sensitivity: Fraction
    epsilon: float
    pooling: float
    kind: str

    @property
    def bounds(self) -> Bounds:
        """The spans as values."""
        ends = [[None if end is None else self.offset + end * self.step for end in span] for span in self.spans]
        return Bounds.union([(low, high) for low, high in ends], self.step, self.offset)

    @property
    def promise(self) -> dict[str, Any]:
        """The arguments of a mechanism."""
        return {
            "bounds": self.bounds,
            "sensitivity": self.sensitivity * self.step,
            "epsilon": self.epsilon,
            "pooling": self.pooling,
            "guarantee": "distance" if self.kind == "distance" else "standard",
            "trusted": self.kind != "projected",
        }

    def mechanism(self) -> BoundedLaplace:
        """The mechanism that keeps the promise."""
        return BoundedLaplace(**self.promise)

    def claim(self, scale: Fraction) -> Claim:
        """The claim that a scale, in steps, is enough."""
        return Claim.of(**self.promise, scale=scale * self.step)

    def brute_force(self, scale: Fraction) -> BruteForce:
        """The law with a scale, in steps, written out."""
        return BruteForce(self.spans, float(1 / scale), self.pooling, pad=2 * math.ceil(self.sensitivity) + 3)

    def reach(self) -> int:
        """How many steps apart answers that owe each other one epsilon can be."""
        if self.kind == "distance":
            return math.ceil(self.sensitivity)
        pairs = self.brute_force(Fraction(1)).neighbours(self.sensitivity, trusted=self.kind == "trusted")
        return max(abs(i - j) for i, j in pairs)

    def worst(self, scale: Fraction) -> float:
        """The greatest loss at a scale, in steps, by definition; per sensitivity for the distance guarantee."""
        law = self.brute_force(scale)
        if self.kind == "distance":
            return law.worst_distance(self.sensitivity)
        return law.worst_standard(self.sensitivity, trusted=self.kind == "trusted")

    def reflected(self) -> Scene:
        """The mirror image."""
        spans: Spans = [(_moved(high, -1, 0), _moved(low, -1, 0)) for low, high in reversed(self.spans)]
        return replace(self, spans=spans, offset=-self.offset)

    def translated(self, steps: int) -> Scene:
        """The same elsewhere."""
        return replace(self, spans=[(_moved(low, 1, steps), _moved(high, 1, steps)) for low, high in self.spans])


def _moved(end: int | None, factor: int, steps: int) -> int | None:
    return None if end is None else factor * end + steps


@st.composite
def spans(draw: st.DrawFn, *, even_gaps: bool = False) -> Spans:
    """From one to five spans, some of a single index, some without an end."""
    count = draw(st.integers(1, 5))
    ends, end = [], draw(st.integers(-9, 9))
    for _ in range(count):
        length, gap = draw(st.integers(0, 5)), draw(st.integers(1, 4)) * (2 if even_gaps else 1)
        ends.append((end, end + length))
        end += length + gap + 1
    found: Spans = [*ends]
    if draw(st.booleans()):
        found[0] = (None, found[0][1])
    if draw(st.booleans()):
        found[-1] = (found[-1][0], None)
    return found


@st.composite
def scenes(draw: st.DrawFn, *, kinds: tuple[str, ...] = KINDS, even_gaps: bool = False, whole: bool = False) -> Scene:
    """A random promise; `whole` for a sensitivity of a whole number of steps."""
    step = draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))
    return Scene(
        spans=draw(spans(even_gaps=even_gaps)),
        step=step,
        offset=draw(st.sampled_from([Fraction(0), step / 2])),
        sensitivity=Fraction(draw(st.integers(1, 12)), 1 if whole else draw(st.sampled_from([1, 2, 5]))),
        epsilon=draw(st.sampled_from([0.01, 1.0, 10.0]) | st.floats(0.01, 10)),
        pooling=draw(st.sampled_from([0.0, 1.0]) | st.floats(0, 1)),
        kind=draw(st.sampled_from(kinds)),
    )


def scales() -> st.SearchStrategy[Fraction]:
    """Scales from far below a step to far above any scene."""
    return st.floats(-2, 3).map(lambda exponent: Fraction(10.0**exponent))
