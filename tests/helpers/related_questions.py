"""Random questions to related tables: joins, lookups, inner groupings and projections, in SQL; those of some seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inbounds.query.columns.identifier import UNIT, Domain
from tests.helpers.random_contracts import Dice
from tests.helpers.related_schemas import PUBLIC, PrivateTable, Schema

OPERATORS = frozenset(
    {
        "child", "parent", "sibling", "self", "unit", "public small", "public often", "public double", "public large",
        "ON", "comma", "USING", "LEFT", "LEFT with more", "EXISTS", "NOT EXISTS", "IN", "NOT IN", "correlated",
        "by unit", "by key", "by key and column", "DISTINCT", "HAVING", "projection", "nested", "CASE", "LIKE",
        "both sides", "by what is made",
    }
)  # fmt: skip
"""What a question can be made of."""


@dataclass
class Source:
    """A table after FROM, as the question calls it."""

    text: str
    alias: str
    keys: dict[str, Domain]
    """What rows are matched by, and what that refers to; the unit among it, where it has a name here."""
    numbers: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    """Of a table as it is, the columns that tell what a row belongs to."""
    is_public: bool = False

    def of(self, names: list[str]) -> list[str]:
        """Return columns with the name of their table."""
        return [f"{self.alias}.{name}" for name in names]


@dataclass
class Joining:
    """A table that joins those before, by what is said of both."""

    source: Source
    links: list[str]
    using: list[str] = field(default_factory=list)
    more: str = ""
    is_kept: bool = False


class RelatedQuestions:
    """Writes random questions to a schema; `used` tells what the last one is made of."""

    def __init__(self, dice: Dice, schema: Schema) -> None:
        self.dice, self.schema = dice, schema
        self.used: set[str] = set()
        self._names = 0

    def question(self) -> str:
        """Return a question."""
        self.used, self._names = set(), 0
        sources, clause, tests = self._from(self.dice.one([0, 1, 1, 2, 2, 3]))
        where = [*tests, *self._tests(sources, self.dice.number(0, 2)), *self._lookups(sources)]
        measure = self._measure(sources)
        group = self._group(sources) if self.dice.chance(0.35) else ""
        text = f"SELECT {f'{group}, ' * bool(group)}{measure} FROM {clause}"
        text += f" WHERE {' AND '.join(where)}" if where else ""
        return text + (f" GROUP BY {group}" if group else "")

    def _name(self) -> str:
        self._names += 1
        return f"x{self._names}"

    def _one(self, choices: Any) -> Any:
        return self.dice.one(list(choices))

    # Tables.

    def _base(self, table: PrivateTable) -> Source:
        alias = self._name()
        known = {of for other in self.schema.tables if other.parent is table for _, of in other.on}
        known.update(table.references, table.key if table.says_key else ())
        names = [table.unit] * bool(table.unit) + [name for name in table.matched if name in known]
        keys = {name: table.domain(name) for name in names}
        return Source(
            f"{table.name} {alias}",
            alias,
            keys,
            [table.number],
            [table.kind],
            [table.note],
            list(table.references),
        )

    def _made(self, depth: int = 0) -> Source:
        """Return an inner SELECT: rows grouped within a unit, or with other columns."""
        makers: list[Callable[[int], Source]] = [self._grouped, self._grouped, self._grouped, self._projected]
        return self._one(makers)(depth)

    def _inside(self, depth: int) -> tuple[list[Source], str, list[str]]:
        """Return what an inner SELECT is about."""
        if depth == 0 and self.dice.chance(0.4):
            self.used.add("nested")
            inner = self._made(1)
            return [inner], inner.text, []
        return self._from(self._one([0, 0, 1]), depth + 1)

    def _grouped(self, depth: int) -> Source:
        sources, clause, tests = self._inside(depth)
        first = next(source for source in sources if not source.is_public)
        alias = self._name()
        keys = dict(first.keys)
        units = [name for name, domain in keys.items() if domain == UNIT]
        if units and self.dice.chance(0.5):
            chosen = {units[0]: keys[units[0]]}
            self.used.add("by unit")
        else:
            apart = [name for name in first.references or keys if keys[name] != UNIT]
            chosen = keys if not apart or self.dice.chance(0.3) else {name: keys[name] for name in apart}
            self.used.add("by key")
        columns = []
        if first.kinds and self.dice.chance(0.4):
            columns = [first.kinds[0]]
            self.used.add("by key and column")
        by = ", ".join(first.of([*chosen, *columns]))
        where = [*tests, *self._tests(sources, self.dice.number(0, 1))]
        after = f" FROM {clause}" + (f" WHERE {' AND '.join(where)}" if where else "")
        if self.dice.chance(0.2):
            self.used.add("DISTINCT")
            return Source(f"(SELECT DISTINCT {by}{after}) AS {alias}", alias, chosen, [], columns)
        measures = [f"LEAST(COUNT(*), 3) AS m{alias}"]
        numbers = [number for source in sources for number in source.of(source.numbers)]
        if numbers:
            measures.append(f"{self._one(['MAX', 'MIN', 'AVG'])}({self._one(numbers)}) AS o{alias}")
        having = ""
        if self.dice.chance(0.4):
            self.used.add("HAVING")
            test = self._one(
                ["COUNT(*) > 1", "COUNT(*) <= 2", f"MAX({numbers[0]}) >= 2" if numbers else "COUNT(*) > 0"]
            )
            having = f" HAVING {test}"
        text = f"(SELECT {by}, {', '.join(measures)}{after} GROUP BY {by}{having}) AS {alias}"
        made = [one.rpartition(" ")[2] for one in measures]
        return Source(text, alias, chosen, made, columns)

    def _projected(self, depth: int) -> Source:
        sources, clause, tests = self._inside(depth)
        self.used.add("projection")
        alias = self._name()
        first = next(source for source in sources if not source.is_public)
        keys = {f"{name}{alias}": domain for name, domain in first.keys.items()}
        selected = [f"{first.alias}.{name} AS {name}{alias}" for name in first.keys]
        numbers = [number for source in sources for number in source.of(source.numbers)]
        made = []
        if numbers:
            made.append(f"o{alias}")
            selected.append(f"{self._one([self._one(numbers), f'LEAST({numbers[0]} + 1, 3)'])} AS o{alias}")
        kinds = []
        if first.kinds:
            kinds.append(f"p{alias}")
            selected.append(f"{first.alias}.{first.kinds[0]} AS p{alias}")
        where = [*tests, *self._tests(sources, self.dice.number(0, 1))]
        after = f" WHERE {' AND '.join(where)}" if where else ""
        return Source(f"(SELECT {', '.join(selected)} FROM {clause}{after}) AS {alias}", alias, keys, made, kinds)

    # Joins.

    def _from(self, joins: int, depth: int = 0) -> tuple[list[Source], str, list[str]]:
        """Return tables, what stands after FROM, and what WHERE says of how they are joined."""
        is_made = depth == 0 and self.dice.chance(0.2)
        sources = [self._made() if is_made else self._base(self._one(self.schema.tables))]
        joined: list[Joining] = []
        for _ in range(joins):
            found = self._join_public(sources) if self.dice.chance(0.3) else self._join_private(sources, depth)
            if found is not None:
                joined.append(found)
                sources.append(found.source)
        if joined and not any(one.is_kept or one.using for one in joined) and self.dice.chance(0.4):
            self.used.add("comma")
            texts = [source.text for source in sources]
            order = [texts[int(i)] for i in self.dice.random.permutation(len(texts))]
            links = [link for one in joined for link in one.links]
            return sources, ", ".join(order), links
        text = sources[0].text
        for one in joined:
            text += f" {'LEFT ' * one.is_kept}JOIN {one.source.text} "
            if one.using:
                text += f"USING ({', '.join(one.using)})"
                self.used.add("USING")
                continue
            self.used.add("LEFT" if one.is_kept else "ON")
            if one.is_kept and one.more:
                self.used.add("LEFT with more")
            text += f"ON {' AND '.join([*one.links, *([one.more] if one.more else [])])}"
        return sources, text, []

    def _join_private(self, sources: list[Source], depth: int) -> Joining | None:
        before = [source for source in sources if not source.is_public]
        other = self._made(1) if depth == 0 and self.dice.chance(0.25) else self._base(self._one(self.schema.tables))
        to = self._one(before)
        pairs = self._match(to, other)
        if not pairs:
            return None
        self._note(to, other, pairs)
        alike = {right: [one for one in before if left in one.keys] for left, right in pairs}
        if len(before) > 1 and self.dice.chance(0.3):  # one column of a reference to this table, another to that one
            links = [f"{self._one(alike[right]).alias}.{left} = {other.alias}.{right}" for left, right in pairs]
            return Joining(other, links)
        joining = Joining(other, [f"{to.alias}.{left} = {other.alias}.{right}" for left, right in pairs])
        names = [left for left, right in pairs if left == right]
        if len(names) == len(pairs) and all(one == [to] for one in alike.values()) and self.dice.chance(0.5):
            joining.using = names
        elif self.dice.chance(0.3):
            joining.is_kept = True
            joining.more = self._compare(to, other) if self.dice.chance(0.5) else ""
        return joining

    def _match(self, to: Source, other: Source) -> list[tuple[str, str]]:
        """Return columns that refer to the same: the unit, all of them, or one."""
        left_of = {domain: name for name, domain in to.keys.items()}
        pairs = [(left_of[domain], right) for right, domain in other.keys.items() if domain in left_of]
        units = [pair for pair in pairs if other.keys[pair[1]] == UNIT]
        if units and self.dice.chance(0.6):
            return units[:1]
        return pairs if not pairs or self.dice.chance(0.7) else self.dice.some(pairs, 1)

    def _note(self, to: Source, other: Source, pairs: list[tuple[str, str]]) -> None:
        """Note how two tables are related."""
        if any(other.keys[right] == UNIT for _, right in pairs):
            self.used.add("unit")
        rights, lefts = {right for _, right in pairs}, {left for left, _ in pairs}
        is_child = bool(other.references) and set(other.references) <= rights
        was_child = bool(to.references) and set(to.references) <= lefts
        if to.text.split()[0] == other.text.split()[0]:
            self.used.add("self")
        elif is_child and was_child:
            self.used.add("sibling")
        elif is_child:
            self.used.add("child")
        elif was_child:
            self.used.add("parent")

    def _join_public(self, sources: list[Source]) -> Joining | None:
        to = next((source for source in sources if source.kinds and source.numbers and not source.is_public), None)
        if to is None:
            return None
        name = self._one(self.schema.public)
        public, alias = PUBLIC[name], self._name()
        self.used.add(f"public {name}")
        links = public.joined.format(k=f"{to.alias}.{to.kinds[0]}", v=f"{to.alias}.{to.numbers[0]}", p=alias)
        labels = [] if public.label is None else [public.label]
        source = Source(f"{name} {alias}", alias, {}, [public.number], labels, is_public=True)
        return Joining(source, links.split(" AND "), is_kept=self.dice.chance(0.3))

    # Conditions.

    def _compare(self, one: Source, other: Source) -> str:
        """Return a condition between columns of two tables, or on one of them."""
        if one.numbers and other.numbers and self.dice.chance(0.7):
            self.used.add("both sides")
            sign = self._one(["<", "<=", ">", ">=", "<>"])
            return f"{one.alias}.{one.numbers[0]} {sign} {other.alias}.{other.numbers[0]}"
        return self._test(other) or "1 = 1"

    def _test(self, source: Source) -> str:
        choices = [
            f"{number} {self._one(['>', '<=', '<>'])} {self._one([0, 1, 2])}" for number in source.of(source.numbers)
        ]
        choices += [f"{kind} = 'a'" for kind in source.of(source.kinds) if not source.is_public]
        choices += [f"{kind} IN ('a', 'b')" for kind in source.of(source.kinds) if not source.is_public]
        choices += [f"{number} IS NOT NULL" for number in source.of(source.numbers)]
        if source.notes and self.dice.chance(0.4):
            self.used.add("LIKE")
            pattern = self._one(["a%", "%b", "_b", "%", "b%a"])
            return f"{source.alias}.{source.notes[0]} {self._one(['', 'NOT '])}LIKE '{pattern}'"
        if source.numbers and self.dice.chance(0.2):
            self.used.add("CASE")
            number = f"{source.alias}.{source.numbers[0]}"
            return f"CASE WHEN {number} > 1 THEN {number} ELSE 0 END >= {self._one([0, 1, 3])}"
        return str(self._one(choices)) if choices else ""

    def _tests(self, sources: list[Source], many: int) -> list[str]:
        found = [self._test(self._one(sources)) for _ in range(many)]
        if len(sources) > 1 and self.dice.chance(0.2):
            found.append(self._compare(sources[0], sources[1]))
        return [one for one in found if one and one != "1 = 1"]

    def _lookups(self, sources: list[Source]) -> list[str]:
        found = []
        for _ in range(self._one([0, 0, 1, 1, 2])):
            lookup = self._lookup(self._one([source for source in sources if not source.is_public]))
            found += [lookup] if lookup else []
        return found

    def _lookup(self, to: Source) -> str:
        inner, clause, tests = self._from(self._one([0, 0, 0, 1]), 1)
        other = inner[0]
        pairs = self._match(to, other)
        if not pairs:
            return ""
        where = [*tests, *self._tests(inner, self.dice.number(0, 1))]
        negated = self._one(["", "NOT "])
        if len(pairs) == 1 and self.dice.chance(0.5):
            self.used.add(f"{negated}IN")
            (left, right) = pairs[0]
            after = f" WHERE {' AND '.join(where)}" if where else ""
            return f"{to.alias}.{left} {negated}IN (SELECT {other.alias}.{right} FROM {clause}{after})"
        self.used.add(f"{negated}EXISTS")
        links = [f"{other.alias}.{right} = {to.alias}.{left}" for left, right in pairs]
        if to.numbers and other.numbers and self.dice.chance(0.5):
            self.used.add("correlated")
            sign = self._one(["<", "<=", ">=", "<>"])
            where.append(f"{other.alias}.{other.numbers[0]} {sign} {to.alias}.{to.numbers[0]}")
        return f"{negated}EXISTS (SELECT * FROM {clause} WHERE {' AND '.join([*links, *where])})"

    # Answers.

    def _measure(self, sources: list[Source]) -> str:
        numbers = [number for source in sources for number in source.of(source.numbers)]
        choices = ["COUNT(*)", "COUNT(*)", "COUNT(*)"]
        if numbers:
            choices += [f"SUM({self._one(numbers)})", f"AVG({self._one(numbers)})"]
            choices.append(f"SUM(CASE WHEN {self._one(numbers)} > 1 THEN {self._one(numbers)} ELSE 0 END)")
        units = [f"{source.alias}.{name}" for source in sources for name, to in source.keys.items() if to == UNIT]
        choices += [f"COUNT(DISTINCT {units[0]})"] if units else []
        return str(self._one(choices))

    def _group(self, sources: list[Source]) -> str:
        first = sources[0]
        if first.text.startswith("(") and first.numbers and self.dice.chance(0.6):
            self.used.add("by what is made")
            return f"{first.alias}.{first.numbers[0]}"
        kinds = [kind for source in sources for kind in source.of(source.kinds)]
        if kinds and self.dice.chance(0.7):
            return str(self._one(kinds))
        numbers = [number for source in sources for number in source.of(source.numbers) if not source.is_public]
        return str(self._one(numbers)) if numbers else ""
