"""Random questions in SQL to the tables of a random contract: expressions, joins, rows made of rows, groupings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.helpers.random_contracts import ROW, Dice, Kind, Public, Scene, Stored

PARTS = ["YEAR", "QUARTER", "MONTH", "WEEK", "WEEKDAY", "DAY"]
DAYS = ["2024-02-29", "2025-01-01", "2025-06-30", "2026-12-31"]
CONSTANTS = ["0", "1", "2", "3", "10", "0.5", "100", "7.25"]
COMPARED = ["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Name:
    """A column that a question can name."""

    text: str
    kind: Kind
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class From:
    """What stands after FROM, with the columns that it has."""

    text: str
    called: str
    unit: str | None
    names: list[Name]
    units: tuple[str, ...] = ()
    """The units of tables that a row may have no match in."""


class Words:
    """Writes random expressions and conditions over some columns."""

    def __init__(self, dice: Dice, names: list[Name], units: tuple[str, ...] = ()) -> None:
        self.dice = dice
        self.units = units
        self.of: dict[str, list[Name]] = {
            kind: [name for name in names if name.kind == kind] for kind in ("number", "day", "key")
        }

    def number(self, depth: int) -> str:
        """Return an expression of numbers."""
        dice = self.dice
        if depth == 0 or dice.chance(0.15):
            if self.of["number"] and dice.chance(0.9):
                return str(dice.one(self.of["number"]).text)
            return self._part(0) if self.of["day"] else str(dice.one(CONSTANTS))
        inner, constant = self.number(depth - 1), dice.one(CONSTANTS)
        kinds = [
            lambda: f"({inner} {dice.one('+-*')} {self.number(depth - 1)})",
            lambda: f"({inner} {dice.one('+-*')} {constant})",
            lambda: f"({constant} {dice.one('+-')} {inner})",
            lambda: f"({inner} / {dice.one(['2', '3', '10', '-4', '0.5'])})",
            lambda: f"({inner} // {dice.one(['2', '3', '10'])})",
            lambda: f"{dice.one(['ABS', 'ABS', 'FLOOR', 'ROUND', 'CEIL'])}({inner})",
            lambda: f"ROUND({inner}, {dice.one(['1', '2', '-1'])})",
            lambda: f"{dice.one(['LEAST', 'GREATEST'])}({inner}, {dice.one([constant, self.number(depth - 1)])})",
            lambda: f"COALESCE({inner}, {dice.one([constant, self.number(depth - 1)])})",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {inner} ELSE {self.number(depth - 1)} END",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {inner} END",
            lambda: f"(-{inner})",
        ]
        if self.of["day"]:
            kinds += [lambda: self._part(depth - 1), lambda: f"({self.day(depth - 1)} - {self.day(depth - 1)})"]
        return str(dice.one(kinds)())

    def _part(self, depth: int) -> str:
        return f"{self.dice.one(PARTS)}({self.day(depth)})"

    def day(self, depth: int) -> str:
        """Return an expression of days."""
        dice = self.dice
        inner = dice.one(self.of["day"]).text if depth == 0 or dice.chance(0.4) else self.day(depth - 1)
        if depth == 0:
            return str(inner)
        kinds = [
            lambda: f"DATE_TRUNC('{dice.one(['year', 'quarter', 'month', 'week'])}', {inner})",
            lambda: f"({inner} + {dice.number(1, 40)})",
            lambda: f"({inner} - {dice.number(1, 40)})",
            lambda: f"{dice.one(['LEAST', 'GREATEST'])}({inner}, {self.day(depth - 1)})",
            lambda: f"COALESCE({inner}, DATE '{dice.one(DAYS)}')",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {inner} ELSE {self.day(depth - 1)} END",
        ]
        return str(dice.one(kinds)())

    def key(self, depth: int) -> str:
        """Return an expression of keys."""
        dice = self.dice
        name = dice.one(self.of["key"])
        if depth == 0 or dice.chance(0.3):
            return str(name.text)
        is_text = isinstance(name.keys[0], str)
        other = "'new'" if is_text else _literal(name.keys[0])
        kinds = [
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {other} ELSE {name.text} END",
            lambda: f"CASE WHEN {self.condition(depth - 1)} THEN {name.text} END",
            lambda: f"COALESCE({name.text}, {other})",
        ]
        if is_text:
            kinds += [lambda: f"UPPER({name.text})", lambda: f"LOWER({name.text})"]
            kinds += [lambda: f"REPLACE({name.text}, 'a', 'bb')", lambda: f"LPAD({name.text}, 3, '*') || {name.text}"]
        if self.of["day"]:
            form = dice.one(["%Y-Q%q", "%b %Y", "%G-W%V", "%j", "%d.%m.%Y"])
            kinds += [lambda: f"STRFTIME({self.day(0)}, '{form}')", lambda: f"CAST({self._part(0)} AS TEXT)"]
        return str(dice.one(kinds)())

    def condition(self, depth: int) -> str:
        """Return a condition."""
        dice = self.dice
        if depth > 0 and dice.chance(0.4):
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return str(dice.one([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"]))
        kinds = [lambda: f"{self.number(depth)} {dice.one(COMPARED)} {dice.one(CONSTANTS)}"]
        if self.of["number"]:
            kinds += [
                lambda: f"{self.number(depth)} BETWEEN {dice.number(-5, 1)} AND {dice.number(2, 50)}",
                lambda: f"{dice.one(self.of['number']).text} < {dice.one(self.of['number']).text}",
                lambda: f"{self.number(depth)} IS {dice.one(['', 'NOT '])}NULL",
                lambda: f"{self.number(depth)} IN (0, 1, {dice.one(CONSTANTS)})",
            ]
        if self.of["day"]:
            kinds.append(lambda: f"{dice.one(self.of['day']).text} {dice.one(COMPARED)} '{dice.one(DAYS)}'")
        if self.of["key"]:
            kinds += [self._key_test, self._key_test]
        if self.units:
            kinds.append(lambda: f"{dice.one(list(self.units))} IS {dice.one(['', 'NOT '])}NULL")
        return str(dice.one(kinds)())

    def _key_test(self) -> str:
        name = self.dice.one(self.of["key"])
        key = _literal(self.dice.one(name.keys))
        tests = [f"{name.text} = {key}", f"{name.text} <> {key}", f"{name.text} IN ({key})", f"{name.text} IS NULL"]
        if isinstance(name.keys[0], str):
            tests += [f"{name.text} LIKE '%{self.dice.one('abe')}%'", f"{name.text} ILIKE 'B%'"]
        return str(self.dice.one(tests))


class Questions:
    """Random questions to the tables of a contract."""

    def __init__(self, dice: Dice, scene: Scene) -> None:
        self.dice = dice
        self.scene = scene
        self._number = 0

    def question(self) -> str:
        """Return a question; it may be one that is refused."""
        dice = self.dice
        source = self.source(2)
        words = Words(dice, source.names, source.units)
        where = f" WHERE {words.condition(dice.number(0, 2))}" if dice.chance(0.3) else ""
        groups = self._groups(words) if dice.chance(0.4) else []
        measure = self._measure(words, source, bool(groups))
        selected = ", ".join([*groups, measure])
        if not groups:
            return f"SELECT {selected} FROM {source.text}{where}"
        by = ", ".join(groups)
        if dice.chance(0.3) and measure.split("(")[0] in ("COUNT", "SUM") and "AVG" not in measure:
            by = dice.one([f"ROLLUP({by})", f"CUBE({by})", f"GROUPING SETS (ROLLUP({by}), REST())"])
        return f"SELECT {selected} FROM {source.text}{where} GROUP BY {by}"

    def _groups(self, words: Words) -> list[str]:
        dice = self.dice
        kinds = []
        if words.of["key"]:
            kinds += [lambda: words.key(dice.number(0, 2))] * 2
        if words.of["day"]:
            kinds += [lambda: f"{dice.one(PARTS)}({words.day(1)})", lambda: f"DATE_TRUNC('month', {words.day(0)})"]
        if words.of["number"]:
            kinds += [lambda: dice.one(words.of["number"]).text, lambda: f"FLOOR({words.number(1)} / 5)"]
        return [str(dice.one(kinds)()) for _ in range(dice.number(1, 2))] if kinds else []

    def _measure(self, words: Words, source: From, grouped: bool) -> str:
        dice = self.dice
        if not any(words.of.values()) or dice.chance(0.12):
            return "COUNT(*)"
        x = words.number(dice.number(0, 3)) if words.of["number"] or words.of["day"] else None
        kinds = ["COUNT(*)"]
        if source.unit is not None:
            kinds.append(f"COUNT(DISTINCT {source.unit})")
        kinds += [f"COUNT({unit})" for unit in words.units]
        if x is not None:
            kinds += [f"SUM({x})"] * 4 + [f"AVG({x})"] * 2 + [f"MEDIAN({x})", f"QUANTILE({x}, 0.9)", f"VARIANCE({x})"]
            kinds += [f"COUNT({x})", f"COUNT(*), SUM({x}), AVG({x})", f"STDDEV_POP({x})", f"QUANTILES({x}, 0.1, 0.5)"]
            kinds += [f"CORR({x}, {words.number(1)})", f"COVAR_POP({x}, {words.number(1)})"]
            kinds += [] if grouped else [f"HISTOGRAM({x}, 4)", f"CDF({x}, 6)"]
        if words.of["day"]:
            kinds += [f"AVG({words.day(1)})", f"MAX({words.day(1)})"]
        if words.of["key"]:
            kinds.append(f"COUNT(DISTINCT {words.key(1)})")
        kinds.append(f"PROPORTION({words.condition(1)})")
        return str(dice.one(kinds))

    # What stands after FROM.

    def source(self, depth: int) -> From:
        """Return a table, rows of units, or a join."""
        first = self._part(depth, may_be_alone=True)
        joins = self.dice.one([0, 0, 1, 1, 2, 3]) if depth else 0
        if not joins:
            return first
        text, names, holders = first.text, _qualified(first), {first.called: first}
        units: tuple[str, ...] = ()
        for _ in range(joins):
            found = self._join(depth, first, holders)
            if found is None:
                continue
            text += f" {found.text}"
            names += _qualified(found)
            holders[found.called] = found
            if found.text.startswith("LEFT") and found.unit is not None:
                units += (f"{found.called}.{found.unit}",)
        unit = None if first.unit is None else f"{first.called}.{first.unit}"
        return From(text, first.called, unit, names, units) if len(holders) > 1 else first

    def _join(self, depth: int, first: From, holders: dict[str, From]) -> From | None:
        left = self.dice.one(["LEFT ", ""])
        if self.dice.chance(0.5) or first.unit is None:
            return self._join_public(left, holders)
        other = self._part(depth, may_be_alone=False)
        if other.unit == first.unit and self.dice.chance(0.5):
            on = f"USING ({first.unit})"
        else:
            on = f"ON {first.called}.{first.unit} = {other.called}.{other.unit}"
        return From(f"{left}JOIN {other.text} {on}", other.called, other.unit, other.names)

    def _join_public(self, left: str, holders: dict[str, From]) -> From | None:
        possible: list[tuple[Public, str, str]] = []
        for public in self.scene.public.values():
            for called, holder in holders.items():
                if any(name.text == public.on for name in holder.names):
                    possible.append((public, called, public.on))
        if not possible:
            return None
        public, to, on = self.dice.one(possible)
        called = self._alias()
        text = f"{left}JOIN {public.name} AS {called} ON {to}.{on} = {called}.{public.key}"
        return From(text, called, None, _names(public.columns))

    def _part(self, depth: int, *, may_be_alone: bool) -> From:
        dice = self.dice
        table = dice.one(list(self.scene.private.values()))
        called, unit = self._alias(), None if table.unit == ROW else table.unit
        names = [Name(one.name, one.kind, one.keys) for one in table.columns]
        if depth and unit is not None and dice.chance(0.55):
            return self._per_unit(depth, called)
        if may_be_alone and dice.chance(0.5):
            return From(table.name, table.name, unit, names)
        return From(f"{table.name} AS {called}", called, unit, names)

    def _per_unit(self, depth: int, called: str) -> From:
        of = self.source(depth - 1)
        words, dice = Words(self.dice, of.names, of.units), self.dice
        assert of.unit is not None
        unit = of.unit.split(".")[-1]
        if dice.chance(0.1):
            return From(f"(SELECT DISTINCT {of.unit} FROM {of.text}) AS {called}", called, unit, [])
        names = [f"{called}m0", f"{called}m1", f"{called}m2"]
        if dice.chance(0.3):  # names that many engines do not tell from each other or from the unit
            names = [f'"{unit.upper()}"', f"{called}m1", f'"{called}M1"']
        made = {name: self._unit_measure(words) for name in names[: dice.number(1, 3)]}
        measures = ", ".join(f"{text} AS {name}" for name, (text, _) in made.items())
        where = f" WHERE {words.condition(1)}" if dice.chance(0.3) else ""
        found = [Name(name, kind) for name, (_, kind) in made.items()]
        if dice.chance(0.5) and (key := self._unit_key(words)) is not None:
            measures += f", {key[0]} AS {called}k"
            found.append(Name(f"{called}k", "key", key[1]))
        text = f"(SELECT {of.unit}, {measures} FROM {of.text}{where} GROUP BY {of.unit}) AS {called}"
        return From(text, called, unit, found)

    def _unit_measure(self, words: Words) -> tuple[str, Kind]:
        dice, most = self.dice, self.dice.number(1, 50)
        kinds: list[tuple[str, Kind]] = [("COUNT(*)", "number"), (f"LEAST(COUNT(*), {most})", "number")]
        if words.of["number"]:
            x = words.number(dice.number(0, 2))
            kinds += [(f"{name}({x})", "number") for name in ("MAX", "MIN", "AVG", "SUM", "SUM", "COUNT")]
            kinds.append((f"{dice.one(['ARG_MIN', 'ARG_MAX'])}({dice.one(words.of['number']).text}, {x})", "number"))
            kinds.append((f"GREATEST(LEAST(SUM({x}), {most}), -{most})", "number"))
        kinds += [(f"COUNT({one})", "number") for one in words.units]
        if words.of["day"]:
            kinds.append((f"{dice.one(['MAX', 'MIN', 'AVG'])}({words.day(1)})", "day"))
        if words.of["key"]:
            kinds.append((f"COUNT(DISTINCT {words.key(1)})", "number"))
        found: tuple[str, Kind] = dice.one(kinds)
        return found

    def _unit_key(self, words: Words) -> tuple[str, tuple[Any, ...]] | None:
        """Return what is a key of each unit: of any of its rows, the least, the greatest, or that of some row."""
        dice = self.dice
        if not words.of["key"]:
            return None
        name = dice.one(words.of["key"])
        kinds = [f"{function}({name.text})" for function in ("MAX", "MIN", "ANY_VALUE")]
        orders = [name.text]
        orders += [words.number(1)] if words.of["number"] else []
        orders += [words.day(1)] if words.of["day"] else []
        for by in orders:
            kinds += [f"ARG_MIN({name.text}, {by})", f"ARG_MAX({name.text}, {by})", f"FIRST({name.text} ORDER BY {by})"]
        return str(dice.one(kinds)), name.keys

    def _alias(self) -> str:
        self._number += 1
        return f"q{self._number}"


def _qualified(source: From) -> list[Name]:
    return [Name(f"{source.called}.{name.text}", name.kind, name.keys) for name in source.names]


def _names(columns: list[Stored]) -> list[Name]:
    return [Name(one.name, one.kind, one.keys) for one in columns]


def _literal(key: Any) -> str:
    if isinstance(key, bool):
        return str(key).upper()
    doubled = str(key).replace("'", "''")
    return f"'{doubled}'" if isinstance(key, str) else str(key)
