"""A question to a dataset: a measure of the rows that a condition keeps, for each of some groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Keys
from inbounds.query.columns.derived_column import Derived
from inbounds.query.columns.kind import TEXT_KEY
from inbounds.query.contract.listed_keys import MOST_FOUND
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.rows import to_condition
from inbounds.query.question.cells import finest, possible_cells, possible_finest, project
from inbounds.query.question.group import MOST_CELLS, MOST_SETS, Group, by_key
from inbounds.query.question.measure import Measure
from inbounds.query.question.rest_group import RestGroup, add_rests, left_categories

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inbounds.query.columns.column import Column
    from inbounds.query.tables.table import Table


REST = "REST()"
"""What says in SQL that a grouping counts all rows that have its own columns."""

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
    running: int | None = None
    """The place of the group along which running totals are all that is shown, if they are."""
    rest: bool = False
    """Whether rows without a category of a group count where that group is added up."""

    def where(self, condition: Condition | str) -> Question:
        """Return the question about fewer rows: a condition, or its text as in SQL."""
        new = to_condition(condition, self.table)
        return replace(self, condition=new if self.condition is None else self.condition & new)

    def by(self, *names: str | Expression) -> Question:
        """Return the question for each key of some columns, every combination of them."""
        if self.sets is not None:
            raise InvalidQuestion(
                "totals are of the groups before them; name all groups first, and then ask for totals"
            )
        return self._by_columns(map(self.table.column, names))

    def _by_columns(self, columns: Iterable[Column]) -> Question:
        groups = list(self.groups)
        for column in columns:
            if any(group.column.name == column.name for group in groups):
                raise InvalidQuestion(f"{column.name} is grouped by twice; name it once")
            groups.append(by_key(column))
        return check_size(replace(self, groups=tuple(groups)))

    def with_sets(self, sets: Iterable[Iterable[str | Expression]], *, rest: bool = False) -> Question:
        """Return the question for several groupings at once, each a set of columns to tell apart; `()` is the total.

        With `rest` each counts the rows that have its own columns, else those that have all columns.
        """
        asked = [[self.table.column(name) for name in _names(columns)] for columns in sets]
        named = [tuple(column.name for column in columns) for columns in asked]
        if not 1 <= len(named) <= MOST_SETS:
            raise InvalidQuestion(
                f"a question may ask for 1 to {MOST_SETS} groupings, got {len(named)}; name fewer columns, and () "
                "for the total"
            )
        # Columns that are no groups yet become groups; then each set is known by the places of its groups.
        new = {column.name: column for columns in asked for column in columns if column.name not in self._names}
        question = replace(self, sets=None)._by_columns(new.values()) if new else self
        bins = [place for place, group in enumerate(question.groups) if group.has_bins]  # no set of names holds them
        places = {name: place for place, name in enumerate(question._names)}
        groupings = dict.fromkeys(tuple(sorted({*bins, *(places[name] for name in names)})) for names in named)
        question = replace(question, sets=tuple(groupings), rest=rest)._refuse_both()
        # Where no row can lack what is added up, both are the same question, and have one text.
        return check_size(question if question._has_rest else replace(question, rest=False))

    @property
    def _has_rest(self) -> bool:
        return any(isinstance(group, RestGroup) for group in self.told_apart)

    def with_totals(self) -> Question:
        """Return the question with the totals of a table: over each column by itself, and over everything."""
        if not self.groups:
            raise InvalidQuestion("totals need groups, and there are none; group by a column first")
        every = tuple(range(len(self.groups)))
        sets = tuple(dict.fromkeys((every, *((place,) for place in every), ())))
        return check_size(replace(self, sets=sets)._refuse_both())

    def by_itself(self) -> Question:
        """Return the question with each cell answered by itself: least error in a cell, and sums that drift."""
        return replace(self, alone=True)._refuse_both()

    def _refuse_both(self) -> Question:
        if self.alone and self.sets is not None:
            raise InvalidQuestion("cells that are answered alone add up to no totals; leave out the totals, or alone")
        return self

    @property
    def _names(self) -> list[str]:
        return [group.column.name for group in self.groups]

    @property
    def cells(self) -> int:
        """How many cells there are: combinations of all groups."""
        return prod(group.size for group in self.groups)

    @cached_property
    def rows(self) -> list[Codes]:
        """The rows of the answer, set by set: the code of each group that is told apart, None where it is added up."""
        return [row for grouping in self.groupings for row in self.rows_of(grouping)]

    @property
    def groupings(self) -> tuple[tuple[int, ...], ...]:
        """The sets of groups that are told apart, by place: those that were asked for, or all groups at once."""
        return (tuple(range(len(self.groups))),) if self.sets is None else self.sets

    def rows_of(self, grouping: tuple[int, ...]) -> list[Codes]:
        """Return the rows of one set: of the groups that the condition leaves, whatever the table holds."""
        codes = {place: i for i, place in enumerate(grouping)}
        if self.possible is None:
            cells = possible_cells(self.table, tuple(self.groups[place] for place in grouping))
        else:
            cells = project(self.left, grouping)
        if len(grouping) == len(self.groups):
            return list[Codes](cells)
        return [
            tuple(cell[codes[place]] if place in codes else None for place in range(len(self.groups))) for cell in cells
        ]

    @cached_property
    def told_apart(self) -> tuple[Group, ...]:
        """The groups that tell all others: the finest ones, with the rests of those that are added up if they count."""
        columns, known = self.table.columns, self.table.known
        if not self.rest:
            return finest(columns, self.groups)
        return add_rests(columns, self.groups, self.groupings, known.names)

    @cached_property
    def possible(self) -> NDArray[np.bool_] | None:
        """For each combination of these groups whether the condition leaves it; None if it leaves all of them."""
        return possible_finest(self.table, self.told_apart, self.condition)

    @cached_property
    def left(self) -> Sequence[Codes]:
        """The combinations of all groups that the condition leaves, with None for the rest of one."""
        if self.rest and self.possible is not None:
            return left_categories(self.table.columns, self.groups, self.told_apart, self.possible)
        return possible_cells(self.table, self.groups, self.possible)

    def cells_of(self, groups: tuple[Group, ...]) -> list[tuple[int, ...]]:
        """Return the combinations that a statement tells apart: of these groups, the finest ones, or one more."""
        cells = possible_cells(self.table, groups, possible_finest(self.table, groups, self.condition))
        if len(groups) <= len(self.groups):
            return cells
        left = set(self.left)
        return [cell for cell in cells if cell[: len(self.groups)] in left]

    @property
    def labels(self) -> list[list[Any]]:
        """What the groups of each column are called; in a cumulative distribution, by their greatest value."""
        return [group.tops if self.measure.names_groups_by_top else group.labels for group in self.groups]

    @property
    def row_keys(self) -> list[tuple[Any, ...]]:
        """What the groups of each row of the answer are called, None where one is added up."""
        labels = self.labels
        return [tuple(None if code is None else labels[i][code] for i, code in enumerate(row)) for row in self.rows]

    def __str__(self) -> str:
        """Return the question in SQL: equal questions give equal texts."""
        return sql_of((self,))


def derived_columns(questions: Sequence[Question]) -> dict[str, Derived]:
    """Return the columns made of columns that some questions are about, by their names."""
    nodes: list[Node] = []
    for question in questions:
        nodes += [group.column.node for group in question.groups]
        nodes += question.measure.nodes
        conditions = (question.condition, *question.measure.conditions)
        nodes += [node for condition in conditions if condition is not None for node in condition.columns()]
    columns = {node.name: questions[0].table.column(node) for node in nodes}
    return {name: column for name, column in columns.items() if isinstance(column, Derived)}


def sql_of(questions: Sequence[Question], selected: Sequence[str] = ()) -> str:
    """Return several questions about the same rows and groups as one, in SQL; with `selected`: what they show."""
    first = questions[0]
    binned = binned_call(first)
    columns = first.groups if binned is None else first.groups[1:]
    keys = ", ".join(map(str, columns))
    measured = [binned] if binned else [str(question.measure) for question in questions]
    everything = [*map(str, columns), *filter(None, measured)]
    text = f"SELECT {', '.join(selected or everything)} FROM {first.table.write(first.condition)}"
    if first.sets is not None:
        if all(0 in places for places in first.sets):  # then a histogram above the line says its own part
            groupings = [[i for i in places if first.groups[i] in columns] for places in first.sets]
        else:
            groupings = [list(places) for places in first.sets]
        sets = [f"({', '.join(str(first.groups[i]) for i in places)})" for places in groupings]
        return f"{text} GROUP BY GROUPING SETS ({', '.join([*sets, *([REST] if first.rest else [])])})"
    return text + (f" GROUP BY {keys}" if keys else "")


def binned_call(question: Question) -> str | None:
    """Return the call of a histogram or a cumulative distribution in SQL; None if the question is neither."""
    return question.measure.call_by_bins(question.groups[0]) if question.groups else None


def _names(columns: object) -> tuple[str | Expression, ...]:
    """Return the columns of one set."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InvalidQuestion(f"a grouping is a set of columns, got {shown(columns)}; put its names in parentheses")
    return tuple(columns)


def check_size(question: Question) -> Question:
    """Return a question, unless it has more groups than can be answered: cells, or rows of all sets together."""
    columns = question.table.columns
    count = max(
        prod(group.size for group in question.told_apart),
        sum(
            prod(group.size for group in finest(columns, tuple(question.groups[place] for place in grouping)))
            for grouping in question.groupings
        ),
    )
    if count > MOST_CELLS:
        raise InvalidQuestion(
            f"a question may have at most {MOST_CELLS} groups, got {count}; group by fewer columns"
            f"{_suggest_prefix(question, count)}"
        )
    return question


def _suggest_prefix(question: Question, count: int) -> str:
    """Say which part of a key with many categories leaves few enough groups, if one does."""
    texts = [group.column for group in question.groups if isinstance(group.column, Keys)]
    keys = max((column for column in texts if column.kind == TEXT_KEY), key=lambda column: column.size, default=None)
    if keys is None or keys.size <= MOST_FOUND:
        return ""
    for length in range(max(len(str(key)) for key in keys.keys) - 1, 0, -1):
        if count * len({str(key)[:length] for key in keys.keys}) <= MOST_CELLS * keys.size:
            return f", or by a part of one, as in LEFT({keys.node}, {length})"
    return ""
