"""A random contract whose tables are in DuckDB's memory, many times over: neighbours, side by side."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
from sqlglot import exp

from inbounds.query import Dataset
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.plan import Plan
from tests.helpers.engine_places import text
from tests.helpers.random_contracts import ROW, UNITS, Dice, Private, Row, Scene, random_rows, random_scene, without

Rows = dict[str, list[Row]]


class RandomPlace:
    """Tables of a random contract, filled with pairs of neighbours, and a dataset that asks them."""

    def __init__(self, folder: Path, seed: int, pairs: int, unit: str | None = None) -> None:
        self.dice = Dice(seed)
        self.scene: Scene = random_scene(self.dice)
        self.unit = self.dice.one(list(UNITS)) if unit is None else unit
        folder.mkdir()
        for one in self.scene.public.values():
            (folder / f"{one.name}.csv").write_text(one.text, encoding="utf-8")
        (folder / "contract.toml").write_text(self.scene.contract, encoding="utf-8")
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        for table in self.scene.private.values():
            self.connection.execute(f"CREATE TABLE {table.name} ({self._types(table)})")
        self.dataset = Dataset.load(folder / "contract.toml")
        engines = {name: DuckDB(self.connection.cursor(), exp.to_table(name)) for name in self.scene.private}
        self.dataset.__dict__["engine"] = engines.pop(self.scene.main.name)
        self.dataset._others.update(engines)
        self.pairs = [self._pair(number) for number in range(pairs)]

    def _types(self, table: Private) -> str:
        own = "" if table.unit == ROW else f"{table.unit} {self.unit}, "
        return own + ", ".join(f"{one.name} {one.type}" for one in table.stored)

    def _pair(self, number: int) -> tuple[Rows, Rows]:
        """Make two neighbours; mostly without the unit that has most of the rows."""
        units = UNITS[self.unit]
        more = random_rows(self.dice, self.scene, units)
        gone = units[0] if self.dice.chance(0.8) else self.dice.one(units[:-1])
        less = without(self.scene, more, gone)
        for side, rows in (("more", more), ("less", less)):
            self.fill(f"{side}{number}", rows)
        return more, less

    def fill(self, schema: str, rows: Rows) -> None:
        """Make the tables once more, with these rows."""
        self.connection.execute(f"CREATE SCHEMA {schema}")
        for name, table in self.scene.private.items():
            self.connection.execute(f"CREATE TABLE {schema}.{name} ({self._types(table)})")
            if rows[name]:
                tuples = ", ".join(f"({', '.join(map(text, row.values()))})" for row in rows[name])
                self.connection.execute(f"INSERT INTO {schema}.{name} VALUES {tuples}")

    def totals(self, plan: Plan, schema: str, sql: str | None = None) -> list[list[int]]:
        """Return what a plan's statement, or another one, adds up over the tables of a schema."""
        return plan.totals(self.run(sql or plan.sql, schema))

    def run(self, sql: str, schema: str) -> list[Any]:
        """Return the rows of a statement over the tables of a schema."""
        self.connection.execute(f"SET schema = '{schema}'")
        try:
            return self.connection.execute(sql).fetchall()
        except duckdb.Error as problem:
            raise AssertionError(f"the statement failed ({problem}):\n{sql}") from None

    def neighbours(self, plan: Plan, number: int, sql: str | None = None) -> tuple[list[list[int]], list[list[int]]]:
        """Return what a statement adds up over two neighbours."""
        return self.totals(plan, f"more{number}", sql), self.totals(plan, f"less{number}", sql)

    def __enter__(self) -> RandomPlace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dataset.close()
        self.connection.close()
