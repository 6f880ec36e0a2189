"""PIVOT visits ON sex USING COUNT(*) GROUP BY ward: what a GROUP BY releases, with a column for each category."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.grammar.text import SqlText, kind

LIKE = "PIVOT visits ON sex USING COUNT(*) GROUP BY ward"


def select_of(text: SqlText, tree: exp.Pivot) -> exp.Select:
    """Return the SELECT whose answer is pivoted: columns are made of the last of its keys."""
    text.take(tree, "this", "expressions", "using", "group")
    using, group = list(tree.args.get("using") or ()), tree.args.get("group")
    if group is None or not using or len(tree.expressions) != 1:
        text.refuse(
            tree,
            f"PIVOT needs one column ON which, what to measure USING, and GROUP BY; write it like {LIKE}",
        )
    on = tree.expressions[0]
    where = None
    if isinstance(on, exp.In):
        text.take(on, "this", "expressions")
        where = exp.Where(this=exp.In(this=text.add_copy(on.this), expressions=on.expressions))
        on = on.this
    if not isinstance(on, exp.Column):
        text.refuse(on, f"PIVOT makes columns of the categories of a column, got {kind(on)}; name one")
    keys = [*group.expressions, on]
    text.take(group, "expressions")
    select = exp.Select(
        expressions=[*(text.add_copy(key) for key in keys), *using],
        from_=exp.From(this=tree.this),
        group=exp.Group(expressions=keys),
    )
    if where is not None:
        select.set("where", where)
    return select
