"""What a condition compares with and no value can be: values are clipped to their bounds before they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from inbounds.query.column import Numbers
from inbounds.query.condition import Compare, Condition, In
from inbounds.query.made import Made
from inbounds.query.measure import Proportion
from inbounds.query.question import Question


def warnings_of(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return a warning for each comparison with a constant beyond the bounds of its column, each once.

    What is answered with something else than was asked for is warned of as well.
    """
    found: dict[str, None] = {}
    for question in questions:
        found |= dict.fromkeys(question.measure.remarks)
        for condition in _conditions(question):
            for test, column, value in _tests(question, condition):
                low, high = column.ends
                if not low <= value <= high:
                    found[_warning(test, column)] = None
    return tuple(found)


def _conditions(question: Question) -> Iterator[Condition]:
    if question.condition is not None:
        yield from question.condition.walk()
    if isinstance(question.measure, Proportion):
        yield from question.measure.condition.walk()


def _tests(question: Question, condition: Condition) -> Iterator[tuple[Condition, Numbers, Fraction]]:
    """Yield the constants that a condition compares a column of numbers or days with."""
    if not isinstance(condition, Compare | In):
        return
    column = question.table.column(condition.column)
    if isinstance(column, Numbers):
        for value in condition.values if isinstance(condition, In) else (condition.value,):
            yield condition, column, column.literal(value)


def _warning(test: Condition, column: Numbers) -> str:
    if isinstance(column, Made):
        return (
            f"Values of {column.name} are within {column.bounds.brief()}, as those that it is made of are clipped, so "
            f"{test} is the same for all of them."
        )
    return (
        f"Values of {column.name} are clipped to {column.bounds.brief()} before they are compared, so {test} is the "
        "same for all values beyond."
    )
