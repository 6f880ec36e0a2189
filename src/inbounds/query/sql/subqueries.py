"""A SELECT in place of a table: rows grouped within a unit, or rows with other columns.

(SELECT patient, MAX(x) AS m, COUNT(*) AS n FROM visits WHERE ... GROUP BY patient HAVING ...) AS t
(SELECT DISTINCT patient FROM visits)
(SELECT ward, age / 10 AS decade FROM visits WHERE ...) AS t
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.grammar.free_text import FreeTexts
from inbounds.query.grammar.reader import read_condition_node
from inbounds.query.grammar.rows import KNOWN, RowScope, condition, read_node_or_unit
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import is_number
from inbounds.query.sql.other_rows import refuse_other_rows
from inbounds.query.sql.unit_measures import OF_COLUMN, read_unit_measure
from inbounds.query.tables.relation import Projected, UnitRows, identified
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitMeasure

INNER = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")
CHOOSING = {
    "limit": "other people's rows decide which it leaves: choose rows by a condition in WHERE",
    "qualify": "other people's rows decide which it leaves: choose rows by a condition in WHERE",
    "order": "leave it out: rows of a subquery have no order",
}
"""What to do in place of a clause that looks at everybody's rows."""
MEASURED = (*OF_COLUMN, "COUNT", "LEAST", "GREATEST")


@dataclass(frozen=True)
class Projection:
    """Rows of a table that meet a condition, and what an inner SELECT calls what it makes of their columns."""

    of: Table
    columns: dict[str, Node]
    condition: Condition | None

    def table(self, text: SqlText, node: exp.Expr, name: str) -> Table:
        """Return the rows as a table of their own."""
        columns: dict[str, Node] = {}
        identifiers: dict[str, str] = {}
        unit = None
        for label, column in self.columns.items():
            if isinstance(column, ColumnRef) and column.name == self.of.owner:
                if unit is not None:
                    text.refuse(node, f"the unit {self.of.owner} is selected twice; select it once")
                unit = label
            elif isinstance(column, ColumnRef) and column.name in self.of.identifiers:
                identifiers[label] = column.name
            else:
                columns[label] = column
        return Projected(name, self.of, columns, identifiers, self.condition, unit).table


def keep_rows(table: Table, name: str, condition: Condition) -> Table:
    """Return the rows of a table that meet a condition, with all their columns."""
    columns: dict[str, Node] = {column: ColumnRef(column) for column in table.columns}
    identifiers = {identifier: identifier for identifier in table.identifiers}
    return Projected(name, table, columns, identifiers, check_condition(table, condition)).table


def is_grouped(tree: exp.Select) -> bool:
    """Return whether a SELECT makes one row of several."""
    return bool(tree.args.get("group") or tree.args.get("distinct") or tree.args.get("having")) or any(
        (function_name(node) in OF_COLUMN or function_name(node) == "COUNT")
        and node.find_ancestor(exp.Window, exp.Select) is tree
        for selected in tree.expressions
        for node in selected.walk()
    )


def read_where(text: SqlText, parts: Sequence[exp.Expr]) -> Condition | None:
    """Read conditions that must all be true; what they list of a text is what it can be from then on."""
    for part in parts:
        _list_text(text, part)
    conditions = [condition(text, part) for part in parts]
    return join_conditions(And, *conditions) if conditions else None


def _list_text(text: SqlText, part: exp.Expr) -> None:
    """Note the texts that a condition lists for a text, or for a part of it."""
    part = part.unnest()
    values: list[exp.Expr] = []
    if isinstance(part, exp.In) and part.expressions:
        values = list(part.expressions)
    elif isinstance(part, exp.EQ) and isinstance(part.expression, exp.Literal):
        values = [part.expression]
    if values and all(isinstance(value, exp.Literal) and value.is_string for value in values):
        of = FreeTexts(text).find(part.this)
        if of is not None:
            text.text_parts[of] = tuple(dict.fromkeys(str(value.this) for value in values))


# Rows with other columns.


def read_projection(
    text: SqlText, tree: exp.Select, of: Table, where: Condition | None, names: list[str]
) -> Projection:
    """Read a SELECT that keeps rows as they are, with other columns."""
    columns: dict[str, Node] = {}
    selections: dict[str, exp.Expr] = {}
    for place, selected in enumerate(tree.expressions):
        if isinstance(selected, exp.Star) or (isinstance(selected, exp.Column) and isinstance(selected.this, exp.Star)):
            columns.update(_read_star(text, selected, of))
            continue
        node, name = selected, names[place] if place < len(names) else None
        if isinstance(selected, exp.Alias):
            text.take(selected, "this", "alias")
            node = selected.this
            alias = text.read_name(selected.args["alias"])
            name = name or alias
        refuse_other_rows(text, node)
        column = read_node_or_unit(text, node)
        if not (isinstance(column, ColumnRef) and column.name in (*of.identifiers, of.owner)):
            text.fit(node, lambda table, column=column: table.column(column))  # type: ignore[misc]
        if name is None:
            if not isinstance(node, exp.Column):
                text.refuse(selected, f"{kind(selected)} needs a name; write {kind(selected)} AS x")
            name = text.canonical(node.this, [column.name])
            name = str(node.name) if name.endswith(f".{node.name}") or "." in name else name
        if name in columns:
            text.refuse(selected, f"{name} is used twice; give each column its own name")
        columns[name] = column
        selections[name] = selected
    is_hidden = not any(isinstance(column, ColumnRef) and column.name == of.owner for column in columns.values())
    if is_hidden and of.owner is not None and of.owner in selections:
        unit = quote_name(of.owner)
        text.refuse(selections[of.owner], f"{unit} is the unit, and this column is not; call it otherwise")
    return Projection(of, columns, where)


def _read_star(text: SqlText, node: exp.Expr, of: Table) -> dict[str, Node]:
    """Return all columns, or all of one table."""
    table = node.args.get("table")
    text.take_all(node)
    if table is not None:
        known = (text.table, *text.names)
        alias = text.canonical(table, known)
        if alias not in known:
            text.refuse(node, f"there is no table {kind(table)} here; there are {', '.join(dict.fromkeys(known))}")
        if alias in text.names:
            is_unmatched = alias in text.unmatched  # where the unit may be missing
            names = {own: label for own, label in text.names[alias].items() if not (is_unmatched and label == of.owner)}
            return {own: ColumnRef(label) for own, label in names.items()}
    if text.projected is not None:
        return dict(text.projected)
    names = {name: name for name in (*of.columns, *of.identifiers, *([] if of.owner is None else [of.owner]))}
    return {name: ColumnRef(label) for name, label in (names | text.inner_names).items()}


# Rows grouped within a unit.


class _GroupedReader:
    """Reads a SELECT that makes one row of several of a unit."""

    def __init__(self, text: SqlText, tree: exp.Select, of: Table, names: list[str]) -> None:
        self.text, self.tree, self.of, self.names = text, tree, of, names
        self.measures: Measures = {}
        self.keys: dict[str, Node] = {}
        self.identifiers: dict[str, str] = {}
        self.unit: str | None = None
        """What the unit is called from here on."""

    @property
    def owner(self) -> str:
        assert self.of.owner is not None
        return self.of.owner

    def read(self, alias: str, where: Condition | None) -> Table:
        text, tree = self.text, self.tree
        if self.of.owner is None:
            text.refuse(
                tree,
                f"each row of {self.of.name} is a unit of its own, so there is nothing to group; query it directly",
            )
        grouped_by = self._read_distinct() if tree.args.get("distinct") is not None else self._read_group()
        self._refuse_shared(grouped_by)
        where = identified(self.of, [key.name for key, _ in grouped_by if isinstance(key, ColumnRef)], where)
        self._read_selected(grouped_by)
        having = tree.args.get("having")
        calls = dict(_find_measures(text, having, self.measures))
        relation = UnitRows(alias, self.of, self._made(), where, self.keys, self.identifiers, None, self.unit)
        for name, (_, node) in self.measures.items():
            try:
                relation.columns[name].column  # noqa: B018  which is refused where it stands
            except InvalidQuestion as problem:
                text.refuse(node, str(problem))
        if having is None:
            return relation.table
        text.take(having, "this")
        test = _read_having(text, having.this, relation.table, calls)
        return UnitRows(alias, self.of, self._made(), where, self.keys, self.identifiers, test, self.unit).table

    def _made(self) -> dict[str, UnitMeasure]:
        return {name: measure for name, (measure, _) in self.measures.items()}

    def _read_group(self) -> list[tuple[Node, exp.Expr]]:
        group, owner = self.tree.args.get("group"), quote_name(self.owner)
        if group is None:
            for selected in self.tree.expressions:
                refuse_other_rows(self.text, selected)
            self.text.refuse(self.tree, f"each row of this subquery must belong to one {owner}; add GROUP BY {owner}")
        self.text.take(group, "expressions")
        return [(self.read_key(key), key) for key in group.expressions]

    def _read_distinct(self) -> list[tuple[Node, exp.Expr]]:
        self.text.take(self.tree.args["distinct"])
        if self.tree.args.get("group"):
            self.text.refuse(
                self.tree, f"DISTINCT takes columns; write SELECT DISTINCT {quote_name(self.owner)}, or GROUP BY it"
            )
        return [(self.read_key(unnamed(key)), key) for key in self.tree.expressions]

    def read_key(self, node: exp.Expr) -> Node:
        """Read what rows are grouped by, which may be told by its position or its name."""
        text = self.text
        if is_number(node) and str(node.this).isdigit() and 1 <= int(node.this) <= len(self.tree.expressions):
            text.take(node, "this")
            node = unnamed(self.tree.expressions[int(node.this) - 1])
        elif isinstance(node, exp.Column) and not node.args.get("table"):
            named = {str(one.alias): one.this for one in self.tree.expressions if isinstance(one, exp.Alias)}
            alias = text.canonical(node.this, named)
            known = (*self.of.columns, *self.of.identifiers, self.owner)
            if alias in named and text.canonical(node.this, known) not in known:
                text.take(node, "this")
                text.take(node.this, "this", "quoted")
                node = named[alias]
        refuse_other_rows(text, node)
        key = read_node_or_unit(text, node)
        if not (isinstance(key, ColumnRef) and key.name in (*self.of.identifiers, self.owner)):
            text.fit(node, lambda table: table.column(key))
        return key

    def _refuse_shared(self, grouped_by: list[tuple[Node, exp.Expr]]) -> None:
        """Refuse a grouping in which rows of several units would be one group."""
        names = [key.name for key, _ in grouped_by if isinstance(key, ColumnRef)]
        if not self.of.is_of_one_unit(names):
            by = ", ".join(quote_name(key.name) for key, _ in grouped_by)
            written = ", ".join(kind(unnamed(key)) for _, key in grouped_by)
            owner = quote_name(self.owner)
            at, clause = self.tree.args.get("group") or self.tree, "GROUP BY"
            if self.tree.args.get("group") is None:
                clause = "SELECT DISTINCT"
            self.text.refuse(
                at,
                f"each row of this subquery must belong to one {owner}; grouping by {by} alone would mix people; "
                f"write {clause} {owner}, {written}",
            )

    def _read_selected(self, grouped_by: list[tuple[Node, exp.Expr]]) -> None:
        text, keys = self.text, [key for key, _ in grouped_by]
        for place, selected in enumerate(self.tree.expressions):
            name = self.names[place] if place < len(self.names) else None
            node = selected
            if isinstance(selected, exp.Alias):
                text.take(selected, "this", "alias")
                node, alias = selected.this, text.read_name(selected.args["alias"])
                name = name or alias
            refuse_other_rows(text, node)
            if function_name(node) in MEASURED or function_name(node) not in {"", *KNOWN}:
                if name is None:
                    text.refuse(selected, f"{kind(selected)} needs a name; write {kind(selected)} AS n")
                self._refuse_twice(selected, name)
                self.measures[name] = read_unit_measure(text, node), node
                continue
            key = read_node_or_unit(text, node)
            if key not in keys:
                text.fit(node, lambda table, key=key: table.column(key))  # type: ignore[misc]
                text.refuse(
                    selected,
                    f"{kind(node)} may differ between the rows of one {self.owner}; write MAX({kind(node)}), group by "
                    "it as well, or choose a category in WHERE",
                )
            if name is None and isinstance(node, exp.Column) and key.name.endswith(f".{node.name}"):
                name = str(node.name)  # as any database calls it
            self._add_key(key, name, selected)
        for key in keys:  # what is not selected tells rows apart all the same
            if key not in self.keys.values() and key.name not in (*self.identifiers.values(), self.owner):
                self._add_key(key, f"{key.name} ", self.tree)

    def _add_key(self, key: Node, name: str | None, node: exp.Expr) -> None:
        if isinstance(key, ColumnRef) and key.name == self.owner:
            if self.unit is not None:
                self.text.refuse(node, f"the unit {self.owner} is selected twice; select it once")
            self.unit = name or self.owner
            return
        label = name or key.name
        self._refuse_twice(node, label)
        if isinstance(key, ColumnRef) and key.name in self.of.identifiers:
            self.identifiers[label] = key.name
        else:
            self.keys[label] = key

    def _refuse_twice(self, node: exp.Expr, name: str) -> None:
        if name in self.measures or name in self.keys or name in self.identifiers or name == (self.unit or self.owner):
            self.text.refuse(node, f"{name} is used twice; give each column its own name")


Measures = dict[str, tuple[UnitMeasure, exp.Expr]]


def read_having(
    sql: str, of: Table, measures: dict[str, UnitMeasure], group: Callable[[dict[str, UnitMeasure]], Table]
) -> tuple[dict[str, UnitMeasure], Condition]:
    """Read what could stand after HAVING; return the measures, with those that it compares, and the condition."""
    text = SqlText(sql, "a condition")
    text.ask(of, "")
    text.names = dict(of.names)

    def read(tree: exp.Expr) -> tuple[dict[str, UnitMeasure], Condition]:
        known: Measures = {name: (measure, tree) for name, measure in measures.items()}
        calls = dict(_find_measures(text, tree, known))
        made = {name: measure for name, (measure, _) in known.items()}
        return made, _read_having(text, tree, group(made), calls)

    return text.read_expression(read, "COUNT(*) >= 3")


def _find_measures(text: SqlText, having: exp.Expr | None, measures: Measures) -> Iterator[tuple[int, ColumnRef]]:
    """Yield the measures that HAVING compares, each with the column that it is from then on; note them."""
    if having is None:
        return
    for node in having.find_all(exp.Anonymous):
        if function_name(node) in (*OF_COLUMN, "COUNT"):
            measure = read_unit_measure(text, node)
            known = next((name for name, (other, _) in measures.items() if other == measure), None)
            name = known or f"{measure} "
            measures.setdefault(name, (measure, node))
            yield id(node), ColumnRef(name)


def _read_having(text: SqlText, node: exp.Expr, table: Table, calls: dict[int, ColumnRef]) -> Condition:
    with text.inside():
        text.ask(table, table.name)
        return check_condition(table, read_condition_node(_HavingScope(text, calls), node))


class _HavingScope(RowScope):
    """Calls of measures are columns of the groups."""

    def __init__(self, text: SqlText, calls: dict[int, ColumnRef]) -> None:
        super().__init__(text)
        self._calls = calls

    def whole(self, node: exp.Expr) -> Node | None:
        return self._calls.get(id(node))

    def _side(self, node: exp.Expr) -> Node:
        measure = self._calls.get(id(node))
        return super()._side(node) if measure is None else measure


def mixes_units(text: SqlText, tree: exp.Select, of: Table, names: list[str]) -> bool:
    """Return whether a SELECT groups rows of several units by what can be shown, as an answer does."""
    if of.owner is None:
        return True
    reader, grouped_by = _GroupedReader(text, tree, of, names), []
    group = tree.args.get("group")
    # Without GROUP BY, a unit that is selected beside a measure is one that should be grouped by.
    selected = [node for node in map(unnamed, tree.expressions) if isinstance(node, exp.Column)]
    for key in selected if group is None else group.find_all(exp.Column, exp.Literal):
        with suppress(InvalidQuestion):  # what it is made of says nothing about units
            grouped_by.append(reader.read_key(key))
    keys = [key.name for key in grouped_by if isinstance(key, ColumnRef)]
    identifiers = [of.identifiers[name] for name in keys if name in of.identifiers]
    # Part of a key is meant to group the rows of one person, and is refused as such.
    is_part = any(not one.is_text and one.keys_of is None for one in identifiers)
    return not (is_part or of.is_of_one_unit(keys))


def read_grouped(
    text: SqlText, tree: exp.Select, alias: str, of: Table, where: Condition | None, names: list[str]
) -> Table:
    """Read a SELECT that makes one row of several of a unit."""
    return _GroupedReader(text, tree, of, names).read(alias, where)


def unnamed(node: exp.Expr) -> exp.Expr:
    """Return what is selected, without the name given to it."""
    return node.this if isinstance(node, exp.Alias) else node
