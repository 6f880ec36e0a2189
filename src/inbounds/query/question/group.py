"""Groups: the public keys or bins that a question is answered for, each of them, also the empty ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Keys, Numbers, as_value
from inbounds.query.columns.derived_column import group_by_listed
from inbounds.query.columns.kind import CLOCK, TIME
from inbounds.query.expressions.arithmetic import Call
from inbounds.query.expressions.node import Node, literal

MOST_CELLS = 100_000
"""So many groups can be asked for at once."""

MOST_SETS = 64
"""A question may ask for so many sets of groups."""

MOST_VALUES = 1000
"""A column of numbers has at most so many bins, and can be grouped by value if it has no more possible values."""

MOST_TIMES = 10_000
"""The same of times that are rounded down: a year has 8784 hours, of which a condition leaves few."""

USUAL_BINS = 20
"""A histogram of a column with more possible values has so many bins, if none are given."""


@dataclass(frozen=True)
class Group:
    """One column to group by, and its groups."""

    column: Column
    starts: tuple[int, ...] = ()
    """The steps above the least value at which each bin begins, the first of them 0; none if these are no bins."""

    @property
    def size(self) -> int:
        """How many groups there are."""
        return self.column.size

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The columns that tell the groups apart."""
        return (self.column.node,)

    @property
    def labels(self) -> list[Any]:
        """What the groups are called: a key, a value, or the least and the greatest value of a bin."""
        raise NotImplementedError

    @property
    def tops(self) -> list[Any]:
        """The greatest value of each group."""
        return self.labels

    @property
    def widths(self) -> list[int]:
        """How many codes each group has."""
        return [1] * self.size

    @property
    def has_bins(self) -> bool:
        """Whether these are the bins of a histogram, for which no column has a name."""
        return False

    @property
    def has_all_steps(self) -> bool:
        """Whether every step of a column of numbers is a group of its own."""
        return False

    def number(self, codes: Any) -> Any:
        """Return in which of the groups codes are."""
        return codes

    def __str__(self) -> str:
        return str(self.column.node)

    def call(self, function: str) -> str:
        """Return a function of these groups, in SQL."""
        return f"{function}({self.column.node})"


@dataclass(frozen=True)
class KeyGroup(Group):
    """The keys of a column."""

    column: Keys

    @property
    def labels(self) -> list[Any]:
        """The keys."""
        return list(self.column.keys)


@dataclass(frozen=True)
class Bins(Group):
    """Bins of a column of numbers or days; each possible value, if all of them are bins."""

    column: Numbers

    @property
    def size(self) -> int:
        """How many bins there are."""
        return len(self.starts)

    @property
    def labels(self) -> list[Any]:
        """What the bins are called: a value, or their least and their greatest."""
        if self._by_value:
            return [self._value(start) for start in self.starts]
        return [self._label(start, end) for start, end in zip(self.starts, self._last_steps, strict=True)]

    @property
    def tops(self) -> list[Any]:
        """The greatest value of each bin."""
        first = self.column.first
        spans = [(low - first, high - first) for low, high in self.column.lattice.spans]
        last = (max(min(step, high) for low, high in spans if low <= step) for step in self._last_steps)  # not in a gap
        return [self._value(step) for step in last]

    @property
    def widths(self) -> list[int]:
        """How many codes each bin has."""
        return np.diff([*self.starts, self.column.size]).tolist()

    def number(self, codes: Any) -> Any:
        """Return in which of the bins codes are."""
        return np.searchsorted(np.array(self.starts), codes, side="right") - 1

    @property
    def _last_steps(self) -> list[int]:
        return [start - 1 for start in (*self.starts[1:], self.column.size)]

    def _value(self, step: int) -> Any:
        return as_value(self.column, self.column.value(step))

    def _label(self, first: int, last: int) -> Any:
        low, high = self._value(first), self._value(last)
        if first == last:
            return low
        if self.column.bounds.step is None:  # the last step of a bin is next to the first of the next one
            if last == self.column.steps:
                return f"[{low:.6g}, {high:.6g}]"
            return f"[{low:.6g}, {self._value(last + 1):.6g})"
        return f"[{low}, {high}]"

    @property
    def has_all_steps(self) -> bool:
        """Whether every step is a bin of its own."""
        return len(self.starts) == self.column.size

    @property
    def has_values_apart(self) -> bool:
        """Whether every possible value is a bin of its own, with steps between them that are no values."""
        return self._by_value and not self.has_all_steps

    @property
    def is_equal(self) -> bool:
        """Whether these are bins as equal as can be, so that a division finds them."""
        return self.starts == equal_starts(self.column, len(self.starts))

    @property
    def has_bins(self) -> bool:
        """Whether these are not the possible values themselves."""
        return not self._by_value

    def __str__(self) -> str:
        """Return the column, or the histogram: how many bins if they are equal, else the values at which they begin."""
        return str(self.column.node) if self._by_value else self.call("HISTOGRAM")

    def call(self, function: str) -> str:
        """Return a function of these bins, in SQL."""
        if self._by_value:
            return super().call(function)
        if self.is_equal:
            return f"{function}({self.column.node}, {self.size})"
        begins = (self.column.bounds.as_answer(self.column.value(start)) for start in self.starts)
        return f"{function}({self.column.node}, [{', '.join(map(literal, begins))}])"

    @property
    def _by_value(self) -> bool:
        return len(self.starts) == self.column.points and self.starts == tuple(possible_steps(self.column))


def is_countable(column: Column) -> bool:
    """Return whether a column has keys, or few possible values."""
    if isinstance(column, Keys) or column.listed:
        return True
    return column.bounds.step is not None and column.points <= _most_values(column)


def _most_values(column: Numbers) -> int:
    """Return how many possible values a column can be grouped by."""
    return MOST_TIMES if column.kind.rounds_down else MOST_VALUES


def by_key(column: Column) -> Group:
    """Return the groups of a column: its keys, or its possible values if they are few."""
    if isinstance(column, Keys):
        return KeyGroup(column)
    if column.listed:
        return KeyGroup(group_by_listed(column))
    if not is_countable(column):
        remedy = "ask for a histogram with bins, or list keys for the column in the contract"
        if column.kind in (TIME, CLOCK):
            time = column.node.arguments[-1] if isinstance(column.node, Call) else column.node
            by_day = f" or CAST({time} AS DATE)" if column.kind == TIME else ""
            remedy = f"group by HOUR({time}){by_day}"
        most = _most_values(column)
        raise InvalidQuestion(
            f"{column.name} has no categories, and more than {most} possible values to group by; {remedy}"
        )
    return Bins(column, tuple(possible_steps(column)))


def possible_steps(column: Numbers) -> list[int]:
    """Return the possible values of a column, in steps above the least."""
    return [index - column.first for index in column.lattice.indices()]


def by_bins(column: Numbers, bins: object) -> Bins:
    """Return bins of a column: so many, as equal as can be, or those that begin at the values given."""
    if bins is None:
        if is_countable(column) and column.points <= MOST_VALUES:
            return Bins(column, tuple(possible_steps(column)))
        return by_bins(column, min(USUAL_BINS, column.points))
    if isinstance(bins, int) and not isinstance(bins, bool):
        if not 1 <= bins <= min(MOST_VALUES, column.steps + 1):
            raise InvalidQuestion(
                f"bins must be from 1 to {min(MOST_VALUES, column.steps + 1)}, got {shown(bins)}; "
                "ask for another number, or leave it out"
            )
        return Bins(column, equal_starts(column, bins))
    return Bins(column, _read_starts(column, bins))


def equal_starts(column: Numbers, bins: int) -> tuple[int, ...]:
    """Return where so many bins begin that are as equal as can be."""
    return tuple((column.steps + 1) * i // bins for i in range(bins))


def _read_starts(column: Numbers, bins: Any) -> tuple[int, ...]:
    if not isinstance(bins, list | tuple) or not 1 <= len(bins) <= MOST_VALUES:
        raise InvalidQuestion(
            f"bins must be a whole number, or the list of up to {MOST_VALUES} values at which they begin, got "
            f"{shown(bins)}; give either, or leave them out"
        )
    steps = [column.threshold(">=", column.literal(value))[1] for value in bins]
    if any(a >= b for a, b in pairwise(steps)):
        raise InvalidQuestion(
            "bins must be given in rising order, each a step or more above the one before, got another order; sort them"
        )
    if steps[-1] > column.steps:
        raise InvalidQuestion(
            f"bins of {column.name} must begin at or below {as_value(column, column.high)}, got {shown(bins[-1])}; "
            "leave out what is beyond"
        )
    return (0, *(step for step in steps if step > 0))


def cells(groups: tuple[Group, ...]) -> list[tuple[int, ...]]:
    """Return every combination of groups, in the order of the contract."""
    return list(product(*(range(group.size) for group in groups)))
