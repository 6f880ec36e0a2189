"""Which measures are public before they are asked for: what the contract, public tables and the question say of them.

The mean, a quantile, the least and the greatest value of a column are its value where a group has one only: the column
is grouped by or fixed by WHERE, or a public table says it of a key that is.  The number of rows is public where the
contract says so.  Rows are never looked at: whether there are any is not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

from inbounds.query.answer.public_value import PublicValue
from inbounds.query.answer.released.expression import kind_of_measure
from inbounds.query.columns.column import Keys, Numbers, as_value
from inbounds.query.columns.condition import And, Compare, Condition, In
from inbounds.query.columns.derived_column import against, stored_columns, whole_of
from inbounds.query.columns.integer_range import Range, Ranges
from inbounds.query.question.impossible_condition import can_be_met
from inbounds.query.question.measure import Count, Mean, Measure, Quantile
from inbounds.query.question.question import Question
from inbounds.query.tables.implied_codes import each_one, following, is_stored, names_following


def public_values(question: Question, measures: Sequence[Measure]) -> dict[Measure, PublicValue]:
    """Return those of some measures that are public in every group of a question."""
    if question.sets is not None or any(group.has_bins for group in question.groups):
        return {}
    found = {}
    for measure in measures:
        values = _values(question, measure)
        if values is not None:
            if question.condition is not None and not can_be_met(question.table, question.condition):
                values = [None] * len(values)
            kind = kind_of_measure(question.table.columns, measure)
            found[measure] = PublicValue(measure, dict(zip(_keys(question), values, strict=True)), kind)
    return found


def _keys(question: Question) -> list[tuple[Any, ...]]:
    """Return the keys of every group."""
    labels = question.labels
    return [tuple(labels[at][code or 0] for at, code in enumerate(row)) for row in question.rows]


def _values(question: Question, measure: Measure) -> list[Any] | None:
    """Return what a measure is in every group; None if that is not public."""
    if isinstance(measure, Count):
        return _counts(question)
    if not isinstance(measure, Mean | Quantile):
        return None
    column = question.table.numbers(measure.column)
    values = _grouped_by(question, column) or _followed(question, column)
    if values is None or not isinstance(measure, Mean):
        return values
    return [value if value is None or isinstance(value, date) else float(value) for value in values]


def _counts(question: Question) -> list[Any] | None:
    """Return the numbers of rows that the contract tells."""
    known, names = question.table.known, [group.column.name for group in question.groups]
    if question.condition is not None or len(names) > 1:
        return None
    if not names:
        return None if known.total is None else [known.total]
    numbers = known.by.get(names[0], {})
    found = [numbers.get(row[0] or 0) for row in question.rows]
    return None if None in found else found


def _grouped_by(question: Question, column: Numbers) -> list[Any] | None:
    """Return the key of every group, if that is what is measured."""
    for at, group in enumerate(question.groups):
        if group.column.name == column.name:
            return [keys[at] for keys in _keys(question)]
    return None


def _followed(question: Question, column: Numbers) -> list[Any] | None:
    """Return the value of a column in every group, if it follows from the keys of the group and those in WHERE."""
    if not question.rows or not set(stored_columns(column)) <= _told(question):
        return None
    found = Ranges(following(question.table, _codes(question))).value(whole_of(column))
    codes, there = (np.broadcast_to(one, len(question.rows)).tolist() for one in (found.low, found.here))
    return [as_value(column, column.value(code)) if here else None for code, here in zip(codes, there, strict=True)]


def _told(question: Question) -> set[str]:
    """Return the stored columns that have one value in each group, by their names."""
    grouped_by = (group.column.name for group in question.groups if is_stored(group.column))
    return names_following(question.table, (*grouped_by, *_fixed(question)))


def _codes(question: Question) -> dict[str, Range]:
    """Return the code of each stored column that a group or WHERE fixes, group by group."""
    rows = question.rows
    found = {name: each_one([code] * len(rows)) for name, code in _fixed(question).items()}
    for at, group in enumerate(question.groups):
        if is_stored(group.column):
            starts = range(group.size) if isinstance(group.column, Keys) else group.starts
            found[group.column.name] = each_one([starts[row[at] or 0] for row in rows])
    return found


def _fixed(question: Question) -> dict[str, int]:
    """Return the codes of the stored columns for which WHERE leaves one value."""
    condition = question.condition
    parts: tuple[Condition, ...] = () if condition is None else (condition,)
    if isinstance(condition, And):
        parts = condition.parts()
    found = {}
    for part in parts:
        value = _only(part)
        if value is not None and isinstance(part, Compare | In) and is_stored(question.table.column(part.column)):
            column = question.table.column(part.column)
            _, code = against(column, "=", value)
            if isinstance(column, Keys) or 0 <= code <= column.steps:
                found[str(part.column)] = code
    return found


def _only(part: Condition) -> Any:
    """Return the one value that a condition leaves of its column, None if it leaves several."""
    if isinstance(part, Compare):
        return part.value if part.operator == "=" else None
    return part.values[0] if isinstance(part, In) and len(part.values) == 1 else None
