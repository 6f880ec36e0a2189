"""What people write, in the words that the readers know; each way means the same row by row.

(a, b) = (x, y)                                     a = x AND b = y
(SELECT COUNT(*) FROM v WHERE v.k = s.k) > 3        LEFT JOIN (SELECT k, COUNT(*) AS n FROM v GROUP BY k), and n > 3
EXISTS (SELECT * FROM v WHERE v.k = s.k) OR ...     the same, and n > 0
SELECT k, MAX(a) - MIN(b) AS x FROM v GROUP BY k    SELECT k, m - n AS x FROM (SELECT k, MAX(a) AS m, ... GROUP BY k)

Nothing here decides whose rows they are: what is written anew is read, and refused, like what was written so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from inbounds.query.columns.identifier import UNIT
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import is_number, read_reference
from inbounds.query.sql.conjuncts import compared_columns, flatten
from inbounds.query.sql.lookups import find_lookup
from inbounds.query.sql.subqueries import is_grouped, unnamed
from inbounds.query.sql.unit_measures import ENDS, OF_COLUMN
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

PLAIN = {"expressions", "from_", "where"}
"""The clauses of a subquery that is written as a join."""


def compare_tuples(text: SqlText, tree: exp.Expr) -> None:
    """Write the comparison of several columns at once as one for each of them."""
    for node in list(tree.find_all(exp.EQ)):
        left, right = node.this.unnest(), node.expression.unnest()
        if not isinstance(left, exp.Tuple) or not isinstance(right, exp.Tuple):
            continue
        if len(left.expressions) != len(right.expressions):
            text.refuse(node, "both sides must have as many columns; leave some out")
        pairs = zip(left.expressions, right.expressions, strict=True)
        node.replace(exp.Paren(this=_join([exp.EQ(this=one, expression=other) for one, other in pairs])))


def refuse_distinct_keys(text: SqlText, tree: exp.Select) -> None:
    """Refuse to count the distinct values of what belongs to one unit, and write out the question that does."""
    for call in tree.find_all(exp.Anonymous):
        counted = call.expressions[0] if function_name(call) == "COUNT" and len(call.expressions) == 1 else None
        columns = counted.expressions if isinstance(counted, exp.Distinct) else []
        column = columns[0] if len(columns) == 1 else None
        if not isinstance(column, exp.Column) or call.find_ancestor(exp.Select) is not tree or text.asked is None:
            continue
        if text.asked.owner is not None and _is_owned(text.asked, read_reference(text, column).name):
            text.refuse(
                call, f"{kind(column)} identifies rows, so its values are counted as rows; {_distinct(tree, column)}"
            )


def _is_owned(table: Table, name: str) -> bool:
    identifier = table.identifiers.get(name)
    return identifier is not None and identifier.domain != UNIT and table.is_of_one_unit([name])


def _distinct(tree: exp.Select, column: exp.Column) -> str:
    """Return the question that counts the values of a column as the rows of a subquery."""
    group = tree.args.get("group")
    keys = [] if group is None else list(group.expressions)
    if not all(isinstance(key, exp.Column) for key in keys):
        return f"count the rows of (SELECT DISTINCT {kind(column)}, … FROM …) AS t"
    inner = exp.Select(expressions=[key.copy() for key in (*keys, column)], distinct=exp.Distinct())
    for clause in ("from_", "joins", "where"):
        value = tree.args.get(clause)
        copied = [one.copy() for one in value] if isinstance(value, list) else value and value.copy()
        inner.set(clause, copied)
    names = ", ".join(exp.Column(this=key.this.copy()).sql(dialect="duckdb") for key in keys)
    shown, by = (f"{names}, ", f" GROUP BY {names}") if keys else ("", "")
    return f"write SELECT {shown}COUNT(*) FROM ({inner.sql(dialect='duckdb')}) AS t{by}"


# A row's own rows.


@dataclass(frozen=True)
class _OwnRows:
    """A subquery about rows that share something with the row outside: what it measures, and what must be equal."""

    node: exp.Expr
    tree: exp.Select
    inside: list[exp.Expr]
    outside: list[exp.Expr]
    """The columns that must be equal, in the subquery and outside."""
    rest: list[exp.Expr]

    @property
    def is_existence(self) -> bool:
        return isinstance(self.node, exp.Exists | exp.In)


def join_own_rows(text: SqlText, tree: exp.Select, tables: Tables) -> None:
    """Write subqueries in WHERE that measure a row's own rows as joins with what is measured of them."""
    where = tree.args.get("where")
    if where is None or tree.args.get("from_") is None:
        return
    parts = [part for part in flatten(where.this) if find_lookup(part) is None]
    for node in [node for part in parts for node in _find_subqueries(part)]:
        own = _Correlation(text, tables, node).read()
        if own is not None:
            _join_own(text, tree, own)


def _find_subqueries(node: exp.Expr, *, is_negated: bool = False) -> Iterator[exp.Expr]:
    """Yield subqueries that are values, and those that look for rows; IN only where missing means not so."""
    if isinstance(node, exp.Exists) or (isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select)):
        yield node
    elif isinstance(node, exp.In) and node.args.get("query") is not None:
        if not is_negated:
            yield node
    elif not isinstance(node, exp.Select):
        for child in node.iter_expressions():
            yield from _find_subqueries(child, is_negated=is_negated or isinstance(node, exp.Not))


class _Correlation:
    """Reads what a subquery shares with the row outside."""

    def __init__(self, text: SqlText, tables: Tables, node: exp.Expr) -> None:
        self.text, self.tables, self.node = text, tables, node
        query = node.args["query"] if isinstance(node, exp.In) else node.this
        self.tree: Any = query.unnest() if isinstance(query, exp.Subquery) else query
        self.alias, self.names = "", list[str]()

    def read(self) -> _OwnRows | None:
        """Return what can be written as a join; None for anything else."""
        table = self._find_table()
        if table is None or table.owner is None or not self._is_measured():
            return None
        self.names = [*table.columns, *table.identifiers, table.owner]
        inside, outside, rest = list[exp.Expr](), list[exp.Expr](), list[exp.Expr]()
        where = self.tree.args.get("where")
        for part in [] if where is None else flatten(where.this):
            sides = compared_columns(part)
            held = [] if sides is None else [self._is_inside(sides[0]), self._is_inside(sides[1])]
            if sides is not None and sides[2] == "=" and held.count(True) == 1:
                here, there = (sides[0], sides[1]) if held[0] else (sides[1], sides[0])
                inside.append(here)
                outside.append(there)
            elif part.find(exp.Select) is None and all(map(self._is_inside, part.find_all(exp.Column))):
                rest.append(part)
            else:
                return None
        if isinstance(self.node, exp.In):
            inside.append(self.tree.expressions[0])
            outside.append(self.node.this)
        if not all(isinstance(column, exp.Column) for column in (*inside, *outside)):
            return None
        keys = [self.text.canonical(column.this, self.names) for column in inside]
        return _OwnRows(self.node, self.tree, inside, outside, rest) if table.is_of_one_unit(keys) else None

    def _find_table(self) -> Table | None:
        """Return the private table that the subquery is all about."""
        tree = self.tree
        if not isinstance(tree, exp.Select) or {name for name, value in tree.args.items() if value} - PLAIN:
            return None
        source = tree.args.get("from_")
        node = None if source is None else source.this
        if not isinstance(node, exp.Table) or self.text.canonical(node.this, self.text.with_names) in (
            self.text.with_names
        ):
            return None
        alias = node.args.get("alias")
        self.alias = str(node.name if alias is None else alias.name)
        return self.tables.private.get(self.text.canonical(node.this, self.tables.private))

    def _is_measured(self) -> bool:
        if isinstance(self.node, exp.Exists):
            return not is_grouped(self.tree)
        if len(self.tree.expressions) != 1:
            return False
        selected = self.tree.expressions[0]
        if isinstance(self.node, exp.In):
            return isinstance(selected, exp.Column)
        calls = [function_name(call) for call in _find_measures(selected)]
        return bool(calls) and (calls == [function_name(selected)] or "COUNT" not in calls)

    def _is_inside(self, column: exp.Expr) -> bool:
        table = column.args.get("table")
        if table is None:
            return self.text.canonical(column.this, self.names) in self.names
        return self.text.canonical(table, [self.alias]) == self.alias


def _join_own(text: SqlText, tree: exp.Select, own: _OwnRows) -> None:
    """Join what is measured of a row's own rows, and name it where the subquery stands."""
    name = _new_name("subquery", [str(table.alias_or_name) for table in tree.find_all(exp.Table, exp.Subquery)])
    labels = [f"{name}_key_{place}" for place in range(1, len(own.inside) + 1)]
    measure: exp.Expr = exp.Anonymous(this="COUNT", expressions=[exp.Star()])
    if own.is_existence:
        text.take_word("EXISTS")
        for selected in own.tree.expressions:
            if not isinstance(own.node, exp.In):
                text.take_all(selected)
    else:
        measure = own.tree.expressions[0]
    inner = exp.Select(
        expressions=[
            *(_name(column, label) for column, label in zip(own.inside, labels, strict=True)),
            _name(measure, f"{name}_value"),
        ],
        from_=own.tree.args["from_"],
        group=exp.Group(expressions=[exp.Literal.number(place) for place in range(1, len(labels) + 1)]),
    )
    if own.rest:
        inner.set("where", exp.Where(this=_join(own.rest)))
    on = [exp.EQ(this=_column(label, name), expression=of) for label, of in zip(labels, own.outside, strict=True)]
    table = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    value: exp.Expr = _column(f"{name}_value", name)
    if function_name(measure) == "COUNT":  # of no rows it is 0
        value = exp.Anonymous(this="COALESCE", expressions=[value, exp.Literal.number(0)])
    own.node.replace(exp.GT(this=value, expression=exp.Literal.number(0)) if own.is_existence else value)
    tree.append("joins", exp.Join(this=table, side="LEFT", on=_join(on)))


# Measures of a unit's rows that are combined.


def split_measures(text: SqlText, tree: exp.Select) -> None:
    """Write an inner SELECT that combines measures as one that computes over what another measures."""
    combined = [one for one in tree.expressions if _is_combined(unnamed(one))]
    if not combined or tree.args.get("distinct") or not tree.args.get("group"):
        return
    plain = [one for one in tree.expressions if one not in combined]
    names = {id(one): str(one.alias_or_name) or f"column_{place}" for place, one in enumerate(plain, 1)}
    group = tree.args["group"]
    for key in group.expressions:  # the positions of what is selected change
        if is_number(key) and str(key.this).isdigit() and 1 <= int(key.this) <= len(tree.expressions):
            chosen = tree.expressions[int(key.this) - 1]
            places = [place for place, one in enumerate(plain, 1) if one is chosen]
            key.set("this", str(*places) if places else key.this)
    _write_out_names(text, tree, combined)
    measured, outer = list[exp.Expr](), list[exp.Expr]()
    for selected in list(tree.expressions):
        if id(selected) in names:
            outer.append(_column(names[id(selected)]))
            continue
        _refuse_division(text, selected)
        for call in list(_find_measures(unnamed(selected))):
            label = _new_name(kind(call), [*names.values(), *(str(one.alias) for one in measured)])
            call.replace(_column(label))
            measured.append(_name(call, label))
        outer.append(selected)
    selects = [one if isinstance(one, exp.Alias) else _name(one, names[id(one)]) for one in plain]
    inner = exp.Select(expressions=[*selects, *measured])
    for clause in ("with_", "from_", "joins", "where", "group", "having"):
        inner.set(clause, tree.args.get(clause))
        tree.set(clause, None)
    tree.set("expressions", outer)
    alias = exp.TableAlias(this=exp.to_identifier("t", quoted=True))
    tree.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))


def _write_out_names(text: SqlText, tree: exp.Select, combined: Sequence[exp.Expr]) -> None:
    """Write what HAVING names by what it stands for."""
    having = tree.args.get("having")
    named = {str(one.alias): unnamed(one) for one in combined}
    for column in [] if having is None else list(having.find_all(exp.Column)):
        if column.args.get("table") is None and str(column.name) in named:
            text.take_all(column)
            column.replace(exp.Paren(this=named[str(column.name)].copy()))


def _refuse_division(text: SqlText, node: exp.Expr) -> None:
    """Refuse to divide by what is measured, which may be 0."""
    for division in node.find_all(exp.Div):
        if any(_find_measures(division.expression)):
            of = next((call.expressions[0] for call in _find_measures(division.this) if call.expressions), None)
            mean = "AVG(x)" if of is None or isinstance(of, exp.Star) else f"AVG({kind(of)})"
            text.refuse(
                division, f"{kind(division)} divides by a value that may be zero; write {mean}, or divide by a constant"
            )


def _is_combined(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Column) and any(call is not node for call in _find_measures(node))


def _has_end(node: exp.Expr) -> bool:
    """Return whether a node is a measure with an end, or with both: GREATEST(LEAST(SUM(cost), 150), 0)."""
    if function_name(node) not in ENDS or not any(map(is_number, node.expressions)):
        return False
    return any(_is_measure(part) or _has_end(part) for part in node.expressions)


def _find_measures(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the measures in an expression, with their ends if they have some."""
    if isinstance(node, exp.Window | exp.Select):
        return
    if _is_measure(node) or _has_end(node):
        yield node
        return
    for child in node.iter_expressions():
        yield from _find_measures(child)


def _is_measure(node: exp.Expr) -> bool:
    return function_name(node) in (*OF_COLUMN, "COUNT")


def _join(conditions: Sequence[exp.Expr]) -> exp.Expr:
    first, *others = conditions
    for other in others:
        first = exp.And(this=first, expression=other)
    return first


def _name(node: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))


def _column(name: str, table: str | None = None) -> exp.Expr:
    of = None if table is None else exp.to_identifier(table, quoted=True)
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=of)


def _new_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that nothing has, with a number if need be."""
    place = 1
    while (new := name if place == 1 else f"{name}_{place}") in taken:
        place += 1
    return new
