"""What stands after FROM, if it is more than a name: a SELECT with one row for each unit, and joins.

FROM (SELECT patient, MAX(x) AS m, COUNT(*) AS n FROM visits WHERE ... GROUP BY patient) AS t
FROM (SELECT DISTINCT patient FROM visits)
FROM visits JOIN prescriptions USING (patient) LEFT JOIN airports ON visits.destination = airports.code
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import checked
from inbounds.query.grammar.rows import condition
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import is_number, read_column
from inbounds.query.sql.unit_measures import read_unit_measure
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.relation import Joined, JoinOnUnit, JoinPublic, UnitRows
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitMeasure

INNER = ("expressions", "from_", "joins", "where", "group", "distinct")
LIKE = "(SELECT patient, MAX(age) AS oldest FROM visits GROUP BY patient)"
MOST_JOINS = 8
"""So many tables can be joined to the first."""
MOST_NESTED = 4
"""A SELECT may stand so deep in others."""


def read_relation(text: SqlText, tree: exp.Select, tables: Tables | None, depth: int = 0) -> Table | None:
    """Read what is made of tables; None if a single name stands after FROM."""
    source, joins = tree.args.get("from_"), tree.args.get("joins") or []
    if source is None or tables is None or (isinstance(source.this, exp.Table) and not joins):
        return None
    text.take(source, "this")
    called, first = _part(text, source.this, tables, depth)
    text.table = called
    if joins:
        first = _joined(text, joins, called, first, tables, depth)
    text.ask(first, called)
    text.unit = first.owner or ""
    return first


def _part(text: SqlText, node: exp.Expr, tables: Tables, depth: int) -> tuple[str, Table]:
    """Read a private table or an inner SELECT, and what it is called."""
    if isinstance(node, exp.Subquery):
        text.take(node, "this", "alias")
        return _inner(text, node, tables, depth + 1)
    name, called = _named(text, node, tables)
    if name not in tables.private:
        text.refuse(node.this, tables.why_not(name))
    return called, tables.private[name]


def _named(text: SqlText, node: exp.Expr, tables: Tables) -> tuple[str, str]:
    """Return the name of a table, and what the question calls it."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        text.refuse(node, f"FROM takes tables of the contract and SELECT in brackets, got {kind(node)}; name a table")
    text.take(node, "this", "alias")
    text.take(node.this, "this", "quoted")
    name = text.canonical(node.this, (*tables.private, *tables.public))
    return name, _alias(text, node) or name


def _alias(text: SqlText, node: exp.Expr) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    text.take(alias, "this")
    return text.given_name(alias.this)


# One row for each unit.


def _inner(text: SqlText, node: exp.Subquery, tables: Tables, depth: int) -> tuple[str, Table]:
    tree, called = node.this, _alias(text, node) or "t"
    if not isinstance(tree, exp.Select):
        text.refuse(node, f"a subquery must be one SELECT, got {kind(tree)}; write it like {LIKE}")
    if depth > MOST_NESTED:
        raise InvalidQuestion(f"subqueries may be nested at most {MOST_NESTED} deep; ask something simpler")
    for name, value in tree.args.items():
        if value and name not in INNER:
            at = value[0] if isinstance(value, list) else value
            remedy = "write COUNT(*) AS n inside and WHERE n > 3 outside" if name == "having" else "leave it out"
            text.refuse(at, f"{kind(at)} is not supported in a subquery; {remedy}")
    text.take(tree, *INNER)
    with text.inside():
        of = read_relation(text, tree, tables, depth)
        if of is None:
            text.take(tree.args["from_"], "this") if tree.args.get("from_") else _no_from()
            called_inside, of = _part(text, tree.args["from_"].this, tables, depth)
            text.ask(of, called_inside)
            text.unit = of.owner or ""
        return called, _unit_rows(text, tree, called, of)


def _no_from() -> NoReturn:
    raise InvalidQuestion("a subquery needs FROM and the name of a table; add them")


def _unit_rows(text: SqlText, tree: exp.Select, called: str, of: Table) -> Table:
    if of.owner is None:
        text.refuse(
            tree, f"each row of {of.name} is a unit of its own, so there is nothing to group; query it directly"
        )
    kept = None
    if (where := tree.args.get("where")) is not None:
        text.take(where, "this")
        kept = checked(of, condition(text, where.this))
    measures = {} if tree.args.get("distinct") else _grouped(text, tree, of.owner)
    if (distinct := tree.args.get("distinct")) is not None:
        text.take(distinct)
        if tree.args.get("group") or [read_column(text, one) for one in tree.expressions] != [of.owner]:
            text.refuse(tree, f"DISTINCT takes the unit alone; write SELECT DISTINCT {of.owner}, or GROUP BY it")
    made = UnitRows(called, of, {name: measure for name, (measure, _) in measures.items()}, kept)
    for name, (_, node) in measures.items():
        try:
            made.columns[name].numbers  # noqa: B018  which is refused where it stands
        except InvalidQuestion as problem:
            text.refuse(node, str(problem))
    return made.table


def _grouped(text: SqlText, tree: exp.Select, unit: str) -> dict[str, tuple[UnitMeasure, exp.Expr]]:
    """Read what is made of the rows of each unit."""
    group = tree.args.get("group")
    if group is None:
        text.refuse(tree, f"a subquery must have one row per {unit}; add GROUP BY {unit}")
    text.take(group, "expressions")
    if [_grouped_by(text, one, tree) for one in group.expressions] != [unit]:
        text.refuse(group, f"a subquery must have one row per {unit}; write GROUP BY {unit} alone")
    found: dict[str, tuple[UnitMeasure, exp.Expr]] = {}
    for selected in tree.expressions:
        if isinstance(selected, exp.Column):
            if read_column(text, selected) != unit:
                text.refuse(
                    selected,
                    f"{selected.name} may differ between the rows of one {unit}; use MAX or MIN of a number, and "
                    "choose a category in WHERE",
                )
            continue
        if not isinstance(selected, exp.Alias):
            text.refuse(selected, f"{kind(selected)} needs a name; write {kind(selected)} AS n")
        text.take(selected, "this", "alias")
        name = text.given_name(selected.args["alias"])
        if name in found or name == unit:
            text.refuse(selected, f"{name} is used twice; give each column its own name")
        found[name] = read_unit_measure(text, selected.this), selected.this
    return found


def _grouped_by(text: SqlText, node: exp.Expr, tree: exp.Select) -> str:
    """Return the column that an inner SELECT groups by, which may be told by its position."""
    if is_number(node, 1) and tree.expressions:
        text.take(node, "this")
        node = tree.expressions[0]
    return read_column(text, node)


# Joins.


def _joined(text: SqlText, joins: list[exp.Expr], called: str, first: Table, tables: Tables, depth: int) -> Table:
    if len(joins) > MOST_JOINS:
        text.refuse(joins[MOST_JOINS], f"at most {MOST_JOINS} tables can be joined to the first; leave some out")
    parts: list[JoinOnUnit | JoinPublic] = []
    for node in joins:
        join = _join(text, node, called, first, parts, tables, depth)
        parts.append(join)
        try:
            made = Joined(called, first, tuple(parts))
        except InvalidQuestion as problem:
            text.refuse(
                node.this if join.name in [called, *(one.name for one in parts[:-1])] else _by(node), str(problem)
            )
        private = {called: first, **{part.name: part.table for part in parts if isinstance(part, JoinOnUnit)}}
        unit = {name: {table.owner: first.owner} for name, table in private.items() if table.owner and first.owner}
        text.names = {name: {**columns, **unit.get(name, {})} for name, columns in made.names.items()}
        text.unmatched = {part.name for part in parts if isinstance(part, JoinOnUnit) and part.keep}
    return made.table


def _join(
    text: SqlText,
    node: exp.Expr,
    called: str,
    first: Table,
    before: list[JoinOnUnit | JoinPublic],
    tables: Tables,
    depth: int,
) -> JoinOnUnit | JoinPublic:
    side, sort = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
    if side not in ("", "LEFT") or sort not in ("", "INNER", "OUTER") or node.args.get("method"):
        text.refuse(
            node.this, f"{side or sort or node.args.get('method')} JOIN is not supported; {_would_do(first, tables)}"
        )
    text.take(node, "this", "side", "kind", "using", "on")
    keep, parts = side == "LEFT", {called: first.owner}
    parts.update((one.name, one.table.owner) for one in before if isinstance(one, JoinOnUnit))
    if isinstance(node.this, exp.Table) and text.canonical(node.this.this, tables.public) in tables.public:
        name, as_ = _named(text, node.this, tables)
        public = tables.public[name]
        left, right = _pair(text, node, as_, first, tables)
        holders = [called, *(one.name for one in before)]
        to = left[0] or _holder(left[1], called, first, before)
        if right[1] != public.key or to not in holders:
            text.refuse(
                _by(node),
                f"{name} is joined on its key {public.key} only; {_would_do(first, tables)}",
            )
        return JoinPublic(as_, public, to, left[1], keep)
    as_, table = _part(text, node.this, tables, depth)
    left, right = _pair(text, node, as_, first, tables)
    if left[0] in text.unmatched:
        text.refuse(
            _by(node),
            f"{left[0]}.{left[1]} is missing in rows without a match; join {as_} to {called}.{first.owner}",
        )
    owner = parts.get(left[0] or called, "") if left[0] or left[1] == first.owner else ""
    if first.owner is None or left[1] != owner or right[1] != table.owner:
        text.refuse(_by(node), f"a row of this join could belong to two units; {_would_do(first, tables)}")
    return JoinOnUnit(as_, table, keep)


def _by(node: exp.Expr) -> exp.Expr:
    """Return what a join is by, or the join if that is not said."""
    using, on = node.args.get("using"), node.args.get("on")
    found = using[0] if using else on
    return found if isinstance(found, exp.Expr) else node


def _holder(name: str, called: str, first: Table, before: list[JoinOnUnit | JoinPublic]) -> str:
    """Return the table that has a column, if one has it."""
    columns = {called: first.columns}
    columns.update((one.name, one.table.columns) for one in before if isinstance(one, JoinOnUnit))
    found = [table for table, names in columns.items() if name in names]
    return found[0] if len(found) == 1 else ""


def _pair(
    text: SqlText, node: exp.Expr, called: str, first: Table, tables: Tables
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Read what a join is by: a column of what stands before it and one of the table that is joined."""
    using, on = node.args.get("using"), node.args.get("on")
    if using and len(using) == 1 and isinstance(using[0], exp.Identifier):
        text.take(using[0], "this", "quoted")
        name = text.canonical(using[0], _columns(first, tables))
        return ("", name), (called, name)
    if isinstance(on, exp.Paren):
        text.take(on, "this")
        on = on.this
    if using or not isinstance(on, exp.EQ):
        text.refuse(node, f"a join takes one pair of columns; {_would_do(first, tables)}")
    text.take(on, "this", "expression")
    left, right = (_side(text, one, called, _columns(first, tables)) for one in (on.this, on.expression))
    if left[0] == called:
        left, right = right, left
    if right[0] != called or left[0] == called:
        text.refuse(on, f"each column needs its table's name, with {called} on one side; {_would_do(first, tables)}")
    return left, right


def _columns(first: Table, tables: Tables) -> list[str]:
    """Return the names of all columns that tables are joined by."""
    private = [first, *tables.private.values()]
    found = [name for one in private for name in (*one.columns, one.owner or "")]
    return [*found, *(name for one in tables.public.values() for name in (*one.columns, one.key))]


def _side(text: SqlText, node: exp.Expr, called: str, columns: list[str]) -> tuple[str, str]:
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier) or node.args.get("db"):
        text.refuse(node, f"a column is needed here, got {kind(node)}; name one from the contract")
    text.take(node, "this", "table")
    table = node.args.get("table")
    for name in (node.this, table):
        if name is not None:
            text.take(name, "this", "quoted")
    of = "" if table is None else text.canonical(table, (called, text.table, *text.names))
    return of, text.canonical(node.this, columns)


def _on_unit(first: Table, other: Table) -> str:
    """Say how a private table is joined to another."""
    if first.owner == other.owner:
        return f"{other.name} USING ({first.owner})"
    return f"{other.name} ON {first.name}.{first.owner} = {other.name}.{other.owner}"


def _would_do(first: Table, tables: Tables) -> str:
    """Say which joins would do."""
    found = []
    if first.owner is not None:
        found += [_on_unit(first, one) for one in list(tables.private.values())[:3] if one is not first]
    found += [f"{one.name} ON a column = {one.name}.{one.key}" for one in list(tables.public.values())[:3]]
    return f"write JOIN {', or JOIN '.join(found)}" if found else "nothing can be joined here; query one table"
