"""Random contracts and the tables that they describe, with everything odd in the rows; the same for the same seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

Kind = Literal["number", "day", "key"]
Row = dict[str, Any]
ROW = "row"
FAR = 10**12


@dataclass(frozen=True)
class Stored:
    """A column that a table holds: what the contract says of it, and what rows may hold."""

    name: str
    kind: Kind
    type: str
    """What DuckDB calls it."""
    said: str
    """The contract's lines."""
    values: list[Any]
    keys: tuple[Any, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is joined by public numbers."""
        return self.kind == "number" and self.type == "BIGINT"


@dataclass(frozen=True)
class MadeOf:
    """A column that the contract makes of others."""

    name: str
    kind: Kind
    text: str
    keys: tuple[Any, ...] = ()


@dataclass
class Private:
    """A private table."""

    name: str
    unit: str
    limit: int
    stored: list[Stored]
    made: list[MadeOf] = field(default_factory=list)

    @property
    def columns(self) -> list[Stored | MadeOf]:
        """All that can be asked about."""
        return [*self.stored, *self.made]


@dataclass(frozen=True)
class Public:
    """A public table, and the column of a private one that it is joined to."""

    name: str
    key: str
    to: str
    """The table, private or public."""
    on: str
    columns: list[Stored]
    rows: dict[str, Row]

    @property
    def text(self) -> str:
        """The csv file."""
        names = [one.name for one in self.columns]
        lines = [",".join([key, *(_said(row[name]) for name in names)]) for key, row in self.rows.items()]
        return "\n".join([",".join([self.key, *names]), *lines, ""])


@dataclass
class Scene:
    """A contract and its tables."""

    private: dict[str, Private]
    public: dict[str, Public]
    units: int | None = None

    @property
    def main(self) -> Private:
        """The table of [dataset]."""
        return next(iter(self.private.values()))

    @property
    def contract(self) -> str:
        """The contract's text."""
        main = self.main
        rows = "" if main.unit == ROW else f"max_rows_per_unit = {main.limit}\n"
        units = "" if self.units is None else f"units = {self.units}\n"
        found = [f'[dataset]\nname = "{main.name}"\nunit = "{main.unit}"\n{rows}{units}', _columns(main, "columns")]
        for one in list(self.private.values())[1:]:
            head = f'[tables.{one.name}]\nunit = "{one.unit}"\nmax_rows_per_unit = {one.limit}\n'
            found += [head, _columns(one, f"tables.{one.name}.columns")]
        for table in self.public.values():
            head = f'[tables.{table.name}]\nsource = "{table.name}.csv"\npublic = true\nkey = "{table.key}"\n'
            said = "".join(f"[tables.{table.name}.columns.{one.name}]\n{one.said}\n" for one in table.columns)
            found += [head, said]
        return "\n".join([*found, "[budget]\ntotal = 1000000\n"])


def _columns(table: Private, path: str) -> str:
    said = [f"[{path}.{one.name}]\n{one.said}\n" for one in table.stored]
    return "".join([*said, *(f'[{path}.{one.name}]\nfrom = "{one.text}"\n' for one in table.made)])


def _said(value: Any) -> str:
    return "" if value is None else f"{float(value):g}" if isinstance(value, Fraction) else str(value)


class Dice:
    """Random choices, the same for the same seed."""

    def __init__(self, *seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one(self, choices: Sequence[Any]) -> Any:
        """Return one of some."""
        return choices[int(self.random.integers(len(choices)))]

    def number(self, low: int, high: int) -> int:
        """Return a whole number from one to another."""
        return int(self.random.integers(low, high + 1))

    def chance(self, odds: float) -> bool:
        """Return true so often."""
        return bool(self.random.random() < odds)

    def some(self, choices: Sequence[Any], most: int) -> list[Any]:
        """Return one to so many of some, each once at most."""
        count = self.number(1, min(most, len(choices)))
        return [choices[i] for i in self.random.permutation(len(choices))[:count]]


def random_scene(dice: Dice) -> Scene:
    """Return a contract of one to three private tables and up to three public ones."""
    unit = ROW if dice.chance(0.15) else "who"
    many = 1 if unit == ROW else dice.number(1, 3)
    private = {}
    for i in range(many):
        own = unit if i == 0 or dice.chance(0.5) else f"who{i}"
        table = Private(f"t{i}", own, 1 if unit == ROW else dice.one([1, 1, 2, 3, 5, 40]), _stored(dice, i))
        table.made = _made(dice, table, i)
        private[table.name] = table
    found = Scene(private, _public(dice, private))
    if dice.chance(0.15):
        found.units = dice.number(1, 9)
    return found


def _stored(dice: Dice, table: int) -> list[Stored]:
    """Return the columns of a table: a whole number, a text and a day at least, so that everything can be asked."""
    found = [_whole(dice, f"a{table}"), _keys(dice, f"k{table}", "text"), _day(dice, f"d{table}")]
    makers = [_whole, _fraction, _smooth, _smooth, _day, _number_keys, _truths]
    return found + [dice.one(makers)(dice, f"x{table}{i}") for i in range(dice.number(1, 3))]


def _whole(dice: Dice, name: str) -> Stored:
    low = dice.number(-9, 9) * dice.one([0, 1, 1, 100])
    high = low + dice.one([1, 3, 10, 1000])
    kind = dice.one(["BIGINT", "BIGINT", "INTEGER", "HUGEINT", "DOUBLE"])
    inside = [low, low, high, high, dice.number(low, high), dice.number(low, high)]
    beyond = [-(2**31), 2**31 - 1] if kind == "INTEGER" else [-FAR, FAR]
    odd = [math.inf, math.nan, low + 0.5] if kind == "DOUBLE" else []
    return Stored(name, "number", kind, f'bounds = "[{low}, {high}] step 1"', [None, *inside, *beyond, *odd])


def _fraction(dice: Dice, name: str) -> Stored:
    step = dice.one([Fraction(1, 4), Fraction(1, 10), Fraction(5), Fraction(1, 1000)])
    low = dice.number(-20, 20) * step
    high = low + dice.number(1, 40) * step
    kind = dice.one(["DOUBLE", "DECIMAL(12, 3)", "DECIMAL(38, 10)"])
    inside: list[Any] = [low, high, low, high, low + step * dice.number(0, 40)]
    odd: list[Any] = [-(10**7), 10**7]
    values = [Decimal(int(one * 1000)) / 1000 for one in [*inside, *map(Fraction, odd)]]
    if kind == "DOUBLE":
        values = [*map(float, values), math.nan, -math.inf]  # type: ignore[list-item]
    return Stored(name, "number", kind, f'bounds = "[{_text(low)}, {_text(high)}] step {_text(step)}"', [None, *values])


def _smooth(dice: Dice, name: str) -> Stored:
    low = dice.one([-1000.5, -1.0, 0.0, 0.5, 3.25])
    high = low + dice.one([0.25, 1.0, 7.7, 5000.0])
    middle = low + (high - low) * float(dice.random.random())
    values = [None, low, low, high, high, middle, math.nan, math.inf, -1e300, 1e300]
    return Stored(name, "number", "DOUBLE", f'bounds = "[{low!r}, {high!r}]"', values)


def _day(dice: Dice, name: str) -> Stored:
    low = date(2024, 1, 1) + timedelta(dice.number(0, 800))
    high = low + timedelta(dice.one([1, 6, 40, 500]))
    kind = dice.one(["DATE", "DATE", "TIMESTAMP"])
    span = (high - low).days
    values = [low, high, low, high, low + timedelta(dice.number(0, span)), date(1, 1, 1), date(9999, 12, 31)]
    held = [None, *(datetime(*one.timetuple()[:3], 23, 59) if kind == "TIMESTAMP" else one for one in values)]
    return Stored(name, "day", kind, f'bounds = "[{low}, {high}]"', held)


def _keys(dice: Dice, name: str, kind: str = "text") -> Stored:
    assert kind == "text"
    keys = tuple(["a", "b", "B", "it''s", "ä"][: dice.number(1, 5)])
    quoted = [key.replace("''", "'") for key in keys]
    values = [None, *quoted, *quoted, "elsewhere", "A", ""]
    return Stored(name, "key", "VARCHAR", f"keys = {quoted}", values, tuple(quoted))


def _number_keys(dice: Dice, name: str) -> Stored:
    keys = tuple([3, -1, 0, 7][: dice.number(1, 4)])
    return Stored(name, "key", "BIGINT", f"keys = {list(keys)}", [None, *keys, *keys, 5, 2**62], keys)


def _truths(dice: Dice, name: str) -> Stored:
    return Stored(
        name, "key", "BOOLEAN", "keys = [true, false]", [None, True, False][dice.number(0, 1) :], (True, False)
    )


def _made(dice: Dice, table: Private, number: int) -> list[MadeOf]:
    whole, keys, day = (table.stored[i].name for i in range(3))
    choices = [
        MadeOf(f"m{number}", "number", f"{whole} * 2 - 3"),
        MadeOf(f"m{number}", "number", f"FLOOR({whole} / 3)"),
        MadeOf(f"m{number}", "number", f"COALESCE(MONTH({day}), 0)"),
        MadeOf(f"m{number}", "day", f"DATE_TRUNC('month', {day})"),
        MadeOf(f"m{number}", "key", f"CASE WHEN {whole} > 0 THEN 'up' ELSE {keys} END", ("up",)),
        MadeOf(f"m{number}", "key", f"UPPER({keys})", ("A",)),
    ]
    return [dice.one(choices)] if dice.chance(0.6) else []


def _public(dice: Dice, private: dict[str, Private]) -> dict[str, Public]:
    """Return public tables for a text, for a whole number, and for what a public table says."""
    found: dict[str, Public] = {}
    table = dice.one(list(private.values()))
    keys = table.stored[1]
    columns = [_keys(dice, "region"), _whole(dice, "beds")]
    found["spots"] = Public("spots", "code", table.name, keys.name, columns, {})
    whole = next((one for one in table.stored if one.is_whole), None)
    if whole is not None:
        found["sizes"] = Public(
            "sizes", "size", table.name, whole.name, [_fraction(dice, "rate"), _day(dice, "since")], {}
        )
    found["lands"] = Public("lands", "land", "spots", "region", [_whole(dice, "people")], {})
    texts = {"spots": [str(key) for key in keys.keys] + ["nowhere"], "lands": [*columns[0].keys, "nowhere"]}
    if whole is not None:
        texts["sizes"] = [str(one) for one in dict.fromkeys(whole.values) if one is not None]
    for name, public in found.items():
        for key in texts[name]:
            if dice.chance(0.8) or not public.rows:
                public.rows[key] = {one.name: dice.one(_possible(one)) for one in public.columns}
    return found


def _possible(column: Stored) -> list[Any]:
    """Return values that are possible: a public table's rows are read as they are."""
    if column.kind == "key":
        return [None, *column.keys]
    ends = column.said.split('"')[1].partition("]")[0][1:].split(", ")
    if column.kind == "day":
        return [None, *map(date.fromisoformat, ends)]
    return [None, *map(Fraction, ends)]


def _text(number: Fraction) -> str:
    return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


# Rows.

UNITS: dict[str, list[Any]] = {"BIGINT": [1, 2, 3, 4, None], "VARCHAR": ["u", "U", "u ", "ü", None]}


def random_rows(dice: Dice, scene: Scene, units: Sequence[Any]) -> dict[str, list[Row]]:
    """Return rows of a few units for each private table; mostly one unit has many that are alike."""
    found = {}
    heavy = dice.chance(0.6)
    for name, table in scene.private.items():
        rows = [random_row(dice, table, dice.one(units)) for _ in range(dice.number(0, 9))]
        if heavy:
            same = random_row(dice, table, units[0])
            rows += [dict(same) for _ in range(dice.one([1, 1, table.limit, min(table.limit, 5) + 3]))]
        found[name] = rows
    return found


def random_row(dice: Dice, table: Private, unit: Any) -> Row:
    """Return a row of a unit, with any of the values that its columns may hold."""
    own = {} if table.unit == ROW else {table.unit: unit}
    return own | {one.name: dice.one(one.values) for one in table.stored}


def without(scene: Scene, rows: dict[str, list[Row]], unit: Any) -> dict[str, list[Row]]:
    """Return the rows of a neighbour: those of one unit are gone in all tables; or one row, if each is a unit."""
    if scene.main.unit == ROW:
        return {name: some[:-1] for name, some in rows.items()}
    return {name: [row for row in some if row[scene.private[name].unit] != unit] for name, some in rows.items()}
