"""How what is released is shown: what is selected by which names, HAVING, ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.leaf import KeyRef, MeasureRef, is_constant, kind_of, measures_in
from inbounds.query.answer.released.order import Order
from inbounds.query.answer.released.window import windows_in
from inbounds.query.answer.view import View, ViewColumn
from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import find_column
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.grammar.rows import is_derived, read_node
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import read_reference
from inbounds.query.question.quantile import Quantile, as_decimal_text
from inbounds.query.question.shared_measures import Shared, answer_names
from inbounds.query.sql.measure_calls import MeasureCalls
from inbounds.query.sql.measures import MEASURES, has_measure, refuse_no_measure
from inbounds.query.sql.shown.released import ReleasedScope, ScalarReader, read_having, read_released, read_whole


class ViewReader:
    """Reads what a SELECT shows, and collects the measures in it."""

    def __init__(
        self, text: SqlText, keys: Sequence[Node], calls: MeasureCalls, scalars: ScalarReader | None = None
    ) -> None:
        self._text, self._scalars = text, scalars
        self._keys = keys
        self._calls = calls
        self._columns: list[ViewColumn] = []
        self._by_node: dict[int, list[Node]] = {}
        """What each thing selected is, by its node."""
        self._windows: dict[str, exp.Expr] = {}
        """What stands after WINDOW, by its name."""
        self.takes_labels = False
        """Whether constants may be selected: in a UNION ALL they say which SELECT a row is from."""

    def read(self, tree: exp.Select) -> View:
        """Read everything that a SELECT shows."""
        # What is selected comes first: HAVING and ORDER BY may name it, and may add measures that are not shown.
        self._read_named_windows(tree)
        for selected in tree.expressions:
            self._read_selected(selected)
        self._refuse_same_names(tree)
        having = self._read_having(tree.args.get("having"))
        qualify = self._read_qualify(tree.args.get("qualify"))
        order = self._read_order(tree.args.get("order"))
        limit, offset = (self._read_number(tree.args.get(name), name.upper()) for name in ("limit", "offset"))
        self._refuse_no_measure(tree)
        self._calls.refuse_not_together()
        return View(self._view_columns(), having, order, limit, offset or 0, qualify)

    def _read_named_windows(self, tree: exp.Select) -> None:
        for window in tree.args.get("windows") or ():
            self._windows[str(window.this.name)] = window

    def _refuse_no_measure(self, tree: exp.Select) -> None:
        """Refuse what is nothing to release: windows over rows of which nothing is measured, and no column at all."""
        if not self._calls.measures:
            window = tree.find(exp.Window)
            if window is None and self._keys:  # which groups there can be is public
                return
            if window is None:
                raise InvalidQuestion("SELECT needs a measure, such as COUNT(*) or AVG(column); add one")
            self._text.refuse(
                window,
                f"{kind(window)} looks at single rows, and rows are never shown; select a measure as well, such as "
                "COUNT(*), and group by what tells its rows apart",
            )

    def _view_columns(self) -> tuple[ViewColumn, ...]:
        """Return the columns, if they are not simply all keys and measures by their own names."""
        columns, binned = tuple(self._columns), self._calls.histogram
        keys = [self._to_key(key) for key in self._keys]
        if binned is not None:  # a histogram shows its bins as well, before everything else
            bins = self._to_key(binned[0])
            keys, columns = [bins, *keys], (ViewColumn(bins), *columns)
        plain = (*keys, *map(self._calls.to_ref, self._calls.measures))
        return () if self._calls.measures and columns == tuple(map(ViewColumn, plain)) else columns

    def _read_selected(self, selected: exp.Expr) -> None:
        node, alias = selected, None
        if isinstance(selected, exp.Alias):
            self._text.take(selected, "this", "alias")
            node, alias = selected.this, self._text.read_name(selected.args["alias"])
        if is_of_columns(node):
            self._read_key(node, alias)
        elif isinstance(node, exp.WithinGroup) or function_name(node) in MEASURES:
            self._read_measure(node, alias)
        else:
            value = read_released(self._scope(self._read_key_in_expression), node)
            is_label = self.takes_labels and isinstance(value, Constant)
            if not measures_in(value) and not any(windows_in(value)) and not is_label:
                refuse_no_measure(self._text, node)
            self._by_node[id(node)] = [value]
            self._columns.append(ViewColumn(value, alias))

    def _read_key(self, node: exp.Expr, alias: str | None) -> None:
        self._refuse_unit(node)
        column = read_node(self._text, node)
        if column not in self._keys:
            self._text.refuse(
                node,
                f"{kind(node)} is selected but not in GROUP BY, and rows are never shown; leave it out, or group by it",
            )
        key = self._to_key(column)
        self._by_node[id(node)] = [key]
        if alias is None and self._text.projected is not None and isinstance(node, exp.Column):
            alias = self._text.canonical(node.this, self._text.projected)
        self._columns.append(ViewColumn(key, None if alias == column.name else alias))

    def _refuse_unit(self, node: exp.Expr) -> None:
        """Refuse the column that tells whose row it is: a look aside, before it is read as any other."""
        unit = self._text.unit
        if (
            isinstance(node, exp.Column)
            and unit not in self._text.columns
            and self._text.canonical(node.this, (unit,)) == unit
        ):
            self._text.refuse(
                node,
                f"{kind(node)} tells whose row it is, and single rows are never shown; "
                f"count with COUNT(DISTINCT {unit})",
            )

    def _read_measure(self, node: exp.Expr, alias: str | None) -> None:
        measures = self._calls.read_selected(node)
        self._by_node[id(node)] = [*measures]
        for ref in measures:
            if ref in [column.of for column in self._columns]:
                self._text.refuse(node, "this measure appears twice; leave it out here")
            name = alias
            if alias is not None and len(measures) > 1 and isinstance(ref.measure, Quantile):
                name = f"{alias}_{as_decimal_text(ref.measure.level)}"
            self._columns.append(ViewColumn(ref, name))

    def _to_key(self, node: Node) -> KeyRef:
        column, histogram = find_column(self._text.columns, node), self._calls.histogram
        binned = histogram is not None and histogram[0] == node and not isinstance(column, Keys)
        return KeyRef(node, "bin" if binned else kind_of(column))

    def _read_key_in_expression(self, node: exp.Column) -> Node:
        if (selected := self._read_selected_before(node)) is not None:
            return selected
        column = read_reference(self._text, node)
        if column not in self._keys:
            if (window := node.find_ancestor(exp.Window)) is not None:
                self._refuse_row_in_window(node, window)
            why = f"{column.name} is not in GROUP BY, and rows are never shown; put it into a measure, or group by it"
            self._text.refuse(node, why)
        return self._to_key(column)

    def _read_selected_before(self, node: exp.Column) -> Node | None:
        """Return what was selected before by this name, unless a column is called so."""
        text = self._text
        known = (*text.columns, *(() if text.asked is None else text.asked.identifiers), text.unit)
        known = known if text.projected is None else tuple(text.projected)
        if node.args.get("table") or text.canonical(node.this, known) in known:
            return None
        target = text.aliases.get(text.canonical(node.this, text.aliases))
        columns = None if target is None else self._by_node.get(id(target))
        if columns is None:
            return None
        text.resolve(node)
        return self._pick_single(node, columns)

    def _refuse_row_in_window(self, node: exp.Column, window: exp.Window) -> NoReturn:
        """Refuse a column of single rows in a window: it would look at other people's rows."""
        remedy = f"group by {read_reference(self._text, node).name}"
        if window.this.find(exp.Column) is not None and node in list(window.this.find_all(exp.Column)):
            remedy = f"group rows, and put a measure there: {function_name(window.this) or 'LAG'}(COUNT(*)) OVER (…)"
        self._text.refuse(node, f"{kind(window)} looks at single rows, and rows are never shown; {remedy}")

    def _refuse_same_names(self, tree: exp.Select) -> None:
        names = [column.given_name for column in self._columns]
        for selected in tree.expressions:
            if names.count(selected.alias_or_name) > 1:
                node = selected.args.get("alias") or selected
                self._text.refuse(node, f"{selected.alias_or_name} names two columns; give them other names")

    def _scope(self, read_name: Callable[[exp.Column], Node] | None = None) -> ReleasedScope:
        names = read_name or self._read_name
        scope = ReleasedScope(self._text, self._calls.read_in_expression, names, self._read_derived_key)
        scope.named_windows, scope.scalars = self._windows, self._scalars
        return scope

    def _read_derived_key(self, node: exp.Expr) -> Node | None:
        """Return the key that a column made of columns is, if it is grouped by."""
        if isinstance(node, exp.Column) or not is_of_columns(node):
            return None
        try:
            column = read_node(self._text, node)
        except InvalidQuestion:  # it may still be an expression over released values
            return None
        return self._to_key(column) if column in self._keys else None

    def _read_name(self, node: exp.Column) -> Node:
        """Return what a name stands for: something selected by that name, a key, or a column of the answer."""
        target = self._text.resolve(node)
        if target is not node:
            return self._pick_single(node, self._by_node[id(target)])
        projected = self._text.projected
        if projected is not None and self._text.canonical(node.this, projected) not in projected:
            return self._read_released_name(node)
        column = read_reference(self._text, node)
        histogram = self._calls.histogram
        if column in self._keys or (histogram is not None and column == histogram[0]):
            return self._to_key(column)
        return self._read_released_name(node)

    def _read_released_name(self, node: exp.Column) -> Node:
        """Return the column of the answer that a name stands for."""
        names = released_names(self._columns)
        name = self._text.canonical(node.this, names)
        if name not in names:
            refuse_name(self._text, node, [*(key.name for key in self._keys), *self._text.aliases, *names])
        return names[name]

    def _pick_single(self, node: exp.Expr, columns: Sequence[Node]) -> Node:
        if len(columns) != 1:
            self._text.refuse(node, f"{kind(node)} is several columns; name one of them")
        return columns[0]

    def _read_having(self, clause: exp.Expr | None) -> Condition | None:
        if clause is None:
            return None
        self._text.take(clause, "this")
        having = read_having(self._scope(), clause.this)
        if any(windows_in(having)):
            self._text.refuse(clause, "HAVING comes before windows; write this after QUALIFY")
        return having

    def _read_qualify(self, clause: exp.Expr | None) -> Condition | None:
        if clause is None:
            return None
        self._text.take(clause, "this")
        qualify = read_having(self._scope(), clause.this)
        if not any(windows_in(qualify, *(column.of for column in self._columns))):
            self._text.refuse(clause, "QUALIFY is a condition on windows, and there is none; write it after HAVING")
        return qualify

    def _read_order(self, clause: exp.Expr | None) -> tuple[Order, ...]:
        if clause is None:
            return ()
        self._text.take(clause, "expressions")
        return tuple(self._read_term(term) for term in clause.expressions)

    def _read_term(self, by: exp.Expr) -> Order:
        self._text.take(by, "this", "desc", "nulls_first")
        if isinstance(by.this, exp.Literal) and not by.this.is_string:
            of = self._pick_single(by.this, self._by_node[id(self._text.resolve(by.this))])
        else:
            of = read_released(self._scope(), by.this)
        if is_constant(of):
            self._text.refuse(by.this, f"{kind(by.this)} is the same in every row; order by a measure or a category")
        return Order(of, bool(by.args.get("desc")), bool(by.args.get("nulls_first")))

    def _read_number(self, clause: exp.Expr | None, what: str) -> int | None:
        if clause is None:
            return None
        if not isinstance(clause, exp.Limit | exp.Offset):
            self._text.refuse(clause, f"{kind(clause)} is not supported; write it like LIMIT 10")
        self._text.take(clause, "expression")
        return read_whole(self._text, clause.expression, what)


def is_of_columns(node: exp.Expr) -> bool:
    """Return whether what is selected is a column, or made of columns: a key, if it is grouped by."""
    if isinstance(node, exp.Column):
        return not isinstance(node.this, exp.Star)
    return (is_derived(node) or isinstance(node, exp.Substring)) and not has_measure(node) and not has_window(node)


def has_window(node: exp.Expr) -> bool:
    """Return whether a window is in a node."""
    return node.find(exp.Window) is not None


def released_names(columns: Sequence[ViewColumn]) -> dict[str, Node]:
    """Return what is shown, by what its columns are called."""
    # Measures that go together are answered, and named, by one question: the names are those of the answer to come.
    measures = tuple(dict.fromkeys(measure for column in columns for measure in measures_in(column.of)))
    shared = Shared.of(measures, lambda _: False)  # which changes no name
    names = {
        measure: answer_names(shared.measures[which])[place]
        for measure, (which, place) in zip(measures, shared.places, strict=True)
    }
    plain = {names[column.of.measure]: column.of for column in columns if isinstance(column.of, MeasureRef)}
    return {**plain, **{column.name: column.of for column in columns if column.name is not None}}


def refuse_name(text: SqlText, node: exp.Expr, names: Sequence[str]) -> NoReturn:
    """Refuse a name that stands for nothing."""
    choices = ", ".join(dict.fromkeys(names)) or "nothing"
    text.refuse(node, f"{kind(node)} is not a column of the answer; name one of {choices}, or a measure")


def parse_released(
    sql: str, what: str, names: Mapping[str, Node], columns: Mapping[str, Column], *, condition: bool = False
) -> Node:
    """Read an expression over an answer whose columns have these names, or a condition on them."""
    text = SqlText(sql, what, columns=columns)

    def name(node: exp.Column) -> Node:
        column = text.canonical(node.this, names)
        if column not in names or node.args.get("table"):
            refuse_name(text, node, list(names))
        text.take(node, "this")
        text.take(node.this, "this", "quoted")
        return names[column]

    def call(node: exp.Expr) -> NoReturn:
        text.refuse(node, f"{kind(node)} is not understood here; name columns of the answer: {', '.join(names)}")

    scope = ReleasedScope(text, call, name, lambda _: None)
    read = read_having if condition else read_released
    return text.read_expression(lambda tree: read(scope, tree), "count > 100" if condition else "100.0 * count / 12")
