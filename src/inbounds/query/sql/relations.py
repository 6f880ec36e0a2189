"""What stands after FROM: tables, WITH, a SELECT in brackets, joins, and the rows that WHERE looks for in others.

FROM visits JOIN prescriptions USING (patient) LEFT JOIN airports ON visits.destination = airports.code
FROM customer, orders, lineitem WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND EXISTS (SELECT ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.sql.conjuncts import flatten, refuse_statement, split, take_clauses
from inbounds.query.sql.from_clause import FromClause, InnerStatement, refuse_same_names
from inbounds.query.sql.join_graph import JoinGraph, Source
from inbounds.query.sql.lookups import Lookup, LookupJoin, find_lookup, take_lookup
from inbounds.query.sql.public_rows import read_conditions, read_labels, refuse_public
from inbounds.query.sql.rewriting import join_own_rows, split_measures
from inbounds.query.sql.subqueries import (
    CHOOSING,
    INNER,
    is_grouped,
    keep_rows,
    read_grouped,
    read_projection,
    read_where,
    unnamed,
)
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

MOST_JOINS = 15
"""So many tables can be joined to the first."""
MOST_NESTED = 6
"""A SELECT may stand so deep in others."""


def read_relation(text: SqlText, tree: exp.Select, tables: Tables | None) -> FromClause | None:
    """Read what a SELECT is about, if it is more than the name of a private table."""
    source = tree.args.get("from_")
    if source is None or tables is None:
        return None
    reader = FromReader(text, tables)
    reader.read_with(tree)
    join_own_rows(text, tree, tables)
    joins = tree.args.get("joins") or []
    is_named = isinstance(source.this, exp.Table) and not joins and not reader.is_given(source.this)
    where = tree.args.get("where")
    if is_named and (where is None or not any(map(find_lookup, flatten(where.this)))):
        return None
    clause = reader.read(tree)
    if not isinstance(clause.table, Table):
        refuse_public(text, source.this, clause.table.name)
    clause.enter(text)
    return clause


@dataclass(frozen=True)
class FromReader:
    """Reads what stands after FROM, and in WHERE what joins it."""

    text: SqlText
    tables: Tables
    depth: int = 0

    # Tables.

    def read_with(self, tree: exp.Query) -> None:
        """Note what WITH gives names to."""
        clause = tree.args.get("with_")
        if clause is None:
            return
        if clause.args.get("recursive"):
            self.text.refuse(clause, "WITH RECURSIVE is not supported; write each SELECT out")
        self.text.take(clause, "expressions")
        given = dict(self.text.with_names)
        for node in clause.expressions:
            self.text.take(node, "this", "alias")
            self.text.take(node.args["alias"], "this", "columns")
            self.text.with_before[id(node)] = dict(given)
            given[self.text.read_name(node.args["alias"].this)] = node
        self.text.with_names = given

    def is_given(self, node: exp.Expr) -> bool:
        """Return whether WITH has given a name to what stands after FROM."""
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier) or node.args.get("db"):
            return False
        return self._given_name(node) in self.text.with_names

    def read(self, tree: exp.Select) -> FromClause:
        """Read the tables of a SELECT and how they are joined."""
        text = self.text
        source = tree.args.get("from_")
        if source is None:
            text.refuse(tree, "a subquery needs FROM and the name of a table; add them")
        text.take(source, "this")
        join_own_rows(text, tree, self.tables)
        joins = tree.args.get("joins") or []
        if len(joins) > MOST_JOINS:
            text.refuse(joins[MOST_JOINS], f"at most {MOST_JOINS} tables can be joined to the first; leave some out")
        if not joins and (inner := self._read_sole(source.this)) is not None:
            return self._add_where(inner, tree)
        first = self._read_source(source.this, 0)
        sources = [first, *(self._read_join(node, place) for place, node in enumerate(joins, 1))]
        refuse_same_names(text, sources)
        graph = JoinGraph(text, sources, self._read_rest)
        clause = FromClause(first.alias, first.table, graph)
        if not joins:
            return self._add_where(clause, tree)
        for other in sources:
            graph.add_using(other)
            if not other.keep:
                for condition in other.on:
                    graph.add(condition)
        lookups = self._add_conditions(graph, tree)
        alias, table, joined = graph.join()
        relation = Joined(alias, table, joined)
        clause = FromClause(alias, relation.table, graph, where=graph.residual, outer=graph.others)
        clause.name_columns(relation)
        return self._add_lookups(clause, lookups)

    def _add_where(self, clause: FromClause, tree: exp.Select) -> FromClause:
        """Add what WHERE says of one table."""
        graph = clause.graph
        before = list(clause.where)
        if clause.projection is not None:  # whose columns are no table's
            where = tree.args.get("where")
            if where is not None:
                self.text.take(where, "this")
            parts = split(self.text, None if where is None else where.this)
            lookup = next((part for part in parts if find_lookup(part) is not None), None)
            if lookup is not None:
                self.text.refuse(lookup, "a subquery after the condition of a subquery is not supported; put it inside")
            clause.where = [*before, *parts]
            return clause
        lookups = self._add_conditions(graph, tree)
        clause.where, clause.outer = [*before, *graph.residual], graph.others
        return self._add_lookups(clause, lookups)

    def _add_conditions(self, graph: JoinGraph, tree: exp.Select) -> list[Lookup]:
        """Take what WHERE says; return the rows that it looks for in other tables."""
        where = tree.args.get("where")
        if where is None:
            return []
        self.text.take(where, "this")
        lookups = []
        for part in split(self.text, where.this):
            lookup = find_lookup(part)
            if lookup is None:
                graph.add(part)
            else:
                lookups.append(lookup)
        return lookups

    def _read_sole(self, node: exp.Expr) -> FromClause | None:
        """Read an inner SELECT that is all there is after FROM and only computes: its table is asked itself."""
        found = self.find_select(node)
        if found is None:
            return None
        tree, alias, names = found
        split_measures(self.text, tree)
        if is_grouped(tree):
            return None
        with self.entering(node):
            clause = self._read_inner_from(tree)
            assert isinstance(clause.table, Table)
            where = self._read_inner_where(clause)
            projection = read_projection(self.text, tree, clause.table, where, names)
        self.take_select(node)
        return FromClause(alias, clause.table, clause.graph, projection=projection)

    def find_select(self, node: exp.Expr) -> tuple[exp.Select, str, list[str]] | None:
        """Return an inner SELECT, what it is called, and what its columns are called."""
        if (found := self.find_statement(node)) is None:
            return None
        tree = found.tree
        if not isinstance(tree, exp.Select):
            at, rule = (tree, "WITH must name") if self.is_given(node) else (node, "a subquery must be")
            self.text.refuse(at, refuse_statement(rule, tree))
        return tree, found.alias, found.names

    def find_statement(self, node: exp.Expr) -> InnerStatement | None:
        """Return an inner statement, which need not be one SELECT."""
        if isinstance(node, exp.Subquery):
            alias = node.args.get("alias")
            return InnerStatement(node.this, "t" if alias is None else str(alias.name), _column_names(alias))
        if not self.is_given(node):
            return None
        given, alias = self.text.with_names[self._given_name(node)], node.args.get("alias")
        names = _column_names(alias) or _column_names(given.args.get("alias"))
        return InnerStatement(given.this, str(node.name) if alias is None else str(alias.name), names)

    @contextmanager
    def entering(self, node: exp.Expr) -> Iterator[None]:
        """Read an inner SELECT: in what WITH gives a name to, that name is not given yet."""
        given = self.text.with_names[self._given_name(node)] if self.is_given(node) else None
        with self.text.inside():
            if given is not None:
                self.text.with_names = self.text.with_before[id(given)]
            yield

    def _given_name(self, node: exp.Expr) -> str:
        return self.text.canonical(node.this, self.text.with_names)

    def take_select(self, node: exp.Expr) -> None:
        """Note that an inner SELECT and its name have been read."""
        self.text.take(node, "this", "alias")
        if isinstance(node, exp.Table):
            self.text.take(node.this, "this", "quoted")
        alias = node.args.get("alias")
        aliases = [alias]
        if self.is_given(node):
            aliases.append(self.text.with_names[self._given_name(node)].args.get("alias"))
        for given in aliases:
            if given is not None:
                self.text.take(given, "this", "columns")
                self.text.read_name(given.this)
                for name in given.args.get("columns") or ():
                    self.text.take(name, "this", "quoted")

    def _read_inner_from(self, tree: exp.Select) -> FromClause:
        text = self.text
        take_clauses(text, tree, INNER, CHOOSING, " in a subquery")
        inner = self.inside()
        inner.read_with(tree)
        clause = inner.read(tree)
        if isinstance(clause.table, PublicTable):
            refuse_public(text, tree.args["from_"].this, clause.table.name)
        clause.enter(text)
        return clause

    def _read_inner_where(self, clause: FromClause) -> Condition | None:
        assert isinstance(clause.table, Table)
        parts = clause.read_conditions(self.text)
        return check_condition(clause.table, join_conditions(And, *parts)) if parts else None

    def _read_source(
        self,
        node: exp.Expr,
        position: int,
        *,
        keep: bool = False,
        on: tuple[exp.Expr, ...] = (),
        using: tuple[exp.Expr, ...] = (),
    ) -> Source:
        """Read a table or an inner SELECT, and what it is called."""
        text = self.text
        found = self.find_select(node)
        if found is not None:
            tree, alias, names = found
            split_measures(self.text, tree)
            with self.entering(node):
                public = self._find_public(tree)
            if public is not None:
                self.take_select(node)
                take_clauses(text, tree, ("expressions", "from_", "where"), {}, " in a subquery")
                text.take(tree.args["from_"], "this")
                self._read_table_name(tree.args["from_"].this)
                labels = read_labels(text, tree, public, names)
                on = (*on, *read_conditions(text, tree, alias, labels))
                return Source(alias, public, node, keep, on, using, position, labels)
            with self.entering(node):
                table = self._read_inner(tree, alias, names)
            self.take_select(node)
            return Source(alias, table, node, keep, on, using, position)
        name, alias = self._read_table_name(node)
        table_or_public = self.tables.private.get(name) or self.tables.public.get(name)
        if table_or_public is None:
            text.refuse(node.this, self.tables.why_not(name))
        return Source(alias, table_or_public, node, keep, on, using, position)

    def _find_public(self, tree: exp.Select) -> PublicTable | None:
        """Return the public table that an inner SELECT is all about, if it keeps its rows and columns as they are."""
        source = tree.args.get("from_")
        if source is None or tree.args.get("joins") or is_grouped(tree) or not isinstance(source.this, exp.Table):
            return None
        if self.is_given(source.this):
            return None
        public = self.tables.public.get(self.text.canonical(source.this.this, self.tables.public))
        plain = all(isinstance(unnamed(one), exp.Star | exp.Column) for one in tree.expressions)
        where = tree.args.get("where")
        looks = where is not None and where.find(exp.Select) is not None
        return public if plain and not looks else None

    def _read_inner(self, tree: exp.Select, alias: str, names: list[str]) -> Table:
        clause = self._read_inner_from(tree)
        assert isinstance(clause.table, Table)
        where = self._read_inner_where(clause)
        if is_grouped(tree):
            return read_grouped(self.text, tree, alias, clause.table, where, names)
        return read_projection(self.text, tree, clause.table, where, names).table(self.text, tree, alias)

    def _read_table_name(self, node: exp.Expr) -> tuple[str, str]:
        """Return the name of a table, and what the question calls it."""
        text = self.text
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            text.refuse(
                node, f"FROM takes tables of the contract and SELECT in brackets, got {kind(node)}; name a table"
            )
        text.take(node, "this", "alias")
        text.take(node.this, "this", "quoted")
        name = text.canonical(node.this, (*self.tables.private, *self.tables.public))
        alias = node.args.get("alias")
        if alias is None:
            return name, name
        text.take(alias, "this")
        return name, text.read_name(alias.this)

    def _read_join(self, node: exp.Expr, position: int) -> Source:
        """Read a table that is joined, and what ON and USING say."""
        text = self.text
        side, sort = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
        if side not in ("", "LEFT") or sort not in ("", "INNER", "OUTER", "CROSS") or node.args.get("method"):
            name = side or sort or node.args.get("method")
            text.refuse(node.this, f"{name} JOIN is not supported; write JOIN or LEFT JOIN, with ON")
        if not (node.args.get("on") or node.args.get("using") or sort == "CROSS"):
            text.refuse(
                node.this,
                f"{side or sort} JOIN needs ON and what is equal, or USING; for every pair write CROSS JOIN".strip(),
            )
        text.take(node, "this", "side", "kind", "using", "on")
        on = tuple(split(text, node.args.get("on")))
        using = tuple(node.args.get("using") or ())
        return self._read_source(node.this, position, keep=side == "LEFT", on=on, using=using)

    def _read_rest(self, relation: Joined, join: Join, rest: list[exp.Expr]) -> Join:
        """Return a LEFT JOIN with what its ON says besides what is equal."""
        scope = relation.scope(join)
        with self.text.inside():
            self.text.ask(scope, relation.name)
            self.text.unit = scope.owner or ""
            self.text.names = {name: dict(names) for name, names in relation.names.items()}
            condition = read_where(self.text, rest)
        assert condition is not None
        return replace(join, condition=check_condition(scope, condition))

    # Rows that are looked for.

    def _add_lookups(self, clause: FromClause, lookups: Sequence[Lookup]) -> FromClause:
        """Return what a SELECT is about, with the rows that WHERE looks for in other tables."""
        for lookup in lookups:
            if not isinstance(clause.table, Table):
                refuse_public(self.text, clause.graph.sources[0].node, clause.table.name)
            take_lookup(self.text, lookup)
            with self.text.inside():
                inner = self._read_lookup(lookup)
            LookupJoin(self.text, clause, inner, lookup).join()
        return clause

    def _read_lookup(self, lookup: Lookup) -> FromClause:
        """Read the table that rows are looked for in."""
        text, tree = self.text, lookup.tree
        take_clauses(text, tree, INNER, CHOOSING, " in a subquery")
        inner_reader = self.inside()
        inner_reader.read_with(tree)
        lookup.refuse_other_columns(text)
        inner = inner_reader.read(tree)
        if tree.args.get("distinct") is not None:
            text.take(tree.args["distinct"])
        if not isinstance(inner.table, Table):
            if tree.args.get("group") or tree.args.get("having"):
                text.refuse(tree, f"{inner.table.name} is public; ask the database itself, free, and list what it says")
            return inner
        if tree.args.get("group") or tree.args.get("having"):
            if inner.outer:
                text.refuse(inner.outer[0], "a grouped subquery cannot name columns from outside; join the two instead")
            inner.enter(text)
            table = read_grouped(text, tree, inner.alias, inner.table, self._read_inner_where(inner), [])
            return FromClause(inner.alias, table, self._graph(Source(inner.alias, table, tree)))
        if inner.projection is not None:
            table = inner.projection.table(text, tree, inner.alias)
            parts, graph = [*inner.where, *inner.outer], self._graph(Source(inner.alias, table, tree))
            for part in parts:
                graph.add(part)
            return FromClause(inner.alias, table, graph, where=graph.residual, outer=graph.others)
        if inner.required:
            inner.table = keep_rows(inner.table, inner.alias, join_conditions(And, *inner.required))
        return inner

    def _graph(self, source: Source) -> JoinGraph:
        return JoinGraph(self.text, [source], self._read_rest)

    def inside(self) -> FromReader:
        """Return a reader for a SELECT inside this one."""
        if self.depth >= MOST_NESTED:
            raise InvalidQuestion(f"subqueries may be nested at most {MOST_NESTED} deep; ask something simpler")
        return FromReader(self.text, self.tables, self.depth + 1)


def _column_names(alias: exp.Expr | None) -> list[str]:
    return [] if alias is None else [str(name.name) for name in alias.args.get("columns") or ()]
