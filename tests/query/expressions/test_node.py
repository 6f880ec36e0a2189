"""Expressions are trees: equal exactly if they say the same, and written so that they are read again as they are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inbounds.query import Dataset, case, column, expression
from inbounds.query.columns.column import Keys
from inbounds.query.expressions.arithmetic import Binary, Call, Negative
from inbounds.query.expressions.condition import Compare, In, Like, Not
from inbounds.query.expressions.node import ColumnRef, Constant, Node

A, B = ColumnRef("a"), ColumnRef("b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Constant(1), Constant(True)),
        (Constant(0), Constant(False)),
        (Constant("1"), Constant(1)),
        (A, Constant("a")),
        (ColumnRef("a + b"), Binary("+", A, B)),
        (Binary("-", A, B), Binary("-", B, A)),
        (Call("LEAST", (A, B)), Call("GREATEST", (A, B))),
        (Compare(A, "=", Constant(1)), In(A, (Constant(1),))),
        (Like(A, "x%"), Like(A, "x%", any_case=True)),
    ],
)
def test_what_says_something_else_is_not_equal(one: Node, other: Node) -> None:
    """Nodes differ if they say something else, also where Python or their texts take them for the same."""
    assert one != other
    assert len({one, other}) == 2


def test_what_is_built_again_is_equal() -> None:
    """The same expression from Python and from SQL is one node, and a question about it is one question."""
    built = case((column("a") > 1, column("b") // 2), otherwise=round(column("a") * 3, 1))
    read = expression("CASE WHEN a > 1 THEN FLOOR(b / 2) ELSE ROUND(a * 3, 1) END")
    assert built.node == read.node
    assert hash(built.node) == hash(read.node)
    assert expression(str(read)).node == read.node


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Binary("*", Binary("+", A, B), A), "(a + b) * a"),
        (Binary("-", A, Binary("-", B, A)), "a - (b - a)"),
        (Binary("-", Binary("-", A, B), A), "a - b - a"),
        (Binary("/", A, Negative(B)), "a / (-b)"),
        (Negative(Binary("+", A, B)), "-(a + b)"),
        (Negative(Constant(-3)), "-(-3)"),
        (Binary("-", A, Constant(-3)), "a - -3"),
        (Constant(Fraction(1, 4)), "0.25"),
        (Constant(Fraction(1, 3)), "(1 / 3)"),
        (Constant(None), "NULL"),
        (ColumnRef('a "b"'), '"a ""b"""'),
        (Compare(Binary("+", A, B), ">", Constant(3)), "a + b > 3"),
    ],
)
def test_parentheses_stand_where_they_are_needed(node: Node, text: str) -> None:
    """An expression is written as SQL writes it, with parentheses only where it would be another one without."""
    assert str(node) == text


def test_parts_are_replaced_wherever_they_stand() -> None:
    """Something else stands in place of a part in arguments, branches and conditions; the rest stays as it is."""
    before = case((column("a") > 1, column("a")), otherwise=column("b")).node
    after = before.transform(lambda node: B if node == A else None)
    assert after == case((column("b") > 1, column("b")), otherwise=column("b")).node
    assert before.transform(lambda _: None) == before


def test_a_pattern_that_fits_no_key_is_the_same_as_none_of_the_keys() -> None:
    """What was asked for is remembered, and does not tell two equal conditions apart."""
    nothing = Like(A, "z%").fit(Keys("a", ("x", "y")))
    assert isinstance(nothing, Not)
    assert nothing == Not(In(A, (Constant("x"), Constant("y"))))
    assert nothing.asked == Like(A, "z%")


def test_no_plan_is_taken_for_that_of_another_question() -> None:
    """Questions are told apart by what they ask: one answered alone, or of another table, has a plan of its own."""
    contract = (
        "[dataset]\nname = 't'\nunit = 'row'\n[columns]\na.bounds = '[0, 9] step 1'\nk.keys = ['x', 'y']\n"
        "[budget]\ntotal = 1\n"
    )
    dataset = Dataset.parse(contract)
    together, alone = dataset.count().by("k"), dataset.count().by("k").alone()
    assert str(together.question) == str(alone.question)
    assert together.question != alone.question
    assert dataset.count().by("k").question == together.question
