"""Groups that another SELECT chooses, as tools write it to limit series: joined to rows, and read beside groups.

SELECT month, diagnosis, COUNT(*) FROM visits JOIN (SELECT diagnosis AS d, COUNT(*) FROM visits GROUP BY 1 ORDER BY 2
DESC LIMIT 2) AS top ON diagnosis = d GROUP BY month, diagnosis

Groups are released first, and then those are kept that were chosen: that is the same, and no row is looked at twice.
"""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.sql.conjuncts import compared_columns, flatten
from inbounds.query.sql.relations import FromReader
from inbounds.query.sql.shown.answer_select import releases, sources_of
from inbounds.query.sql.subqueries import unnamed

GROUPS = "groups"
"""What the SELECT is called that releases the groups."""


def join_groups(reader: FromReader, tree: exp.Select) -> exp.Select | None:
    """Return a SELECT that joins its groups with those that another one chooses; None if it joins none."""
    joins = list(tree.args.get("joins") or ())
    if not joins or not tree.args.get("group") or releases(reader, sources_of(tree)[0]):
        return None
    chosen = [join for join in joins if isinstance(join.this, exp.Subquery | exp.Table) and releases(reader, join.this)]
    if not chosen:
        return None
    text = reader.text
    for join in chosen:
        if str(join.args.get("side") or "") or join.args.get("using") or join.args.get("on") is None:
            text.refuse(join.this, "groups that a SELECT releases are joined to rows by JOIN and ON; write these")
        for test in flatten(join.args["on"]):
            _link(text, tree, str(join.this.alias_or_name), test)
    tree.set("joins", [join for join in joins if join not in chosen] or None)
    alias = exp.TableAlias(this=_quoted(GROUPS))
    everything = exp.Column(this=exp.Star(), table=_quoted(GROUPS))
    outer = exp.Select(expressions=[everything], joins=chosen)
    for clause in ("with_", "limit", "offset"):
        outer.set(clause, tree.args.get(clause))
        tree.set(clause, None)
    outer.set("from_", exp.From(this=exp.Subquery(this=tree, alias=alias)))
    return outer


def _link(text: SqlText, tree: exp.Select, alias: str, test: exp.Expr) -> None:
    """Write the column that is grouped by as that of the groups; whatever else is said has no such column."""
    sides = compared_columns(test)
    if sides is None or sides[2] != "=":
        text.refuse(test, f"groups are joined to rows by what is equal, got {kind(test)}; write column = column")
    for column in sides[:2]:
        table = column.args.get("table")
        if table is not None and str(table.name) == alias:
            continue
        for one in tree.expressions:
            is_same = isinstance(unnamed(one), exp.Column) and unnamed(one).name.lower() == column.name.lower()
            if is_same:
                text.take_all(column)
                column.replace(exp.Column(this=_quoted(str(one.alias_or_name)), table=_quoted(GROUPS)))
                return
    text.refuse(test, f"groups are joined by what rows are grouped by, got {kind(test)}; select that, and group by it")


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
