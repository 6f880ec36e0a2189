"""What stands after FROM, if it is more than a name: a SELECT with one row for each unit, and joins.

FROM (SELECT patient, MAX(x) AS m, COUNT(*) AS n FROM visits WHERE ... GROUP BY patient) AS t
FROM (SELECT DISTINCT patient FROM visits)
FROM visits JOIN prescriptions USING (patient) LEFT JOIN airports ON visits.destination = airports.code
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.helper import ensure_list

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import check_condition
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


Join = JoinOnUnit | JoinPublic


def take_clauses(
    text: SqlText, tree: exp.Select, clauses: Sequence[str], remedies: Mapping[str, str], where: str = ""
) -> None:
    """Take the clauses of a SELECT; refuse any other one, with a remedy of its own if there is one."""
    for clause, value in tree.args.items():
        if value and clause not in clauses:
            node = ensure_list(value)[0]
            name = kind(node) if isinstance(node, exp.Expr) else str(node)
            text.refuse(node, f"{name} is not supported{where}; {remedies.get(clause, 'leave it out')}")
    text.take(tree, *clauses)


def read_relation(text: SqlText, tree: exp.Select, tables: Tables | None, depth: int = 0) -> Table | None:
    """Read what is made of tables; None if a single name stands after FROM."""
    source, joins = tree.args.get("from_"), tree.args.get("joins") or []
    if source is None or tables is None or (isinstance(source.this, exp.Table) and not joins):
        return None
    text.take(source, "this")
    alias, first = _read_table(text, source.this, tables, depth)
    text.table = alias
    if joins:
        first = _read_joins(text, joins, alias, first, tables, depth)
    text.ask(first, alias)
    text.unit = first.owner or ""
    return first


def _read_table(text: SqlText, node: exp.Expr, tables: Tables, depth: int) -> tuple[str, Table]:
    """Read a private table or an inner SELECT, and what it is called."""
    if isinstance(node, exp.Subquery):
        text.take(node, "this", "alias")
        return _read_subquery(text, node, tables, depth + 1)
    name, alias = _read_table_name(text, node, tables)
    if name not in tables.private:
        text.refuse(node.this, tables.why_not(name))
    return alias, tables.private[name]


def _read_table_name(text: SqlText, node: exp.Expr, tables: Tables) -> tuple[str, str]:
    """Return the name of a table, and what the question calls it."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        text.refuse(node, f"FROM takes tables of the contract and SELECT in brackets, got {kind(node)}; name a table")
    text.take(node, "this", "alias")
    text.take(node.this, "this", "quoted")
    name = text.canonical(node.this, (*tables.private, *tables.public))
    return name, _read_alias(text, node) or name


def _read_alias(text: SqlText, node: exp.Expr) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    text.take(alias, "this")
    return text.read_name(alias.this)


# One row for each unit.


def _read_subquery(text: SqlText, node: exp.Subquery, tables: Tables, depth: int) -> tuple[str, Table]:
    tree, alias = node.this, _read_alias(text, node) or "t"
    if not isinstance(tree, exp.Select):
        text.refuse(node, f"a subquery must be one SELECT, got {kind(tree)}; write it like {LIKE}")
    if depth > MOST_NESTED:
        raise InvalidQuestion(f"subqueries may be nested at most {MOST_NESTED} deep; ask something simpler")
    take_clauses(text, tree, INNER, {"having": "write COUNT(*) AS n inside and WHERE n > 3 outside"}, " in a subquery")
    with text.inside():
        of = read_relation(text, tree, tables, depth)
        if of is None:
            source = tree.args.get("from_")
            if source is None:
                raise InvalidQuestion("a subquery needs FROM and the name of a table; add them")
            text.take(source, "this")
            inner_alias, of = _read_table(text, source.this, tables, depth)
            text.ask(of, inner_alias)
            text.unit = of.owner or ""
        return alias, _read_unit_rows(text, tree, alias, of)


def _read_unit_rows(text: SqlText, tree: exp.Select, alias: str, of: Table) -> Table:
    if of.owner is None:
        text.refuse(
            tree, f"each row of {of.name} is a unit of its own, so there is nothing to group; query it directly"
        )
    row_condition = None
    if (where := tree.args.get("where")) is not None:
        text.take(where, "this")
        row_condition = check_condition(of, condition(text, where.this))
    measures: dict[str, tuple[UnitMeasure, exp.Expr]] = {}
    if (distinct := tree.args.get("distinct")) is None:
        measures = _read_unit_measures(text, tree, of.owner)
    else:
        text.take(distinct)
        if tree.args.get("group") or [read_column(text, column) for column in tree.expressions] != [of.owner]:
            text.refuse(tree, f"DISTINCT takes the unit alone; write SELECT DISTINCT {of.owner}, or GROUP BY it")
    relation = UnitRows(alias, of, {name: measure for name, (measure, _) in measures.items()}, row_condition)
    for name, (_, node) in measures.items():
        try:
            relation.columns[name].numbers  # noqa: B018  which is refused where it stands
        except InvalidQuestion as problem:
            text.refuse(node, str(problem))
    return relation.table


def _read_unit_measures(text: SqlText, tree: exp.Select, unit: str) -> dict[str, tuple[UnitMeasure, exp.Expr]]:
    """Read what is made of the rows of each unit."""
    group = tree.args.get("group")
    if group is None:
        text.refuse(tree, f"a subquery must have one row per {unit}; add GROUP BY {unit}")
    text.take(group, "expressions")
    if [_read_group_key(text, key, tree) for key in group.expressions] != [unit]:
        text.refuse(group, f"a subquery must have one row per {unit}; write GROUP BY {unit} alone")
    measures: dict[str, tuple[UnitMeasure, exp.Expr]] = {}
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
        name = text.read_name(selected.args["alias"])
        if name in measures or name == unit:
            text.refuse(selected, f"{name} is used twice; give each column its own name")
        measures[name] = read_unit_measure(text, selected.this), selected.this
    return measures


def _read_group_key(text: SqlText, node: exp.Expr, tree: exp.Select) -> str:
    """Return the column that an inner SELECT groups by, which may be told by its position."""
    if is_number(node, 1) and tree.expressions:
        text.take(node, "this")
        node = tree.expressions[0]
    return read_column(text, node)


# Joins.


def _read_joins(text: SqlText, joins: list[exp.Expr], alias: str, first: Table, tables: Tables, depth: int) -> Table:
    if len(joins) > MOST_JOINS:
        text.refuse(joins[MOST_JOINS], f"at most {MOST_JOINS} tables can be joined to the first; leave some out")
    before: list[Join] = []
    # One after another: the ON of a join may name the tables before it, so each is known before the next is read.
    for node in joins:
        join = _read_join(text, node, alias, first, before, tables, depth)
        try:
            relation = Joined(alias, first, (*before, join))
        except InvalidQuestion as problem:
            is_name_used = join.name in [alias, *(other.name for other in before)]
            text.refuse(node.this if is_name_used else _key_of_join(node), str(problem))
        before.append(join)
        private = _private_tables(alias, first, before)
        unit = {name: {table.owner: first.owner} for name, table in private.items() if table.owner and first.owner}
        text.names = {name: {**columns, **unit.get(name, {})} for name, columns in relation.names.items()}
        text.unmatched = {join.name for join in before if join.name in private and join.keep}
    return relation.table


def _private_tables(alias: str, first: Table, joins: Sequence[Join]) -> dict[str, Table]:
    """Return the private tables of a join, by what the question calls them."""
    return {alias: first, **{join.name: join.table for join in joins if isinstance(join, JoinOnUnit)}}


def _read_join(
    text: SqlText,
    node: exp.Expr,
    alias: str,
    first: Table,
    before: list[Join],
    tables: Tables,
    depth: int,
) -> Join:
    """Read a join: of a public table by its key, or of a private one on the unit, so that each row stays one unit's."""
    side, sort = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
    if side not in ("", "LEFT") or sort not in ("", "INNER", "OUTER") or node.args.get("method"):
        text.refuse(
            node.this,
            f"{side or sort or node.args.get('method')} JOIN is not supported; {_suggest_joins(first, tables)}",
        )
    text.take(node, "this", "side", "kind", "using", "on")
    keep = side == "LEFT"
    if isinstance(node.this, exp.Table) and text.canonical(node.this.this, tables.public) in tables.public:
        name, join_alias = _read_table_name(text, node.this, tables)
        public = tables.public[name]
        left, right = _read_pair(text, node, join_alias, first, tables)
        holders = [alias, *(join.name for join in before)]
        to = left[0] or _find_holder(left[1], _private_tables(alias, first, before))
        if right[1] != public.key or to not in holders:
            text.refuse(
                _key_of_join(node),
                f"{name} is joined on its key {public.key} only; {_suggest_joins(first, tables)}",
            )
        return JoinPublic(join_alias, public, to, left[1], keep)
    join_alias, table = _read_table(text, node.this, tables, depth)
    left, right = _read_pair(text, node, join_alias, first, tables)
    if left[0] in text.unmatched:
        text.refuse(
            _key_of_join(node),
            f"{left[0]}.{left[1]} is missing in rows without a match; join {join_alias} to {alias}.{first.owner}",
        )
    # A private table is joined on the unit only, also by way of a table that was joined on it before.
    owners = {name: table.owner for name, table in _private_tables(alias, first, before).items()}
    owner = owners.get(left[0] or alias, "") if left[0] or left[1] == first.owner else ""
    if first.owner is None or left[1] != owner or right[1] != table.owner:
        text.refuse(
            _key_of_join(node), f"a row of this join could belong to two units; {_suggest_joins(first, tables)}"
        )
    return JoinOnUnit(join_alias, table, keep)


def _key_of_join(node: exp.Expr) -> exp.Expr:
    """Return what a join is by, or the join if that is not said."""
    using, on = node.args.get("using"), node.args.get("on")
    key = using[0] if using else on
    return key if isinstance(key, exp.Expr) else node


def _find_holder(column: str, private: Mapping[str, Table]) -> str:
    """Return the table that has a column, if one has it."""
    holders = [name for name, table in private.items() if column in table.columns]
    return holders[0] if len(holders) == 1 else ""


def _read_pair(
    text: SqlText, node: exp.Expr, alias: str, first: Table, tables: Tables
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Read what a join is by: a column of what stands before it and one of the table that is joined."""
    using, on = node.args.get("using"), node.args.get("on")
    if using and len(using) == 1 and isinstance(using[0], exp.Identifier):
        text.take(using[0], "this", "quoted")
        name = text.canonical(using[0], _column_names(first, tables))
        return ("", name), (alias, name)
    if isinstance(on, exp.Paren):
        text.take(on, "this")
        on = on.this
    if using or not isinstance(on, exp.EQ):
        text.refuse(node, f"a join takes one pair of columns; {_suggest_joins(first, tables)}")
    text.take(on, "this", "expression")
    # Either column may come first; the left one is to be that of a table before.
    left, right = (_read_side(text, side, alias, _column_names(first, tables)) for side in (on.this, on.expression))
    if left[0] == alias:
        left, right = right, left
    if right[0] != alias or left[0] == alias:
        text.refuse(
            on, f"each column needs its table's name, with {alias} on one side; {_suggest_joins(first, tables)}"
        )
    return left, right


def _column_names(first: Table, tables: Tables) -> list[str]:
    """Return the names of all columns that tables are joined by."""
    private = [first, *tables.private.values()]
    names = [name for table in private for name in (*table.columns, table.owner or "")]
    return [*names, *(name for table in tables.public.values() for name in (*table.columns, table.key))]


def _read_side(text: SqlText, node: exp.Expr, alias: str, columns: list[str]) -> tuple[str, str]:
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier) or node.args.get("db"):
        text.refuse(node, f"a column is needed here, got {kind(node)}; name one from the contract")
    text.take(node, "this", "table")
    table = node.args.get("table")
    for name in (node.this, table):
        if name is not None:
            text.take(name, "this", "quoted")
    holder = "" if table is None else text.canonical(table, (alias, text.table, *text.names))
    return holder, text.canonical(node.this, columns)


def _write_join(first: Table, other: Table) -> str:
    """Say how a private table is joined to another."""
    if first.owner == other.owner:
        return f"{other.name} USING ({first.owner})"
    return f"{other.name} ON {first.name}.{first.owner} = {other.name}.{other.owner}"


def _suggest_joins(first: Table, tables: Tables) -> str:
    """Say which joins would do."""
    joins = []
    if first.owner is not None:
        joins += [_write_join(first, table) for table in list(tables.private.values())[:3] if table is not first]
    joins += [f"{table.name} ON a column = {table.name}.{table.key}" for table in list(tables.public.values())[:3]]
    return f"write JOIN {', or JOIN '.join(joins)}" if joins else "nothing can be joined here; query one table"
