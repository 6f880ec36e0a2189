"""What rows a question is about, in one text: whatever tables and columns are called, and in which order they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import quote_name
from inbounds.query.identity.conditions import arrange
from inbounds.query.identity.names import MADE, UNIT, Names
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import AnyJoin, Join, JoinPublic, Pair
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.relation import Projected, UnitRows
from inbounds.query.tables.table import Table

AS_STORED = Names({})


@dataclass(frozen=True)
class Rows:
    """Rows in a text, and what their columns are called there."""

    text: str
    names: Names = AS_STORED


def rows_of(table: Table | PublicTable, condition: Condition | None = None) -> Rows:
    """Return the rows of a table that meet a condition."""
    conditions = [] if condition is None else [condition]
    relation = table.relation if isinstance(table, Table) else None
    match relation:
        case UnitRows():
            return _made_of_units(relation, conditions)
        case Projected():
            return _meeting(_computed(relation), conditions)
        case Joined():
            return _JoinedRows(relation).rows(conditions)
    return _meeting(Rows(quote_name(table.name)), conditions)


def _meeting(rows: Rows, conditions: Iterable[Condition]) -> Rows:
    return replace(rows, text=f"{rows.text}{_write('WHERE', map(rows.names.condition, conditions))}")


def _write(word: str, conditions: Iterable[Condition]) -> str:
    """Write what rows must meet; nothing if they need not meet anything."""
    parts = list(conditions)
    return f" {word} {arrange(join_conditions(And, *parts))}" if parts else ""


def _made_of_units(relation: UnitRows, conditions: Sequence[Condition]) -> Rows:
    """Return rows of which each is made of rows of a unit; a condition on them is one more after HAVING."""
    inner = rows_of(relation.of, relation.condition)
    labels = {name: inner.names.of(node) for name, node in relation.keys.items()}
    labels |= {name: inner.names[own] for name, own in relation.identifiers.items()}
    by = ", ".join([UNIT, *map(quote_name, sorted({*labels.values()}))])
    for name, measure in relation.measures.items():
        column, order = (None if node is None else inner.names.rename(node) for node in (measure.column, measure.by))
        labels[name] = f"{MADE}{replace(measure, column=column, by=order)}"
    names = Names(labels)
    having = [*conditions, *([] if relation.having is None else [relation.having])]
    return Rows(f"({inner.text} GROUP BY {by}{_write('HAVING', map(names.condition, having))})", names)


def _computed(relation: Projected) -> Rows:
    """Return rows with columns that are computed, each called by what it is."""
    inner = rows_of(relation.of, relation.condition)
    labels = {name: inner.names.of(node) for name, node in relation.columns.items()}
    labels |= {name: inner.names[own] for name, own in relation.identifiers.items()}
    return Rows(f"({inner.text})", Names(labels))


@dataclass(frozen=True)
class _JoinedRows:
    """Rows that are joined: where all must match, in whatever order tables stand.

    Tables are called `t0`, `t1` and so on, and what is equal in them is a list.
    """

    relation: Joined

    def rows(self, conditions: Sequence[Condition]) -> Rows:
        """Return the rows that meet some conditions."""
        relation, names = self.relation, self._names
        inner = [join for join in self._shown if not join.keep]
        tests = sorted({test for join in inner for test in self._equal(join)})
        must = [names.condition(one) for one in (*conditions, *self._conditions(inner))]
        looked = sorted(f"{join.semi} {self._on(join)}" for join in relation.joins if join.semi)
        kept = [f"LEFT {self._on(join)}" for join in self._shown if join.keep]
        is_kept = {join.name for join in self._shown if join.keep}
        tables = [f"{self._own[name].text} AS {self._places[name]}" for name in self._order if name not in is_kept]
        text = " ".join([", ".join(tables), f"ON {', '.join(tests)}", *kept, *looked])
        return Rows(f"({text}{_write('WHERE', must)})", names)

    @cached_property
    def _shown(self) -> list[AnyJoin]:
        return [join for join in self.relation.joins if not join.semi]

    @cached_property
    def _own(self) -> dict[str, Rows]:
        """The rows of each table, by what the question calls it."""
        relation = self.relation
        return {relation.name: rows_of(relation.first), **{join.name: _table_of(join) for join in relation.joins}}

    @cached_property
    def _order(self) -> list[str]:
        """The tables that are shown: in the order of their texts, unless rows without a match stay."""
        names = [self.relation.name, *(join.name for join in self._shown)]
        if any(join.keep for join in self._shown):
            return names
        return sorted(names, key=lambda name: self._own[name].text)

    @cached_property
    def _places(self) -> dict[str, str]:
        """What each table is called; one that is only looked for is seen by its own condition alone."""
        places = dict.fromkeys((join.name for join in self.relation.joins if join.semi), "t")
        return places | {name: f"t{place}" for place, name in enumerate(self._order)}

    @cached_property
    def _names(self) -> Names:
        labels = (
            (label, self._name(table, name))
            for table, columns in self.relation.names.items()
            for name, label in columns.items()
        )
        return Names(dict(labels))

    def _name(self, table: str, column: str) -> str:
        return f"{self._places[table]}.{self._own[table].names[column]}"

    def _equal(self, join: AnyJoin) -> Iterator[str]:
        """Yield what a join compares, the lesser name first."""
        if isinstance(join, JoinPublic):
            pairs = [Pair(join.to, join.on, join.public.key[0])]
        else:
            pairs = list(join.pairs)
            if join.by_unit:
                yield " = ".join(sorted(f"{self._places[name]}.{UNIT}" for name in (self.relation.name, join.name)))
        for pair in pairs:
            sides = self._name(pair.to, pair.left), self._name(join.name, pair.right)
            yield f" {pair.operator} ".join(sorted(map(quote_name, sides)))

    def _conditions(self, joins: Iterable[AnyJoin]) -> Iterator[Condition]:
        yield from (join.condition for join in joins if isinstance(join, Join) and join.condition is not None)

    def _on(self, join: AnyJoin) -> str:
        tests = ", ".join(sorted(self._equal(join)))
        where = _write("WHERE", map(self._names.condition, self._conditions([join])))
        # In brackets, so that a condition after ON is none of the rows that are joined.
        return f"(JOIN {self._own[join.name].text} AS {self._places[join.name]} ON {tests}{where})"


def _table_of(join: AnyJoin) -> Rows:
    return rows_of(join.public if isinstance(join, JoinPublic) else join.table)
