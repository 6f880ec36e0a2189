"""What is reflected into a span too often to be followed: it comes out anywhere there, all places alike.

Two reflections, up and down, hit each end of the span once and every other place twice.  Noise that is so wide against
the span hardly changes over that, and what it changes is nearly linear, which the way up and the way down make up for
(docs/decisions/0023-far-reflections.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from inbounds.mechanisms.additive.noise import Floats, Noise


@dataclass(frozen=True)
class Far:
    """All integers from `start` to `stop`, outside a span from `low` to `high` that they are reflected into."""

    start: int
    stop: int
    halves: tuple[tuple[int, int], ...]
    """Integers just before or after these that count half, with the ends that they go to: half of each is followed."""
    low: int
    high: int

    def seen_from(self, noise: Noise, origin: int) -> SeenFar:
        """Return how noise meets it, with all places relative to an index."""
        return SeenFar(
            noise,
            float(self.start - origin),
            float(self.stop - origin),
            [(float(edge - origin), float(end - origin)) for edge, end in self.halves],
            float(self.low - origin),
            float(self.high - self.low),
        )


@dataclass(frozen=True, eq=False)
class SeenFar:
    """What noise that is centred at some places puts into the span by way of far reflections."""

    noise: Noise
    start: float
    stop: float
    halves: list[tuple[float, float]]
    low: float
    length: float

    def mass(self, places: Floats) -> Floats:
        """Return how probable it is to meet the far, with the halves of its ends."""
        mass = self.noise.between(self.start - places, self.stop - places)[0]
        for edge, _ in self.halves:
            mass = mass + self.noise.probability(edge - places) / 2
        return mass

    def distance(self, places: Floats, excess: Floats) -> tuple[Floats, Floats]:
        """Return what it adds to the mass, and to the expected distance from true answers so far above the places."""
        mass = self.mass(places)
        distance = mass * self._distance(excess - (self.low - places))
        for edge, end in self.halves:  # they are followed in full, so half of each is taken back
            half = self.noise.probability(edge - places) / 2
            mass, distance = mass - half, distance - half * abs(end - places - excess)
        return mass, distance

    def moments(self, places: Floats) -> tuple[Floats, Floats]:
        """Return what it adds to the first and second moment about the places."""
        # Spread evenly over the span, with its ends at half weight: the moments of the trapezoidal rule.
        mass, off = self.mass(places), self.low - places
        first, second = mass * (off + self.length / 2), off**2 + off * self.length + self.length**2 / 3 + 1 / 6
        second = mass * second
        for edge, end in self.halves:
            half, at = self.noise.probability(edge - places) / 2, end - places
            first, second = first - half * at, second - half * at**2
        return first, second

    def at_ends(self, places: Floats) -> Floats:
        """Return how probable the ends of the span are."""
        probability = self.mass(places) / self.length
        for edge, _ in self.halves:
            probability = probability - self.noise.probability(edge - places) / 2
        return probability

    def _distance(self, truth: Floats) -> Floats:
        """Return the expected distance of any place of the span from a truth so far above its lower end."""
        # Over evenly spread integers the mean distance is a parabola at whole numbers, and linear between them.
        inside = np.clip(truth, 0.0, self.length)
        whole = np.floor(inside)
        part = inside - whole

        def at(place: Floats) -> Floats:
            return (place**2 + (self.length - place) ** 2) / (2 * self.length)

        return (1 - part) * at(whole) + part * at(whole + 1) + abs(truth - inside)
