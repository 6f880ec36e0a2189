"""A question to a dataset: a measure of the rows that a condition keeps, for each of some groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.query.column import Keys
from inbounds.query.condition import MOST_NODES, And, Compare, Condition, In, quoted
from inbounds.query.grammar import read_condition
from inbounds.query.group import MOST_CELLS, Group, by_key
from inbounds.query.measure import Measure, Proportion
from inbounds.rational import shown

if TYPE_CHECKING:
    from inbounds.query.table import Table


@dataclass(frozen=True)
class Question:
    """A question, complete and checked; `where` and `by` return new ones."""

    table: Table
    measure: Measure
    condition: Condition | None = None
    groups: tuple[Group, ...] = ()

    def where(self, condition: Condition | str) -> Question:
        """Return the question about fewer rows: a condition, or its text as in SQL."""
        found = read_condition(condition) if isinstance(condition, str) else condition
        check_condition(self.table, found)
        return replace(self, condition=found if self.condition is None else And((self.condition, found)))

    def by(self, *names: str) -> Question:
        """Return the question for each key of some columns, every combination of them."""
        groups = list(self.groups)
        for name in names:
            if any(group.column.name == name for group in groups):
                raise InvalidQuestion(f"{name} is grouped by twice")
            groups.append(by_key(self.table.column(name)))
        return replace(self, groups=check_groups(tuple(groups)))

    @property
    def cells(self) -> int:
        """How many groups are answered."""
        count = 1
        for group in self.groups:
            count *= group.size
        return count

    def __str__(self) -> str:
        """Return the question in SQL: equal questions give equal texts."""
        keys = ", ".join(map(str, self.groups))
        text = f"SELECT {keys + ', ' if keys else ''}{self.measure} FROM {quoted(self.table.name)}"
        if self.condition is not None:
            text += f" WHERE {self.condition}"
        return text + (f" GROUP BY {keys}" if keys else "")


def check_groups(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Refuse more groups than can be answered."""
    count = 1
    for group in groups:
        count *= group.size
    if count > MOST_CELLS:
        raise InvalidQuestion(f"a question may have at most {MOST_CELLS} groups, got {count}; group by fewer columns")
    return groups


def check_condition(table: Table, condition: Any) -> None:
    """Refuse a condition that does not fit the columns of a table."""
    if not isinstance(condition, Condition):
        raise InvalidQuestion(f"where takes a condition or its text, got {shown(condition)}; try column('age') >= 65")
    for number, part in enumerate(condition.walk()):
        if number > MOST_NODES:
            raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts")
        if isinstance(part, In):
            if not 1 <= len(part.values) <= MOST_NODES:
                raise InvalidQuestion(f"IN must list from 1 to {MOST_NODES} constants, got {len(part.values)}")
            for value in part.values:
                _check_constant(table, Compare(part.column, "=", value))
        elif isinstance(part, Compare):
            _check_constant(table, part)
    for name in condition.columns():
        table.column(name)


def _check_constant(table: Table, test: Compare) -> None:
    column = table.column(test.column)
    if not isinstance(column, Keys):
        column.literal(test.value)
        return
    if test.operator not in ("=", "<>"):
        raise InvalidQuestion(f"{column.name} holds keys, which have no order; use =, <> or IN")
    column.code(test.value)


def check_measure(table: Table, measure: Measure) -> None:
    """Refuse a proportion whose condition does not fit."""
    if isinstance(measure, Proportion):
        check_condition(table, measure.condition)
