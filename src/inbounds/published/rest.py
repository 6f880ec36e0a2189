"""What is folded into a span too often to be followed fold by fold.

Folding has a period, twice the length of the span, so the distance of what is folded from a true answer is a sum of
waves, and what matters of the noise is how much of each wave it holds: a closed form.  The waves of a span of `L` steps
have the frequencies `w = pi m / L`, `m = 0, ..., L`.  That of the distance from a place `t` steps above the lower end
has the height `(1 + (-1)^m - 2 cos(w t)) / (4 L sin(w/2)^2)`, twice for `m < L`; it falls as `1 / m^2`, and what the
noise holds of it as `1 / m`.  So `MOST_WAVES` of them are enough, and up to so many steps they are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.published.waves import Waves

if TYPE_CHECKING:
    from inbounds.published.noise import Floats, Noise
    from inbounds.published.waves import Complex

MOST_WAVES = 128
"""Waves to add up.  Without the others, an expected error is off by about 1e-8 of it, and far less than a millionth."""

ALL_WAVES = 2**14
"""Waves to add up for the probability of one release, which needs all there are."""


@dataclass(frozen=True)
class Rest:
    """All integers from `start` to `stop`, outside a span from `low` to `high` that they are folded into."""

    start: int
    stop: int
    low: int
    high: int

    def beside(self, first: int, last: int) -> list[Rest]:
        """Return the parts of it below and above some indices."""
        parts = (
            Rest(self.start, min(self.stop, first - 1), self.low, self.high),
            Rest(max(self.start, last + 1), self.stop, self.low, self.high),
        )
        return [part for part in parts if part.start <= part.stop]

    def seen(self, noise: Noise, origin: int, *, above: bool, most: int = MOST_WAVES) -> SeenRest:
        """Return how noise meets it whose centres are all below it, or all above it, and relative to an index."""
        near, beyond = (self.start, self.stop + 1) if above else (self.stop, self.start - 1)
        length = self.high - self.low
        period = 2 * length
        waves = Waves.of(length, min(length, most))
        sign = 1 if above else -1
        return SeenRest(
            noise,
            waves,
            sign,
            float(near - origin),
            float(beyond - origin),
            waves.turned(sign * (near - self.low) % period),
            waves.turned(sign * (beyond - self.low) % period),
            float(self.low - origin),
            float(length),
        )


@dataclass(frozen=True, eq=False)
class SeenRest:
    """A rest seen from one side of it: what noise that is centred there puts into its span."""

    noise: Noise
    waves: Waves
    sign: int
    near: float
    beyond: float
    near_turn: Complex
    beyond_turn: Complex
    low: float
    length: float

    def mass(self, places: Floats) -> Floats:
        """Return how probable it is to meet the rest."""
        near, beyond = self._distances(places)
        return self.noise.tails(near)[0] - self.noise.tails(beyond)[0]

    def distance(self, places: Floats, excess: float, mass: Floats) -> Floats:
        """Return the expected distance from true answers so far above the places where noise is centred."""
        whole = np.floor(excess)
        near, held = excess - whole, self._held(places)
        # Between two places of the lattice, distances from those of the lattice are linear.
        found = (1 - near) * self._from(places + whole, held, mass)
        return found + near * self._from(places + whole + 1, held, mass) if near else found

    def at_ends(self, places: Floats, mass: Floats) -> Floats:
        """Return how probable the ends of the span are."""
        return self.probability(places, 0.0, mass) + self.probability(places, self.length, mass)

    def probability(self, places: Floats, above_low: float, mass: Floats) -> Floats:
        """Return how probable one place of the span is: as if all were alike, unless all waves are there."""
        hits = 1 if above_low in (0, self.length) else 2  # in one period
        if self.length > len(self.waves.frequency):
            return mass * hits / (2 * self.length)
        waves = self._held(places) @ (self.waves.times * np.cos(self.waves.frequency * above_low))
        return np.maximum((mass + waves) * hits / (2 * self.length), 0.0)

    def _distances(self, places: Floats) -> tuple[Floats, Floats]:
        return tuple(np.maximum(self.sign * (end - places), 1.0) for end in (self.near, self.beyond))  # type: ignore[return-value]

    def _held(self, places: Floats) -> Floats:
        """Return how much of each wave the noise holds."""
        near, beyond = self._distances(places)
        found = self.near_turn * self.noise.waves_from(near, self.waves)
        if self.noise.reach > beyond.min():
            found = found - self.beyond_turn * self.noise.waves_from(beyond, self.waves)
        return np.asarray(found.real)

    def _from(self, truth: Floats, held: Floats, mass: Floats) -> Floats:
        """Return the expected distance from places of the lattice, or as smooth functions of them in between."""
        inside = np.clip(truth - self.low, 0, self.length)
        uniform = (inside**2 + (self.length - inside) ** 2) / (2 * self.length)
        waves = self.waves
        heights = waves.even - 2 * np.cos(inside[:, None] * waves.frequency)
        heights *= waves.times / (4 * self.length * np.sin(waves.frequency / 2) ** 2)
        return mass * (uniform + abs(truth - self.low - inside)) + (held * heights).sum(1)
