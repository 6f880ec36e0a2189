"""A SELECT: measures of the rows of a table, for each of some keys, and how what is released of them is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.view import AS_RELEASED, View
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.question.measure import Cdf, Measure, NoMeasure
from inbounds.query.spelling.dialect import dialect_of
from inbounds.query.sql.conjuncts import split, take_clauses, trim
from inbounds.query.sql.from_clause import FromClause
from inbounds.query.sql.groupings import Groupings, read_distinct, read_groupings, refuse_values
from inbounds.query.sql.measure_calls import MeasureCalls, find_measures
from inbounds.query.sql.measures import refuse_no_measure
from inbounds.query.sql.public_rows import refuse_public
from inbounds.query.sql.relations import FromReader, read_relation
from inbounds.query.sql.rewriting import compare_tuples, refuse_distinct_keys
from inbounds.query.sql.several.columns import columns_shown, read_columns, shows_no_row
from inbounds.query.sql.several.joined import JoinedReader, take_join
from inbounds.query.sql.several.pivot import LIKE, select_of
from inbounds.query.sql.several.scalars import Scalars
from inbounds.query.sql.several.series import join_groups
from inbounds.query.sql.several.statement import (
    ColumnsSelect,
    JoinedSelects,
    PivotedSelect,
    SelectSource,
    Shown,
    Statement,
    ValuesSelect,
    is_key,
)
from inbounds.query.sql.several.union import is_union_all, read_union
from inbounds.query.sql.shown.answer_select import AnswerReader, InnerAnswer, is_of_answer, sources_of
from inbounds.query.sql.shown.view import ViewReader
from inbounds.query.sql.subqueries import read_where
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

CLAUSES = (
    "with_", "distinct", "expressions", "from_", "joins", "where", "group", "having",
    "windows", "qualify", "order", "limit", "offset",
)  # fmt: skip

REMEDIES = {
    "qualify": "write HAVING in place of QUALIFY, without OVER",
}
"""What to do in place of a clause."""


@dataclass(frozen=True)
class Select:
    """What a SELECT asks, in nodes."""

    table: str
    """The name after FROM, if that is all there is."""
    measures: tuple[Measure, ...]
    condition: Condition | None
    groupings: Groupings
    histogram: tuple[Node, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""
    view: View = AS_RELEASED
    """What is shown of what is released."""
    relation: Table | None = None
    """The table that is asked, if it is made of others."""
    beside: tuple[Statement, ...] = ()
    """What else is asked, for single values."""
    inner: InnerAnswer | None = field(default=None, compare=False, repr=False)
    """What its columns are called."""

    @property
    def shown(self) -> Shown:
        """The columns that it shows."""
        assert self.inner is not None
        return Shown.of(self.inner, self.view)


def read_select(sql: object, tables: Tables) -> Statement | PivotedSelect | ColumnsSelect:
    """Read a statement over a table of a contract, or over what is made of some of them."""
    text = SqlText(sql, "SQL", tables.main.unit, tables.main.columns)
    text.public_tables = frozenset(tables.public)
    like = f"SELECT COUNT(*) FROM {quote_name(tables.main.name)}"
    return text.read(lambda: _parse_statement(text.sql), lambda tree: _read_statement(text, tree, tables), like)


def _parse_statement(sql: str) -> exp.Expr:
    """Return the one statement of a text."""
    statements = [tree for tree in sqlglot.parse(sql, dialect=dialect_of(sql)) if tree is not None]
    if len(statements) != 1:
        raise InvalidQuestion(f"one statement at a time, got {len(statements)}; write one SELECT")
    return statements[0]


def _read_statement(text: SqlText, tree: exp.Expr, tables: Tables) -> Statement | PivotedSelect | ColumnsSelect:
    if isinstance(tree, exp.Pivot):
        return _read_pivot(text, tree, tables)
    if (columns := read_columns(text, tree, tables)) is not None:
        return columns
    is_empty = shows_no_row(tree)
    statement = _read_tree(text, tree, tables)
    return columns_shown(statement, text.sql) if is_empty else statement


def _read_tree(
    text: SqlText, tree: exp.Expr, tables: Tables, depth: int = 0, *, in_union: bool = False, keys_alone: bool = False
) -> Statement:
    text.count_look()
    if (pivot := tree.find(exp.Pivot)) is not None:
        text.refuse(pivot, f"PIVOT is not supported here; write it as a statement, like {LIKE}")
    if isinstance(tree, exp.Union) and is_union_all(tree):
        return _read_union(text, tree, tables, depth)
    if isinstance(tree, exp.SetOperation):
        remedy = "write UNION ALL" if isinstance(tree, exp.Union) else "ask each SELECT as its own query"
        text.refuse(tree, f"{tree.key.upper()} is not supported; {remedy}, or use GROUP BY")
    if not isinstance(tree, exp.Select):
        like = f"SELECT COUNT(*) FROM {quote_name(tables.main.name)}"
        text.refuse(tree, f"only SELECT is supported, got {kind(tree)}; write it like {like}")
    take_clauses(text, tree, CLAUSES, REMEDIES)
    compare_tuples(text, tree)
    reader = FromReader(text, tables, depth)
    if is_of_answer(reader, tree):
        if tree.args.get("distinct") is not None:
            text.refuse(tree.args["distinct"], "DISTINCT does not go over released rows; write GROUP BY")
        return _read_over(reader, tree)
    if tree.args.get("from_") is None and any(one.find(exp.Subquery) is not None for one in tree.expressions):
        return _read_values(reader, tree)
    if (joined := _join_groups(reader, tree)) is not None:
        return _read_over(reader, joined, chooses=True)
    scalars = Scalars(text, lambda node: _read_inside(reader, node))
    # FROM comes first, since it says which columns there are, and WHERE last: the measures may leave rows out as well.
    clause = read_relation(text, tree, tables)
    table = _read_table(text, tree, tables) if clause is None else clause.table.name
    where = _read_where(text, tree, clause)
    _note_selected(text, tree)
    groupings = _read_groupings(text, tree)
    refuse_distinct_keys(text, tree)
    calls = MeasureCalls(text)
    calls.look_ahead(tree, groupings.keys)
    view_reader = ViewReader(text, groupings.keys, calls, scalars)
    view_reader.takes_labels = in_union
    view = view_reader.read(tree)
    if groupings.keys and Cdf() in calls.measures:
        text.refuse(
            tree.args["group"], "CDF covers all rows at once; leave GROUP BY out, and choose the group in WHERE"
        )
    _refuse_repeated(text, tree, view, groupings)
    if not calls.measures:
        _refuse_keys(text, tree, groupings, 0 if keys_alone else depth)
    conditions = [*where, *calls.conditions]
    row_condition = join_conditions(And, *conditions) if len(conditions) > 1 else next(iter(conditions), None)
    relation = clause.table if clause is not None and isinstance(clause.table, Table) else None
    is_stored = relation is not None and relation.relation is None
    binned = None if calls.histogram is None else calls.histogram[0]
    keys = (*(() if binned is None else (binned,)), *groupings.keys)
    inner = InnerAnswer.of(text, view, keys, calls.measures, binned)
    return Select(
        table,
        calls.measures or (NoMeasure(),),
        row_condition,
        groupings,
        calls.histogram,
        view,
        None if is_stored else relation,
        tuple(scalars.statements),
        inner,
    )


def _read_groupings(text: SqlText, tree: exp.Select) -> Groupings:
    """Read what groups there are: those of GROUP BY, or of DISTINCT where nothing is measured."""
    distinct, group = tree.args.get("distinct"), tree.args.get("group")
    if distinct is None:
        return read_groupings(text, group)
    if distinct.args.get("on") is not None:
        text.refuse(distinct, "DISTINCT ON would show rows, and rows are never shown; use GROUP BY and a measure")
    text.take(distinct)
    if group is None and not any(find_measures(tree)) and tree.find(exp.Window) is None:
        if (star := next((node for node in tree.expressions if node.is_star), None)) is not None:
            refuse_no_measure(text, star)
        return read_distinct(text, tree)
    return read_groupings(text, group)


def _refuse_repeated(text: SqlText, tree: exp.Select, view: View, groupings: Groupings) -> None:
    """Refuse DISTINCT where it would do something: where what is selected does not tell all groups apart."""
    distinct = tree.args.get("distinct")
    shown = {None if column.key is None else column.key.of for column in view.columns}
    if distinct is not None and view.columns and not shown.issuperset(groupings.keys):
        text.refuse(distinct, "DISTINCT needs every column of GROUP BY to be selected; select them, or leave it out")


def _refuse_keys(text: SqlText, tree: exp.Select, groupings: Groupings, depth: int) -> None:
    """Refuse keys without a measure where they are not public, or something else is made of them."""
    if depth:
        raise InvalidQuestion("the inner SELECT needs a measure, such as COUNT(*) or AVG(column); add one")
    for key in groupings.keys:
        refuse_values(text, tree.args.get("group"), key, "GROUP BY")


# Several SELECTs.


def _read_inside(reader: FromReader, tree: exp.Expr, node: exp.Expr | None = None, **how: bool) -> Statement:
    """Read a statement inside another one, whose names are not known there; `node` is where it is named."""
    text = reader.text
    before = text.selected, text.aliases
    inner = reader.inside()
    with text.inside() if node is None else reader.entering(node):
        statement = _read_tree(text, tree, reader.tables, inner.depth, **how)
        columns = text.columns
    if node is not None:  # what is compared with keys of the inner SELECT is checked by its columns
        text.columns = columns
    text.selected, text.aliases = before
    return statement


def _read_over(reader: FromReader, tree: exp.Select, *, chooses: bool = False) -> Statement:
    """Read a SELECT about what others release: that is what is asked, and this how it is shown."""
    text, source = reader.text, tree.args["from_"]
    text.take(source, "this")
    reader.read_with(tree)
    if tree.args.get("joins"):
        return _read_joined(reader, tree, chooses=chooses)
    found = reader.find_statement(source.this)
    assert found is not None
    inner = _read_inside(reader, found.tree, source.this, keys_alone=True)
    if not isinstance(inner, Select):
        return _read_joined(reader, tree, inner)
    if found.names:
        text.refuse(source.this, f"{found.alias} has a list of names here; write AS inside instead")
    assert inner.inner is not None
    reader.take_select(source.this)
    _note_selected(text, tree)
    scalars = Scalars(text, lambda node: _read_inside(reader, node), inner.beside)
    view = AnswerReader(text, inner.inner, found.alias, scalars).read(tree)
    if not view.needs_measures and inner.histogram is None:
        inner = replace(inner, measures=(NoMeasure(),))  # which groups there are is public
    elif view.shows_keys_alone:
        text.refuse(tree, "the outer SELECT must show a measure of the inner one; select one as well")
    shown = InnerAnswer.by_name(view, view.columns)
    return replace(inner, view=view, beside=tuple(scalars.statements), inner=shown)


def _read_joined(
    reader: FromReader, tree: exp.Select, first: Statement | None = None, *, chooses: bool = False
) -> JoinedSelects:
    """Read a SELECT about what several others release, or about one that is put together of several."""
    text = reader.text
    scalars = Scalars(text, lambda node: _read_inside(reader, node))
    joined = JoinedReader(text, scalars)
    joins = list(tree.args.get("joins") or ())
    known: dict[int, Statement] = {}
    for place, node in enumerate(sources_of(tree)):
        found = reader.find_statement(node)
        assert found is not None
        statement = first if place == 0 else None
        statement = statement or known.get(id(found.tree)) or _read_inside(reader, found.tree, node)
        known[id(found.tree)] = statement
        reader.take_select(node)
        columns = statement.shown.renamed(found.names)
        if columns is None:
            text.refuse(node, f"{found.alias} has another number of names than columns; name each of them")
        names = [column.column for column in columns.columns]
        if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
            text.refuse(node, f"{found.alias} has two columns {twice}; give them other names")
        if found.alias in [source.name for source in joined.sources]:
            text.refuse(node, f"two tables are called {found.alias}; give one of them another name with AS")
        join = joins[place - 1] if place else None
        keep = join is not None and take_join(text, join)
        source = SelectSource(statement, found.alias, columns, place, keep=keep, chooses=chooses)
        joined.add(source)
        if join is not None:
            joined.change_last(replace(source, on=joined.read_on(join, source)))
    _note_selected(text, tree)
    return joined.read_select(tree, scalars)


def _read_values(reader: FromReader, tree: exp.Select) -> ValuesSelect:
    """Read a SELECT without FROM, of values that others release."""
    text = reader.text
    reader.read_with(tree)
    _note_selected(text, tree)
    scalars = Scalars(text, lambda node: _read_inside(reader, node))
    view = replace(AnswerReader(text, InnerAnswer(AS_RELEASED, {}), "", scalars).read(tree), inner=None)
    return ValuesSelect(view, tuple(scalars.statements), Shown.of(InnerAnswer.by_name(view, view.columns), view))


def _read_union(text: SqlText, tree: exp.Union, tables: Tables, depth: int) -> Statement:
    """Read a UNION ALL, and how all of it is ordered."""
    reader = FromReader(text, tables, depth)
    reader.read_with(tree)
    united = read_union(text, tree, lambda node: _read_inside(reader, node, in_union=True))
    if not any(tree.args.get(clause) for clause in ("order", "limit", "offset")):
        return united
    names = [column.column for column in united.shown.columns]
    columns = [exp.Column(this=exp.to_identifier(name, quoted=True)) for name in names]
    outer = exp.Select(expressions=columns)
    for clause in ("order", "limit", "offset"):
        outer.set(clause, tree.args.get(clause))
        tree.set(clause, None)
    joined = JoinedReader(text, Scalars(text, lambda node: _read_inside(reader, node)))
    joined.add(SelectSource(united, "t", united.shown, 0))
    _note_selected(text, outer)
    _take_again(text, tree, outer)
    return joined.read_select(outer, Scalars(text, lambda node: _read_inside(reader, node)))


def _take_again(text: SqlText, tree: exp.Expr, outer: exp.Select) -> None:
    """Note that clauses belong to the whole statement, where whatever is not read is looked for."""
    for clause in ("order", "limit", "offset"):
        value = outer.args.get(clause)
        if value is not None:
            text.add_part(value)


def _read_pivot(text: SqlText, tree: exp.Pivot, tables: Tables) -> PivotedSelect:
    select = select_of(text, tree)
    count = len(select.args["group"].expressions)
    read = _read_tree(text, select, tables)
    key = read.shown.columns[count - 1]
    if not is_key(key):
        text.refuse(tree.expressions[0], f"PIVOT makes columns of categories, got a measure; write it like {LIKE}")
    return PivotedSelect(read, key.column, tree.sql(dialect="duckdb"))


def _join_groups(reader: FromReader, tree: exp.Select) -> exp.Select | None:
    """Return a SELECT with groups that another one chooses as a join of what both release."""
    before = dict(reader.text.with_names)
    aside = tree.args.get("with_")
    if aside is not None:
        reader.read_with(tree)
    joined = join_groups(reader, tree)
    if joined is None:
        reader.text.with_names = before
    return joined


def _note_selected(text: SqlText, tree: exp.Select) -> None:
    """Note what is selected, and by which names."""
    text.selected = [node.this if isinstance(node, exp.Alias) else node for node in tree.expressions]
    text.aliases = {str(node.alias): node.this for node in tree.expressions if isinstance(node, exp.Alias)}


def _read_where(text: SqlText, tree: exp.Select, clause: FromClause | None) -> list[Condition]:
    """Read what rows must meet: before what is measured of them, for it may list what a text can be."""
    if clause is not None:
        return clause.read_conditions(text)
    where = tree.args.get("where")
    if where is None:
        return []
    text.take(where, "this")
    has_texts = text.asked is not None and text.asked.identifiers
    condition = trim(text, where.this)
    parts = split(text, condition) if has_texts else [condition]
    read = read_where(text, [part for part in parts if part is not None])
    return [] if read is None else [read]


def _read_table(text: SqlText, tree: exp.Select, tables: Tables) -> str:
    """Return the table that is asked; its alias, if it has one, is what columns are named by."""
    source = tree.args.get("from_")
    if source is None:
        raise InvalidQuestion("SELECT needs FROM and the name of the dataset; add them")
    table = source.this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or any(value for part, value in table.args.items() if part not in ("this", "alias")):
        text.refuse(table, "FROM takes the name of the dataset only; leave the rest out")
    text.take(source, "this")
    text.take(table, "this", "alias")
    text.take(table.this, "this", "quoted")
    name = text.table = text.canonical(table.this, tables.private)
    if name in tables.public:
        refuse_public(text, table.this, name)
    if name not in tables.private:
        text.refuse(table.this, tables.why_not(name))
    text.ask(tables.private[name], name)
    text.unit = tables.private[name].unit
    alias = table.args.get("alias")
    if alias is not None:
        if alias.args.get("columns") or not isinstance(alias.this, exp.Identifier):
            text.refuse(table, "FROM takes the name of the dataset and an alias; leave the rest out")
        text.take(alias, "this")
        text.table = text.read_name(alias.this)
    return name
