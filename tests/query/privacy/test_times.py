"""What one unit changes in questions about times: exact, without draws, over random contracts, rows and questions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query
from inbounds.query.statement import codes
from tests.helpers.sparing import sparing
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

ZONES = ["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "UTC"]
STEPS = [1, 60, 900, 3600, 86400]
WRITTEN = {1: "1s", 60: "1min", 900: "15min", 3600: "1h", 86400: "1d"}
FAR = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)]
CONTRACTS, QUESTIONS, PAIRS = 6, 10, 5
NEAR = Fraction(9, 10)

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Scene:
    """A random contract with two columns of times and one of times of day, and tables that differ in one unit."""

    contract: str
    pairs: list[tuple[Rows, Rows]]


def random_scene(chance: random.Random) -> Scene:
    """Return a contract and pairs of neighbours, whose rows are near the ends, near changes of clocks, or far off."""
    limit = chance.choice([1, 2, 3, 5])
    columns, ends = [], []
    for name in ("t", "u"):
        low = datetime(2025, chance.choice([3, 10]), chance.randint(20, 28))
        step = chance.choice(STEPS)
        high = low + timedelta(seconds=step * chance.choice([2, 30, 1000]))
        zone = f'timezone = "{chance.choice(ZONES)}"\n' if chance.random() < 0.5 else ""
        columns.append(f'[columns.{name}]\nbounds = "[{low}, {high}] step {WRITTEN[step]}"\n{zone}')
        ends.append((low, high))
    columns.append('[columns.c]\nbounds = "[06:00, 18:00] step 15min"\n')
    head = f'[dataset]\nname = "v"\nunit = "who"\nmax_rows_per_unit = {limit}\n[columns.k]\nkeys = ["a", "b"]\n'
    pairs = [neighbours(chance, ends, limit) for _ in range(PAIRS)]
    return Scene(head + "".join(columns) + "[budget]\ntotal = 1\n", pairs)


def neighbours(chance: random.Random, ends: list[tuple[datetime, datetime]], limit: int) -> tuple[Rows, Rows]:
    """Return a table, and the same without one unit."""
    units = [f"p{i}" for i in range(chance.randint(1, 4))]
    rows = [row(chance, unit, ends) for unit in units for _ in range(chance.randint(0, limit + 2))]
    last = [row(chance, "last", ends) for _ in range(chance.choice([1, limit, limit + 3]))]
    if chance.random() < 0.5:
        last = [last[0] | {"who": "last"} for _ in last]  # all of its rows in one group
    return rows + last, rows


def row(chance: random.Random, unit: str, ends: list[tuple[datetime, datetime]]) -> dict[str, Any]:
    """Return a random row."""
    times: list[datetime | None] = []
    for low, high in ends:
        near = [low, low, high, high, low + (high - low) * chance.random(), *FAR, datetime(2025, 3, 30, 1)]
        moment = chance.choice(near)
        by = timedelta(seconds=chance.choice([-3600, -1, 0, 0, 0, 1, 59, 3600]))
        times.append(None if chance.random() < 0.05 else moment if moment in FAR else moment + by)
    clock = None if times[0] is None else times[0].time()
    return {"who": unit, "k": chance.choice(["a", "b", "c", None]), "t": times[0], "u": times[1], "c": clock}


def random_time(chance: random.Random) -> str:
    """Return an expression that is a time."""
    name = chance.choice("tu")
    return chance.choice(
        [
            name, name, f"{name} + INTERVAL '{chance.randint(1, 90)}' MINUTE", f"{name} - INTERVAL '6' HOUR",
            "LEAST(t, u)", "COALESCE(t, u)", f"DATE_TRUNC('hour', {name})", f"{name} + 1",
            f"CASE WHEN k = 'a' THEN {name} ELSE TIMESTAMP '2025-03-30 02:30' END",
        ]
    )  # fmt: skip


def random_number(chance: random.Random) -> str:
    """Return an expression that is a number."""
    time = random_time(chance)
    return chance.choice(
        [
            f"HOUR({time})", f"MINUTE({time})", f"SECOND({time})", f"WEEKDAY({time})", f"DAY({time})", "HOUR(c)",
            "MINUTE(c)", "t - u", "ABS(u - t)", f"EXTRACT(EPOCH FROM {time} - u)", f"{time} - CAST({time} AS DATE)",
        ]
    )  # fmt: skip


def random_question(chance: random.Random) -> str:
    """Return a question about times in SQL."""
    time, number = random_time(chance), random_number(chance)
    measure = chance.choice(
        ["COUNT(*)", "COUNT(*)", f"SUM({number})", f"AVG({number})", f"MEDIAN({time})", f"AVG({time})", "MEDIAN(c)",
         f"QUANTILE({number}, 0.9)"]
    )  # fmt: skip
    where = chance.choice(
        ["", "", f" WHERE {time} >= TIMESTAMP '2025-03-26 12:30'", f" WHERE {number} > 5", " WHERE t > u",
         " WHERE CAST(t AS TIME) < '12:00'", f" WHERE CAST({time} AS DATE) = '2025-03-30'"]
    )  # fmt: skip
    group = chance.choice(["", "k", f"HOUR({time})", f"CAST({time} AS DATE)", f"DATE_TRUNC('week', {time})", "HOUR(c)"])
    return f"SELECT {measure} FROM v{where}" + (f" GROUP BY {group}" if group else "")


def frame(rows: Rows) -> Any:
    """Return rows as an Arrow table."""
    types = {"who": pyarrow.string(), "k": pyarrow.string(), "c": pyarrow.time64("us")}
    return pyarrow.table(
        {
            name: pyarrow.array([one[name] for one in rows], types.get(name, pyarrow.timestamp("us")))
            for name in ("who", "k", "t", "u", "c")
        }
    )


def changes(seed: int) -> Iterator[tuple[str, Fraction]]:
    """Yield random questions to a random contract, with the greatest change of its pairs over the sensitivity."""
    chance = random.Random(seed)
    scene = random_scene(chance)
    asked = 0
    with ExitStack() as stack:
        pairs = [
            [stack.enter_context(Dataset.parse(scene.contract, frame=frame(rows))).engine for rows in pair]
            for pair in scene.pairs
        ]
        dataset = stack.enter_context(Dataset.parse(scene.contract, frame=frame([])))
        while asked < QUESTIONS:
            try:
                query: Query = dataset.sql(random_question(chance))
                plan = quick_plan(query)
            except InvalidQuestion:
                continue
            asked += 1
            found = [[plan.totals(engine.run(plan.sql)) for engine in pair] for pair in pairs]
            yield f"{query}\n{scene.contract}", max(part_of_sensitivity(plan, *totals) for totals in found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(range(CONTRACTS)))
def test_no_unit_changes_times_by_more_than_the_sensitivity(seed: int) -> None:
    """Whatever is asked about times, all rows of a unit change all totals by at most the sensitivity, and reach it."""
    found = list(changes(seed))
    for name, change in found:
        assert change <= 1, name
    assert any(change >= NEAR for _, change in found)


@pytest.mark.slow
def test_times_that_leave_their_bounds_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If times were not clipped, some question would show it."""
    monkeypatch.setattr(codes, "_between", lambda value, *_: value)
    assert any(change > 1 for seed in range(4) for _, change in changes(seed))
