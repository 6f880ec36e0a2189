"""Rows that WHERE looks for in other tables: EXISTS, IN with a subquery, and their opposites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.expressions.condition import Condition, Missing, Not
from inbounds.query.expressions.node import ColumnRef, quote_name
from inbounds.query.expressions.raw import Raw
from inbounds.query.grammar.text import SqlText
from inbounds.query.sql.conjuncts import compared_columns, take_columns, take_link
from inbounds.query.sql.from_clause import FromClause
from inbounds.query.sql.join_graph import Link, Source
from inbounds.query.sql.subqueries import read_where
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import AnyJoin, Join, Pair
from inbounds.query.tables.table import Table

Place = tuple[Source, str]
"""A table after FROM, and a column of it."""


@dataclass(frozen=True)
class Lookup:
    """A condition that there are rows, or none, in another table."""

    node: exp.Expr
    tree: exp.Select
    is_negated: bool
    compared: exp.Expr | None
    """What IN compares with the column of its subquery, or with several."""

    @property
    def columns(self) -> list[exp.Expr]:
        """What IN compares, one by one."""
        if self.compared is None:
            return []
        return list(self.compared.expressions) if isinstance(self.compared, exp.Tuple) else [self.compared]

    def refuse_other_columns(self, text: SqlText) -> None:
        """Refuse IN if it does not compare one column with each that its subquery has, and NOT IN with several."""
        if self.compared is None:
            return
        if isinstance(self.compared, exp.Tuple):
            text.take(self.compared, "expressions")
            if self.is_negated:
                text.refuse(self.node, "NOT IN compares one column; write NOT EXISTS, and say what is equal in WHERE")
        count = len(self.columns)
        if len(self.tree.expressions) != count:
            columns = "one column" if count == 1 else f"{count} columns, as many as stand before it"
            text.refuse(self.tree, f"IN takes a subquery of {columns}; select {'one' if count == 1 else 'these'}")


def find_lookup(node: exp.Expr) -> Lookup | None:
    """Return what a condition looks for, None if it is another condition."""
    part, is_negated = node, False
    while isinstance(part, exp.Paren | exp.Not):
        is_negated ^= isinstance(part, exp.Not)
        part = part.this
    if isinstance(part, exp.Exists):
        tree = _unwrap(part.this)
        return Lookup(node, tree, is_negated, None) if isinstance(tree, exp.Select) else None
    if isinstance(part, exp.In) and part.args.get("query") is not None:
        tree = _unwrap(part.args["query"])
        return Lookup(node, tree, is_negated, part.this) if isinstance(tree, exp.Select) else None
    return None


def _unwrap(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery | exp.Paren):
        node = node.this
    return node


def take_lookup(text: SqlText, lookup: Lookup) -> None:
    """Note that everything around an inner SELECT has been read, and what it selects if nothing is compared with it."""
    part = lookup.node
    while part is not lookup.tree:
        if isinstance(part, exp.In):
            text.take(part, "this", "query")
            part = part.args["query"]
        else:
            text.take(part, "this")
            part = part.this
    text.take_word("EXISTS")
    for selected in lookup.tree.expressions:
        if isinstance(selected, exp.Alias):
            text.take(selected, "this", "alias")
            text.read_name(selected.args["alias"])
        if lookup.compared is None:
            for node in selected.walk():
                text.take(node, *node.args)


@dataclass(frozen=True)
class Test:
    """Two sides of a comparison, one of which may be of a column outside."""

    left: exp.Expr
    right: exp.Expr
    operator: Literal["=", "<>"]
    node: exp.Expr
    is_compared: bool = False
    """Whether IN compares them: then the left side stands outside."""


@dataclass
class LookupJoin:
    """Joins what is looked for to what a SELECT is about."""

    text: SqlText
    clause: FromClause
    inner: FromClause
    lookup: Lookup

    def join(self) -> None:
        """Add what is looked for to what the SELECT is about."""
        clause, inner, text = self.clause, self.inner, self.text
        table = clause.table
        assert isinstance(table, Table)
        relation = table.relation if isinstance(table.relation, Joined) else None
        name, first = (clause.alias, table) if relation is None else (relation.name, relation.first)
        joins: tuple[AnyJoin, ...] = () if relation is None else relation.joins
        if not clause.names:
            clause.names = {clause.alias: _own_names(clause.graph.sources[0])}
        pairs, by_unit, rest = self._match()
        taken = {name, *(join.name for join in joins)}
        alias = inner.alias if inner.alias not in taken else f"{inner.alias}_{len(joins) + 1}"
        visible = {name, *(join.name for join in joins if not join.semi)}
        is_renamed = not visible.isdisjoint({inner.alias, *inner.names})
        semi: Literal["EXISTS", "NOT EXISTS"] = "NOT EXISTS" if self.lookup.is_negated else "EXISTS"
        join = Join(alias, inner.table, tuple(pairs), by_unit, semi=semi, is_renamed=is_renamed)
        try:
            joined = Joined(name, first, (*joins, join))
        except InvalidQuestion as problem:
            why = str(problem).replace("a row of this join", "what is looked for here")
            if alias != inner.alias:
                other = "b" if inner.alias != "b" else "c"
                why = why.replace(";", f"; two tables are called {inner.alias}, so call the inner one {other}, and", 1)
                why = why.replace(f" {quote_name(alias)}.", f" {other}.")
            text.refuse(self.lookup.node, why.replace("join it ON", "write inside it"))
        if conditions := [*inner.where, *rest]:
            condition = self._read_condition(joined, join, conditions)
            joined = Joined(name, first, (*joins, replace(join, condition=condition)))
        clause.table = joined.table

    def _read_condition(self, joined: Joined, join: Join, parts: list[exp.Expr]) -> Condition:
        """Read what must be so of a row and of one that is looked for."""
        text, scope, labels = self.text, joined.scope(join), joined.names[join.name]
        names = _names_outside(self.inner, labels)
        every = [own for columns in names.values() for own in columns]
        with text.inside():
            text.ask(scope, self.clause.alias)
            text.unit = scope.owner or ""
            text.names = {**self.clause.names, **names}
            # A column without its table is one of those that are looked for, if they have it.
            text.inner_names = {
                own: label for columns in names.values() for own, label in columns.items() if every.count(own) == 1
            }
            condition = read_where(text, parts)
        assert condition is not None
        return check_condition(scope, condition)

    def _match(self) -> tuple[list[Pair], bool, list[exp.Expr]]:
        """Return what rows are matched by, whether that is the unit, and what else must be so."""
        pairs, by_unit, rest = list[Pair](), False, list[exp.Expr]()
        for test in self._tests():
            match = self._find_columns(test)
            if match is None:
                if test.is_compared:
                    self.text.refuse(test.node, "IN compares a column with a column of its subquery; name both")
                rest.append(test.node)
                continue
            outside, name, inside, inner_name = match
            self._refuse_missing_unit(test, (outside, name), (inside, inner_name))
            by_codes = not (outside.is_matched_by(name) or inside.is_matched_by(inner_name))
            if test.operator == "<>" and by_codes and not test.is_compared:
                rest.append(test.node)
                continue
            self._take(test, outside, name)
            label = self.inner.names.get(inside.alias, {}).get(inner_name, inner_name)
            is_of_units = Link(*match, test.operator, test.node).is_of_units
            is_of_units |= self._is_unit_of_join(label) and test.operator == "=" and outside.tells_unit(name)
            by_unit |= is_of_units
            if not is_of_units or outside.keep:  # whose unit is missing in rows without a match
                pairs.append(Pair(outside.alias, name, label, test.operator))
        return pairs, by_unit, [*rest, *(part for part in self.inner.outer if not compared_columns(part))]

    def _take(self, test: Test, outside: Source, name: str) -> None:
        """Note that a comparison has been read; what NOT IN compares must be there."""
        if not test.is_compared:
            take_link(self.text, test.node)
            return
        take_columns(self.text, test.left, test.right)
        assert isinstance(self.clause.table, Table)
        label = self.clause.names.get(outside.alias, {}).get(name, name)
        if self.lookup.is_negated and label != self.clause.table.owner:
            # A missing value is in no list and out of none.
            is_raw = name in outside.table.identifiers
            self.clause.required.append(Not(Missing(Raw(label, "PRESENT") if is_raw else ColumnRef(label))))

    def _is_unit_of_join(self, label: str) -> bool:
        """Return whether a column is the unit of the tables that are joined inside."""
        relation = self.inner.table.relation if isinstance(self.inner.table, Table) else None
        return isinstance(relation, Joined) and label == relation.unit

    def _refuse_missing_unit(self, test: Test, outside: Place, inside: Place) -> None:
        """Refuse the unit of a LEFT JOIN where rows without a match would be left out anyway, and cannot be."""
        is_left_out = test.is_compared and self.lookup.is_negated
        for source, name in (*([outside] if is_left_out else []), inside):
            if source.keep and source.tells_unit(name):
                self.text.refuse(
                    test.node,
                    f"{quote_name(source.alias)}.{quote_name(name)} is missing in rows without a match, which are left "
                    f"out here; write JOIN in place of LEFT JOIN for {quote_name(source.alias)}",
                )

    def _tests(self) -> list[Test]:
        tests = [Test(*sides, part) for part in self.inner.outer if (sides := compared_columns(part)) is not None]
        for compared, selected in zip(self.lookup.columns, self.lookup.tree.expressions, strict=False):
            column = selected.this if isinstance(selected, exp.Alias) else selected
            tests.append(Test(compared, column, "=", self.lookup.node, is_compared=True))
        return tests

    def _find_columns(self, test: Test) -> tuple[Source, str, Source, str] | None:
        """Return a column outside and one inside, each with its table."""
        ways = [(test.left, test.right)] + ([] if test.is_compared else [(test.right, test.left)])
        for outer, inner in ways:
            inside, outside = self.inner.graph.find(inner), self.clause.graph.find(outer)
            # A name that could be either is inside, unless it stands outside.
            hidden = not test.is_compared and self.inner.graph.find(outer) is not None
            if inside is not None and outside is not None and not hidden:
                return *outside, *inside
        return None


def _own_names(source: Source) -> dict[str, str]:
    return {name: name for name in source.names}


def _names_outside(inner: FromClause, labels: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what columns of an inner SELECT are called outside, by the tables that they are of."""
    if not inner.names:
        return {inner.alias: dict(labels)}
    return {
        alias: {own: labels[label] for own, label in names.items() if label in labels}
        for alias, names in inner.names.items()
    }
