"""Random tables, and whether what is released of them is possible: in plain loops over whole numbers.

Nothing here uses the library's own verification, nor its way of adding up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report
from inbounds.joint import Axis, JointRelease, Level, release

Names = tuple[str, ...]
Cell = tuple[int, ...]

KINDS = "tree", "two ways", "three ways", "ways with levels"
MANY_CHAINS = 3
"""So many groupings that cross each other may not be kept by whole numbers."""


@dataclass(frozen=True)
class RandomTable:
    """A true table, what is asked of it, and what is public."""

    kind: str
    axes: tuple[Axis, ...]
    counts: dict[Cell, int]
    groupings: list[Names]
    epsilon: Fraction
    known: dict[Names, dict[Cell, int]] = field(default_factory=dict)
    zeros: frozenset[Cell] = frozenset()

    def released(self) -> JointRelease:
        """Release it."""
        shape = tuple(axis.size for axis in self.axes)
        counts, zeros = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
        for cell, count in self.counts.items():
            counts[cell], zeros[cell] = count, cell in self.zeros
        return release(
            counts,
            self.epsilon,
            axes=self.axes,
            groupings=self.groupings,
            known=self.known or None,
            zeros=zeros if self.zeros else None,
        )


def random_table(random: Random) -> RandomTable:
    """Return a random table: a tree, or with two or three ways, with empty cells and known sums or without."""
    kind = random.choice(KINDS)
    axes = _axes(kind, random)
    cells = list(product(*(range(axis.size) for axis in axes)))
    zeros = frozenset(cell for cell in cells if random.random() < 0.3) if random.random() < 0.4 else frozenset()
    scale = random.choice((1, 5, 200))
    counts = {cell: 0 if cell in zeros else int(random.expovariate(1 / scale)) for cell in cells}
    possible, finest = _groupings(axes), tuple(str(axis.name) for axis in axes)
    groupings = random.sample(possible, random.randint(1, min(5, len(possible))))
    public = random.sample(possible, random.randint(1, 2)) if random.random() < 0.5 else []
    known = {names: _some(added_up(axes, counts, names), random) for names in public}
    if known or zeros:  # something has to be left that is not public
        left = random.choice(cells)
        zeros -= {left}
        if finest in known:
            known[finest].pop(left, None)
        groupings = [*dict.fromkeys([*groupings, finest])]
    return RandomTable(kind, axes, counts, groupings, Fraction(random.choice((1, 10, 100)), 10), known, zeros)


def _axes(kind: str, random: Random) -> tuple[Axis, ...]:
    if kind == "tree":
        return (_levelled("leaf", random.randint(1, 40), random.randint(1, 3), random),)
    if kind == "two ways":
        return Axis("row", random.randint(1, 8)), Axis("column", random.randint(1, 8))
    if kind == "three ways":
        return tuple(Axis(name, random.randint(1, 4)) for name in ("row", "column", "layer"))
    return (
        _levelled("row", random.randint(2, 8), random.randint(1, 2), random),
        _levelled("column", random.randint(1, 6), random.randint(0, 1), random),
    )


def _levelled(name: str, size: int, levels: int, random: Random) -> Axis:
    """Return an axis with levels above it, the keys of one parent anywhere among the others."""
    keys, found = list(range(size)), []
    for level in range(levels):
        parents = random.randint(1, max(keys) + 1)
        order = [*range(parents), *(random.randrange(parents) for _ in range(max(keys) + 1 - parents))]
        random.shuffle(order)
        keys = [order[key] for key in keys]
        found.append(Level(f"{name} {level + 1}", tuple(keys)))
    return Axis(name, size, tuple(found))


def _groupings(axes: tuple[Axis, ...]) -> list[Names]:
    """Return every way to add up: of each axis a level, or nothing."""
    ways = [[None, *(str(axis.name_of(level)) for level in range(len(axis.levels) + 1))] for axis in axes]
    return [tuple(name for name in names if name is not None) for names in product(*ways)]


def _some(sums: Mapping[Cell, int], random: Random) -> dict[Cell, int]:
    """Return all of the sums, or some of them."""
    part = random.choice((0.3, 1.0))
    return {key: value for key, value in sums.items() if random.random() < part} or dict(sums)


def added_up(axes: tuple[Axis, ...], cells: Mapping[Cell, int], names: Names) -> dict[Cell, int]:
    """Return the sums of a grouping, cell by cell."""
    maps = [
        (place, range(axis.size) if level == 0 else axis.levels[level - 1].parents)
        for place, axis in enumerate(axes)
        for level in range(len(axis.levels) + 1)
        if axis.name_of(level) in names
    ]
    sums: dict[Cell, int] = {}
    for cell, count in cells.items():
        key = tuple(keys[cell[place]] for place, keys in maps)
        sums[key] = sums.get(key, 0) + count
    return sums


def faults(table: RandomTable, cells: Any, groupings: Mapping[Names, Any]) -> list[str]:
    """Return what is wrong with released cells, and with the sums that were released of them."""
    found = []
    counts: dict[Cell, int] = {}
    for cell in table.counts:
        value = cells[cell]
        if not isinstance(value, int | np.integer):
            return [f"cell {cell} is not a whole number"]
        counts[cell] = int(value)
        if counts[cell] < 0:
            found.append(f"cell {cell} is negative")
        if cell in table.zeros and counts[cell]:
            found.append(f"cell {cell} must be empty")
    for names, facts in table.known.items():
        sums = added_up(table.axes, counts, names)
        found += [f"{names} {key} is not as known" for key, value in facts.items() if sums[key] != value]
    for names, released in groupings.items():
        sums = added_up(table.axes, counts, names)
        if np.size(released) != len(sums):
            found.append(f"{names} has not {len(sums)} groups")
        else:
            found += [f"{names} {key} does not add up" for key, value in sums.items() if int(released[key]) != value]
    return found


def crossing(table: RandomTable) -> int:
    """Return the greatest number of asked groupings of which no two are nested."""
    asked = [_levels(table.axes, names) for names in {*table.groupings, *table.known}]
    most = 1
    for size in range(2, MANY_CHAINS + 1):
        if any(not any(_nested(a, b) for a, b in combinations(some, 2)) for some in combinations(asked, size)):
            most = size
    return most


def _levels(axes: tuple[Axis, ...], names: Names) -> tuple[int, ...]:
    """Return for each axis at which level it is told apart; above all of them if it is added up."""
    found = []
    for axis in axes:
        levels = [level for level in range(len(axis.levels) + 1) if axis.name_of(level) in names]
        found.append(levels[0] if levels else len(axis.levels) + 1)
    return tuple(found)


def _nested(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) or all(a >= b for a, b in pairs)


def check(table: RandomTable) -> list[str]:
    """Release a table, and return what is wrong with the release."""
    found = table.released()
    groupings = {names: found.grouping(names) for names in _groupings(table.axes)}
    wrong = faults(table, found.cells, groupings)
    if found.spent != table.epsilon or sum(found.split.values()) != table.epsilon:
        wrong.append("epsilon does not add up")
    if crossing(table) < MANY_CHAINS and set(found.kept) != set(found.asked):
        wrong.append("whole numbers moved a sum that they can keep")
    return wrong


def run(_peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Check many random tables; the tables are the same every time, their noise is not."""
    count = 300 if quick else 10_000
    tables = dict.fromkeys(KINDS, 0)
    public, wrong = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    notes = []
    for seed in range(count):
        table = random_table(Random(seed))
        found = check(table)
        tables[table.kind] += 1
        public[table.kind] += bool(table.known or table.zeros)
        wrong[table.kind] += bool(found)
        if found:
            notes.append(f"Table {seed}: {found[0]}.")
    rows = [(kind, f"{tables[kind]:,}", f"{public[kind]:,}", f"{wrong[kind]:,}") for kind in KINDS]
    rows.append(("all", f"{count:,}", f"{sum(public.values()):,}", f"{sum(wrong.values()):,}"))
    return Report(
        title="Random tables, checked in plain loops",
        columns=("", "released", "with public facts", "wrong"),
        rows=rows,
        notes=notes[:20],
        measured={f"wrong: {kind}": wrong[kind] for kind in KINDS},
    )
