"""The order in which rows of joined tables are matched: from a table near its units on, along the keys.

Rows that belong to those of another table need no look at it if both are joined and it comes first: whoever owns what
both refer to owns both (`Joined.compares_owner`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inbounds.query.expressions.qualified import rename_columns
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import AnyJoin, Join, Pair
from inbounds.query.tables.table import Table


def put_in_order(name: str, first: Table, joins: Sequence[AnyJoin]) -> Joined:
    """Return joined tables, the last of them a new one, from the one on that is nearest to its units."""
    relation = in_order_as_written(name, first, joins)
    path = _path_to_nearer(relation)
    if not path:
        return relation
    # Those on the path are joined the other way round, and first; nothing else on it depends on the order.
    start, tables = path[0], [*((join.name, join.private) for join in path), (name, first)]
    turned = [
        Join(left, table, tuple(Pair(join.name, pair.right, pair.left, pair.operator) for pair in join.pairs))
        for join, (left, table) in zip(path, tables[1:], strict=True)
        if table is not None
    ]
    assert start.private is not None
    return Joined(start.name, start.private, (*turned, *(join for join in relation.joins if join not in path)))


def in_order_as_written(name: str, first: Table, joins: Sequence[AnyJoin]) -> Joined:
    """Return joined tables, the last of them a new one, in this order."""
    return Joined(name, first, tuple(_relabel(name, first, joins)))


def _relabel(name: str, first: Table, joins: Sequence[AnyJoin]) -> list[AnyJoin]:
    """Return joins whose conditions call columns as they are called once the last one is there, too."""
    if not any(isinstance(join, Join) and join.condition is not None for join in joins):
        return list(joins)
    before, after = Joined(name, first, tuple(joins[:-1])).names, Joined(name, first, tuple(joins)).names
    names = {label: after[table][own] for table, columns in before.items() for own, label in columns.items()}
    return [
        replace(join, condition=rename_columns(join.condition, names))
        if isinstance(join, Join) and join.condition is not None
        else join
        for join in joins
    ]


def _path_to_nearer(relation: Joined) -> list[Join]:
    """Return the joins from the new table back to the first, if it is nearer to its units than that; else none."""
    new, joins = relation.joins[-1], {join.name: join for join in relation.joins}
    if not isinstance(new, Join) or relation.first.relation is not None or not _is_plain(new):
        return []
    if new.private is None or new.private.depth >= relation.first.depth:
        return []
    path = [new]
    while (to := path[-1].pairs[0].to) != relation.name:
        before = joins[to]
        if not isinstance(before, Join) or not _is_plain(before):
            return []
        path.append(before)
    return path


def _is_plain(join: Join) -> bool:
    """Return whether a stored table is joined by columns of one other table alone."""
    if join.private is None or join.private.relation is not None or not join.pairs:
        return False
    one = len({pair.to for pair in join.pairs}) == 1
    return one and not (join.keep or join.semi or join.by_unit or join.condition is not None)
