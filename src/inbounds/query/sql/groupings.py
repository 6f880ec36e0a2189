"""GROUP BY: columns, and the sets of them that ROLLUP, CUBE and GROUPING SETS ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Numbers
from inbounds.query.contract.listed_keys import MOST_FOUND
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.grammar.rows import is_derived, read_node_or_unit
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import read_reference
from inbounds.query.question.group import MOST_SETS, by_key
from inbounds.query.question.question import REST

Columns = tuple[Node, ...]

LIKE_REST = f"GROUPING SETS ((clinic), (), {REST})"

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
"""What asks for several sets of columns at once."""


@dataclass(frozen=True)
class Groupings:
    """The columns of a GROUP BY in the order in which they are named, and the sets of them, None if it has but one."""

    keys: Columns = ()
    sets: tuple[Columns, ...] | None = None
    rest: bool = False
    """Whether REST() is among the sets: then each counts all rows that have its own columns."""


def read_groupings(text: SqlText, group: exp.Expr | None) -> Groupings:
    """Read a GROUP BY clause."""
    if group is None:
        return Groupings()
    if not group.expressions or any(value for name, value in group.args.items() if name != "expressions"):
        text.refuse(group, "GROUP BY takes columns, ROLLUP, CUBE or GROUPING SETS only; leave the rest out")
    text.take(group, "expressions")
    _refuse_identifiers(text, group)  # before columns that nobody knows: what it would show matters most
    parts = [_read_sets(text, part) for part in group.expressions]
    _refuse_many(text, group, prod(map(len, parts)))
    keys = _unite([columns for part in parts for columns in part])
    if any(isinstance(part, SETS) for part in group.expressions):
        # GROUP BY a, ROLLUP(b): one set of each part, in every combination.
        return Groupings(keys, tuple(dict.fromkeys(map(_unite, product(*parts)))), _has_rest(text, group))
    for i, part in enumerate(parts):
        if part in parts[:i]:
            text.refuse(group.expressions[i], f"{part[0][0].name} appears twice in GROUP BY; name it once")
    return Groupings(keys)


def read_distinct(text: SqlText, tree: exp.Select) -> Groupings:
    """Read what a SELECT DISTINCT without GROUP BY tells apart: everything that is selected."""
    nodes = [node.this if isinstance(node, exp.Alias) else node for node in tree.expressions]
    return Groupings(_unite([(_read_column(text, node, "SELECT DISTINCT"),) for node in nodes]))


def refuse_values(text: SqlText, node: exp.Expr | None, key: Node, clause: str) -> None:
    """Refuse a column of numbers or days where only keys are asked for: which values occur, rows would tell."""
    column = text.fit(None, lambda table: table.column(key))
    if isinstance(key, ColumnRef) and isinstance(column, Numbers) and not column.listed:
        text.refuse(
            node,
            f"{clause} {key} would show values of rows, for {key} has no categories; count rows by bins with "
            f"HISTOGRAM({key}, 10)",
        )


def _read_sets(text: SqlText, part: exp.Expr) -> list[Columns]:
    """Return the sets of columns that one part of a GROUP BY asks for."""
    if isinstance(part, exp.Rollup):
        members = _read_members(text, part)
        return [_unite(members[:length]) for length in range(len(members), -1, -1)]
    if isinstance(part, exp.Cube):
        members = _read_members(text, part)
        _refuse_many(text, part, 2 ** len(members))
        lengths = range(len(members), -1, -1)
        return [_unite(subset) for length in lengths for subset in combinations(members, length)]
    if isinstance(part, exp.GroupingSets):
        text.take(part, "expressions")
        sets = [member for member in part.expressions if not _is_rest(member)]
        if not sets:
            text.refuse(part, f"{REST} needs sets of columns beside it, got none; write it like {LIKE_REST}")
        return [columns for member in sets for columns in _read_member_sets(text, member)]
    return [(_read_column(text, part),)]


def _read_member_sets(text: SqlText, member: exp.Expr) -> list[Columns]:
    """Return what a member of GROUPING SETS asks for: a set of columns, or all those of a ROLLUP or CUBE in it."""
    return _read_sets(text, member) if isinstance(member, SETS) else [_read_member(text, member)]


def _read_members(text: SqlText, part: exp.Expr) -> list[Columns]:
    if not part.expressions:
        name = part.key.upper()
        text.refuse(part, f"{name} takes columns, got none; write it like {name}(clinic), or leave it out")
    text.take(part, "expressions")
    members = [_read_member(text, member) for member in part.expressions]
    if not all(members):
        text.refuse(part, f"{part.key.upper()} takes columns, got an empty set of them; leave () out")
    return members


def _read_member(text: SqlText, member: exp.Expr) -> Columns:
    """Return a column, or several in parentheses."""
    if isinstance(member, exp.Paren):
        text.take(member, "this")
        return (_read_column(text, member.this),)
    if isinstance(member, exp.Tuple):
        text.take(member, "expressions")
        return tuple(_read_column(text, column) for column in member.expressions)
    return (_read_column(text, member),)


def _refuse_many(text: SqlText, node: exp.Expr, count: int) -> None:
    """Refuse more sets than can be answered, before they are written out."""
    if count > MOST_SETS:
        text.refuse(node, f"a query may have at most {MOST_SETS} groupings, got more; name fewer columns")


def _unite(sets: Iterable[Columns]) -> Columns:
    """Return the columns of some sets, each once."""
    return tuple(dict.fromkeys(column for columns in sets for column in columns))


def _is_rest(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "REST"


def _has_rest(text: SqlText, group: exp.Expr) -> bool:
    """Return whether a GROUPING SETS has a REST() among its sets."""
    sets = [part for part in group.expressions if isinstance(part, exp.GroupingSets)]
    rests = [member for part in sets for member in part.expressions if _is_rest(member)]
    for rest in rests:
        if rest.expressions:
            text.refuse(rest, f"{REST} takes no columns, for it is of all that are grouped by; write {REST}")
        text.take(rest, "this")
    if len(rests) > 1:
        text.refuse(rests[1], f"{REST} appears twice in GROUP BY; write it once")
    return bool(rests)


def _read_column(text: SqlText, key: exp.Expr, clause: str = "GROUP BY") -> Node:
    if _is_rest(key):
        text.refuse(key, f"{REST} stands in GROUPING SETS, among the sets; write it like {LIKE_REST}")
    known = text.columns if text.projected is None else text.projected
    if not isinstance(key, exp.Column) or text.canonical(key.this, known) not in known:
        key = text.resolve(key)
    if not isinstance(key, exp.Column) and not is_derived(key) and not isinstance(key, exp.Substring):
        text.refuse(
            key,
            f"{clause} takes columns, got {kind(key)}; group by a column of the contract, or ask for "
            "HISTOGRAM(column, bins)",
        )
    column = read_node_or_unit(text, key)
    _refuse_showing(text, key, column, clause)
    if clause != "GROUP BY":
        refuse_values(text, key, column, clause)
    text.fit(key, lambda table: by_key(table.column(column)))
    return column


def _refuse_identifiers(text: SqlText, group: exp.Expr) -> None:
    """Refuse columns that would show people, whatever else the GROUP BY names."""
    for key in group.expressions:
        if isinstance(key, exp.Column) and text.resolve(key) is key:
            try:
                column = read_reference(text, key)
            except InvalidQuestion:  # it is read again, in its turn
                continue
            identifier = None if text.asked is None else text.asked.identifiers.get(column.name)
            if identifier is None or not identifier.is_text:  # WHERE may list what a text can be
                _refuse_showing(text, key, column)


def _refuse_showing(text: SqlText, key: exp.Expr, column: Node, clause: str = "GROUP BY") -> None:
    """Refuse groups each of which would be one person, or what belongs to one."""
    if text.asked is None or not isinstance(column, ColumnRef):
        return
    if column.name == text.asked.owner:
        text.refuse(
            key,
            f"{clause} {kind(key)} would show single people; count them with COUNT(DISTINCT {kind(key)}), or group by "
            "it in a subquery and ask about its rows",
        )
    identifier = text.asked.identifiers.get(column.name)
    if identifier is None:
        return
    if identifier.keys_of is not None:
        text.refuse(
            key,
            f"{kind(key)} has more than {MOST_FOUND:,} values, which are not listed; group by another column of "
            f'{identifier.keys_of}, or let the contract name a file of them, as in keys = "{identifier.keys_of}.csv"',
        )
    if identifier.is_text:
        text.refuse(
            key,
            f"{clause} {kind(key)} would show texts of single rows; list what it can be, as in WHERE {kind(key)} IN "
            "('a', 'b')",
        )
    text.refuse(
        key,
        f"{clause} {kind(key)} would show what belongs to single people; group by it in a subquery, and ask about its "
        "rows",
    )
