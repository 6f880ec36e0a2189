"""Which groups can have a row that meets a condition, by what is public alone.

A condition and the groups are functions of the codes of stored columns.  Each part of a condition is evaluated for
every stretch of codes of the columns that it and its groups look at, with everything else about a row left open.  So a
group that a row can be in is never ruled out, whatever the table holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import Find, codes_of, whole_of
from inbounds.query.columns.integer_range import Range, Ranges, Verdict, against, either, every, opposite
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.condition import And, Condition, Like, Not, Or, Predicate
from inbounds.query.question.code_ranges import MOST_STRETCHES, Stretches
from inbounds.query.question.group import Group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Integers = NDArray[np.int64]

MOST_CORNERS = 2**24
"""Stretches that are in several groups are marked by the corners of what they may be in, so many at most."""


@dataclass(frozen=True)
class Part:
    """Some parts of a condition, the groups that they say something about, and the stored columns to look at."""

    conditions: tuple[Condition, ...]
    groups: frozenset[int]
    names: frozenset[str]

    def joined(self, other: Part) -> Part:
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
        found = np.ones([group.size for group in self.groups], dtype=np.bool_)
        for part in self._parts():
            shape = [group.size if place in part.groups else 1 for place, group in enumerate(self.groups)]
            found &= self._met(part).reshape(shape)
        return found

    def truth(self, codes: Mapping[str, Range]) -> Verdict:
        """Return what the condition can come to, if the stored columns that it looks at have these codes."""
        return self._verdict(Ranges(codes), self.condition, {})

    @cached_property
    def _stretches(self) -> Stretches:
        return Stretches(self.find, self.condition, self.groups)

    # Which columns are looked at together.

    @cached_property
    def _above(self) -> dict[str, dict[str, Integers]]:
        """For each stored column of keys: itself and what it lies in, with the code there for each of its own."""
        return {
            name: {
                name: np.arange(len(one.keys)),
                **{at: np.array(codes) for at, codes in ancestors(self.columns, one)},
            }
            # as the table has it: what the contract makes of a column knows that without what it lies in
            for name in self._stretches.stored
            if isinstance(one := self.columns.get(name), Keys)
        }

    def _shared(self, one: str, other: str) -> set[str]:
        """Return the columns that the keys of two stored columns both tell: one of themselves, or above both."""
        return {one} if one == other else self._above.get(one, {}).keys() & self._above.get(other, {}).keys()

    def _parts(self) -> list[Part]:
        """Return the parts that must all be true, those about the same columns together unless that is too much."""
        found: list[Part] = []
        for condition in self.condition.conjuncts():
            new = self._part(condition)
            for other in list(found):
                both = new.joined(other)
                tied = any(self._shared(a, b) for a, b in product(new.names, other.names))
                if tied and self._stretches.count(both.names) <= MOST_STRETCHES:
                    found.remove(other)
                    new = both
            found.append(new)
        return found

    def _part(self, condition: Condition) -> Part:
        looked_at = self._stretches.of_groups
        names = {name for node in condition.columns() for name in self._stretches.of_tests[node.name]}
        groups = [i for i, of in enumerate(looked_at) if any(self._shared(a, b) for a, b in product(names, of))]
        names.update(name for place in groups for name in looked_at[place])
        return Part((condition,), frozenset(groups), frozenset(names))

    # What can be true, and where.

    def _met(self, part: Part) -> Flags:
        """Return which combinations of the groups of a part can meet its conditions."""
        groups = [self.groups[place] for place in sorted(part.groups)]
        names = sorted(part.names)
        codes, shape = self._stretches.ranges(names, {group.column.name for group in groups})
        ranges, seen = Ranges(codes), dict[str, Range]()
        met = every([self._verdict(ranges, condition, seen) for condition in part.conditions]).true
        for one, other in combinations(names, 2):
            met = met & self._agree(one, codes[one], other, codes[other])
        boxes = [placed(group, ranges.value(whole_of(group.column))) for group in groups]
        for box in boxes:
            met = met & box.here
        at = np.nonzero(np.broadcast_to(met, shape).ravel())[0]
        lows = [np.broadcast_to(box.low, shape).ravel()[at] for box in boxes]
        highs = [np.broadcast_to(box.high, shape).ravel()[at] for box in boxes]
        return marked(lows, highs, tuple(group.size for group in groups), some=len(at) > 0)

    def _verdict(self, ranges: Ranges, condition: Condition, seen: dict[str, Range]) -> Verdict:
        """Return what a condition can come to; `seen` keeps the columns that were evaluated."""
        if isinstance(condition, And | Or):
            parts = [self._verdict(ranges, part, seen) for part in condition.conditions()]
            return every(parts) if isinstance(condition, And) else either(parts)
        if isinstance(condition, Not):
            return opposite(self._verdict(ranges, condition.this, seen))
        if isinstance(condition, Like):
            return self._verdict(ranges, condition.fit(self.find(condition.this)), seen)
        assert isinstance(condition, Predicate)
        name, column = condition.this.name, self.find(condition.this)
        if name not in seen:
            seen[name] = ranges.value(whole_of(column))
        return against(seen[name], *codes_of(condition, column))

    def _agree(self, one: str, at_one: Range, other: str, at_other: Range) -> Flags:
        """Return whether two columns can lie where they do: if both are there, in the same keys of what is above."""
        found = np.array(True)
        open_ = ~(at_one.here & at_other.here) | (at_one.low != at_one.high) | (at_other.low != at_other.high)
        for name in self._shared(one, other):
            same = self._above[one][name][at_one.low] == self._above[other][name][at_other.low]
            found = found & (open_ | same)
        return found


def placed(group: Group, codes: Range) -> Range:
    """Return in which of the groups of a column codes are."""
    return Range(group.number(codes.low), group.number(codes.high), codes.here, codes.gone)


def marked(lows: Sequence[Integers], highs: Sequence[Integers], sizes: tuple[int, ...], *, some: bool) -> Flags:
    """Return which groups are in one of several boxes, given by their least and their greatest groups."""
    found = np.zeros(sizes, dtype=np.bool_)
    if not sizes or not some:
        return found | some
    if all(np.array_equal(low, high) for low, high in zip(lows, highs, strict=True)):
        found[tuple(lows)] = True
        return found
    corners = 2 ** len(sizes)
    padded = tuple(size + 1 for size in sizes)
    if corners * len(lows[0]) > MOST_CORNERS or np.prod(padded, dtype=float) > MOST_CORNERS:
        return ~found
    changes = np.zeros(padded, dtype=np.int64)
    for corner in product((0, 1), repeat=len(sizes)):
        place = tuple(high + 1 if past else low for past, low, high in zip(corner, lows, highs, strict=True))
        np.add.at(changes, place, (-1) ** sum(corner))
    for axis in range(len(sizes)):
        changes = changes.cumsum(axis=axis)
    return changes[tuple(slice(size) for size in sizes)] > 0
