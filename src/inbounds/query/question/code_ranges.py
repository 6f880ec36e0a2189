"""Stretches of codes: what a condition and some groups do not tell apart of the stored columns that they look at.

A column that is only compared and grouped by has few of them, however fine it is.  One that others are made of has one
for each code, unless these are too many; then what is told of a stretch is less exact, and never wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import Find, codes_of
from inbounds.query.columns.integer_range import Range
from inbounds.query.expressions.condition import Condition
from inbounds.query.question.group import Group

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STRETCHES = 2**17
"""Conditions are evaluated for so many combinations of stretches at once; beyond, stretches get longer."""

MOST_OF_A_COLUMN = 2**14
"""Of a column that others are made of so many stretches are looked at: days of 40 years, each by itself."""

OF_A_CLOCK = (60, 900, 3600, 6 * 3600, DAY_SECONDS)
"""Stretches of times have so many seconds: hours and days begin with one of them."""


@dataclass(frozen=True)
class Stretches:
    """The stretches of all stored columns that a condition and some groups look at."""

    find: Find
    condition: Condition
    groups: tuple[Group, ...]

    @cached_property
    def of_groups(self) -> list[dict[str, Column]]:
        """The stored columns that each group looks at, by their names."""
        return [group.column.stored for group in self.groups]

    @cached_property
    def of_tests(self) -> dict[str, dict[str, Column]]:
        """The stored columns that each column of the condition looks at."""
        return {node.name: self.find(node).stored for node in self.condition.columns()}

    @cached_property
    def stored(self) -> dict[str, Column]:
        """All of them."""
        tables = (*self.of_groups, *self.of_tests.values())
        return {name: column for columns in tables for name, column in columns.items()}

    @cached_property
    def starts(self) -> dict[str, NDArray[np.int64]]:
        """Where the stretches of each stored column begin."""
        # A stretch begins with each group, with each code that is compared with, and behind that code.
        begins: dict[str, set[int]] = {name: {0} for name in self.stored}
        for group in self.groups:
            if (name := group.column.name) in begins:
                begins[name].update(group.starts)
        for test in self.condition.predicates():
            if test.this.name in begins:
                _, numbers = codes_of(test, self.find(test.this))
                begins[test.this.name].update(start for number in numbers for start in (number, number + 1))
        return {name: self._starts(name, codes) for name, codes in begins.items()}

    def _starts(self, name: str, begins: Iterable[int]) -> NDArray[np.int64]:
        # What a key lies in, or what is computed of a column, may change with every code, so each is a stretch.
        count, starts = self.stored[name].size, np.array(sorted(begins), dtype=np.int64)
        if isinstance(self.stored[name], Keys) or name in self._inside:
            starts = np.union1d(starts, _even_starts(self.stored[name]))
        return starts[(starts >= 0) & (starts < count)]

    @cached_property
    def _inside(self) -> set[str]:
        """The stored columns that others are made of."""
        named = [
            *zip((group.column.name for group in self.groups), self.of_groups, strict=True),
            *self.of_tests.items(),
        ]
        return {inner for name, columns in named for inner in columns if name not in columns}

    def count(self, names: Iterable[str]) -> int:
        """Return how many combinations of stretches some columns have, and of missing values."""
        return prod(len(self.starts[name]) + 1 for name in names)

    def ranges(self, names: Sequence[str], present: set[str]) -> tuple[dict[str, Range], tuple[int, ...]]:
        """Return the stretches of some columns, each along an axis of its own, and the lengths of these.

        Columns that may be missing, which those of `present` may not, have one more place for that.
        """
        starts = {name: self.starts[name] for name in names}
        while prod(len(lows) + 1 for lows in starts.values()) > MOST_STRETCHES:  # two of them become one
            longest = max(starts, key=lambda name: len(starts[name]))
            starts[longest] = starts[longest][::2]
        ranges: dict[str, Range] = {}
        for axis, (name, lows) in enumerate(starts.items()):
            ends = np.append(lows[1:] - 1, self.stored[name].size - 1)
            more = 0 if name in present else 1
            here = np.arange(len(lows) + more) < len(lows)
            shape = [-1 if place == axis else 1 for place in range(len(starts))]
            low, high = (np.append(codes, [0] * more).astype(np.int64).reshape(shape) for codes in (lows, ends))
            ranges[name] = Range(low, high, here.reshape(shape), ~here.reshape(shape))
        return ranges, tuple(column.low.size for column in ranges.values())


def _even_starts(column: Column) -> NDArray[np.int64]:
    """Return where stretches of the codes of a column begin, as many as there may be; those of times by the clock."""
    width, first = -(-column.size // MOST_OF_A_COLUMN), 0
    if isinstance(column, Numbers) and column.kind.rounds_down:
        fitting = (length for length in OF_A_CLOCK if length >= width * column.step and not length % column.step)
        if (seconds := next(fitting, None)) is not None:
            width, first = int(seconds / column.step), int(-column.low % seconds / column.step)
    return np.arange(first, column.size, width)
