"""A SELECT about what another one releases: it computes, chooses, orders and adds up released rows, for free.

SELECT *, n - LAG(n) OVER (ORDER BY month) AS change FROM (SELECT month, COUNT(*) AS n FROM visits GROUP BY month) AS t
SELECT AVG(n) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) AS t
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.leaf import KeyRef, MeasureRef, Named, kind_of, kind_of_measure
from inbounds.query.answer.released.window import Aggregate, Window
from inbounds.query.answer.view import View, ViewColumn
from inbounds.query.columns.column import Keys
from inbounds.query.columns.derived_column import find_column
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.question.measure import Measure
from inbounds.query.sql.measure_calls import MeasureCalls, find_measures
from inbounds.query.sql.relations import MOST_NESTED, FromReader
from inbounds.query.sql.shown.released import ReleasedScope, ScalarReader, read_having, read_released
from inbounds.query.sql.shown.view import ViewReader, released_names
from inbounds.query.sql.shown.windows import WindowReader
from inbounds.query.sql.subqueries import is_grouped, mixes_units
from inbounds.query.tables.table import Table

AGGREGATES = ("SUM", "AVG", "MIN", "MAX", "COUNT", "ARG_MAX", "ARG_MIN")


def is_of_answer(reader: FromReader, tree: exp.Select) -> bool:
    """Return whether a SELECT is about what another one releases: groups of rows that are not one unit's each.

    A look aside: whatever is wrong is left to whoever reads it.
    """
    source = tree.args.get("from_")
    if source is None or reader.depth >= MOST_NESTED:
        return False
    has_with = tree.args.get("with_") is not None
    if not all(has_with or reader.is_given(node) or isinstance(node, exp.Subquery) for node in sources_of(tree)):
        return False
    try:
        aside, copied = FromReader(reader.text.aside(), reader.tables, reader.depth), tree.copy()
        aside.read_with(copied)
        return all(_finds_answer(aside, node) for node in sources_of(copied))
    except InvalidQuestion:
        if reader.text.has_no_end:
            raise
        return False


def sources_of(tree: exp.Select) -> list[exp.Expr]:
    """Return what stands after FROM and JOIN."""
    return [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]


def releases(reader: FromReader, node: exp.Expr) -> bool:
    """Return whether what stands after FROM or JOIN is what a SELECT releases; a look aside as well."""
    try:
        return _finds_answer(FromReader(reader.text.aside(), reader.tables, reader.depth), node.copy())
    except InvalidQuestion:
        if reader.text.has_no_end:
            raise
        return False


def _finds_answer(reader: FromReader, node: exp.Expr) -> bool:
    found = reader.find_statement(node)
    return found is not None and _is_answer(reader, found.tree, found.names)


def _is_answer(reader: FromReader, tree: exp.Expr, names: list[str]) -> bool:
    """Return whether a statement releases something: each SELECT of a UNION ALL, or single values of SELECTs."""
    reader.text.count_look()
    with reader.text.inside():
        inner = reader.inside()
        if isinstance(tree, exp.Union):
            inner.read_with(tree)
            return all(_is_answer(reader, part.unnest(), names) for part in (tree.this, tree.expression))
        if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
            return any(one.find(exp.Subquery) is not None for one in tree.expressions)
        if is_of_answer(inner, tree):
            return True
        if tree.args.get("distinct") or not (is_grouped(tree) or any(find_measures(tree))):
            return False
        inner.read_with(tree)
        clause = inner.read(tree)
        if not isinstance(clause.table, Table):
            return False
        clause.enter(reader.text)
        return mixes_units(reader.text, tree, clause.table, names)


@dataclass(frozen=True)
class InnerAnswer:
    """What a SELECT inside releases, and what its columns are called."""

    view: View
    columns: Mapping[str, Named]
    """What it selects, by name."""
    listed: tuple[Named, ...] = ()
    """The same in order, whatever they are called."""

    @classmethod
    def of(
        cls, text: SqlText, view: View, keys: Sequence[Node], measures: Sequence[Measure], binned: Node | None
    ) -> InnerAnswer:
        """Describe a SELECT that has been read, while its names stand for what they are there."""
        refs: list[Node] = []
        for node in keys:
            column = find_column(text.columns, node)
            is_bin = node == binned and not isinstance(column, Keys)
            refs.append(KeyRef(node, "bin" if is_bin else kind_of(column)))
        refs += (MeasureRef(measure, kind_of_measure(text.columns, measure)) for measure in measures)
        columns = view.columns or tuple(map(ViewColumn, refs))
        return cls.by_name(view, columns)

    @classmethod
    def by_name(cls, view: View, columns: Sequence[ViewColumn]) -> InnerAnswer:
        """Return columns of a SELECT by the names that they have outside."""
        names = {id(of): name for name, of in released_names(columns).items()}
        labels = [selected.given_name or names.get(id(selected.of)) or selected.of.name for selected in columns]
        named = [Named(label, column.key or column.of) for label, column in zip(labels, columns, strict=True)]
        return cls(view, {column.column: column for column in named}, tuple(named))

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of keys."""
        return tuple(name for name, column in self.columns.items() if isinstance(column.of, KeyRef))


class AnswerReader(ViewReader):
    """Reads a SELECT about what another one releases."""

    def __init__(self, text: SqlText, inner: InnerAnswer, alias: str, scalars: ScalarReader | None = None) -> None:
        super().__init__(text, (), MeasureCalls(text), scalars)
        self._inner, self._alias = inner, alias
        self._names = inner.columns
        self._grouped: tuple[Named, ...] | None = None
        self._read_nodes: list[tuple[exp.Expr, Node]] = []
        """Everything that was read, to be checked once it is known whether rows are grouped."""

    def read(self, tree: exp.Select) -> View:
        self._read_named_windows(tree)
        where = tree.args.get("where")
        having = None if where is None else self._read_where(where)
        self._grouped = self._read_group(tree.args.get("group"))
        for selected in tree.expressions:
            self._read_selected(selected)
        self._refuse_same_names(tree)
        tests = [test for name in ("qualify", "having") if (test := self._read_test(tree, name)) is not None]
        order = self._read_order(tree.args.get("order"))
        limit, offset = (self._read_number(tree.args.get(name), name.upper()) for name in ("limit", "offset"))
        self._refuse_ungrouped()
        qualify = tests[0] if tests else None
        return View(tuple(self._columns), having, order, limit, offset or 0, qualify, self._inner.view, self._grouped)

    # What is selected.

    def _read_selected(self, selected: exp.Expr) -> None:
        if isinstance(selected, exp.Star) or (isinstance(selected, exp.Column) and isinstance(selected.this, exp.Star)):
            self._read_star(selected)
            return
        node, alias = selected, None
        if isinstance(selected, exp.Alias):
            self._text.take(selected, "this", "alias")
            node, alias = selected.this, self._text.read_name(selected.args["alias"])
        value = read_released(self._scope(self._read_key_in_expression), node)
        self._by_node[id(node)] = [value]
        self._read_nodes.append((node, value))
        self._columns.append(ViewColumn(value, None if alias == value.name else alias))

    def _read_star(self, node: exp.Expr) -> None:
        star = node.this if isinstance(node, exp.Column) else node
        if any(star.args.get(name) for name in star.args):
            self._text.refuse(node, "SELECT * takes no EXCLUDE or REPLACE here; name the columns")
        self._text.take(node, "this", "table")
        self._text.take(star)
        if node.args.get("table") is not None:
            self._text.take(node.args["table"], "this", "quoted")
        self._by_node[id(node)] = [*self._names.values()]
        self._read_nodes += [(node, value) for value in self._names.values()]
        self._columns += [ViewColumn(value) for value in self._inner.columns.values()]

    def _scope(self, read_name: object = None) -> ReleasedScope:
        names = self._read_name if read_name is None else self._read_key_in_expression
        scope = ReleasedScope(self._text, self._read_aggregate, names, lambda _: None)
        scope.named_windows, scope.scalars = self._windows, self._scalars
        return scope

    def _read_aggregate(self, node: exp.Expr) -> Node:
        """Read a function of all released rows, or of those with the same keys."""
        reader = WindowReader(self._scope(self._read_key_in_expression), self._windows)
        name, arguments = reader.read_call(node, node, AGGREGATES)
        self._grouped = self._grouped or ()
        return Aggregate(name, arguments, self._grouped)

    # Names.

    def _read_key_in_expression(self, node: exp.Column) -> Node:
        """Return a column of the inner SELECT, or what was selected before by a name."""
        found = self._find(node)
        if found is not None:
            return found
        target = self._text.aliases.get(self._text.canonical(node.this, self._text.aliases))
        if target is None or id(target) not in self._by_node or node.args.get("table"):
            self._refuse_name(node)
        self._text.resolve(node)
        return self._pick_single(node, self._by_node[id(target)])

    def _read_name(self, node: exp.Column) -> Node:
        """Return what a name stands for after SELECT: something selected by it, or a column of the inner SELECT."""
        target = self._text.resolve(node)
        if target is not node and id(target) in self._by_node:
            return self._pick_single(node, self._by_node[id(target)])
        found = self._find(node)
        if found is None:
            self._refuse_name(node)
        return found

    def _find(self, node: exp.Column) -> Named | None:
        text, table = self._text, node.args.get("table")
        name = text.canonical(node.this, self._names)
        if name not in self._names or (table is not None and text.canonical(table, (self._alias,)) != self._alias):
            return None
        text.take(node, "this", "table")
        for part in (node.this, table):
            if part is not None:
                text.take(part, "this", "quoted")
        return self._names[name]

    def _refuse_name(self, node: exp.Column) -> NoReturn:
        self._text.refuse(node, f"there is no column {kind(node)}; the inner SELECT has {', '.join(self._names)}")

    # Which rows.

    def _read_where(self, where: exp.Expr) -> Condition:
        self._text.take(where, "this")
        return read_having(self._scope(self._read_key_in_expression), where.this)

    def _read_test(self, tree: exp.Select, name: str) -> Condition | None:
        """Read QUALIFY, or HAVING after GROUP BY: what comes once rows were looked at together."""
        clause = tree.args.get(name)
        if clause is None:
            return None
        self._text.take(clause, "this")
        test = read_having(self._scope(), clause.this)
        self._read_nodes.append((clause, test))
        if name == "having" and self._grouped is None:
            self._text.refuse(clause, "HAVING needs GROUP BY or a measure in the outer SELECT; write WHERE")
        if name == "qualify" and self._grouped is not None:
            self._text.refuse(clause, "QUALIFY and GROUP BY do not go together here; write HAVING")
        return test

    def _read_group(self, group: exp.Expr | None) -> tuple[Named, ...] | None:
        if group is None:
            return None
        self._text.take(group, "expressions")
        keys = []
        for node in group.expressions:
            target = self._text.resolve(node)
            key = self._find(target) if isinstance(target, exp.Column) else None
            if key is None or not isinstance(key.of, KeyRef):
                known = ", ".join(self._inner.keys) or "nothing"
                self._text.refuse(
                    node, f"an outer GROUP BY takes keys of the inner one, got {kind(node)}; it has {known}"
                )
            keys.append(key)
        return tuple(dict.fromkeys(keys))

    def _refuse_ungrouped(self) -> None:
        """Refuse what differs between rows of which one row is made, and windows over such rows."""
        if self._grouped is None:
            return
        for node, value in self._read_nodes:
            pending = [value]
            while pending:
                part = pending.pop()
                if isinstance(part, Named) and part not in self._grouped:
                    self._text.refuse(node, f"{part} is not in the outer GROUP BY; put it into SUM, AVG, MIN or MAX")
                if isinstance(part, Window) and not isinstance(part, Aggregate):
                    self._text.refuse(
                        node, "a window over an outer GROUP BY is not supported; put it one SELECT further out"
                    )
                pending.extend(() if isinstance(part, Named | Aggregate) else part.parts())
