"""Which groups can have a row that meets a condition, by what is public alone.

A condition and the groups are functions of the codes of stored columns.  Each part of a condition is evaluated for
every stretch of codes of the columns that it and its groups look at, with everything else about a row left open.  So a
group that a row can be in is never ruled out, whatever the table holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import Find, codes_of
from inbounds.query.columns.integer_range import NO, Range, Ranges, Verdict, against, either, every, opposite
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.condition import And, Condition, Like, Not, Or, Predicate
from inbounds.query.question.code_ranges import MOST_STRETCHES, Stretches
from inbounds.query.question.group import Group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]

JOINS: dict[type[Condition], Callable[[list[Verdict]], Verdict]] = {
    And: every,
    Or: either,
    Not: lambda parts: opposite(parts[0]),
}

MOST_CORNERS = 2**24
"""Stretches that are in several groups are marked by the corners of what they may be in, so many at most."""


@dataclass(frozen=True)
class Part:
    """Some parts of a condition, the groups that they say something about, and the stored columns to look at."""

    conditions: tuple[Condition, ...]
    groups: frozenset[int]
    names: frozenset[str]

    def merge(self, other: Part) -> Part:
        """Return both together."""
        return Part(self.conditions + other.conditions, self.groups | other.groups, self.names | other.names)


@dataclass(frozen=True)
class Possible:
    """A condition, and the groups of which some may be ruled out by it."""

    columns: Mapping[str, Column]
    """Of the table, to tell what keys lie in."""
    find: Find
    condition: Condition
    groups: tuple[Group, ...]

    def combinations(self) -> Flags:
        """Return for every combination of groups whether a row in it can meet the condition."""
        possible = np.ones([group.size for group in self.groups], dtype=np.bool_)
        for part in self._parts():
            shape = [group.size if place in part.groups else 1 for place, group in enumerate(self.groups)]
            possible &= self._mark_possible(part).reshape(shape)
        for place, group in enumerate(self.groups):
            shape = [group.size if place == other else 1 for other in range(len(self.groups))]
            possible &= self._mark_own(group).reshape(shape)
        return possible

    def _mark_own(self, group: Group) -> Flags:
        """Return which groups of a column can meet what is said of that column alone, whatever it is made of.

        Of two stored columns there may be too many codes to be looked at one by one, but not of what is made of them.
        """
        column, own = group.column, np.ones(group.size, dtype=np.bool_)
        tests = [test for test in self.condition.conjuncts() if {node.name for node in test.columns()} == {column.name}]
        # Keys beside bounds are called like the column that conditions are about, but have codes of their own.
        if not tests or column.size > MOST_STRETCHES or self.find(column.node).kind != column.kind:
            return own
        if isinstance(self.find(column.node), Keys) != isinstance(column, Keys):
            return own  # with keys beside its bounds, a column is compared by other codes than it is grouped by
        codes = np.arange(column.size)
        every_code = {column.name: Range(codes, codes, np.ones(column.size, dtype=np.bool_), NO)}
        met = every([self._judge(Ranges({}), test, dict(every_code)) for test in tests]).true
        own[:] = False
        own[group.number(codes)[np.broadcast_to(met, codes.shape)]] = True
        return own

    def truth(self, codes: Mapping[str, Range]) -> Verdict:
        """Return what the condition can come to, if the stored columns that it looks at have these codes."""
        return self._judge(Ranges(codes), self.condition, {})

    @cached_property
    def _stretches(self) -> Stretches:
        return Stretches(self.find, self.condition, self.groups)

    # Which columns are looked at together.

    @cached_property
    def _above(self) -> dict[str, dict[str, Integers]]:
        """For each stored column of keys: itself and what it lies in, with the code there for each of its own."""
        return {
            name: {
                name: np.arange(len(column.keys)),
                **{at: np.array(codes) for at, codes in ancestors(self.columns, column)},
            }
            # as the table has it: what the contract makes of a column knows that without what it lies in
            for name in self._stretches.stored
            if isinstance(column := self.columns.get(name), Keys)
        }

    def _shared(self, first: str, second: str) -> set[str]:
        """Return the columns that the keys of two stored columns both tell: one of themselves, or above both."""
        return {first} if first == second else self._above.get(first, {}).keys() & self._above.get(second, {}).keys()

    def _parts(self) -> list[Part]:
        """Return the parts that must all be true, those about the same columns together unless that is too much."""
        # Two parts about the same column may be possible each, and not both at once: only together do they tell that.
        parts: list[Part] = []
        for condition in self.condition.conjuncts():
            new = self._part(condition)
            for other in list(parts):
                both = new.merge(other)
                tied = any(self._shared(a, b) for a, b in product(new.names, other.names))
                if tied and self._stretches.count(both.names) <= MOST_STRETCHES:
                    parts.remove(other)
                    new = both
            parts.append(new)
        return parts

    def _part(self, condition: Condition) -> Part:
        looked_at = self._stretches.of_groups
        names = {name for node in condition.columns() for name in self._stretches.of_tests[node.name]}
        groups = [
            i for i, columns in enumerate(looked_at) if any(self._shared(a, b) for a, b in product(names, columns))
        ]
        names.update(name for place in groups for name in looked_at[place])
        return Part((condition,), frozenset(groups), frozenset(names))

    # What can be true, and where.

    def _mark_possible(self, part: Part) -> Flags:
        """Return which combinations of the groups of a part can meet its conditions."""
        groups = [self.groups[place] for place in sorted(part.groups)]
        names = sorted(part.names)
        # An axis for each stored column: where along them the conditions can be true, ...
        codes, shape = self._stretches.ranges(names, {group.column.name for group in groups})
        ranges, seen = Ranges(codes), dict[str, Range]()
        met = every([self._judge(ranges, condition, seen) for condition in part.conditions]).true
        for first, second in combinations(names, 2):
            met = met & self._agree(first, codes[first], second, codes[second])
        # ... and which groups these places are in.
        return mark_groups(groups, ranges, np.broadcast_to(met, shape))

    def _judge(self, ranges: Ranges, condition: Condition, seen: dict[str, Range]) -> Verdict:
        """Return what a condition can come to; `seen` keeps the columns that were evaluated."""
        if not isinstance(condition, Predicate):
            return JOINS[type(condition)]([self._judge(ranges, part, seen) for part in condition.conditions()])
        if isinstance(condition, Like):
            return self._judge(ranges, condition.fit(self.find(condition.this)), seen)
        name, column = condition.this.name, self.find(condition.this)
        if name not in seen:
            seen[name] = ranges.value(column.whole)
        return against(seen[name], *codes_of(condition, column))

    def _agree(self, first: str, of_first: Range, second: str, of_second: Range) -> Flags:
        """Return whether two columns can lie where they do: if both are there, in the same keys of what is above."""
        agree = np.array(True)
        open_ = ~(of_first.here & of_second.here) | (of_first.low != of_first.high) | (of_second.low != of_second.high)
        for name in self._shared(first, second):
            same = self._above[first][name][of_first.low] == self._above[second][name][of_second.low]
            agree = agree & (open_ | same)
        return agree


def mark_groups(groups: Sequence[Group], ranges: Ranges, met: Flags) -> Flags:
    """Return which combinations of groups rows with some codes can be in, given whether they meet a condition."""
    columns = [ranges.value(group.column.whole) for group in groups]
    for column in columns:
        met = met & column.here
    at = np.nonzero(met.ravel())[0]
    places = list(zip(groups, columns, strict=True))
    lows = [np.broadcast_to(group.number(column.low), met.shape).ravel()[at] for group, column in places]
    highs = [np.broadcast_to(group.number(column.high), met.shape).ravel()[at] for group, column in places]
    return _mark_boxes(lows, highs, tuple(group.size for group in groups), some=len(at) > 0)


def _mark_boxes(lows: Sequence[Integers], highs: Sequence[Integers], sizes: tuple[int, ...], *, some: bool) -> Flags:
    """Return which groups are in one of several boxes, given by their least and their greatest groups."""
    groups = np.zeros(sizes, dtype=np.bool_)
    if not sizes or not some:
        return groups | some
    # Boxes of one group each are marked as they are.  Others change a count by one where they begin and back behind
    # their end, along each axis, and sums along the axes tell how many boxes a group is in.
    if all(np.array_equal(low, high) for low, high in zip(lows, highs, strict=True)):
        groups[tuple(lows)] = True
        return groups
    corners = 2 ** len(sizes)
    padded = tuple(size + 1 for size in sizes)
    if corners * len(lows[0]) > MOST_CORNERS or np.prod(padded, dtype=float) > MOST_CORNERS:
        return ~groups
    changes = np.zeros(padded, dtype=np.int64)
    for corner in product((0, 1), repeat=len(sizes)):
        place = tuple(high + 1 if past else low for past, low, high in zip(corner, lows, highs, strict=True))
        np.add.at(changes, place, (-1) ** sum(corner))
    for axis in range(len(sizes)):
        changes = changes.cumsum(axis=axis)
    return changes[tuple(slice(size) for size in sizes)] > 0
