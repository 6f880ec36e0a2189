"""What is public, and what is impossible, over random contracts, joins, conditions and rows: exact, without draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inbounds.query.answer.public_knowledge import public_values
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.integer_range import Range
from inbounds.query.expressions.condition import Compare, Condition
from inbounds.query.expressions.node import ColumnRef, Constant
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.question.group import Group
from inbounds.query.question.impossible_condition import can_be_met
from inbounds.query.question.measure import Count
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Question
from inbounds.query.tables.implied_codes import add_public_codes, public_joins, public_names
from inbounds.query.tables.table import Table
from tests.helpers.sparing import sparing
from tests.query.privacy.test_random_privacy import Case, cases

SEEDS = (11, 3, 6, 7, 2, 1, 4, 5, 8, 9)
"""Contracts with much that is public, impossible or ruled out."""


def wrong(folder: Path, seeds: Iterable[int]) -> Iterator[tuple[str, bool]]:
    """Yield what is said to be public of random questions, and whether a row contradicts it."""
    for case in cases(folder, seeds):
        question = case.query.questions[0]
        if question.sets is None and not any(group.has_bins for group in question.groups):
            yield from _of_values(case, question)
        if question.condition is not None and not can_be_met(question.table, question.condition):
            yield "impossible", _has_rows(case, question)
        for key, join in public_joins(question.table):
            if isinstance(key, Keys):
                by_key = Question(question.table, Count()).by(key.name)
                yield from _ruled_out(by_key, public_names(question.table, join))


def _ruled_out(question: Question, names: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Ask for columns of a public table by its key, where they are one of the values that they have."""
    for name in names:
        measure = Quantile(ColumnRef(name), Fraction(1, 2))
        column = question.table.columns[name]
        if not isinstance(column, Numbers) or column.steps == 0:
            continue
        of_all = public_values(question, [measure]).get(measure)
        for value in set() if of_all is None else set(of_all.values.values()) - {None}:
            found = public_values(question.where(Compare(ColumnRef(name), "=", Constant(value))), [measure]).get(
                measure
            )
            yield "ruled out", found is None or set(found.values.values()) != {value}


def _of_values(case: Case, question: Question) -> Iterator[tuple[str, bool]]:
    for name, column in question.table.columns.items():
        measure = Quantile(ColumnRef(name), Fraction(1, 2))
        if not isinstance(column, Numbers) or column.steps == 0:
            continue
        found = public_values(question, [measure]).get(measure)
        if found is None:
            continue
        plan = case.place.dataset.planned(replace(question, measure=measure), Fraction(1), None)
        for number in case.pairs:
            totals = case.place.totals(plan, f"more{number}")
            for value, counts in zip(found.values.values(), totals, strict=True):
                there = {bucket for bucket, weight in enumerate(counts) if weight}
                yield "public", not there <= _bucket(column, value)


def _bucket(column: Numbers, value: Any) -> set[int]:
    """Return where rows of a value are counted."""
    if value is None:
        return set()
    return {round((column.literal(value) - column.low) / column.step) // Buckets.of(column).width}


def _has_rows(case: Case, question: Question) -> bool:
    counted = replace(question, measure=Count(), groups=(), sets=None)
    plan = case.place.dataset.planned(counted, Fraction(1), None)
    return any(case.place.totals(plan, f"more{number}") != [[0]] for number in case.pairs)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", sparing([SEEDS, range(12)]))
def test_no_row_contradicts_what_is_public(tmp_path: Path, seeds: Iterable[int]) -> None:
    """A public value is that of every row of its group, and of no group that a condition rules out; no row meets what
    is said to be impossible."""
    found = list(wrong(tmp_path, seeds))
    assert not any(is_wrong for _, is_wrong in found)
    for what in ("public", "impossible", "ruled out"):
        assert sum(one == what for one, _ in found) > 10, what


@pytest.mark.slow
def test_a_wrong_rule_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: rows are found where what follows from a key is shifted, or no condition can be met; so are
    groups that a public table rules out, where nothing does that."""

    def shifted(table: Table, codes: dict[str, Range]) -> dict[str, Range]:
        found = add_public_codes(table, codes)
        return {name: Range(one.low + 1, one.high + 1, one.here, one.gone) for name, one in found.items()}

    def never(table: Table, condition: Condition) -> bool:
        return False

    def everything(table: Table, condition: Condition | None, groups: tuple[Group, ...]) -> Any:
        return np.ones([group.size for group in groups], dtype=np.bool_)

    monkeypatch.setattr("inbounds.query.answer.public_knowledge.add_public_codes", shifted)
    monkeypatch.setattr("inbounds.query.question.cells.left_by_public", everything)
    monkeypatch.setattr("tests.query.privacy.test_random_useless.can_be_met", never)
    caught: set[str] = set()
    for what, is_wrong in wrong(tmp_path, SEEDS):
        caught |= {what} if is_wrong else set()
        if len(caught) == 3:
            break
    assert caught == {"public", "impossible", "ruled out"}
