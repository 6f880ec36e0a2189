"""Public tables after FROM: inner SELECTs that filter and rename them, and questions that are about nothing else."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from inbounds.display.suggestion import suggest
from inbounds.query.expressions.node import quote_name
from inbounds.query.grammar.text import SqlText
from inbounds.query.sql.conjuncts import columns_in, split
from inbounds.query.tables.public_table import PublicTable


def read_labels(text: SqlText, tree: exp.Select, public: PublicTable, names: list[str]) -> dict[str, str]:
    """Return the columns of a public table that an inner SELECT keeps, by what it calls them."""
    labels: dict[str, str] = {}
    for place, selected in enumerate(tree.expressions):
        text.take_all(selected)
        column = selected.this if isinstance(selected, exp.Alias) else selected
        if isinstance(column, exp.Star) or isinstance(column.this, exp.Star):
            labels.update({name: name for name in public.names})
            continue
        own = text.canonical(column.this, public.names)
        if own not in public.names:
            remedy = suggest(own, public.names, "it has", write=quote_name)
            text.refuse(column, f"{public.name} has no column {own}; {remedy}")
        given = str(selected.alias) if isinstance(selected, exp.Alias) else own
        labels[names[place] if place < len(names) else given] = own
    return labels


def read_conditions(text: SqlText, tree: exp.Select, alias: str, labels: dict[str, str]) -> list[exp.Expr]:
    """Return the conditions of an inner SELECT about a public table, as those of the table that it is outside."""
    where = tree.args.get("where")
    if where is None:
        return []
    text.take_all(where)
    # WITH may be named twice, so each use has conditions of its own; they are read like any others.
    parts = split(text, text.add_copy(where.this))
    for part in parts:
        for column in columns_in(part):
            name = text.canonical(column.this, labels)
            if labels.get(name, name) != name:
                text.refuse(column, f"{name} names two columns here; give the selected one another name with AS")
            column.set("table", exp.to_identifier(alias, quoted=True))
    return parts


def refuse_public(text: SqlText, node: exp.Expr, *names: str) -> NoReturn:
    """Refuse a question about rows of public tables, or of one, and say whether private rows would choose them."""
    select = node.find_ancestor(exp.Select)
    if select is not None and _names_private(text, select):
        text.refuse(
            node,
            f"rows of a public table ({', '.join(names)}) would be chosen by private rows, and show what those say; "
            "begin with a private table, and ask how many of its rows there are",
        )
    are, them = ("is", names[0]) if len(names) == 1 else ("are", "them")
    text.refuse(
        node,
        f"{' and '.join(names)} {are} public, so there is nothing to protect; ask the database itself, free, or join "
        f"{them} to a private table",
    )


def _names_private(text: SqlText, select: exp.Expr) -> bool:
    """Return whether a SELECT, or what it names by WITH, looks at a table that is not public."""
    pending, seen = [select], set[str]()
    while pending:
        for table in pending.pop().find_all(exp.Table):
            given = text.canonical(table.this, text.with_names)
            defined = table.find_ancestor(exp.CTE)
            if given in text.with_names and text.with_names[given] is not defined:
                if given not in seen:
                    seen.add(given)
                    pending.append(text.with_names[given].this)
            elif text.canonical(table.this, text.public_tables) not in text.public_tables:
                return True
    return False
