"""What a condition compares with and no value can be: values are clipped to their bounds before they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from inbounds.query.columns.column import Numbers
from inbounds.query.columns.derived_column import DerivedNumbers
from inbounds.query.expressions.arithmetic import cases_in
from inbounds.query.expressions.condition import Condition
from inbounds.query.question.question import Question
from inbounds.query.question.stated_conditions import stated_conditions
from inbounds.query.tables.table import Table


def warnings_of(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return what to know before asking, each once: what stands in for what was asked, and what is clipped."""
    remarks = (remark for question in questions for remark in question.measure.remarks)
    return tuple(dict.fromkeys((*remarks, *clippings_of(questions))))


def clippings_of(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return a warning for each comparison with a constant beyond the bounds of its column, each once."""
    conditions = (stated for question in questions for stated in stated_conditions(question))
    comparisons = (comparison for stated in conditions for comparison in beyond(stated.table, stated.condition))
    return tuple(dict.fromkeys(_write_warning(test, column) for test, column, _ in comparisons))


def beyond(table: Table, condition: Condition) -> Iterator[tuple[Condition, Numbers, Fraction]]:
    """Yield the comparisons in a condition with a constant beyond the bounds of its column of numbers or days."""
    for node in condition.columns():
        for case in cases_in(node):
            for inner in case.tests:
                yield from beyond(table, inner)
    for test in condition.predicates():
        column = table.column(test.this)
        if isinstance(column, Numbers):
            low, high = column.ends
            values = map(column.literal, test.constants)
            yield from ((test, column, value) for value in values if not low <= value <= high)


def _write_warning(test: Condition, column: Numbers) -> str:
    if isinstance(column, DerivedNumbers):
        return (
            f"{column.name} always lies within {column.bounds.brief()}, because the values behind it are clamped, so "
            f"{test} compares it with a value that never occurs."
        )
    return (
        f"{column.name} is clamped to {column.bounds.brief()} before comparisons, so {test} compares it with a value "
        "that never occurs."
    )
