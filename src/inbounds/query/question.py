"""A question to a dataset: a measure of the rows that a condition keeps, for each of some groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import prod
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.column import Keys
from inbounds.query.condition import (
    MOST_DEPTH,
    MOST_NODES,
    And,
    Compare,
    Condition,
    In,
    Missing,
    Not,
    Or,
    joined,
    quoted,
)
from inbounds.query.group import MOST_CELLS, Group, by_key, cells
from inbounds.query.hierarchy import ancestors
from inbounds.query.measure import Cdf, Count, Measure
from inbounds.query.sql.conditions import read_condition

if TYPE_CHECKING:
    from inbounds.query.table import Table


Codes = tuple[int | None, ...]
"""The codes of a row's groups, None where a group is added up."""


@dataclass(frozen=True)
class Question:
    """A question, complete and checked; `where` and `by` return new ones."""

    table: Table
    measure: Measure
    condition: Condition | None = None
    groups: tuple[Group, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None
    """Which of the groups are told apart in each of several groupings, by place; None for all of them at once."""
    alone: bool = False
    """Whether each cell is answered by itself, and nothing makes cells add up."""

    def where(self, condition: Condition | str) -> Question:
        """Return the question about fewer rows: a condition, or its text as in SQL."""
        found = checked(self.table, read_condition(condition) if isinstance(condition, str) else condition)
        return replace(self, condition=found if self.condition is None else joined(And, self.condition, found))

    def by(self, *names: str) -> Question:
        """Return the question for each key of some columns, every combination of them."""
        groups = list(self.groups)
        for name in names:
            if any(group.column.name == name for group in groups):
                raise InvalidQuestion(f"{name} is grouped by twice; name it once")
            groups.append(by_key(self.table.column(name)))
        return replace(self, groups=check_groups(tuple(groups)))

    def with_sets(self, sets: Iterable[Iterable[str]]) -> Question:
        """Return the question for several groupings at once, each a set of columns to tell apart; `()` is the total."""
        named = [tuple(one) for one in sets]
        new = [name for name in dict.fromkeys(name for one in named for name in one) if name not in self._names]
        asked = self.by(*new) if new else self
        bins = [place for place, group in enumerate(asked.groups) if group.has_bins]  # no set of names holds them
        places = {name: place for place, name in enumerate(asked._names)}
        found = dict.fromkeys(tuple(sorted({*bins, *(places[name] for name in one)})) for one in named)
        return replace(asked, sets=tuple(found))

    def with_totals(self) -> Question:
        """Return the question with the totals of a table: over each column by itself, and over everything."""
        if not self.groups:
            raise InvalidQuestion("totals go with groups, and there are none; group by a column first")
        every = tuple(range(len(self.groups)))
        return replace(self, sets=tuple(dict.fromkeys((every, *((place,) for place in every), ()))))

    @property
    def _names(self) -> list[str]:
        return [group.column.name for group in self.groups]

    @property
    def cells(self) -> int:
        """How many cells there are: combinations of all groups."""
        return prod(group.size for group in self.groups)

    @property
    def rows(self) -> list[Codes]:
        """The rows of the answer, set by set: the code of each group that is told apart, None where it is added up."""
        return [row for told in self.told_apart for row in self.rows_of(told)]

    @property
    def told_apart(self) -> tuple[tuple[int, ...], ...]:
        """The sets of groups that are told apart, by place: those that were asked for, or all groups at once."""
        return (tuple(range(len(self.groups))),) if self.sets is None else self.sets

    def rows_of(self, told: tuple[int, ...]) -> list[Codes]:
        """Return the rows of one set."""
        codes = {place: i for i, place in enumerate(told)}
        return [
            tuple(cell[codes[place]] if place in codes else None for place in range(len(self.groups)))
            for cell in possible_cells(self.table, tuple(self.groups[place] for place in told))
        ]

    @property
    def labels(self) -> list[list[Any]]:
        """What the groups of each column are called; in a cumulative distribution, by their greatest value."""
        return [group.tops if isinstance(self.measure, Cdf) else group.labels for group in self.groups]

    def __str__(self) -> str:
        """Return the question in SQL: equal questions give equal texts."""
        return sql_of((self,))


def sql_of(questions: Sequence[Question]) -> str:
    """Return several questions about the same rows and groups as one, in SQL."""
    first = questions[0]
    measured, columns = ", ".join(str(one.measure) for one in questions), first.groups
    if isinstance(first.measure, Cdf):
        measured, columns = columns[0].call("CDF"), columns[1:]
    elif columns and columns[0].has_bins and isinstance(first.measure, Count):  # a histogram counts
        measured, columns = str(columns[0]), columns[1:]
    keys = ", ".join(map(str, columns))
    text = f"SELECT {keys + ', ' if keys else ''}{measured} FROM {quoted(first.table.name)}"
    if first.condition is not None:
        text += f" WHERE {first.condition}"
    if first.sets is not None:
        sets = (", ".join(str(first.groups[i]) for i in one if first.groups[i] in columns) for one in first.sets)
        return f"{text} GROUP BY GROUPING SETS ({', '.join(f'({one})' for one in sets)})"
    return text + (f" GROUP BY {keys}" if keys else "")


def possible_cells(table: Table, groups: tuple[Group, ...]) -> list[tuple[int, ...]]:
    """Return every combination of groups that can be: a key that lies within another goes with that one only."""
    places = {group.column.name: place for place, group in enumerate(groups)}
    within = [
        (places[group.column.name], places[name], codes)
        for group in groups
        for name, codes in ancestors(table.columns, group.column)
        if name in places
    ]
    found = cells(groups)
    return [cell for cell in found if all(codes[cell[child]] == cell[parent] for child, parent, codes in within)]


def check_groups(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Refuse more groups than can be answered."""
    count = prod(group.size for group in groups)
    if count > MOST_CELLS:
        raise InvalidQuestion(f"a question may have at most {MOST_CELLS} groups, got {count}; group by fewer columns")
    return groups


def checked(table: Table, condition: Any) -> Condition:
    """Return a condition with its constants written in one way; refuse one that does not fit the columns of a table."""
    if not isinstance(condition, Condition):
        raise InvalidQuestion(f"where takes a condition or its text, got {shown(condition)}; try 'age >= 65'")
    if (parts := sum(1 for _ in condition.walk())) > MOST_NODES:
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got {parts}; ask something simpler")
    return _checked(table, condition, MOST_DEPTH)


def _checked(table: Table, condition: Condition, depth: int) -> Condition:
    if depth == 0:
        raise InvalidQuestion(f"a condition may be nested at most {MOST_DEPTH} deep, got more; ask something simpler")
    if isinstance(condition, And | Or):
        return joined(type(condition), *(_checked(table, part, depth - 1) for part in condition.parts()))
    if isinstance(condition, Not):
        return Not(_checked(table, condition.this, depth - 1))
    if isinstance(condition, In):
        if not 1 <= len(condition.values) <= MOST_NODES:
            raise InvalidQuestion(
                f"IN must list from 1 to {MOST_NODES} constants, got {len(condition.values)}; list others"
            )
        return In(condition.column, tuple(_constant(table, condition.column, value) for value in condition.values))
    if isinstance(condition, Compare):
        if isinstance(table.column(condition.column), Keys) and condition.operator not in ("=", "<>"):
            raise InvalidQuestion(f"{condition.column} holds keys, which have no order; use =, <> or IN")
        return Compare(condition.column, condition.operator, _constant(table, condition.column, condition.value))
    assert isinstance(condition, Missing)
    table.column(condition.column)
    return condition


def _constant(table: Table, name: str, value: Any) -> Any:
    """Return a constant that fits a column, in the one way that it is written."""
    column = table.column(name)
    if isinstance(column, Keys):
        return column.keys[column.code(value)]
    found = column.literal(value)
    return date.fromordinal(int(found)) if column.is_dates else found
