"""Conditions in one form, checked against three-valued logic in plain Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.query.expressions.arithmetic import Binary
from inbounds.query.expressions.condition import And, Compare, Condition, In, Missing, Not, Or, is_in
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.identity.conditions import arrange, there

A, B, FLAG = ColumnRef("a"), ColumnRef("b"), ColumnRef("flag")
DIFFERENCE, TURNED = Binary("-", A, B), Binary("-", B, A)
VALUES: dict[str, list[Any]] = {"a": [None, 0, 1, 2], "b": [None, 0, 1, 2], "flag": [None, True, False]}

Row = Mapping[str, Any]

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def value(node: Node, row: Row) -> Any:
    """Return what an expression is in a row, None if it is missing."""
    if isinstance(node, Binary):
        left, right = value(node.left, row), value(node.right, row)
        return None if left is None or right is None else left - right
    return row[node.name]


def truth(condition: Condition, row: Row) -> bool | None:
    """Return whether a condition is true in a row, None if it is neither true nor false."""
    match condition:
        case Not():
            inner = truth(condition.this, row)
            return None if inner is None else not inner
        case And():
            parts = [truth(part, row) for part in condition.all]
            return False if False in parts else None if None in parts else True
        case Or():
            parts = [truth(part, row) for part in condition.any]
            return True if True in parts else None if None in parts else False
        case Missing():
            return value(condition.this, row) is None
        case In():
            found = value(condition.this, row)
            return None if found is None else found in condition.constants
        case Compare():
            found = value(condition.this, row)
            return None if found is None else COMPARED[condition.operator](found, condition.value)
    raise AssertionError(condition)


def compared(node: Node, values: list[Any], orders: str) -> st.SearchStrategy[Condition]:
    """Return comparisons of a value."""
    constants = st.sampled_from(values).map(lambda one: one if isinstance(one, bool) else Fraction(one))
    of_one = st.builds(Compare, st.just(node), st.sampled_from(orders.split()), constants.map(Constant))
    of_some = st.lists(constants, min_size=1, max_size=4).map(lambda some: is_in(node, tuple(some)))
    return st.one_of(of_one, of_some, st.just(Missing(node)))


NUMBERS = "= <> < <= > >="
TESTS = st.one_of(
    compared(A, [0, 1, 2], NUMBERS),
    compared(B, [0, 1, 2], NUMBERS),
    compared(FLAG, [True, False], "= <>"),
    compared(DIFFERENCE, [0, 1], NUMBERS),
    compared(TURNED, [0, 1], NUMBERS),
)


def joined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    """Return conditions that join others."""
    some = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(parts.map(Not), some.map(And), some.map(Or))


CONDITIONS = st.recursive(TESTS, joined, max_leaves=8)
ROWS = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())]


def kept(condition: Condition) -> list[Row]:
    """Return the rows that a condition keeps."""
    return [row for row in ROWS if truth(condition, row) is True]


@given(CONDITIONS)
def test_the_one_form_keeps_the_same_rows(condition: Condition) -> None:
    """A condition in its one form is true of the same rows, whichever of their values are missing."""
    assert kept(arrange(condition)) == kept(condition)


@given(CONDITIONS)
def test_the_one_form_is_one(condition: Condition) -> None:
    """What is in its one form stays as it is."""
    assert arrange(arrange(condition)) == arrange(condition)


@given(CONDITIONS)
def test_what_is_there_is_not_missing(condition: Condition) -> None:
    """Where a condition in its one form is true, nothing is missing that is said to be there."""
    form = arrange(condition)
    for row in kept(form):
        assert all(value({"a": A, "b": B, "flag": FLAG}.get(name, DIFFERENCE), row) is not None for name in there(form))


@given(st.lists(CONDITIONS, min_size=2, max_size=4), st.randoms(use_true_random=False), st.sampled_from([And, Or]))
def test_the_order_of_parts_is_no_part_of_it(parts: list[Condition], random: Any, kind: type[And] | type[Or]) -> None:
    """Parts in another order, and some of them twice, are the same condition."""
    others = [*parts, parts[0]]
    random.shuffle(others)
    assert arrange(kind(tuple(others))) == arrange(kind(tuple(parts)))


@given(CONDITIONS)
def test_two_negations_are_none(condition: Condition) -> None:
    """NOT NOT is the same as neither."""
    assert arrange(Not(Not(condition))) == arrange(condition)


APART: list[tuple[Condition, Condition]] = [
    (Compare(A, "<>", Constant(Fraction(1))), Or((Compare(A, "<>", Constant(Fraction(1))), Missing(A)))),
    (Compare(FLAG, "=", Constant(True)), Not(Missing(FLAG))),
    (Not(And((Compare(FLAG, "=", Constant(True)), Not(Missing(FLAG))))), Compare(FLAG, "<>", Constant(True))),
    (Compare(A, "<", Constant(Fraction(1))), Compare(A, "<=", Constant(Fraction(1)))),
    (Compare(DIFFERENCE, ">", Constant(Fraction(0))), Compare(DIFFERENCE, "<", Constant(Fraction(0)))),
    (is_in(A, (Fraction(1),)), is_in(B, (Fraction(1),))),
]


@pytest.mark.parametrize(("first", "second"), APART)
def test_conditions_that_keep_other_rows_stay_apart(first: Condition, second: Condition) -> None:
    """What keeps a missing value, or other rows, is another condition."""
    assert kept(first) != kept(second)
    assert arrange(first) != arrange(second)
