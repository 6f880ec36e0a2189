"""One table in memory, filled again and again, and a dataset that asks it; and an engine that does as it is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
from sqlglot import exp

from inbounds.query import Dataset, Query
from inbounds.query.engines.duckdb import DuckDB, DuckDialect
from inbounds.query.engines.engine import Engine, Kind
from inbounds.query.methods.plan import Plan

Rows = Iterable[tuple[Any, ...]]

FEW = 500
"""More rows than these are handed over column by column: as text, DuckDB reads them fourteen times as long."""


class Playground:
    """A table `t` in DuckDB's memory, and a dataset that a contract describes there."""

    def __init__(self, contract: str, columns: str, ledger: Path | None = None) -> None:
        self._connection = duckdb.connect(":memory:")
        self._connection.execute(f"CREATE TABLE t ({columns})")
        self.dataset = using(Dataset.parse(contract, ledger=ledger), DuckDB(self._connection, exp.to_table("t")))

    def fill(self, rows: Rows) -> None:
        """Put these rows in place of all others."""
        self._connection.execute("DELETE FROM t")
        values = list(rows)
        if len(values) > FEW:
            columns = [list(column) for column in zip(*values, strict=True)]
            self._connection.execute(f"INSERT INTO t SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)
        elif values:
            texts = [f"({', '.join(map(_literal, row))})" for row in values]
            self._connection.execute(f"INSERT INTO t VALUES {', '.join(texts)}")

    def run(self, statement: str) -> None:
        """Run a statement of the table's owner."""
        self._connection.execute(statement)

    def plainly(self, sql: str) -> Rows:
        """Return what SQL finds with nothing protected."""
        return self._connection.execute(sql.replace("FROM visits", "FROM t")).fetchall()

    def totals(self, plan: Plan, rows: Rows) -> list[list[int]]:
        """Return what a plan's statement adds up over these rows, group by group."""
        self.fill(rows)
        return plan.totals(self.dataset.engine.run(plan.sql))

    def __enter__(self) -> Playground:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dataset.close()


def using(dataset: Dataset, engine: Engine) -> Dataset:
    """Let a dataset ask this engine."""
    dataset.__dict__["engine"] = engine
    return dataset


def contract(columns: str, *, unit: str = "who", limit: int = 1, units: int | None = None, budget: str = "") -> str:
    """Return the text of a contract."""
    rows = "" if unit == "row" else f"max_rows_per_unit = {limit}\n"
    public = "" if units is None else f"units = {units}\n"
    head = f'[dataset]\nname = "visits"\nunit = "{unit}"\n{rows}{public}'
    return f"{head}\n{columns}\n[budget]\n{budget or 'total = 1000'}\n"


class Told(Engine):
    """An engine that gives the rows it was told to, and notes what it was asked."""

    dialect = DuckDialect()

    def __init__(self, kinds: dict[str, Kind], run: Callable[[], Sequence[tuple[int, ...]]]) -> None:
        self._kinds = kinds
        self._run = run
        self.statements: list[str] = []

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        return self._kinds

    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        """Return what to select from."""
        return exp.to_table("t")

    def run(self, statement: str) -> list[tuple[int, ...]]:
        """Do as told."""
        self.statements.append(statement)
        return list(self._run())

    def close(self) -> None:
        """There is nothing to let go of."""


def measures(dataset: Dataset, number: str, condition: str) -> list[Query]:
    """Return a question for every measure."""
    return [
        dataset.count(),
        dataset.count_units(),
        dataset.sum(number),
        dataset.mean(number),
        dataset.proportion(condition),
        dataset.median(number),
        dataset.quantile(number, 0.9),
    ]


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)
