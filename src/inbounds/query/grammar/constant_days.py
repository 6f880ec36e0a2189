"""Days that are computed of constants alone: computed at once, so that each is one constant in any spelling."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.calendar_parts import PART, START
from inbounds.query.expressions.arithmetic import Binary, Call
from inbounds.query.expressions.node import Constant, Node


def fold_day(node: Node) -> Node:
    """Return a constant in place of what is computed of a constant day; anything else as it is."""
    match node:
        case Call(function=name, arguments=(Constant(value=day),)) if type(day) is date and name in PART:
            return Constant(Fraction(PART[name](day)))
        case Call(function="DATE_TRUNC", arguments=(Constant(value=part), Constant(value=day))) if type(day) is date:
            return Constant(START[part](day)) if part in START else Constant(day) if part == "day" else node
        case Binary(operator="-", left=Constant(value=date() as day), right=Constant(value=date() as other)):
            return Constant(Fraction((day - other).days)) if type(day) is type(other) is date else node
        case Binary(operator="+" | "-", left=Constant(value=day), right=Constant(value=Fraction() as days)):
            return _move(node, day, days if node.operator == "+" else -days) if type(day) is date else node
    return node


def _move(node: Node, day: date, days: Fraction) -> Node:
    if days.denominator != 1:
        return node  # which is refused where it stands
    try:
        return Constant(day + timedelta(days=int(days)))
    except OverflowError:
        raise InvalidQuestion(f"{node} can leave the calendar; add fewer days") from None
