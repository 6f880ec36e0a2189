"""How a table is laid out: its axes, and the groupings whose sums are asked for.

A grouping says for each axis at which level its keys are told apart, or that they are added up.  It is written as the
names of those levels: `("region", "sex")`, and `()` for the total.  All arrays of cells have the shape of the table;
all arrays of a grouping have the sizes of its levels, in the order of the axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.joint.table.axis import Axis, Name

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CELLS = 20_000_000
"""More cells than this take more memory than a machine can be expected to have."""

ADDED_UP = None
"""In place of a level: the keys of the axis are added up."""

Grouping = tuple[int | None, ...]
"""For each axis the level at which its keys are told apart, 0 the finest, or `ADDED_UP`."""


@dataclass(frozen=True)
class Layout:
    """The axes of a table, and what can be added up along them."""

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [axis.name_of(level) for axis in self.axes for level in range(len(axis.levels) + 1)]
        if len(set(names)) != len(names):
            raise InvalidParameter(f"axes and levels must have different names, got {names}; rename one of them")
        if self.cells > MOST_CELLS:
            raise InvalidParameter(
                f"a table may have at most {MOST_CELLS} cells, got {self.cells}; ask for fewer axes or coarser keys"
            )

    @classmethod
    def plain(cls, shape: Sequence[int]) -> Layout:
        """Return the layout of an array, with its axes called 0, 1, 2 and so on."""
        return cls(tuple(Axis(i, size) for i, size in enumerate(shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many keys each axis has."""
        return tuple(axis.size for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    @property
    def finest(self) -> Grouping:
        """The grouping that is the cells themselves."""
        return (0,) * len(self.axes)

    @property
    def total(self) -> Grouping:
        """The grouping that adds everything up."""
        return (ADDED_UP,) * len(self.axes)

    # Groupings by name.

    def grouping(self, names: Name | Iterable[Name]) -> Grouping:
        """Read a grouping; of two levels of one axis the finer counts, for it tells the other one."""
        given = (names,) if isinstance(names, str | int) else tuple(names)
        levels: list[int | None] = [ADDED_UP] * len(self.axes)
        for name in given:
            axis, level = self._place(name)
            coarser = levels[axis]
            levels[axis] = level if coarser is None else min(level, coarser)
        return tuple(levels)

    def _place(self, name: Name) -> tuple[int, int]:
        given: object = name
        for place, axis in enumerate(self.axes):
            if isinstance(given, str | int) and (level := axis.level(given)) is not None:
                return place, level
        known = ", ".join(repr(axis.name_of(i)) for axis in self.axes for i in range(len(axis.levels) + 1))
        raise InvalidParameter(f"a grouping names axes or their levels, got {shown(name)}; known are {known}")

    def names(self, grouping: Grouping) -> tuple[Name, ...]:
        """Return the names of a grouping's levels."""
        levels = zip(self.axes, grouping, strict=True)
        return tuple(axis.name_of(level) for axis, level in levels if level is not None)

    def sizes(self, grouping: Grouping) -> tuple[int, ...]:
        """Return the shape of the array that holds a grouping."""
        levels = zip(self.axes, grouping, strict=True)
        return tuple(axis.size_of(level) for axis, level in levels if level is not None)

    def groups(self, grouping: Grouping) -> int:
        """Return how many groups a grouping has."""
        return prod(self.sizes(grouping))

    def is_within(self, finer: Grouping, coarser: Grouping) -> bool:
        """Return whether every group of one grouping lies in one group of another."""
        return all(
            there is None or (here is not None and here <= there) for here, there in zip(finer, coarser, strict=True)
        )

    # Adding up, and the way back.

    def sum(self, cells: NDArray[Any], grouping: Grouping) -> NDArray[Any]:
        """Return the sums of the cells in each group."""
        sums = cells
        for place in reversed(range(len(self.axes))):
            sums = self._add_up(sums, place, grouping[place])
        return sums

    def _add_up(self, values: NDArray[Any], place: int, level: int | None) -> NDArray[Any]:
        if level is None:
            return values.sum(axis=place)
        if level == 0:
            return values
        order, starts = self._runs[place, level]
        return np.add.reduceat(np.take(values, order, axis=place), starts, axis=place)

    @cached_property
    def _runs(self) -> dict[tuple[int, int], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """For each level above an axis: an order of the keys that brings those of one parent together, and where each
        parent begins."""
        runs = {}
        for place, axis in enumerate(self.axes):
            for level in range(1, len(axis.levels) + 1):
                parents = np.asarray(axis.keys_at(level))
                order = np.argsort(parents, kind="stable")
                runs[place, level] = order, np.searchsorted(parents[order], np.arange(axis.size_of(level)))
        return runs

    def spread(self, groups: NDArray[Any], grouping: Grouping) -> NDArray[Any]:
        """Return for each cell the entry of its group: the transpose of `sum`."""
        entries = groups
        for place, (axis, level) in enumerate(zip(self.axes, grouping, strict=True)):
            if level is None:
                entries = np.expand_dims(entries, place)
            elif level:
                entries = np.take(entries, np.asarray(axis.keys_at(level)), axis=place)
        return np.broadcast_to(entries, self.shape)

    def group_of_cells(self, grouping: Grouping) -> NDArray[np.intp]:
        """Return for each cell the number of its group, counted along the flattened grouping."""
        return self.spread(np.arange(self.groups(grouping)).reshape(self.sizes(grouping)), grouping)
