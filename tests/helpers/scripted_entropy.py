"""Randomness that a test has written down beforehand."""

from __future__ import annotations

import numpy as np


class Script:
    """An entropy that plays the bytes it was given, then those of a seeded generator, and notes what was asked for."""

    def __init__(self, played: bytes = b"", seed: int = 0) -> None:
        self._left = played
        self._generator = np.random.default_rng(seed)
        self.asked: list[int] = []

    def __call__(self, size: int) -> bytes:
        """Return the next bytes."""
        self.asked.append(size)
        played, self._left = self._left[:size], self._left[size:]
        return played + self._generator.bytes(size - len(played))


def word(number: int, bits: int) -> bytes:
    """Return the bytes by which a single draw reads a uniform number that begins with these bits."""
    return number.to_bytes(bits // 8)
