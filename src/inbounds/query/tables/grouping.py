"""Grouping in Python: one row for each unit, or for each of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import Node
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.relation import UnitRows, identified
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitMeasure


def group_rows(
    of: Table,
    keys: Sequence[str | Expression],
    measures: Mapping[str, UnitMeasure],
    where: Condition | None,
    having: Condition | None,
) -> Table:
    """Return one row for each group of a unit's rows; without keys, one for each unit."""
    nodes: dict[str, Node] = {}
    identifiers: dict[str, str] = {}
    # Where tables are joined by columns of one name, that is the column of the first of them.
    merged = of.relation.merged if isinstance(of.relation, Joined) else {}
    found = [merged.get(name, name) if isinstance(name, str) else name for name in map(of.find_name, keys)]
    names = [name for name in found if isinstance(name, str)]
    for key, name in zip(keys, found, strict=True):
        if name == of.owner:
            continue
        if isinstance(name, str) and name in of.identifiers:
            identifiers[key if key in merged and isinstance(key, str) else _short(name, identifiers)] = name
        else:
            node = of.column(name if isinstance(name, str) else key).node
            nodes[_short(node.name, nodes)] = node
    if keys and of.owner is not None and not of.is_of_one_unit(names):
        by, needed = (
            ", ".join((*identifiers, *nodes)),
            ", ".join(f'"{name}"' for name in (of.owner, *identifiers, *nodes)),
        )
        raise InvalidQuestion(
            f"each group must be of one {of.owner}; by {by} alone rows of several would be one: write per({needed})"
        )
    twice = next((name for name in (*nodes, *identifiers) if name in measures), None)
    if twice is not None:
        raise InvalidQuestion(f"{twice} is used twice; give each column its own name")
    relation = UnitRows("t", of, measures, identified(of, names, where), nodes, identifiers)
    if having is not None:
        relation = replace(relation, having=check_condition(relation.table, having))
    return relation.table


def _short(name: str, taken: Mapping[str, object]) -> str:
    """Return what a column is called without its table, if nothing else is."""
    short = name.rpartition(".")[2] if name.replace(".", "").isidentifier() else name
    return name if short in taken else short
