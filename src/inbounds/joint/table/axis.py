"""One way that the cells of a table are told apart, and the coarser levels that its keys belong to.

Axis("sex", 2)
Axis("district", 5, (Level("region", (0, 0, 1, 1, 1)),))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

Name = str | int


@dataclass(frozen=True)
class Level:
    """A coarser way to tell the keys of an axis apart: `parents` has the key of this level for each key of the axis."""

    name: Name
    parents: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """How many keys this level has."""
        return max(self.parents) + 1


@dataclass(frozen=True)
class Axis:
    """An axis with so many keys; its levels go from finer to coarser, each made of whole keys of the one before."""

    name: Name
    size: int
    levels: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise InvalidParameter(f"an axis must have at least one key, got {shown(self.size)}; leave it out")
        finer = Level(self.name, tuple(range(self.size)))
        for level in self.levels:
            self._check(level, finer)
            finer = level

    def _check(self, level: Level, finer: Level) -> None:
        if len(level.parents) != self.size:
            raise InvalidParameter(
                f"{level.name!r} must name a parent for each of the {self.size} keys of {self.name!r}, got "
                f"{len(level.parents)}; give one for each"
            )
        if set(level.parents) != set(range(len(set(level.parents)))):
            raise InvalidParameter(
                f"the parents in {level.name!r} must be 0, 1, 2, and so on, each with a child, got others; "
                "number them without a gap"
            )
        if len(set(zip(finer.parents, level.parents, strict=True))) != finer.size:
            raise InvalidParameter(
                f"each key of {finer.name!r} must lie in one of {level.name!r}, got one that is in two; "
                "give the levels from finer to coarser"
            )

    def level(self, name: Name) -> int | None:
        """Return the place of a level by its name: 0 for the axis itself, then coarser; None if it has none."""
        names = (self.name, *(level.name for level in self.levels))
        return names.index(name) if name in names else None

    def name_of(self, level: int) -> Name:
        """Return what a level is called."""
        return self.levels[level - 1].name if level else self.name

    def size_of(self, level: int) -> int:
        """Return how many keys a level has."""
        return self.levels[level - 1].size if level else self.size

    def keys_at(self, level: int) -> tuple[int, ...]:
        """Return the key at a level for each key of the axis."""
        return self.levels[level - 1].parents if level else tuple(range(self.size))
