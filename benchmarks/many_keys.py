"""Counts, sums and means by as many keys as a contract may list: seconds to plan, to answer and to print."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time

import duckdb

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_most, duration
from benchmarks.stopwatch import undisturbed
from inbounds.query import Dataset

GOAL, GOAL_PLANNING = 5.0, 50e-3
KEYS = (1000, 10_000, 100_000)

MADE = """
    COPY (
        SELECT (hash(i) % {units})::BIGINT AS patient,
               chr((65 + key % 26)::INTEGER) || lpad((key // 26)::VARCHAR, 5, '0') AS icd, i % 31 AS days
        FROM (SELECT i, (hash(i + 10000000000) % ({keys} + {keys} // 20))::BIGINT AS key FROM range({rows}) AS t(i))
    ) TO '{path}'
"""
"""One row in twenty has a code that is not listed."""

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 4
[columns.icd]
keys = "icd.csv"
keys_column = "code"
[columns.days]
bounds = "[0, 30] step 1"
[budget]
total = 1000
"""

QUESTIONS = {
    "one code": "SELECT COUNT(*) FROM visits WHERE icd = 'A00001'",
    "by code": "SELECT icd, COUNT(*) FROM visits GROUP BY icd",
    "sums by code": "SELECT icd, SUM(days) FROM visits GROUP BY icd",
    "means by code": "SELECT icd, AVG(days) FROM visits GROUP BY icd",
    "ten most frequent": "SELECT icd, COUNT(*) FROM visits GROUP BY icd ORDER BY COUNT(*) DESC LIMIT 10",
    "by chapter": "SELECT LEFT(icd, 1), COUNT(*) FROM visits GROUP BY 1",
}


def run(_peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Measure each question with each number of keys."""
    rows, measured = [], dict[str, float]()
    for keys in KEYS[:2] if quick else KEYS:
        for name, steps in _measure(keys, 10**5 if quick else 10**6).items():
            measured |= {f"{name}, {keys} keys, {step}": taken for step, taken in steps.items()}
            goal = GOAL_PLANNING if name == "one code" else GOAL
            whole = steps["plan"] if name == "one code" else sum(steps.values())
            rows.append((f"{name}, {keys:,} keys", *map(duration, steps.values()), at_most(goal, whole)))
    notes = [
        "Processor seconds of this process, on all its threads. The goal is of planning for one code, and else of all."
    ]
    return Report("Many keys", ("question", "plan", "answer", "print", "goal"), rows, notes, measured)


def _measure(keys: int, rows: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        codes = sorted(f"{chr(65 + number % 26)}{number // 26:05d}" for number in range(keys))
        (path / "icd.csv").write_text("code\n" + "\n".join(codes) + "\n", encoding="utf-8")
        duckdb.sql(MADE.format(units=rows // 3, keys=keys, rows=rows, path=path / "visits.parquet"))
        (path / "visits.toml").write_text(CONTRACT, encoding="utf-8")
        with Dataset.load(path / "visits.toml", ledger=path / "ledger.db") as dataset:
            dataset.count().ask(1, analyst="ana")  # opens the files, and chooses a mechanism
            return {name: _time_steps(dataset, sql) for name, sql in QUESTIONS.items()}


def _time_steps(dataset: Dataset, sql: str) -> dict[str, float]:
    with undisturbed():
        times = [process_time()]
        query = dataset.sql(sql)
        query.plans(1)
        times.append(process_time())
        answer = query.ask(1, analyst="ana")
        times.append(process_time())
        str(answer)
        times.append(process_time())
    return {step: end - start for step, start, end in zip(("plan", "answer", "print"), times, times[1:], strict=False)}
