"""Which measures are public before they are asked for: what the contract, public tables and the question say of them.

The mean, a quantile, the least and the greatest value of a column are its value where a group has one only: the column
is grouped by or fixed by WHERE, or public tables leave one.  There its variance is 0.  A part of the rows is public
where all of them, or none, meet its condition, and the number of rows where the contract says so.  Rows are never
looked at: whether there are any is not told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.query.answer.released.leaf import PublicValue, kind_of_measure
from inbounds.query.columns.column import Column, Keys, Numbers, as_value
from inbounds.query.columns.derived_column import stored_columns, whole_of
from inbounds.query.columns.integer_range import Range, Ranges
from inbounds.query.expressions.condition import And, Compare, Condition, Missing, Not, Or, joined
from inbounds.query.question.impossible_condition import can_be_met
from inbounds.query.question.measure import Count, Deviation, Mean, Measure, Proportion, Variance
from inbounds.query.question.only_codes import only_codes
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Codes, Question
from inbounds.query.tables.implied_codes import each_one, following, is_stored, names_following


def public_values(question: Question, measures: Sequence[Measure]) -> dict[Measure, PublicValue]:
    """Return those of some measures that are public in every group of a question."""
    if question.sets is not None or any(group.has_bins for group in question.groups) or not question.rows:
        return {}
    found = {}
    for measure in measures:
        values = _values(question, measure)
        if values is not None:
            if question.condition is not None and not can_be_met(question.table, question.condition):
                values = [None] * len(values)
            kind = kind_of_measure(question.table.columns, measure)
            found[measure] = PublicValue(measure, dict(zip(_keys(question), values, strict=True)), kind)
    names = Counter(one.name for one in found.values())
    return {measure: replace(one, has_namesake=names[one.name] > 1) for measure, one in found.items()}


def _keys(question: Question) -> list[tuple[Any, ...]]:
    """Return the keys of every group."""
    labels = question.labels
    return [tuple(labels[at][code or 0] for at, code in enumerate(row)) for row in question.rows]


def _values(question: Question, measure: Measure) -> list[Any] | None:
    """Return what a measure is in every group; None if that is not public."""
    if isinstance(measure, Count):
        return _counts(question)
    if isinstance(measure, Proportion):
        return _parts(question, measure.condition)
    if not isinstance(measure, Mean | Quantile | Variance | Deviation):
        return None
    column = question.table.numbers(measure.column)
    values = _grouped_by(question, column) or _followed(question, column) or _left(question, column)
    if values is None or isinstance(measure, Quantile):
        return values
    if isinstance(measure, Variance | Deviation):
        return [None if value is None else 0.0 for value in values]
    return [value if value is None or isinstance(value, date) else float(value) for value in values]


def _parts(question: Question, condition: Condition) -> list[Any] | None:
    """Return which part of the rows meets a condition, if it is all or none of them in every group."""
    missing = map(Missing, condition.columns())
    met, others = _met(question, condition), _met(question, joined(Or, Not(condition), *missing))
    if met & others or not met:  # if no row can meet it, that is refused
        return None
    return [1.0 if row in met else 0.0 for row in question.rows]


def _met(question: Question, condition: Condition) -> set[Codes]:
    """Return the groups in which a row may meet a condition."""
    asked = condition if question.condition is None else joined(And, question.condition, condition)
    if not can_be_met(question.table, asked):
        return set()
    return set(replace(question, condition=asked).rows)


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
    if not set(stored_columns(column)) <= _told(question):
        return None
    found = Ranges(following(question.table, _codes(question))).value(whole_of(column))
    codes, there = (np.broadcast_to(one, len(question.rows)).tolist() for one in (found.low, found.here))
    return _shown(question, column, [code if here else None for code, here in zip(codes, there, strict=True)])


def _left(question: Question, column: Numbers) -> list[Any] | None:
    """Return the value of a column in every group, if the condition and public tables leave no other."""
    codes = only_codes(question, column)
    return None if codes is None or set(codes) == {None} else _shown(question, column, codes)


def _shown(question: Question, column: Numbers, codes: list[int | None]) -> list[Any] | None:
    """Return the values that codes stand for; None if one is no possible value, which rows may have in a gap."""
    possible = [(low - column.first, high - column.first) for low, high in column.lattice.spans]
    if any(code is not None and not any(low <= code <= high for low, high in possible) for code in codes):
        return None
    typed = _typed(question, column) if column.bounds.step is None else {}
    return [None if code is None else as_value(column, typed.get(code, column.value(code))) for code in codes]


def _typed(question: Question, column: Numbers) -> dict[int, Fraction]:
    """Return the constants that a column is compared with by their codes: without a step these are only near them."""
    found: dict[int, Fraction] = {}
    for test in question.condition.predicates() if question.condition is not None else ():
        if isinstance(test, Compare) and test.operator == "=" and test.this == column.node:
            found[column.against("=", test.value)[1]] = column.literal(test.value)
    return found


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
    """Return the codes of the stored columns for which WHERE leaves one value, and does not leave them missing."""
    found: dict[str, int] = {}
    condition = question.condition
    if condition is not None:
        for column in filter(is_stored, map(question.table.column, condition.columns())):
            (code,) = only_codes(replace(question, groups=()), column) or (None,)
            if code is not None and not can_be_met(question.table, joined(And, condition, Missing(column.node))):
                found[column.name] = code
            elif (equal := _equal_to(condition, column)) is not None:
                found[column.name] = equal
    return found


def _equal_to(condition: Condition, column: Column) -> int | None:
    """Return the code that a condition says a column is equal to, also if it says more that contradicts it."""
    for part in condition.conjuncts():
        if isinstance(part, Compare) and part.operator == "=" and part.this == column.node:
            _, code = column.against("=", part.value)
            return code if isinstance(column, Keys) or 0 <= code <= column.steps else None
    return None
