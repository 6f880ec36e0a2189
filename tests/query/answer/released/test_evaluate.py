"""Expressions over released values: exact, never failing, and inside their intervals where everything in them is."""

from __future__ import annotations

import random
from datetime import date
from fractions import Fraction
from math import inf
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from inbounds.query.answer.released.evaluate import (
    MOST_DEPTH,
    MOST_PARTS,
    evaluate,
    interval,
    kind_of_node,
    refuse_size,
    slopes,
    to_cell,
    to_cells,
)
from inbounds.query.answer.released.functions import FUNCTIONS, round_half_away
from inbounds.query.answer.released.leaf import Exact, KeyRef, MeasureRef, ReleasedRow
from inbounds.query.expressions.arithmetic import Binary, Call, Case, Negative
from inbounds.query.expressions.condition import And, Compare, Condition, Missing, Not, Or, is_in, join_conditions
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.question.measure import Count, Mean, Measure, Sum

COUNT, TOTAL, MEAN = MeasureRef(Count()), MeasureRef(Sum(ColumnRef("x"))), MeasureRef(Mean(ColumnRef("x")))
NAMES: dict[Measure, str] = {Count(): "c", Sum(ColumnRef("x")): "s", Mean(ColumnRef("x")): "m"}
HUGE = [0, 1, -1, 2**63, 10**400, 1e308, -1e308, 5e-324, 0.1, 12.5, None, inf]


Intervals = dict[Measure, Any]


def row(count: Any, total: Any, mean: Any, *, intervals: Intervals | None = None, key: Any = 3) -> ReleasedRow:
    """Return a row of an answer."""
    return ReleasedRow(
        {"k": key}, {Count(): count, Sum(ColumnRef("x")): total, Mean(ColumnRef("x")): mean}, intervals or {}
    )


def drawn(draw: random.Random, depth: int) -> Node:
    """Return a random expression that is a number."""
    if depth == 0 or draw.random() < 0.1:
        constants: list[Exact] = [0, 1, -3, 7, Fraction(1, 4), 10**300]
        return draw.choice([COUNT, TOTAL, MEAN, KeyRef(ColumnRef("k"), "number"), Constant(draw.choice(constants))])
    parts = [drawn(draw, depth - 1) for _ in range(3)]
    name = draw.choice(sorted(FUNCTIONS))
    given = parts[: max(FUNCTIONS[name].least, 1)]
    if name == "ROUND":
        given = [parts[0], Constant(draw.randint(-3, 3))]
    return draw.choice([
        *(Binary(operator, parts[0], parts[1]) for operator in ("+", "-", "*", "/")),
        Negative(parts[0]),
        Call(name, tuple(given)),
        Case(((condition(draw, parts), parts[0]),), parts[1]),
    ])  # fmt: skip


def condition(draw: random.Random, parts: list[Node]) -> Condition:
    """Return a random condition on some numbers."""
    first = Compare(parts[0], draw.choice(["=", "<>", "<", "<=", ">", ">="]), parts[1])
    return draw.choice([
        first,
        Not(first),
        And((Compare(parts[0], ">=", parts[1]), Compare(parts[0], "<=", parts[2]))),
        is_in(parts[0], (1, 2)),
        Missing(parts[0]),
        draw.choice([And, Or])((first, Missing(parts[2]))),
    ])  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_released_value_makes_an_expression_fail(seed: int) -> None:
    """Whatever was released, an expression has a value that can be written, or None; and so have its ends."""
    draw = random.Random(seed)
    values = 0
    for _ in range(300):
        expression = drawn(draw, 4)
        ends: Intervals = {one: tuple(sorted(draw.choices([-5, 0, 2, 3.5, 1e308, inf], k=2))) for one in NAMES}
        found = row(*draw.choices(HUGE, k=3), intervals=ends, key=draw.choice([0, 2, 0.5, None]))
        value = to_cell(evaluate(expression, found))
        assert value is None or (isinstance(value, int) and abs(value) < 2**63) or abs(value) < inf
        ends_ = to_cells(interval(expression, found))
        assert ends_ is None or -inf < ends_[0] <= ends_[1] < inf
        slopes(expression, found)
        assert str(expression)
        values += value is not None
    assert values > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_an_expression_lies_in_its_interval_if_its_measures_do(seed: int) -> None:
    """Where the measures lie within their intervals, the expression lies within its own; narrower ones would fail."""
    draw = random.Random(seed)
    intervals = outside = 0
    for _ in range(400):
        expression = drawn(draw, 3)
        ends: Intervals = {one: (low := draw.randint(-20, 20), low + draw.randint(0, 9)) for one in NAMES}
        span = interval(expression, row(1, 1, 1, intervals=ends))
        if span is None:
            continue
        intervals += 1
        middle, reach = (span[0] + span[1]) / Fraction(2), (span[1] - span[0]) / Fraction(4)
        for _ in range(20):
            truth = [Fraction(draw.randint(low * 8, high * 8), 8) for low, high in ends.values()]
            value = evaluate(expression, row(*truth))
            assert isinstance(value, int | Fraction)
            assert span[0] <= value <= span[1]
            outside += abs(value - middle) > reach
    assert intervals > 100
    assert outside > 100


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_those_of_the_expression(seed: int) -> None:
    """What is said to be linear grows by its slopes, and by nothing else."""
    draw = random.Random(seed)
    linear = 0
    for _ in range(600):
        expression = drawn(draw, 3)
        here, there = ([draw.randint(-9, 9) for _ in NAMES] for _ in range(2))
        growth = slopes(expression, row(*here))
        if not growth:
            continue
        linear += 1
        values = evaluate(expression, row(*here)), evaluate(expression, row(*there))
        grown = sum(growth.get(one, 0) * (b - a) for one, a, b in zip(NAMES, here, there, strict=True))
        assert values[1] - values[0] == grown
    assert linear > 30
    assert slopes(Binary("*", COUNT, COUNT), row(1, 1, 1)) is None
    assert slopes(Binary("/", Constant(1), COUNT), row(1, 1, 1)) is None
    assert slopes(Binary("/", COUNT, Constant(0)), row(1, 1, 1)) is None
    assert slopes(Call("ROUND", (COUNT,)), row(1, 1, 1)) is None


def without_zero(node: exp.Expr) -> exp.Expr:
    """Return a division that has no value by 0, as most databases have it; DuckDB's is infinite."""
    if isinstance(node, exp.Div) and not isinstance(node.expression, exp.Nullif):
        node.set("expression", exp.Nullif(this=exp.paren(node.expression), expression=exp.Literal.number(0)))
    return node


def in_duckdb(connection: duckdb.DuckDBPyConnection, expression: Node, values: list[Any]) -> Any:
    """Return what DuckDB makes of an expression."""
    text = str(expression)
    for measure, name in NAMES.items():
        text = text.replace(str(measure), name)
    columns = ", ".join(
        f"{'NULL' if value is None else value}::{'BIGINT' if name == 'c' else 'DOUBLE'} AS {name}"
        for name, value in zip([*NAMES.values(), "k"], [*values, 3], strict=True)
    )
    text = sqlglot.parse_one(text, dialect="duckdb").transform(without_zero).sql(dialect="duckdb")
    ((found,),) = connection.execute(f"SELECT {text} FROM (SELECT {columns})").fetchall()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_expressions_are_those_of_sql(seed: int) -> None:
    """The text of an expression, run by DuckDB on the same numbers, gives the same value."""
    draw = random.Random(seed)
    compared = 0
    with duckdb.connect() as connection:
        for _ in range(150):
            expression = drawn(draw, 3)
            if any(isinstance(one, Constant) and one.value == 10**300 for one in expression.walk()):
                continue
            values = [draw.choice([0, 3, 8, None]), draw.choice([-2.5, 0.0, 12.0]), draw.choice([1.0, 0.25, None])]
            found, theirs = to_cell(evaluate(expression, row(*values))), in_duckdb(connection, expression, values)
            assert (found is None) == (theirs is None), str(expression)
            assert found is None or float(found) == pytest.approx(float(theirs), rel=1e-9, abs=1e-9)
            compared += 1
    assert compared > 50


def test_missing_values_are_neither_true_nor_false() -> None:
    """A condition on something missing is None, unless the rest decides it; CASE and HAVING take only what is true."""
    nothing = Compare(MEAN, ">", Constant(5))
    yes, no = Compare(COUNT, "=", Constant(1)), Compare(COUNT, "<>", Constant(1))
    here = row(1, 2.0, None)
    assert evaluate(nothing, here) is None
    assert evaluate(Not(nothing), here) is None
    assert evaluate(And((nothing, no)), here) is False
    assert evaluate(And((nothing, yes)), here) is None
    assert evaluate(Or((nothing, yes)), here) is True
    assert evaluate(Or((nothing, no)), here) is None
    assert evaluate(And((Compare(MEAN, ">=", Constant(0)), Compare(MEAN, "<=", Constant(1)))), here) is None
    assert evaluate(is_in(MEAN, (1,)), here) is None
    assert evaluate(Missing(MEAN), here) is True
    assert evaluate(Case(((nothing, Constant("a")),), Constant("b")), here) == "b"
    assert join_conditions(And, yes, And((no, nothing))) == And((yes, no, nothing))


def test_what_has_no_value_is_none() -> None:
    """Division by zero, numbers beyond doubles, whole numbers beyond 64 bits, and infinities are None."""
    here = row(0, 10**200, inf)
    assert evaluate(Binary("/", TOTAL, COUNT), here) is None
    assert to_cell(evaluate(Binary("/", Binary("*", TOTAL, TOTAL), Constant(3)), here)) is None
    assert to_cell(evaluate(TOTAL, here)) is None
    assert evaluate(MEAN, here) is None
    assert evaluate(Binary("+", MEAN, COUNT), here) is None
    ends: Intervals = {Count(): (-1, 1), Sum(ColumnRef("x")): (1, inf), Mean(ColumnRef("x")): None}
    unsure = row(1, 1, 1, intervals=ends)
    assert interval(Binary("/", Constant(1), COUNT), unsure) is None
    assert interval(Binary("+", Constant(1), TOTAL), unsure) is None
    assert interval(Binary("+", Constant(1), MEAN), unsure) is None
    assert interval(Call("COALESCE", (COUNT, Constant(0))), unsure) is None
    assert interval(Case(((Compare(COUNT, ">", Constant(0)), COUNT),), COUNT), unsure) is None


def test_numbers_are_taken_as_they_are_written() -> None:
    """A released float is the decimal that it prints as, so sums and roundings are those of a reader with a pencil."""
    assert evaluate(Binary("+", TOTAL, MEAN), row(1, 0.1, 0.2)) == Fraction(3, 10)
    assert to_cell(evaluate(Call("ROUND", (TOTAL, Constant(2))), row(1, 2.675, 0.0))) == 2.68
    assert round_half_away(Fraction(-5, 2), 0) == -3
    assert round_half_away(1250, -2) == 1300
    assert isinstance(round_half_away(Fraction(5, 2), 0), int)


def test_days_and_texts_pass_through() -> None:
    """Days and texts are compared and chosen, and have no intervals."""
    days = MeasureRef(Mean(ColumnRef("x")), "day")
    here = row(1, 1, date(2026, 5, 1), intervals={Mean(ColumnRef("x")): (date(2026, 1, 1), date(2026, 9, 1))})
    assert evaluate(Compare(days, ">", Constant(date(2026, 4, 1))), here) is True
    assert kind_of_node(Call("COALESCE", (days, Constant(None)))) == "day"
    assert interval(days, here) is None
    assert evaluate(KeyRef(ColumnRef("k")), row(1, 1, 1, key="north")) == "north"


def test_expressions_have_a_size() -> None:
    """What is nested too deeply or has too many parts is told so, without recursing into it."""
    deep: Node = COUNT
    for _ in range(MOST_DEPTH):
        deep = Negative(deep)
    assert "nested" in str(refuse_size(deep))
    for _ in range(5000):
        deep = Negative(deep)
    assert "parts" in str(refuse_size(deep))
    wide = Call("LEAST", (COUNT,) * (MOST_PARTS + 1))
    assert "parts" in str(refuse_size(wide))
    compared: Node = COUNT
    for _ in range(40):  # each has two of the one before, in what it compares
        compared = Case(((Compare(Binary("+", compared, compared), ">", Constant(0)), COUNT),), COUNT)
    assert "parts" in str(refuse_size(compared))
    fine: Node = COUNT
    for _ in range(MOST_DEPTH - 1):
        fine = Negative(fine)
    assert refuse_size(fine) is None
