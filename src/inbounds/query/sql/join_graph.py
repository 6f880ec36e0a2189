"""How tables after FROM are joined: which columns must be equal, and in which order rows are matched.

Tables may stand in any order, with ON, USING or commas and conditions in WHERE.  Rows are matched from a table that
names its units on, along the keys, so that whose rows they are is known at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Keys
from inbounds.query.expressions.node import quote_name
from inbounds.query.grammar.text import SqlText
from inbounds.query.sql.conjuncts import columns_in, compared_columns, take_link
from inbounds.query.sql.public_rows import refuse_public
from inbounds.query.tables.join_order import in_order_as_written
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import AnyJoin, Join, JoinPublic, Pair, tie
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

MOST_UNMATCHED = 1000
"""A public table of so many rows may be joined without a column that must be equal."""

ReadRest = Callable[[Joined, Join, list[exp.Expr]], Join]
"""Returns a join with further conditions that its ON states: whoever knows what names stand for reads them."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table after FROM, as the question calls it."""

    alias: str
    table: Table | PublicTable
    node: exp.Expr
    keep: bool = False
    """Whether it is joined by LEFT JOIN."""
    on: tuple[exp.Expr, ...] = ()
    """What ON says, one condition each."""
    using: tuple[exp.Expr, ...] = ()
    """The columns that USING names."""
    position: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    """What an inner SELECT calls the columns of a public table."""

    @property
    def private(self) -> Table | None:
        """The table, if it is private."""
        return self.table if isinstance(self.table, Table) else None

    @property
    def unit(self) -> str | None:
        """The column that tells whose rows they are, if it has one."""
        table = self.private
        if table is None or (table.relation is None and table.parent is not None):
            return None
        return table.owner

    def tells_unit(self, name: str) -> bool:
        """Return whether a name is that of the unit: a column, or none if rows belong to others that have it."""
        return name == self.unit or (self.private is not None and name == self.private.owner and name not in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that a question may name."""
        if isinstance(self.table, PublicTable):
            return tuple(self.labelled(self.table.names))
        own = () if self.unit is None else (self.unit,)
        return (*self.table.columns, *self.table.identifiers, *own)

    def labelled(self, names: Iterable[str]) -> dict[str, str]:
        """Return columns by what a question calls them."""
        return {**{name: name for name in names}, **self.labels}

    def own_name(self, label: str) -> str:
        """Return the column that a question calls by a name."""
        return self.labels.get(label, label)

    def is_matched_by(self, name: str) -> bool:
        """Return whether a column is an identifier or has keys, which are compared as they are."""
        table = self.table
        return name in table.identifiers or self.tells_unit(name) or isinstance(table.columns.get(name), Keys)


@dataclass(frozen=True, eq=False)
class Link:
    """Two columns of two tables that must be equal, or not."""

    left: Source
    left_name: str
    right: Source
    right_name: str
    operator: Literal["=", "<>"]
    node: exp.Expr

    @property
    def is_of_units(self) -> bool:
        """Whether it says that two rows are of the same unit."""
        is_told = self.left.tells_unit(self.left_name) and self.right.tells_unit(self.right_name)
        return self.operator == "=" and is_told

    def seen_from(self, source: Source) -> tuple[Source, str, str]:
        """Return the other table, its column, and the column here."""
        if source is self.right:
            return self.left, self.left_name, self.right_name
        return self.right, self.right_name, self.left_name


@dataclass
class JoinGraph:
    """The tables after FROM, and what is said of their columns."""

    text: SqlText
    sources: Sequence[Source]
    read_rest: ReadRest
    links: list[Link] = field(default_factory=list)
    residual: list[exp.Expr] = field(default_factory=list)
    """Conditions that rows must meet once they are joined."""
    others: list[exp.Expr] = field(default_factory=list)
    """Conditions that name columns which no table here has."""

    def find(self, column: exp.Expr) -> tuple[Source, str] | None:
        """Return the table that a column is of and what it is called there, None if none has it."""
        if not isinstance(column, exp.Column) or not isinstance(column.this, exp.Identifier) or column.args.get("db"):
            return None
        table = column.args.get("table")
        sources = list(self.sources)
        if table is not None:
            alias = self.text.canonical(table, [source.alias for source in sources])
            sources = [source for source in sources if source.alias == alias]
        holders = []
        for source in sources:
            name = self.text.canonical(column.this, source.names)
            if name in source.names:
                holders.append((source, source.own_name(name)))
        if len(holders) > 1:  # spelled exactly so, or a column that can be asked about rather than a key
            exact = [(source, name) for source, name in holders if name == column.name]
            described = [(source, name) for source, name in holders if name in source.table.columns]
            holders = next((some for some in (exact, described) if len(some) == 1), holders)
        if not holders and table is None and (found := self._find_label(str(column.name))) is not None:
            return found
        if not holders:  # the unit of rows that belong to others
            owners = [(source, source.private.owner or "") for source in sources if source.private is not None]
            holders = [(source, name) for source, name in owners if self.text.canonical(column.this, [name]) == name]
        if len(holders) > 1 and table is None:
            same_unit = all(source.tells_unit(name) for source, name in holders)
            if same_unit or self._is_merged(holders, column.this):
                return min(holders, key=lambda holder: holder[0].position)
            names = " or ".join(f"{quote_name(source.alias)}.{quote_name(name)}" for source, name in holders)
            self.text.refuse(column, f"{column.name} may be {names}; write one of them")
        return holders[0] if holders else None

    def _find_label(self, label: str) -> tuple[Source, str] | None:
        """Return the column that a name with its table in it, such as "v.day", stands for."""
        alias, _, name = label.partition(".")
        return next(((source, name) for source in self.sources if source.alias == alias and name in source.names), None)

    def add(self, condition: exp.Expr) -> None:
        """Take a condition that all rows must meet: a link between two tables, or something for later."""
        if any(self.find(column) is None for column in columns_in(condition)):
            self.others.append(condition)
            return
        link = self.read_link(condition)
        if link is None:
            self.residual.append(condition)
        else:
            self.links.append(link)

    def read_link(self, condition: exp.Expr) -> Link | None:
        """Return what two tables are matched by, None if a condition says something else."""
        compared = compared_columns(condition)
        if compared is None:
            return None
        left, right = self.find(compared[0]), self.find(compared[1])
        if left is None or right is None or left[0] is right[0]:
            return None
        has_public = left[0].private is None or right[0].private is None
        matched = [source.is_matched_by(name) for source, name in (left, right)]
        if not (any(matched) or has_public):
            return None
        return Link(*left, *right, compared[2], condition)

    def add_using(self, source: Source) -> None:
        """Take the columns that USING names."""
        self.links += [] if source.keep else self._links_of_using(source)

    def _links_of_using(self, source: Source) -> list[Link]:
        links = []
        for node in source.using:
            own = self._name_in(source, node)
            before = [other for other in self.sources if other.position < source.position]
            holder = next((other for other in before if self._name_in(other, node) is not None), None)
            if holder is None or own is None:
                lacking = source.alias if holder is not None else "no table before it"
                has = "has no such column" if holder is not None else "has such a column"
                self.text.refuse(node, f"{lacking} {has}; {self._suggest(source, before)}")
            theirs = self._name_in(holder, node) or ""
            links.append(Link(holder, holder.own_name(theirs), source, source.own_name(own), "=", node))
        return links

    def _name_in(self, source: Source, node: exp.Expr) -> str | None:
        """Return what a table calls a column, or its unit, which can be named in every private table."""
        unit = () if source.private is None or source.private.owner is None else (source.private.owner,)
        known = (*source.names, *unit)
        name = self.text.canonical(node, known)
        return name if name in known else None

    @property
    def merged(self) -> dict[str, Source]:
        """The tables that columns are of which USING has made one: the first that has them, so never missing."""
        found: dict[str, Source] = {}
        for source in self.sources:
            for node in source.using:
                before = [other for other in self.sources if other.position < source.position]
                holder = next((other for other in before if self._name_in(other, node) is not None), None)
                if holder is not None:
                    found.setdefault(self._name_in(holder, node) or "", holder)
        return found

    def _is_merged(self, holders: Sequence[tuple[Source, str]], column: exp.Expr) -> bool:
        """Return whether USING has made one column of all that go by a name."""
        _, *others = (source for source, _ in sorted(holders, key=lambda holder: holder[0].position))
        using = {source.alias: [self._name_in(source, node) for node in source.using] for source in others}
        return all(self._name_in(source, column) in using[source.alias] for source in others)

    # In which order.

    def join(self) -> tuple[str, Table, tuple[AnyJoin, ...]]:
        """Return the table that rows are matched from, what it is called, and what is joined to it."""
        start = self._start()
        placed, joins = [start], list[AnyJoin]()
        waiting = [source for source in self.sources if source is not start]
        while waiting:
            source, links = self._choose(placed, waiting)
            waiting.remove(source)
            join = self._build(source, links)
            try:
                relation = in_order_as_written(start.alias, start.private or _none(), (*joins, join))
            except InvalidQuestion as problem:
                names = [other.alias for other in placed]
                at = source.node if source.alias in names or not links else links[0].node
                self.text.refuse(at, str(problem))
            joins = list(relation.joins)
            placed.append(source)
            if source.keep:
                joins[-1] = self._with_condition(relation, join, source)
        assert start.private is not None
        return start.alias, start.private, tuple(joins)

    def _start(self) -> Source:
        """Return the table to begin with: a private one, as near to its units as there is."""
        private = [source for source in self.sources if source.private is not None and not source.keep]
        if not private:
            kept = next((source for source in self.sources if source.private is not None), None)
            if kept is not None:
                self.text.refuse(
                    kept.node,
                    f"rows of public tables would show whether {kept.alias} has a match; begin with {kept.alias}, and "
                    "join the public ones to it",
                )
            refuse_public(self.text, self.sources[0].node, *dict.fromkeys(source.table.name for source in self.sources))
        return min(private, key=lambda source: (source.private.depth if source.private else 0, source.position))

    def _choose(self, placed: list[Source], waiting: list[Source]) -> tuple[Source, list[Link]]:  # noqa: RET503
        """Return the table to join next, with what it is matched by."""
        inner = [source for source in waiting if not source.keep]
        ready = [(self._rank(source, links), source, links) for source, links in self._linked(placed, inner)]
        if ready:
            best = min(ready, key=lambda found: found[0])
            return best[1], best[2]
        kept = next((source for source in waiting if source.keep), None)
        if kept is not None and kept.position < min((source.position for source in inner), default=len(self.sources)):
            return kept, self._links_of_kept(kept, placed)
        source = inner[0] if inner else waiting[0]
        if isinstance(source.table, PublicTable) and source.table.count <= MOST_UNMATCHED:
            links = [link for link in self.links if source in (link.left, link.right)]
            return source, [link for link in links if link.seen_from(source)[0] in placed]
        suggestion = self._suggest(source, placed)
        if source.private is not None and (said := source.on or source.using):
            self.text.refuse(said[0], f"a row of this join could belong to two units; {suggestion}")
        self.text.refuse(source.node, f"nothing says which rows of {source.alias} match; {suggestion}")

    def _linked(self, placed: list[Source], sources: list[Source]) -> Iterator[tuple[Source, list[Link]]]:
        for source in sources:
            links = [link for link in self.links if source in (link.left, link.right)]
            links = [link for link in links if link.seen_from(source)[0] in placed]
            if any(link.operator == "=" for link in links):
                yield source, links

    def _rank(self, source: Source, links: list[Link]) -> tuple[int, int, int]:
        """Return what comes first: private tables near their units, public ones by their key, then others."""
        if source.private is not None:
            tied = any(link.is_of_units or _is_tie(link, source) for link in links)
            return (0 if tied else 3), source.private.depth, source.position
        matched = {link.seen_from(source)[2] for link in links if link.operator == "="}
        return (1 if source.table.key and set(source.table.key) <= matched else 2), 0, source.position

    def _links_of_kept(self, source: Source, placed: list[Source]) -> list[Link]:
        """Return what ON of a LEFT JOIN says of the tables before it."""
        links = [link for link in map(self.read_link, source.on) if link is not None]
        links += self._links_of_using(source)
        return [link for link in links if source in (link.left, link.right) and link.seen_from(source)[0] in placed]

    def _build(self, source: Source, links: list[Link]) -> AnyJoin:
        pairs = []
        for link in links:
            take_link(self.text, link.node)
            if link.is_of_units and link.seen_from(source)[0].keep:
                other, theirs, _ = link.seen_from(source)
                first = next(one for one in self.sources if one.private is not None and not one.keep)
                self.text.refuse(
                    link.node,
                    f"{other.alias}.{theirs} is missing in rows without a match; join {source.alias} to "
                    f"{first.alias}.{first.unit}",
                )
            if not link.is_of_units:
                to, left, right = link.seen_from(source)
                pairs.append((Pair(to.alias, left, right, link.operator), link))
        by_unit = any(link.is_of_units for link in links)
        public = source.table
        if isinstance(public, PublicTable) and public.rows is not None and not public.identifiers:
            keyed = [
                (pair, link)
                for pair, link in pairs
                if (pair.right, pair.operator) == (public.key[0], "=")
                and pair.left in link.seen_from(source)[0].table.columns
            ]
            plain = not source.keep or (len(source.on) == len(pairs) == 1)
            if keyed and plain:
                self.residual += [link.node for pair, link in pairs if pair is not keyed[0][0]]
                return JoinPublic(source.alias, public, keyed[0][0].to, keyed[0][0].left, source.keep)
        return Join(source.alias, source.table, tuple(pair for pair, _ in pairs), by_unit, keep=source.keep)

    def _with_condition(self, relation: Joined, join: AnyJoin, source: Source) -> AnyJoin:
        """Return a LEFT JOIN with the rest of what its ON says."""
        links = [link.node for link in map(self.read_link, source.on) if link is not None]
        rest = [condition for condition in source.on if condition not in links]
        return join if not rest or isinstance(join, JoinPublic) else self.read_rest(relation, join, rest)

    def _suggest(self, source: Source, placed: list[Source]) -> str:
        """Say what would match rows."""
        private = {other.alias: other.private for other in placed if other.private is not None}
        if not isinstance(source.table, PublicTable):
            if source.table.owner is None or not any(table.owner for table in private.values()):
                return "nothing can be joined here; query one table"
            return f"join it ON {tie(source.alias, source.table, private)}"
        match = next((match for other in placed if (match := _find_match(other, source, source.table))), None)
        if match is not None:
            return f"join it ON {' = '.join(f'{quote_name(alias)}.{quote_name(name)}' for alias, name in match)}"
        keys = [f"{quote_name(source.alias)}.{quote_name(name)}" for name in source.table.key or source.table.names]
        return f"say after ON which columns are equal to {(' and ' if source.table.key else ' or ').join(keys)}"


def _find_match(source: Source, public: Source, table: PublicTable) -> tuple[tuple[str, str], ...] | None:
    """Return a column that holds keys of a public table, and the one there, if the contract says so."""
    for own in table.key[:1] or table.columns:
        known = table.columns.get(own)
        values = known.keys if isinstance(known, Keys) else table.key_values if table.key == (own,) else ()
        names = [
            name
            for name, column in source.table.columns.items()
            if isinstance(column, Keys) and not set(column.keys).isdisjoint(values)
        ]
        names += [name for name, one in source.table.identifiers.items() if one.keys_of == table.name]
        if names and len(table.key) < 2:
            return (source.alias, names[0]), (public.alias, own)
    return None


def _none() -> Table:
    raise AssertionError("rows are matched from a private table")


def _is_tie(link: Link, source: Source) -> bool:
    """Return whether what two private tables are matched by refers to the same thing."""
    other, theirs, own = link.seen_from(source)
    if source.private is None or other.private is None:
        return False
    return source.private.domain(own) == other.private.domain(theirs)
