"""A spelling: what people write, and what it is read as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

Place = Literal["measure", "condition", "value", "group", "unit", "statement"]
"""Where it stands: after SELECT, after WHERE, in a measure, after GROUP BY, in an inner SELECT that groups by the unit,
or it is the whole statement."""

Rewrite = Callable[[Any], exp.Expr | None]
"""Returns what a node is read as, None if it is no such spelling."""


@dataclass(frozen=True)
class Spelling:
    """What is written in another way, with an example of it."""

    of: tuple[type[exp.Expr] | str, ...]
    """The nodes that it is about: their types, or the names of functions."""
    rewrite: Rewrite
    place: Place
    written: str
    """An example about the visits of a clinic."""
    read_as: str
    words: tuple[str, ...] = ()
    """Words in it of which sqlglot keeps no place."""


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return the call of a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Case:
    """Return a CASE."""
    ifs = [exp.If(this=test, true=value) for test, value in branches]
    return exp.Case(ifs=ifs, default=default) if default is not None else exp.Case(ifs=ifs)


def truth_of(test: exp.Expr) -> exp.Expr:
    """Return a condition as a value: true, false, or missing."""
    test = test.unnest()
    opposite = exp.Not(this=exp.Paren(this=test.copy()))
    return case((test, exp.true()), (opposite, exp.false()))


def number(value: int) -> exp.Expr:
    """Return a number."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def text(value: str) -> exp.Literal:
    """Return a text."""
    return exp.Literal.string(value)


def grouped(node: exp.Expr) -> exp.Expr:
    """Return an expression in parentheses, unless it holds together without them."""
    return node if isinstance(node, exp.Column | exp.Literal | exp.Anonymous | exp.Paren) else exp.Paren(this=node)


def word(node: exp.Expr) -> str:
    """Return a word that names something: 'day', DAY, or day where a column could stand."""
    if isinstance(node, exp.Literal):
        return str(node.this).lower() if node.is_string else ""
    if isinstance(node, exp.Column | exp.Var | exp.Identifier):
        return str(node.name).lower()
    return ""
