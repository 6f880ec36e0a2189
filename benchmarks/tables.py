"""Questions to a table of ten million rows, beside the same queries without privacy, and beside the peers.

The peers' side is here too: `python -m benchmarks.tables PEER FOLDER` runs in an environment of that peer, where
nothing of ours is installed, reads the name of a question a line and answers each with a line of JSON.
"""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from threading import Timer
from types import TracebackType
from typing import Any, ClassVar, Self

from benchmarks.peer_process import ROOT, PeerProcess
from benchmarks.report import Report, duration
from benchmarks.stopwatch import median_seconds, seconds

KEYS = ("north", "south", "east", "west")
LIMIT = 5
"""So many rows of a unit count."""

GOAL_RATIO, GOAL_LEDGER = 1.3, 20e-3
"""An answer may take so many times the raw query, and so many seconds more for the ledger."""

PATIENCE = 240.0
"""A peer that takes longer for one question is ended."""

TABLE = "visits.parquet"
PARTS = {"tenth.csv": 10, "hundredth.parquet": 100}
"""The rows of every tenth or hundredth unit, for peers to whom all are too many."""

MADE = """
    COPY (
        SELECT (hash(i) % {units})::BIGINT AS uid,
               (hash(i + 10000000000) % 121)::INTEGER AS age,
               (hash(i + 20000000000) % 1000000)::DOUBLE / 9999.99 AS satisfaction,
               ['north', 'south', 'east', 'west'][(1 + hash(i + 30000000000) % 4)::BIGINT] AS clinic
        FROM range({rows}) AS numbers(i)
    ) TO '{path}'
"""

WITHOUT_UNITS = {
    "rows: count": "SELECT COUNT(*) FROM '{0}'",
    "rows: mean int": "SELECT AVG(age) FROM '{0}'",
    "rows: mean float": "SELECT AVG(satisfaction) FROM '{0}'",
    "rows: by clinic": "SELECT clinic, COUNT(*) FROM '{0}' GROUP BY clinic",
    "rows: histogram int": "SELECT age, COUNT(*) FROM '{0}' GROUP BY age",
    "rows: histogram float": "SELECT FLOOR(satisfaction / 5), COUNT(*) FROM '{0}' GROUP BY 1",
}
WITH_UNITS = {
    "units: count": "SELECT SUM(LEAST(n, 5)) FROM (SELECT COUNT(*) AS n FROM '{0}' GROUP BY uid)",
    "units: mean int": """
        SELECT SUM(s * LEAST(1, 5 / n)) / SUM(LEAST(n, 5))
        FROM (SELECT COUNT(*) AS n, SUM(age) AS s FROM '{0}' GROUP BY uid)
    """,
    "units: by clinic": """
        SELECT clinic, SUM(n * LEAST(1, 5 / m))
        FROM (
            SELECT clinic, n, SUM(n) OVER (PARTITION BY uid) AS m
            FROM (SELECT uid, clinic, COUNT(*) AS n FROM '{0}' GROUP BY uid, clinic)
        )
        GROUP BY clinic
    """,
}
RAW = WITHOUT_UNITS | WITH_UNITS
"""Each question without privacy: those with units weigh each row by `min(1, 5 / n)`, as we do."""

OURS_ALONE = ("rows: histogram int", "rows: histogram float")
"""Questions that the peers are not asked."""

CONTRACT = """
    [dataset]
    name = "{name}"
    source = "{path}"
    {unit}

    [columns]
    age = {{ bounds = "[0, 120] step 1" }}
    satisfaction = {{ bounds = "[0, 100]" }}
    clinic = {{ keys = ["north", "south", "east", "west"] }}

    [budget]
    total = 1000000
"""

Ask = Callable[[], object]


def run(_peers: PeerProcess | None = None, *, quick: bool, interpreter: Path | None = None) -> Report:
    """Measure every question: the raw query and ours in turn, then the peers."""
    rows, units, rounds, peer_rounds = (10**6, 10**5, 2, 1) if quick else (10**7, 10**6, 5, 2)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-tables-", dir=Path.cwd())))
        make_tables(folder, rows, units)
        ours = stack.enter_context(_Ours(folder))
        others = [stack.enter_context(_Peer(kind.__name__, folder, interpreter)) for kind in PEERS]
        found = _Found()
        for number in range(rounds):
            found.measure_ours(ours, number)
            if number < peer_rounds:
                found.measure_peers(others)
        return found.report(others, rows, rounds, peer_rounds)


def make_tables(folder: Path, rows: int, units: int) -> None:
    """Write the table that all are asked about; the same on every machine, as far as DuckDB's hash is."""
    import duckdb  # noqa: PLC0415  the peers' environments have none of ours

    with duckdb.connect() as database:
        database.execute(MADE.format(units=units, rows=rows, path=folder / TABLE))
        for name, part in PARTS.items():
            chosen = f"SELECT * FROM '{folder / TABLE}' WHERE uid % {part} = 0"
            database.execute(f"COPY ({chosen}) TO '{folder / name}'")


class _Ours:
    """The raw queries and our questions, each in a DuckDB of its own and with all its threads."""

    def __init__(self, folder: Path) -> None:
        import duckdb  # noqa: PLC0415  the peers' environments have none of ours

        from inbounds.ledger import Ledger  # noqa: PLC0415
        from inbounds.query import Dataset  # noqa: PLC0415

        self._raw = duckdb.connect()
        self._path = str(folder / TABLE)
        self.ledger = Ledger.open(str(folder / "ledger.db"))

        def opened(name: str, unit: str) -> Dataset:
            text = CONTRACT.format(name=name, path=self._path, unit=unit)
            return Dataset.parse(text, ledger=self.ledger)

        self._datasets = (
            opened("rows", 'unit = "row"'),
            opened("units", f'unit = "uid"\nmax_rows_per_unit = {LIMIT}'),
        )
        alone, units = self._datasets
        self.questions = {
            "rows: count": alone.count(),
            "rows: mean int": alone.mean("age"),
            "rows: mean float": alone.mean("satisfaction"),
            "rows: by clinic": alone.count().by("clinic"),
            "rows: histogram int": alone.histogram("age"),
            "rows: histogram float": alone.histogram("satisfaction", 20),
            "units: count": units.count(),
            "units: mean int": units.mean("age"),
            "units: by clinic": units.count().by("clinic"),
        }

    def __enter__(self) -> Self:
        for name in RAW:  # opens files and ledger, imports what is needed, makes the plans
            self.raw(name)
            self.ask(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for dataset in self._datasets:
            dataset.close()
        self.ledger.close()
        self._raw.close()

    def raw(self, name: str) -> object:
        """Run the query without privacy."""
        return self._raw.execute(RAW[name].format(self._path)).fetchall()

    def ask(self, name: str, epsilon: str = "1") -> object:
        """Ask the question: charge, query, noise, and the answer kept in the ledger."""
        return self.questions[name].ask(epsilon, analyst="ana")

    def run(self, name: str, epsilon: str = "1") -> object:
        """Run the statement of the question, and nothing else."""
        query = self.questions[name]
        return query.dataset.engine.run(query.plan(epsilon).sql)

    def explain(self, name: str, epsilon: str = "1") -> object:
        """Explain the question."""
        return self.questions[name].explain(epsilon)

    def charge(self) -> Any:
        """Make one charge."""
        return self.ledger.charge("rows", "ana", "0.000001", fingerprint="count")


@dataclass
class _Found:
    """What was measured, in seconds, by question."""

    raw: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RAW})
    ours: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RAW})
    statement: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RAW})
    first: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RAW})
    explained: list[float] = field(default_factory=list)
    explained_first: list[float] = field(default_factory=list)
    charged: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    peers: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def measure_ours(self, ours: _Ours, number: int) -> None:
        """Take one round of turns; what is quick has several."""
        for name in RAW:
            for _ in range(5 if name in WITHOUT_UNITS else 2):
                self.raw[name].append(seconds(lambda name=name: ours.raw(name)))  # type: ignore[misc]
                self.ours[name].append(seconds(lambda name=name: ours.ask(name)))  # type: ignore[misc]
                self.statement[name].append(seconds(lambda name=name: ours.run(name)))  # type: ignore[misc]
            new, newer = (f"1.{number:03}{i}{list(RAW).index(name)}" for i in (1, 2))  # nothing is remembered of these
            self.first[name].append(seconds(lambda name=name, new=new: ours.ask(name, new)))  # type: ignore[misc]
            self.explained_first.append(seconds(lambda name=name, new=newer: ours.explain(name, new)))  # type: ignore[misc]
            self.explained.append(seconds(lambda name=name: ours.explain(name)))  # type: ignore[misc]
        receipts: list[Any] = []
        self.charged.append(median_seconds([lambda: receipts.append(ours.charge())] * 100))
        self.kept.append(median_seconds(_keeping(ours, receipts)))

    def measure_peers(self, peers: list[_Peer]) -> None:
        """Ask every peer that works every question."""
        for name in RAW:
            for peer in peers if name not in OURS_ALONE else ():
                if (taken := peer.ask(name)) is not None:
                    self.peers.setdefault((peer.name, name), []).append(taken)

    def report(self, peers: list[_Peer], rows: int, rounds: int, peer_rounds: int) -> Report:
        """Put it into one table."""
        lines = []
        for name in RAW:
            raw, ours = median(self.raw[name]), median(self.ours[name])
            met = ours <= GOAL_RATIO * raw + GOAL_LEDGER
            times = [self.peers.get((peer.name, name)) for peer in peers]
            lines.append(
                (
                    name,
                    _thousandths(raw),
                    _thousandths(ours),
                    f"{self.times_raw(name, self.ours):.2f}",
                    f"{self.times_raw(name, self.statement):.2f}",
                    "met" if met else "MISSED",
                    _thousandths(median(self.first[name])),
                    *("-" if taken is None else _thousandths(min(taken)) for taken in times),
                )
            )
        return Report(
            title=f"Questions to a table of {rows:,} rows, in milliseconds",
            columns=("", "raw", "ours", "/raw", "query", "target", "first", *(peer.name + peer.mark for peer in peers)),
            rows=lines,
            notes=[*self._notes(rows, rounds, peer_rounds), *(peer.note() for peer in peers)],
            measured=self._measured(),
        )

    def times_raw(self, name: str, taken: dict[str, list[float]]) -> float:
        """Return how many times the raw query something took, by turns."""
        return median(ours / raw for ours, raw in zip(taken[name], self.raw[name], strict=True))

    def _notes(self, rows: int, rounds: int, peer_rounds: int) -> list[str]:
        charge, keep = median(self.charged), median(self.kept)
        return [
            f"raw: DuckDB alone; for units the query that weighs rows as we do, by min(1, {LIMIT}/n). ours: a whole "
            "ask, planned before: charge, query, noise, and the answer kept. query: its statement alone, in times raw. "
            "first: the same for a new epsilon, with "
            f"planning and proof. Target: ours <= {GOAL_RATIO:g} raw + {duration(GOAL_LEDGER)}. Medians of {rounds} "
            f"rounds of 5 turns, 2 for units; peers: the best of {peer_rounds}. About {rows // 10:,} units.",
            f"Ledger, one process: {1 / charge:.0f} charges a second; an ask pays {duration(charge)} for its charge "
            f"and {duration(keep)} to keep the answer, both on the disk before it goes on. explain: "
            f"{duration(median(self.explained))} once planned, {duration(median(self.explained_first))} before.",
            "* fewer rows, so not to be compared with the raw query. Peers plan anew each time, keep no durable "
            f"account, and keep at most {LIMIT} rows of a unit instead of weighing all of them.",
        ]

    def _measured(self) -> dict[str, float]:
        found = {"charges per second": 1 / median(self.charged), "seconds: explain": median(self.explained)}
        for name in RAW:
            found[f"seconds: raw, {name}"] = median(self.raw[name])
            found[f"seconds: ours, {name}"] = median(self.ours[name])
            found[f"seconds: first, {name}"] = median(self.first[name])
            found[f"ours / raw, {name}"] = self.times_raw(name, self.ours)
            found[f"statement / raw, {name}"] = self.times_raw(name, self.statement)
        return found | {f"seconds: {peer}, {name}": min(taken) for (peer, name), taken in self.peers.items()}


def _keeping(ours: _Ours, receipts: list[Any]) -> Iterator[Ask]:
    for receipt in receipts:
        yield lambda receipt=receipt: ours.ledger.answered(receipt, "{}")  # type: ignore[misc]


def _thousandths(taken: float) -> str:
    return f"{taken * 1e3:.1f}" if taken < 0.1 else f"{taken * 1e3:.0f}"


# Our side of a peer's process.


class _Peer:
    """A peer in a process of its own; one that does not install or fails is said so, and nothing else is lost."""

    def __init__(self, name: str, folder: Path, interpreter: Path | None) -> None:
        self.name = name
        kind = next(kind for kind in PEERS if kind.__name__ == name)
        self.mark = "*" if kind.few else ""
        self._what = kind.what
        self.problems: dict[str, str] = {}
        self.version = ""
        self._process: subprocess.Popen[str] | None = None
        python = None if interpreter is None else interpreter.absolute().parents[1] / kind.place / "bin" / "python"
        if python is None or not python.exists():
            self.problems["all"] = "not installed here"
            return
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.tables", name, folder],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYSPARK_PYTHON": str(python)},
            text=True,
        )
        self.version = self._read("all") or ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def ask(self, question: str) -> float | None:
        """Return the seconds that a question takes, None if it fails."""
        if self._process is None or "all" in self.problems or question in self.problems:
            return None
        assert self._process.stdin is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        taken: float | None = self._read(question)
        return taken

    def _read(self, about: str) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        watch = Timer(PATIENCE, self._process.kill)
        watch.start()
        line = self._process.stdout.readline()
        watch.cancel()
        if not line:
            self.problems["all"] = f"ended early, or after {PATIENCE:g} s, at {about!r}"
            return None
        answer = json.loads(line)
        if "failed" in answer:
            self.problems[about] = answer["failed"]
        return answer.get("found")

    def note(self) -> str:
        """Say what it is, how many rows it was asked about, and what failed."""
        told = [f"{self.name}{self.mark}: {self.version}; {self._what}." if self.version else f"{self.name}:"]
        told += [f"{'left out' if about == 'all' else about}: {why}." for about, why in self.problems.items()]
        return " ".join(told)


# The peers' side.


class OpenDP:
    """OpenDP on Polars, by its context: each question is a query of one compositor."""

    place: ClassVar = "."
    few: ClassVar = False
    what: ClassVar = "Polars, the same file"

    def __init__(self, folder: Path) -> None:
        dp, pl = import_module("opendp.prelude"), import_module("polars")
        dp.enable_features("contrib")
        self.version = f"opendp {version('opendp')}, polars {version('polars')}"
        table = pl.scan_parquet(folder / TABLE).with_columns(pl.col("age").cast(pl.Int64))  # sums may overflow in less

        def context(**unit: object) -> Any:
            return dp.Context.compositor(
                data=table,
                privacy_unit=dp.unit_of(contributions=1, **unit),
                privacy_loss=dp.loss_of(epsilon=1000.0),
                split_evenly_over=1000,
                margins=[dp.polars.Margin(max_length=20_000_000)],
            )

        alone, units = context(), context(identifier=pl.col("uid"))
        count = dp.len(signed=True)
        age = pl.col("age").fill_null(0).dp.sum((0, 120))
        satisfaction = pl.col("satisfaction").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, 100.0))
        keys = pl.LazyFrame({"clinic": KEYS})

        def kept() -> Any:
            return units.query().truncate_per_group(LIMIT)

        queries: dict[str, Callable[[], Any]] = {
            "rows: count": lambda: alone.query().select(count),
            "rows: mean int": lambda: alone.query().select(age, count),
            "rows: mean float": lambda: alone.query().select(satisfaction, count),
            "rows: by clinic": lambda: alone.query().group_by("clinic").agg(count).with_keys(keys),
            "units: count": lambda: kept().select(count),
            "units: mean int": lambda: kept().select(age, count),
            "units: by clinic": lambda: kept().group_by("clinic").agg(count).with_keys(keys),
        }
        self.asks: dict[str, Ask] = {
            name: lambda query=query: query().release().collect()  # type: ignore[misc]
            for name, query in queries.items()
        }


class SmartNoise:
    """SmartNoise SQL on SQLite in memory."""

    place: ClassVar = "smartnoise"
    few: ClassVar = True
    what: ClassVar = "SQLite in memory, the rows of every 10th unit"

    def __init__(self, folder: Path) -> None:
        snsql = import_module("snsql")
        self.version = f"smartnoise-sql {version('smartnoise-sql')}"
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE visits (uid INTEGER, age INTEGER, satisfaction REAL, clinic TEXT)")
        with open(folder / "tenth.csv", newline="") as file:
            lines = csv.reader(file)
            next(lines)
            database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", lines)
        columns = {
            "age": {"type": "int", "lower": 0, "upper": 120},
            "satisfaction": {"type": "float", "lower": 0.0, "upper": 100.0},
            "clinic": {"type": "string"},
            "censor_dims": False,
        }
        by_unit = {"uid": {"type": "int", "private_id": True}, "max_ids": LIMIT, "sample_max_ids": True}

        def reader(told: dict[str, object]) -> Any:
            metadata = {"": {"main": {"visits": columns | told}}}
            privacy = snsql.Privacy(epsilon=1.0, delta=1e-9)
            return snsql.from_connection(database, privacy=privacy, metadata=metadata, engine="sqlite")

        alone, units = reader({"row_privacy": True}), reader(by_unit)
        count, mean = "SELECT COUNT(*) FROM main.visits", "SELECT AVG(age) FROM main.visits"
        by_clinic = "SELECT clinic, COUNT(*) FROM main.visits GROUP BY clinic"
        self.asks: dict[str, Ask] = {
            "rows: count": lambda: alone.execute(count),
            "rows: mean int": lambda: alone.execute(mean),
            "rows: mean float": lambda: alone.execute("SELECT AVG(satisfaction) FROM main.visits"),
            "rows: by clinic": lambda: alone.execute(by_clinic),
            "units: count": lambda: units.execute(count),
            "units: mean int": lambda: units.execute(mean),
            "units: by clinic": lambda: units.execute(by_clinic),
        }


class Tumult:
    """Tumult Analytics on a local Spark."""

    place: ClassVar = "tumult"
    few: ClassVar = True
    what: ClassVar = "local Spark, the rows of every 100th unit"

    def __init__(self, folder: Path) -> None:
        tm = import_module("tmlt.analytics")
        os.environ.setdefault("JAVA_HOME", _java())
        settings = {
            "spark.sql.shuffle.partitions": "4",
            "spark.driver.memory": "4g",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        builder = import_module("pyspark.sql").SparkSession.builder.master("local[*]").config(map=settings)
        table = builder.getOrCreate().read.parquet(str(folder / "hundredth.parquet"))
        self.version = f"tmlt.analytics {version('tmlt.analytics')}, pyspark {version('pyspark')}"

        def session(change: object) -> Any:
            return tm.Session.from_dataframe(tm.PureDPBudget(float("inf")), "visits", table, protected_change=change)

        alone, units = session(tm.AddOneRow()), session(tm.AddRowsWithID("uid"))
        keys = tm.KeySet.from_dict({"clinic": list(KEYS)})

        def rows() -> Any:
            return tm.QueryBuilder("visits")

        def kept() -> Any:
            return rows().enforce(tm.MaxRowsPerID(LIMIT))

        def evaluated(session: Any, query: Any) -> object:
            return session.evaluate(query, tm.PureDPBudget(1)).collect()

        self.asks: dict[str, Ask] = {
            "rows: count": lambda: evaluated(alone, rows().count()),
            "rows: mean int": lambda: evaluated(alone, rows().average("age", 0, 120)),
            "rows: mean float": lambda: evaluated(alone, rows().average("satisfaction", 0.0, 100.0)),
            "rows: by clinic": lambda: evaluated(alone, rows().groupby(keys).count()),
            "units: count": lambda: evaluated(units, kept().count()),
            "units: mean int": lambda: evaluated(units, kept().average("age", 0, 120)),
            "units: by clinic": lambda: evaluated(units, kept().groupby(keys).count()),
        }


PEERS = (OpenDP, SmartNoise, Tumult)


def _java() -> str:
    return subprocess.run([ROOT / "scripts" / "java"], capture_output=True, text=True, check=True).stdout.strip()


def serve(name: str, folder: Path) -> None:
    """Answer questions until the input ends; what the peer itself prints goes elsewhere."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(action: Callable[[], object]) -> bool:
        try:
            answer = {"found": action()}
        except Exception as problem:  # noqa: BLE001 - whatever a peer fails with is what is found of it
            answer = {"failed": " ".join(f"{type(problem).__name__} {problem}".split())[:150]}
        print(json.dumps(answer), file=channel, flush=True)
        return "found" in answer

    found: list[Any] = []

    def start() -> str:
        found.append(next(kind for kind in PEERS if kind.__name__ == name)(folder))
        return str(found[0].version)

    if reply(start):
        for line in sys.stdin:
            ask = found[0].asks[line.strip()]
            reply(lambda ask=ask: seconds(ask))  # type: ignore[misc]


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
