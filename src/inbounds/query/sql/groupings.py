"""GROUP BY: columns, and the sets of them that ROLLUP, CUBE and GROUPING SETS ask for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from sqlglot import exp

from inbounds.query.expressions.node import Node
from inbounds.query.grammar.rows import is_derived, read_node
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.question.group import MOST_SETS, by_key

Columns = tuple[Node, ...]


@dataclass(frozen=True)
class Grouped:
    """The columns of a GROUP BY in the order in which they are named, and the sets of them, None if it has but one."""

    keys: Columns = ()
    sets: tuple[Columns, ...] | None = None


def read_groupings(text: SqlText, group: exp.Expr | None) -> Grouped:
    """Read a GROUP BY clause."""
    if group is None:
        return Grouped()
    if not group.expressions or any(value for name, value in group.args.items() if name != "expressions"):
        text.refuse(group, "GROUP BY takes columns, ROLLUP, CUBE or GROUPING SETS only; leave the rest out")
    text.take(group, "expressions")
    parts = [_sets(text, part) for part in group.expressions]
    _refuse_many(text, group, prod(map(len, parts)))
    sets = tuple(dict.fromkeys(_joined(chosen) for chosen in product(*parts)))
    keys = tuple(dict.fromkeys(name for part in parts for one in part for name in one))
    if not any(isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets) for part in group.expressions):
        for i, part in enumerate(parts):
            if part in parts[:i]:
                text.refuse(group.expressions[i], f"{part[0][0].name} appears twice in GROUP BY; name it once")
        return Grouped(tuple(name for part in parts for one in part for name in one))
    return Grouped(keys, sets)


def _sets(text: SqlText, part: exp.Expr) -> list[Columns]:
    """Return the sets of columns that one part of a GROUP BY asks for."""
    if isinstance(part, exp.Rollup):
        named = _members(text, part)
        return [_joined(named[:length]) for length in range(len(named), -1, -1)]
    if isinstance(part, exp.Cube):
        named = _members(text, part)
        _refuse_many(text, part, 2 ** len(named))
        lengths = range(len(named), -1, -1)
        return [_joined(chosen) for length in lengths for chosen in combinations(named, length)]
    if isinstance(part, exp.GroupingSets):
        text.take(part, "expressions")
        return [one for member in part.expressions for one in _member_sets(text, member)]
    return [(_column(text, part),)]


def _member_sets(text: SqlText, member: exp.Expr) -> list[Columns]:
    """Return what a member of GROUPING SETS asks for: a set of columns, or all those of a ROLLUP or CUBE in it."""
    if isinstance(member, exp.Rollup | exp.Cube | exp.GroupingSets):
        return _sets(text, member)
    return [_member(text, member)]


def _members(text: SqlText, part: exp.Expr) -> list[Columns]:
    if not part.expressions:
        name = part.key.upper()
        text.refuse(part, f"{name} takes columns, got none; write it like {name}(clinic), or leave it out")
    text.take(part, "expressions")
    found = [_member(text, member) for member in part.expressions]
    if not all(found):
        text.refuse(part, f"{part.key.upper()} takes columns, got an empty set of them; leave () out")
    return found


def _member(text: SqlText, member: exp.Expr) -> Columns:
    """Return a column, or several in parentheses."""
    if isinstance(member, exp.Paren):
        text.take(member, "this")
        return (_column(text, member.this),)
    if isinstance(member, exp.Tuple):
        text.take(member, "expressions")
        return tuple(_column(text, one) for one in member.expressions)
    return (_column(text, member),)


def _refuse_many(text: SqlText, node: exp.Expr, count: int) -> None:
    """Refuse more sets than can be answered, before they are written out."""
    if count > MOST_SETS:
        text.refuse(node, f"a query may have at most {MOST_SETS} groupings, got more; name fewer columns")


def _joined(sets: tuple[Columns, ...] | list[Columns]) -> Columns:
    return tuple(dict.fromkeys(name for one in sets for name in one))


def _column(text: SqlText, key: exp.Expr) -> Node:
    if not isinstance(key, exp.Column) or text.canonical(key.this, text.columns) not in text.columns:
        key = text.meant(key)
    if not isinstance(key, exp.Column) and not is_derived(key):
        text.refuse(
            key,
            f"GROUP BY takes columns, got {kind(key)}; group by a column of the contract, or ask for "
            "HISTOGRAM(column, bins)",
        )
    column = read_node(text, key)
    text.fit(key, lambda table: by_key(table.column(column)))
    return column
