"""What a SELECT is about, once it is read: a table, what its columns are called, and what WHERE says besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from inbounds.query.columns.identifier import UNIT
from inbounds.query.expressions.condition import Condition
from inbounds.query.grammar.text import SqlText
from inbounds.query.sql.join_graph import JoinGraph, Source
from inbounds.query.sql.subqueries import Projection, read_where
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table


@dataclass(frozen=True)
class InnerStatement:
    """A statement inside another one."""

    tree: exp.Expr
    alias: str
    names: list[str]
    """What its columns are called, if that is said where it is named."""


@dataclass
class FromClause:
    """What a SELECT is about: a table, what the question calls it and its columns, and what WHERE says besides."""

    alias: str
    table: Table | PublicTable
    graph: JoinGraph
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each table of a join as it is called: what the joined table calls its columns, and the unit."""
    unmatched: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    """What inner SELECTs call columns of public tables, and what the joined table calls these."""
    where: list[exp.Expr] = field(default_factory=list)
    """What rows must meet."""
    outer: list[exp.Expr] = field(default_factory=list)
    """What is said of columns of a SELECT around this one."""
    projection: Projection | None = None
    """What an inner SELECT makes of the columns, where it does nothing else."""
    required: list[Condition] = field(default_factory=list)
    """What else rows must meet: that what NOT IN compares is there."""

    def name_columns(self, relation: Joined) -> None:
        """Note what the columns of joined tables are called."""
        sources = {source.alias: source for source in self.graph.sources}
        for name, columns in relation.names.items():
            if name in sources:
                self.names[name] = self._own_names(relation, sources[name], columns)
                known = {own for source in sources.values() for own in source.table.columns}
                labels = {label: own for label, own in sources[name].labels.items() if label not in known}
                self.labels.update({label: columns[own] for label, own in labels.items() if own in columns})
        for name, source in self.graph.merged.items():
            if name in self.names.get(source.alias, {}):
                self.labels[name] = self.names[source.alias][name]
        self.unmatched = {
            join.name for join in relation.joins if isinstance(join, Join) and join.keep and join.private is not None
        }

    def _own_names(self, relation: Joined, source: Source, columns: Mapping[str, str]) -> dict[str, str]:
        """Return what the joined table calls the columns of one table, and its unit."""
        names = {label: columns[own] for label, own in source.labelled(columns).items() if own in columns}
        table = relation.private_tables.get(source.alias)
        if table is None or relation.unit is None:
            return names
        if source.unit is not None:
            names[source.unit] = relation.unit
        if not source.keep:
            units = [key for key, one in table.identifiers.items() if one.domain == UNIT]
            names.update(dict.fromkeys(units, relation.unit))
        return names

    def read_conditions(self, text: SqlText) -> list[Condition]:
        """Return everything that rows must meet."""
        where = read_where(text, [*self.where, *self.outer])  # of which the latter is refused
        inner = None if self.projection is None else self.projection.condition
        return [part for part in (inner, where, *self.required) if part is not None]

    def enter(self, text: SqlText) -> None:
        """Let names stand for what they are here."""
        assert isinstance(self.table, Table)
        text.ask(self.table, self.alias)
        text.unit = self.table.owner or ""
        text.names, text.unmatched, text.inner_names = dict(self.names), self.unmatched, dict(self.labels)
        if self.projection is not None:
            text.names, text.projected = {}, self.projection.columns


def refuse_same_names(text: SqlText, sources: Sequence[Source]) -> None:
    """Refuse two tables that go by one name."""
    names = [source.alias for source in sources]
    twice = next((source for place, source in enumerate(sources) if source.alias in names[:place]), None)
    if twice is not None:
        text.refuse(twice.node, f"two tables are called {twice.alias}; give one of them another name with AS")
