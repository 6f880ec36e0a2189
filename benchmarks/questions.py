"""Questions with expressions and joins to ten million rows, beside the same by hand, and how long planning takes.

By hand: the statement that an engineer would write in DuckDB for the same numbers, with values clipped by `LEAST` and
`GREATEST`, rounded to their step, and rows weighed by unit.  It has no care for NaN or for infinite days, and reads the
public table from its csv file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from types import TracebackType
from typing import Any, Self

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series
from benchmarks.stopwatch import seconds, undisturbed

GOAL_RATIO, GOAL_PLANNING = 1.3, 50e-3
LIMIT = 5
"""So many rows of a unit count."""

STATIONS = 200
"""Those that the public table holds; some rows are of others."""

MADE = """
    COPY (
        SELECT (hash(i) % {units})::BIGINT AS uid,
               CASE WHEN hash(i + 10000000000) % 100 > 0 THEN (hash(i + 20000000000) % 130)::INTEGER END AS age,
               CASE WHEN hash(i + 30000000000) % 100 > 0
                   THEN (hash(i + 40000000000) % 11000)::DOUBLE / 100 END AS price,
               (hash(i + 50000000000) % 12)::INTEGER AS quantity,
               DATE '2023-12-01' + (hash(i + 60000000000) % 800)::INTEGER AS admitted,
               DATE '2023-12-01' + (hash(i + 60000000000) % 800 + hash(i + 70000000000) % 20)::INTEGER AS discharged,
               ['north', 'south', 'east', 'west'][(1 + hash(i + 80000000000) % 4)::BIGINT] AS clinic,
               'S' || lpad((hash(i + 90000000000) % {stations})::VARCHAR, 3, '0') AS station
        FROM range({rows}) AS numbers(i)
    ) TO '{path}'
"""
"""One value in a hundred is missing, and more are beyond their bounds."""

CONTRACT = """
    [dataset]
    name = "{name}"
    source = "{folder}/visits.parquet"
    {unit}

    [columns]
    age = {{ bounds = "[0, 120] step 1" }}
    price = {{ bounds = "[0, 100] step 0.01" }}
    quantity = {{ bounds = "[0, 10] step 1" }}
    admitted = {{ bounds = "[2024-01-01, 2025-12-31]" }}
    discharged = {{ bounds = "[2024-01-01, 2025-12-31]" }}
    clinic = {{ keys = ["north", "south", "east", "west"] }}
    station = {{ keys = [{keys}] }}

    [tables.stations]
    source = "{folder}/stations.csv"
    public = true
    key = "code"
    [tables.stations.columns]
    region = {{ keys = ["north", "south", "east", "west"] }}
    beds = {{ bounds = "[0, 300] step 1" }}

    [budget]
    total = 1000000
"""


def _clipped(column: str, low: str, high: str) -> str:
    return f"LEAST(GREATEST({column}, {low}), {high})"


def _day(column: str) -> str:
    return _clipped(column, "DATE '2024-01-01'", "DATE '2025-12-31'")


AGE, QUANTITY = _clipped("age", "0", "120"), _clipped("quantity", "0", "10")
CENTS = f"FLOOR({_clipped('price', '0', '100')} * 100 + 0.5)"
ADMITTED, STAY = _day("admitted"), f"{_day('discharged')} - {_day('admitted')}"
BAND = "CASE WHEN {0} < 18 THEN 'child' WHEN {0} < 65 THEN 'adult' ELSE 'old' END"
JOINED = "'{0}' JOIN '{1}' ON station = code"
WEIGHED = "SUM(n * LEAST(1, 5 / m))"
"""What rows of a unit that has `m` in all count for."""


def _of_each_unit(key: str, rows: str) -> str:
    """Return a count by key in which each unit has so many rows at most, by weight."""
    parts = f"SELECT uid, {key} AS k, COUNT(*) AS n FROM {rows} GROUP BY ALL"
    return f"SELECT k, {WEIGHED} FROM (SELECT k, n, SUM(n) OVER (PARTITION BY uid) AS m FROM ({parts})) GROUP BY k"


EXPRESSIONS = {
    "price * quantity": (
        "SELECT SUM(price * quantity) FROM visits",
        f"SELECT SUM({CENTS} * {QUANTITY}) FROM '{{0}}' WHERE price IS NOT NULL AND quantity IS NOT NULL",
    ),
    "days between": (
        "SELECT AVG(discharged - admitted) FROM visits",
        f"SELECT SUM({STAY}), COUNT(*) FROM '{{0}}' WHERE admitted IS NOT NULL AND discharged IS NOT NULL",
    ),
    "ABS": (
        "SELECT AVG(ABS(age - 50)) FROM visits",
        f"SELECT SUM(ABS({AGE} - 50)), COUNT(*) FROM '{{0}}' WHERE age IS NOT NULL",
    ),
    "sum of a CASE": (
        "SELECT SUM(CASE WHEN clinic = 'north' THEN price ELSE 0 END) FROM visits",
        f"SELECT SUM(CASE WHEN clinic = 'north' THEN {CENTS} ELSE 0 END) FROM '{{0}}'",
    ),
    "WHERE days between": (
        "SELECT COUNT(*) FROM visits WHERE discharged - admitted > 3",
        f"SELECT COUNT(*) FROM '{{0}}' WHERE {STAY} > 3",
    ),
    "by MONTH": (
        "SELECT MONTH(admitted), COUNT(*) FROM visits GROUP BY 1",
        f"SELECT MONTH({ADMITTED}), COUNT(*) FROM '{{0}}' WHERE admitted IS NOT NULL GROUP BY 1",
    ),
    "by first of month": (
        "SELECT DATE_TRUNC('month', admitted), COUNT(*) FROM visits GROUP BY 1",
        f"SELECT YEAR({ADMITTED}), MONTH({ADMITTED}), COUNT(*) FROM '{{0}}' WHERE admitted IS NOT NULL GROUP BY 1, 2",
    ),
    "by weekday": (
        "SELECT WEEKDAY(admitted), COUNT(*) FROM visits GROUP BY 1",
        f"SELECT ISODOW({ADMITTED}), COUNT(*) FROM '{{0}}' WHERE admitted IS NOT NULL GROUP BY 1",
    ),
    "by FLOOR(age / 10)": (
        "SELECT FLOOR(age / 10) * 10, COUNT(*) FROM visits GROUP BY 1",
        f"SELECT {AGE} // 10 * 10, COUNT(*) FROM '{{0}}' WHERE age IS NOT NULL GROUP BY 1",
    ),
    "by a CASE": (
        f"SELECT {BAND.format('age')}, COUNT(*) FROM visits GROUP BY 1",
        f"SELECT {BAND.format(AGE)}, COUNT(*) FROM '{{0}}' GROUP BY 1",
    ),
    "units: price * quantity": (
        "SELECT SUM(price * quantity) FROM visits",
        f"SELECT SUM(s * LEAST(1, 5 / m)) FROM (SELECT COUNT(*) AS m, SUM({CENTS} * {QUANTITY}) AS s FROM '{{0}}' "
        "WHERE price IS NOT NULL AND quantity IS NOT NULL GROUP BY uid)",
    ),
    "units: by MONTH": (
        "SELECT MONTH(admitted), COUNT(*) FROM visits GROUP BY 1",
        _of_each_unit(f"MONTH({ADMITTED})", "'{0}' WHERE admitted IS NOT NULL"),
    ),
}
JOINS = {
    "count by region": (
        "SELECT region, COUNT(*) FROM visits JOIN stations ON station = stations.code GROUP BY region",
        f"SELECT region, COUNT(*) FROM {JOINED} GROUP BY region",
    ),
    "mean by region": (
        "SELECT region, AVG(age) FROM visits JOIN stations ON station = stations.code GROUP BY region",
        f"SELECT region, SUM({AGE}), COUNT(*) FROM {JOINED} WHERE age IS NOT NULL GROUP BY region",
    ),
    "WHERE beds > 100": (
        "SELECT SUM(price) FROM visits JOIN stations ON station = stations.code WHERE beds > 100",
        f"SELECT SUM({CENTS}) FROM {JOINED} WHERE beds > 100 AND price IS NOT NULL",
    ),
    "mean of beds": (
        "SELECT AVG(beds) FROM visits JOIN stations ON station = stations.code",
        f"SELECT SUM({_clipped('beds', '0', '300')}), COUNT(*) FROM {JOINED} WHERE beds IS NOT NULL",
    ),
    "units: count by region": (
        "SELECT region, COUNT(*) FROM visits JOIN stations ON station = stations.code GROUP BY region",
        _of_each_unit("region", JOINED),
    ),
}
MORE = {
    "count": "SELECT COUNT(*) FROM visits",
    "count by two": "SELECT clinic, WEEKDAY(admitted), COUNT(*) FROM visits GROUP BY 1, 2",
    "ROLLUP": "SELECT clinic, MONTH(admitted), COUNT(*) FROM visits GROUP BY ROLLUP (clinic, MONTH(admitted))",
    "moments": "SELECT VAR_SAMP(age), STDDEV_SAMP(age) FROM visits",
    "correlation": "SELECT CORR(age, price) FROM visits",
    "median": "SELECT MEDIAN(age) FROM visits",
    "share of two sums": "SELECT SUM(price) / SUM(quantity) AS each FROM visits",
    "units: rows of a unit": (
        "SELECT AVG(n) FROM (SELECT uid, LEAST(COUNT(*), 20) AS n FROM visits GROUP BY uid) AS t"
    ),
    "units: join of two": (
        "SELECT region, AVG(n) FROM (SELECT uid, LEAST(COUNT(*), 20) AS n FROM visits GROUP BY uid) AS t "
        "JOIN visits USING (uid) JOIN stations ON visits.station = stations.code GROUP BY region"
    ),
}
"""Kinds of questions whose planning is measured only."""


def run(_peers: PeerProcess | None = None, *, quick: bool) -> Series:
    """Measure statements in turn with those by hand, then planning."""
    rows, units, rounds = (10**6, 10**5, 3) if quick else (10**7, 10**6, 9)
    with tempfile.TemporaryDirectory(prefix="bench-questions-", dir=Path.cwd()) as folder:
        _make(Path(folder), rows, units)
        with _Asked(Path(folder)) as asked:
            ratios = _Ratios()
            for number in range(rounds):
                ratios.measure(asked, every=number % 3 == 0)
            return Series((ratios.report(rows, rounds), _planning(asked, rounds)))


def _make(folder: Path, rows: int, units: int) -> None:
    import duckdb  # noqa: PLC0415  as in the other benchmarks of tables

    regions = ("north", "south", "east", "west")
    lines = [f"S{i:03},{regions[i % 4]},{i * 7 % 301}\n" for i in range(STATIONS)]
    (folder / "stations.csv").write_text("code,region,beds\n" + "".join(lines), encoding="utf-8")
    with duckdb.connect() as database:
        path = folder / "visits.parquet"
        database.execute(MADE.format(units=units, rows=rows, stations=STATIONS + 10, path=path))


class _Asked:
    """Our questions, and those by hand, each in a DuckDB of its own and with all its threads."""

    def __init__(self, folder: Path) -> None:
        import duckdb  # noqa: PLC0415

        from inbounds.query import Dataset  # noqa: PLC0415

        keys = ", ".join(f'"S{i:03}"' for i in range(STATIONS))
        self._paths = (str(folder / "visits.parquet"), str(folder / "stations.csv"))
        self._by_hand = duckdb.connect()

        def opened(unit: str) -> Dataset:
            text = CONTRACT.format(name="visits", folder=folder, unit=unit, keys=keys)
            return Dataset.parse(text, ledger=f"sqlite:///{folder}/ledger.db")

        self._open: dict[bool, Callable[[], Dataset]] = {
            False: lambda: opened('unit = "row"'),
            True: lambda: opened(f'unit = "uid"\n    max_rows_per_unit = {LIMIT}'),
        }
        self._datasets = {by_unit: open_it() for by_unit, open_it in self._open.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for dataset in self._datasets.values():
            dataset.close()
        self._by_hand.close()

    def by_hand(self, statement: str) -> object:
        """Run a statement written by hand."""
        return self._by_hand.execute(statement.format(*self._paths)).fetchall()

    def ours(self, name: str, question: str) -> list[str]:
        """Return our statements for a question."""
        return [plan.sql for plan in self._dataset(name).sql(question).plans("1")]

    def run(self, name: str, statements: list[str]) -> None:
        """Run our statements."""
        for statement in statements:
            self._dataset(name).engine.run(statement)

    def planning(self, name: str, question: str) -> float:
        """Return the processor's seconds for reading, planning and explaining, where no plan is remembered."""
        with self._open[name.startswith("units:")]() as fresh:
            fresh.count().plan("1")  # looks at the types of the columns, and proves the noise of a count
            with undisturbed():
                start = process_time()
                fresh.sql(question).explain("1")
                return process_time() - start

    def _dataset(self, name: str) -> Any:
        return self._datasets[name.startswith("units:")]


@dataclass
class _Ratios:
    """Seconds by question, by hand and ours."""

    by_hand: dict[str, list[float]] = field(default_factory=dict)
    ours: dict[str, list[float]] = field(default_factory=dict)

    def measure(self, asked: _Asked, *, every: bool) -> None:
        """Take one round of turns; questions with units, which take long, are not in every one."""
        for name, (question, by_hand) in (EXPRESSIONS | JOINS).items():
            if name.startswith("units:") and not every:
                continue
            statements = asked.ours(name, question)
            for _ in range(1 if name.startswith("units:") else 2):
                taken = seconds(lambda by_hand=by_hand: asked.by_hand(by_hand))  # type: ignore[misc]
                self.by_hand.setdefault(name, []).append(taken)
                taken = seconds(lambda name=name, ours=statements: asked.run(name, ours))  # type: ignore[misc]
                self.ours.setdefault(name, []).append(taken)

    def report(self, rows: int, rounds: int) -> Report:
        """Put it into one table."""
        lines, measured = [], {}
        for name in EXPRESSIONS | JOINS:
            least = min(self.ours[name]) / min(self.by_hand[name])
            middle = median(self.ours[name]) / median(self.by_hand[name])
            measured[f"ours / by hand, {name}"] = least
            measured[f"medians: ours / by hand, {name}"] = middle
            times = (f"{min(taken) * 1e3:.0f}" for taken in (self.by_hand[name], self.ours[name]))
            kind = "join" if name in JOINS else ""
            met = "met" if least <= GOAL_RATIO else "MISSED"
            lines.append((name, kind, *times, f"{least:.2f}", f"{middle:.2f}", met))
        return Report(
            title=f"Expressions and public joins on {rows:,} rows, in milliseconds",
            columns=("", "", "by hand", "ours", "/ by hand", "medians", f"<= {GOAL_RATIO:g}"),
            rows=lines,
            notes=[
                "Statements alone, in turns; the least of "
                f"{2 * rounds} runs of each, {-(-rounds // 3)} for units, and the ratio of the least and of medians."
            ],
            measured=measured,
        )


def _planning(asked: _Asked, rounds: int) -> Report:
    """Measure reading, planning and explaining each kind of question, before and after its mechanism is chosen."""
    questions = {name: question for name, (question, _) in (EXPRESSIONS | JOINS).items()} | MORE
    lines, measured = [], {}
    for name, question in questions.items():
        first, *later = (asked.planning(name, question) for _ in range(1 + rounds))
        measured[f"seconds: planning, {name}"] = median(later)
        measured[f"seconds: planning first, {name}"] = first
        met = "met" if median(later) <= GOAL_PLANNING else "MISSED"
        lines.append((name, *(f"{one * 1e3:.0f}" for one in (first, min(later), median(later))), met))
    return Report(
        title="Planning, in milliseconds of the processor",
        columns=("", "first", "least", "median", f"<= {GOAL_PLANNING * 1e3:g}"),
        rows=lines,
        notes=[
            "dataset.sql(...).explain(...) with the contract just read. First: mechanisms are chosen and proved that "
            "were not needed by a question above it; after that they are remembered, and nothing else is."
        ],
        measured=measured,
    )
