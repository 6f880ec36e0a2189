"""What an expression is worth in a row of an answer: `100 * COUNT(*) / 12`, `CASE WHEN AVG(age) > 50 THEN …`.

Each is computed exactly, in rationals, and never fails: what has no value (a division by zero, a number beyond all
doubles) is None.  Where all numbers in it lie in their intervals, so does the result, by interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from itertools import islice, product
from math import isfinite
from typing import Any

from inbounds.exact.rational import round_nearest
from inbounds.query.answer.released.functions import FUNCTIONS
from inbounds.query.answer.released.leaf import (
    Ends,
    Exact,
    Kind,
    Leaf,
    MeasureRef,
    Named,
    ReleasedRow,
    inner_row,
    measures_in,
)
from inbounds.query.answer.released.window import Window
from inbounds.query.expressions.arithmetic import Binary, Call, Case, Negative
from inbounds.query.expressions.condition import And, Compare, Comparison, Condition, In, Missing, Not, Or
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.question.measure import Measure
from inbounds.results.exact_cells import are_numbers

WIDEST = 2**63
"""A whole number from here on has no column in a table, and is None."""

MOST_PARTS = 500
"""An expression over an answer may have so many parts."""

MOST_DEPTH = 50
"""They may be nested so deep: they are worked through on the stack."""

KIND_OF_CONSTANT: dict[type, Kind] = {
    type(None): "nothing", bool: "truth", str: "text", date: "day", datetime: "time", time: "clock",
}  # fmt: skip
"""What a constant is; of any other type, a number."""

Slopes = Mapping[Measure, Fraction]


def evaluate(node: Node, row: ReleasedRow) -> Exact:  # noqa: PLR0911  one for each kind
    """Return the value of an expression in a row, or whether a condition is true there; None if it has none."""
    match node:
        case Leaf():
            return node.value(row)
        case Named():
            return evaluate(node.of, inner_row(row))
        case Constant():
            return node.value
        case Binary():
            left, right = evaluate(node.left, row), evaluate(node.right, row)
            return _compute(node.operator, left, right) if are_numbers(left, right) else None
        case Negative():
            value = evaluate(node.this, row)
            return -value if are_numbers(value) else None
        case Call():
            return FUNCTIONS[node.function].value([evaluate(argument, row) for argument in node.arguments])
        case Case():
            chosen = next((value for test, value in node.branches if is_true(test, row)), node.otherwise)
            return None if chosen is None else evaluate(chosen, row)
        case Condition():
            return _truth(node, row)
    raise AssertionError(node)


def is_true(condition: Condition, row: ReleasedRow) -> bool:
    """Return whether a condition is true in a row; what is not known is not."""
    return _truth(condition, row) is True


def _truth(condition: Condition, row: ReleasedRow) -> bool | None:
    """Return whether a condition is true or false; None where something needed is missing."""
    match condition:
        case And():
            verdicts = [_truth(part, row) for part in condition.all]
            return False if False in verdicts else None if None in verdicts else True
        case Or():
            verdicts = [_truth(part, row) for part in condition.any]
            return True if True in verdicts else None if None in verdicts else False
        case Not():
            verdict = _truth(condition.this, row)
            return None if verdict is None else not verdict
        case Missing():
            return evaluate(condition.this, row) is None
        case In():
            value = evaluate(condition.this, row)
            return None if value is None else value in condition.constants
        case Compare():
            return compare_values(evaluate(condition.this, row), condition.operator, evaluate(condition.other, row))
    raise AssertionError(condition)


def compare_values(left: Any, operator: Comparison, right: Any) -> bool | None:
    """Return whether a comparison of two values that are alike is true; None if one of them is missing."""
    if left is None or right is None:
        return None
    if operator in ("=", "<>"):
        return bool((left == right) == (operator == "="))
    if operator in ("<", "<="):
        return bool(left < right or (operator == "<=" and left == right))
    return bool(left > right or (operator == ">=" and left == right))


def interval(node: Node, row: ReleasedRow) -> Ends | None:  # noqa: PLR0911  one for each kind
    """Return where an expression lies if everything in it lies in its interval; None if that does not follow.

    It does not for CASE and for what stands in for a missing value: the truth may be another case.
    """
    match node:
        case Leaf():
            return node.interval(row)
        case Named():
            return interval(node.of, inner_row(row))
        case Constant():
            return None if node.number is None else (node.number, node.number)
        case Negative():
            ends = interval(node.this, row)
            return None if ends is None else (-ends[1], -ends[0])
        case Binary():
            return _interval_of_binary(node, row)
        case Call():
            follow = FUNCTIONS[node.function].ends
            intervals = [ends for argument in node.arguments if (ends := interval(argument, row)) is not None]
            return None if follow is None or len(intervals) < len(node.arguments) else follow(intervals)
    return None


def _interval_of_binary(node: Binary, row: ReleasedRow) -> Ends | None:
    """Return the least and the greatest result of numbers in both intervals; none if a divisor can be 0."""
    left, right = interval(node.left, row), interval(node.right, row)
    if left is None or right is None or (node.operator == "/" and right[0] <= 0 <= right[1]):
        return None
    # With the other number fixed, each operation grows or falls throughout, so the extremes are at corners.
    corners = [corner for a, b in product(left, right) if (corner := _compute(node.operator, a, b)) is not None]
    return min(corners), max(corners)


def slopes(node: Node, row: ReleasedRow) -> Slopes | None:
    """Return by how much an expression grows with each measure in a row, if it is linear in them."""
    match node:
        case MeasureRef():
            return {node.measure: Fraction(1)}
        case Named():
            return slopes(node.of, inner_row(row))
        case Negative():
            inside = slopes(node.this, row)
            return None if inside is None else {measure: -slope for measure, slope in inside.items()}
        case Binary():
            return _slopes_of_binary(node, row)
    return {} if not measures_in(node) and are_numbers(evaluate(node, row)) else None


def _slopes_of_binary(node: Binary, row: ReleasedRow) -> Slopes | None:
    """Return how a sum grows, or a product with what is the same whatever is released."""
    left, right = slopes(node.left, row), slopes(node.right, row)
    if left is None or right is None:
        return None
    if node.operator in ("+", "-"):
        sign, zero = 1 if node.operator == "+" else -1, Fraction(0)
        return {measure: left.get(measure, zero) + sign * right.get(measure, zero) for measure in {**left, **right}}
    if right and (left or node.operator == "/"):  # a product of measures, or one divided by another, is not linear
        return None
    steep, factor = (right, node.left) if right else (left, node.right)
    value = evaluate(factor, row)
    if not are_numbers(value) or (node.operator == "/" and value == 0):
        return None
    scale = 1 / Fraction(value) if node.operator == "/" else Fraction(value)
    return {measure: slope * scale for measure, slope in steep.items()}


def kind_of_node(node: Node) -> Kind:  # noqa: PLR0911  one for each kind
    """Return what an expression over an answer is."""
    match node:
        case Window():
            return kind_of_node(node.arguments[0]) if node.described.keeps_kind else "number"
        case Leaf():
            return node.kind
        case Named():
            return kind_of_node(node.of)
        case Constant():
            return KIND_OF_CONSTANT.get(type(node.value), "number")
        case Call():
            return common_kind(node.arguments)
        case Case():
            return common_kind(node.choices)
        case Condition():
            return "truth"
    return "number"


def common_kind(nodes: Sequence[Node]) -> Kind:
    """Return what expressions are that are alike: what the first of them is that is not NULL."""
    return next((kind for kind in map(kind_of_node, nodes) if kind != "nothing"), "nothing")


def refuse_size(node: Node) -> str | None:
    """Return why an expression is too large to be worked with, or None if it is not."""
    # What is compared counts too: a name may stand for a large expression, and be compared again and again.
    if sum(1 for _ in islice(node.walk(), MOST_PARTS + 1)) > MOST_PARTS:
        return f"an expression may have at most {MOST_PARTS} parts, got more; ask something simpler"
    if node.depth > MOST_DEPTH:
        return f"an expression may be nested at most {MOST_DEPTH} deep, got more; ask something simpler"
    return None


def _compute(operator: str, left: int | Fraction, right: int | Fraction) -> int | Fraction | None:
    if operator == "/":
        return None if right == 0 else Fraction(left) / right
    return left + right if operator == "+" else left - right if operator == "-" else left * right


def to_cell(value: Exact) -> Any:
    """Return a value as a table holds it; None if it is too large for that."""
    if isinstance(value, Fraction):
        nearest = round_nearest(value)
        return nearest if isfinite(nearest) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < WIDEST else None
    return value


def to_cells(ends: Ends | None) -> tuple[Any, Any] | None:
    """Return an interval as a table holds it; None if it is too large for that."""
    if ends is None:
        return None
    low, high = map(to_cell, ends)
    return None if low is None or high is None else (low, high)
