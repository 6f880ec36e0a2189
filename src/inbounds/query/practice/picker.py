"""Picks that look random and are the same everywhere: what is made up with them is public, and protects nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Picker:
    """Picks numbers by a seed and a place: the same pick at the same place, however many others there are."""

    seed: int
    place: str = ""

    def at(self, *place: object) -> Picker:
        """Return what picks at a place below this one."""
        return Picker(self.seed, f"{self.place}\0{place!r}")

    def below(self, number: int) -> int:
        """Return a number from 0 on that is below another."""
        digest = blake2b(f"{self.seed}\0{self.place}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % number

    def one_of(self, items: Sequence[Item]) -> Item:
        """Return one of some items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the same items in another order."""
        order = sorted(range(len(items)), key=lambda place: self.at(place).below(2**64))
        return [items[place] for place in order]
