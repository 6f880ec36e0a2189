"""Joins in other words: rows without a match, found by LEFT JOIN and IS NULL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling


def _anti_join(node: exp.Select) -> exp.Expr | None:
    """LEFT JOIN visits v ON v.k = p.k WHERE v.k IS NULL: rows of p without a match, each once."""
    where, joins = node.args.get("where"), node.args.get("joins") or []
    if where is None or any(isinstance(selected, exp.Star) for selected in node.expressions):
        return None
    for join in joins:
        alias = str(join.this.alias_or_name)
        on = _condition(node, join) if _keeps_rows(join) and alias else None
        test = None if on is None else next((test for test in _tests(where.this) if _is_missing(test, alias, on)), None)
        if on is None or test is None or not _is_alone(node, join, test, alias):
            continue
        inner = exp.Select(
            expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this), where=exp.Where(this=on)
        )
        test.replace(exp.Not(this=exp.Exists(this=inner)))
        node.set("joins", [other for other in joins if other is not join])
        return node
    return None


def _keeps_rows(join: exp.Join) -> bool:
    kinds = [str(join.args.get(name) or "") for name in ("side", "kind", "method")]
    return kinds[0] == "LEFT" and kinds[1] in ("", "OUTER") and not kinds[2]


def _condition(node: exp.Select, join: exp.Join) -> exp.Expr | None:
    """Return what rows are matched by: ON, or USING with the first table."""
    on, using, source = join.args.get("on"), join.args.get("using") or [], node.args.get("from_")
    if on is not None or source is None or join is not (node.args.get("joins") or [None])[0]:
        return on
    first, second = (exp.to_identifier(str(table.alias_or_name)) for table in (source.this, join.this))
    sides = [
        [exp.Column(this=name.copy(), table=table.copy()) for table in (second, first)]
        for name in using
        if isinstance(name, exp.Identifier)
    ]
    pairs = [exp.EQ(this=one, expression=other) for one, other in sides]
    return exp.and_(*pairs) if len(pairs) == len(using) > 0 else None


def _tests(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the conditions that must all be true."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _tests(node.this)
        yield from _tests(node.expression)
    else:
        yield node


def _is_missing(test: exp.Expr, alias: str, on: exp.Expr) -> bool:
    """Return whether a column of a table is missing by which rows are matched, so that it is there in each match."""
    if not isinstance(test, exp.Is) or not isinstance(test.expression, exp.Null):
        return False
    sides = [side for part in _tests(on) if isinstance(part, exp.EQ) for side in (part.this, part.expression)]
    is_own = isinstance(test.this, exp.Column) and str(test.this.table).lower() == alias.lower()
    return is_own and any(_is_same(test.this, side) for side in sides)


def _is_same(column: exp.Expr, other: exp.Expr) -> bool:
    if not isinstance(column, exp.Column) or not isinstance(other, exp.Column):
        return False
    names = [[str(part).lower() for part in (one.table, one.name)] for one in (column, other)]
    return names[0] == names[1]


def _is_alone(node: exp.Select, join: exp.Join, test: exp.Expr, alias: str) -> bool:
    """Return whether nothing else names a column of the table, all of which would be missing."""
    inside = {id(column) for part in (join, test) for column in part.find_all(exp.Column)}
    others = [column for column in node.find_all(exp.Column) if id(column) not in inside]
    return all(str(column.table).lower() != alias.lower() for column in others)


JOINS = (
    Spelling(
        (exp.Select,),
        _anti_join,
        "statement",
        "SELECT COUNT(*) FROM visits v LEFT JOIN stays s ON s.patient = v.patient WHERE s.patient IS NULL",
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.patient)",
    ),
)
