"""Which measures are public before they are asked for: what the contract, public tables and the question say of them.

The mean, a quantile, the least and the greatest value of a column are its value where a group has one only: the column
is grouped by or fixed by WHERE, or public tables leave one.  There its variance is 0.  A part of the rows is public
where all of them, or none, meet its condition, and the number of rows where the contract says so.  Which groups there
can be is public, too, if nothing is measured of them.  Rows are never
looked at: whether there are any is not told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.query.answer.released.leaf import PublicValue, kind_of_measure
from inbounds.query.columns.column import Column, Numbers, as_value
from inbounds.query.columns.integer_range import Range, Ranges
from inbounds.query.expressions.condition import Compare, Condition, Missing, Not, Or, join_conditions
from inbounds.query.question.impossible_condition import can_be_met
from inbounds.query.question.measure import Count, Deviation, Mean, Measure, NoMeasure, Proportion, Variance
from inbounds.query.question.only_codes import only_codes
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Codes, Question
from inbounds.query.tables.implied_codes import add_public_codes, add_public_names, is_stored, row_codes


def public_values(question: Question, measures: Sequence[Measure]) -> dict[Measure, PublicValue]:
    """Return those of some measures that are public in every group of a question."""
    if NoMeasure() in measures:
        return {measure: PublicValue(measure, {}) for measure in measures}
    if question.sets is not None or any(group.has_bins for group in question.groups) or not question.rows:
        return {}
    public = {}
    for measure in measures:
        values = _find_values(question, measure)
        if values is not None:
            if question.condition is not None and not can_be_met(question.table, question.condition):
                values = [None] * len(values)
            kind = kind_of_measure(question.table.columns, measure)
            public[measure] = PublicValue(measure, dict(zip(question.row_keys, values, strict=True)), kind)
    names = Counter(value.name for value in public.values())
    return {measure: replace(value, has_namesake=names[value.name] > 1) for measure, value in public.items()}


def _find_values(question: Question, measure: Measure) -> list[Any] | None:
    """Return what a measure is in every group; None if that is not public."""
    if isinstance(measure, Count):
        return _find_counts(question)
    if isinstance(measure, Proportion):
        return _find_proportions(question, measure.condition)
    if not isinstance(measure, Mean | Quantile | Variance | Deviation):
        return None
    # A group has one value of a column if it is grouped by, if it follows from keys, or if no other value is left.
    column = question.table.numbers(measure.column)
    values = _values_of_key(question, column) or _implied_values(question, column) or _only_values(question, column)
    if values is None or isinstance(measure, Quantile):
        return values
    if isinstance(measure, Variance | Deviation):
        return [None if value is None else 0.0 for value in values]
    return [value if value is None or isinstance(value, date) else float(value) for value in values]


def _find_proportions(question: Question, condition: Condition) -> list[Any] | None:
    """Return which part of the rows meets a condition, if it is all or none of them in every group."""
    missing = map(Missing, condition.columns())
    met, others = (
        _groups_meeting(question, condition),
        _groups_meeting(question, join_conditions(Or, Not(condition), *missing)),
    )
    if met & others or not met:  # if no row can meet it, that is refused
        return None
    return [1.0 if row in met else 0.0 for row in question.rows]


def _groups_meeting(question: Question, condition: Condition) -> set[Codes]:
    """Return the groups in which a row may meet a condition."""
    both = condition if question.condition is None else question.condition & condition
    if not can_be_met(question.table, both):
        return set()
    return set(replace(question, condition=both).rows)


def _find_counts(question: Question) -> list[Any] | None:
    """Return the numbers of rows that the contract tells."""
    known, names = question.table.known, [group.column.name for group in question.groups]
    if question.condition is not None or len(names) > 1:
        return None
    if not names:
        return None if known.total is None else [known.total]
    numbers = known.by.get(names[0], {})
    counts = [numbers.get(row[0] or 0) for row in question.rows]
    return None if None in counts else counts


def _values_of_key(question: Question, column: Numbers) -> list[Any] | None:
    """Return the key of every group, if that is what is measured."""
    for at, group in enumerate(question.groups):
        if group.column.name == column.name:
            return [keys[at] for keys in question.row_keys]
    return None


def _implied_values(question: Question, column: Numbers) -> list[Any] | None:
    """Return the value of a column in every group, if it follows from the keys of the group and those in WHERE."""
    if not set(column.stored) <= _fixed_columns(question):
        return None
    implied = Ranges(add_public_codes(question.table, _codes_by_column(question))).value(column.whole)
    codes, present = (np.broadcast_to(array, len(question.rows)).tolist() for array in (implied.low, implied.here))
    return _to_values(question, column, [code if here else None for code, here in zip(codes, present, strict=True)])


def _only_values(question: Question, column: Numbers) -> list[Any] | None:
    """Return the value of a column in every group, if the condition and public tables leave no other."""
    codes = only_codes(question, column)
    return None if codes is None or set(codes) == {None} else _to_values(question, column, codes)


def _to_values(question: Question, column: Numbers, codes: list[int | None]) -> list[Any] | None:
    """Return the values that codes stand for; None if one is no possible value, which rows may have in a gap."""
    possible = [(low - column.first, high - column.first) for low, high in column.lattice.spans]
    if any(code is not None and not any(low <= code <= high for low, high in possible) for code in codes):
        return None
    constants = _compared_constants(question, column) if column.bounds.step is None else {}
    return [None if code is None else as_value(column, constants.get(code, column.value(code))) for code in codes]


def _compared_constants(question: Question, column: Numbers) -> dict[int, Fraction]:
    """Return the constants that a column is compared with by their codes: without a step these are only near them."""
    values = _values_equal_to(column, question.condition.predicates() if question.condition is not None else ())
    return {column.against("=", value)[1]: column.literal(value) for value in values}


def _values_equal_to(column: Column, conditions: Iterable[Condition]) -> list[Any]:
    """Return the constants that conditions say a column is equal to."""
    return [
        condition.value
        for condition in conditions
        if isinstance(condition, Compare) and condition.operator == "=" and condition.this == column.node
    ]


def _fixed_columns(question: Question) -> set[str]:
    """Return the stored columns that have one value in each group, by their names."""
    grouped_by = (group.column.name for group in question.groups if is_stored(group.column))
    return add_public_names(question.table, (*grouped_by, *_codes_in_where(question)))


def _codes_by_column(question: Question) -> dict[str, Range]:
    """Return the code of each stored column that a group or WHERE fixes, group by group."""
    rows = question.rows
    codes = {name: row_codes([code] * len(rows)) for name, code in _codes_in_where(question).items()}
    for at, group in enumerate(question.groups):
        if is_stored(group.column):
            starts = group.starts or range(group.size)
            codes[group.column.name] = row_codes([starts[row[at] or 0] for row in rows])
    return codes


def _codes_in_where(question: Question) -> dict[str, int]:
    """Return the codes of the stored columns for which WHERE leaves one value, and does not leave them missing."""
    codes: dict[str, int] = {}
    condition = question.condition
    if condition is not None:
        for column in filter(is_stored, map(question.table.column, condition.columns())):
            # A column is fixed if one value is left and no row that meets the condition lacks it, whatever WHERE says.
            (code,) = only_codes(replace(question, groups=()), column) or (None,)
            if code is not None and not can_be_met(question.table, condition & Missing(column.node)):
                codes[column.name] = code
            elif (equal := _find_equal_code(condition, column)) is not None:
                codes[column.name] = equal
    return codes


def _find_equal_code(condition: Condition, column: Column) -> int | None:
    """Return the code that a condition says a column is equal to, also if it says more that contradicts it."""
    values = _values_equal_to(column, condition.conjuncts())
    code = column.against("=", values[0])[1] if values else -1
    return code if 0 <= code < column.size else None
