"""Charges from many processes at once, beside what the disk and a bare SQLite allow."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from threading import Event
from time import perf_counter
from urllib.parse import quote
from uuid import uuid4

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report
from inbounds.ledger import Ledger
from inbounds.ledger.stores.sqlite_connection import PAUSE

PROCESSES = 16

GOAL = 400
"""Charges a second, where the disk allows it."""

SERVER = os.environ.get("INBOUNDS_TEST_POSTGRES", "")

Deed = Callable[[], object]


def run(peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Measure charges, bare transactions and flushes of the disk in turn."""
    rounds, seconds = (1, 1.0) if quick else (5, 2.0)
    deeds: dict[str, tuple[Callable[[str], Deed], int]] = {
        "flushes of the disk, 1 process": (flusher, 1),
        "bare SQLite transactions": (bare, PROCESSES),
        "charges, SQLite": (charger, PROCESSES),
        "charges, SQLite, 1 process": (charger, 1),
        "bare: open, update, close, 1 process": (bare_visitor, 1),
        "open, charge, close, 1 process": (visitor, 1),
    }
    if SERVER:
        deeds["charges, PostgreSQL"] = (charger, PROCESSES)
    rates: dict[str, list[float]] = {name: [] for name in deeds}
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, schema() as server:
        for number in range(rounds):
            for name, (make, processes) in deeds.items():
                where = server if "PostgreSQL" in name else f"{folder}/{make.__name__}{processes}-{number}"
                rates[name].append(rate(make, where, processes, seconds))

    ours = rates["charges, SQLite"]

    def of(other: str) -> str:
        share = median(rate / theirs for rate, theirs in zip(rates[other], ours, strict=True))
        return f"{share:.2f}x"

    goal = f">= {GOAL} {'met' if median(ours) >= GOAL else 'MISSED'}"
    rows = [(name, f"{median(found):.0f}/s", of(name), goal if found is ours else "") for name, found in rates.items()]
    return Report(
        title="Charges to a ledger",
        columns=("", "median", "of ours", "target"),
        rows=rows,
        notes=[
            f"{PROCESSES} processes unless said otherwise; every charge is on the disk when it returns. "
            f"Medians of {rounds} rounds of {seconds:g} s, taken in turn. The target is for disks that allow it."
            + ("" if SERVER else " No PostgreSQL: INBOUNDS_TEST_POSTGRES holds no URL.")
        ],
        measured={f"per second: {name}": median(found) for name, found in rates.items()},
    )


def flusher(where: str) -> Deed:
    """Return what writes one page and waits until the disk has it, as the least that a durable charge must do."""
    file = os.open(where, os.O_CREAT | os.O_RDWR)
    page = bytes(4096)

    def flush() -> None:
        os.pwrite(file, page, 0)
        os.fsync(file)

    return flush


def bare(where: str) -> Deed:
    """Return one update in a transaction of its own, with the ledger's settings and its patience."""
    file = sqlite3.connect(where, isolation_level=None, timeout=0)
    waiting = Event()

    def patiently(sql: str) -> None:
        while True:
            try:
                file.execute(sql)
            except sqlite3.OperationalError:
                waiting.wait(PAUSE)
            else:
                return

    def update() -> None:
        patiently("BEGIN IMMEDIATE")
        file.execute("UPDATE spending SET spent = spent + 1")
        file.execute("COMMIT")

    patiently("PRAGMA journal_mode = WAL")
    patiently("PRAGMA synchronous = FULL")
    patiently("CREATE TABLE IF NOT EXISTS spending (spent INTEGER)")
    patiently("INSERT INTO spending SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM spending)")
    return update


def charger(where: str) -> Deed:
    """Return one charge."""
    ledger = Ledger.open(where)
    ledger.open_dataset("clinic", 10**6, per_analyst=10**6)
    return lambda: ledger.charge("clinic", f"analyst {os.getpid()}", "0.000001", fingerprint="count")


def visitor(where: str) -> Deed:
    """Return what a program does that charges once: open the ledger, charge, close it."""
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 10**6, per_analyst=10**6)

    def visit() -> None:
        with Ledger.open(where) as ledger:
            ledger.charge("clinic", "ada", "0.000001", fingerprint="count")

    return visit


def bare_visitor(where: str) -> Deed:
    """Return the same with SQLite alone."""
    bare(where)

    def visit() -> None:
        with closing(sqlite3.connect(where, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = FULL")
            file.execute("UPDATE spending SET spent = spent + 1")

    return visit


def rate(make: Callable[[str], Deed], where: str, processes: int, seconds: float) -> float:
    """Return how many deeds a second the processes do together."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with context.Pool(processes, _prepare, (barrier,)) as pool:
        done = pool.starmap(_count, [(make, where, seconds)] * processes, chunksize=1)
    return sum(done) / seconds


_barriers: list[Barrier] = []


def _prepare(barrier: Barrier) -> None:
    _barriers.append(barrier)


def _count(make: Callable[[str], Deed], where: str, seconds: float) -> int:
    deed = make(where)
    _barriers[0].wait()
    end = perf_counter() + seconds
    count = 0
    while perf_counter() < end:
        deed()
        count += 1
    return count


@contextmanager
def schema() -> Iterator[str]:
    """Yield the URL of a schema of its own, if there is a server."""
    if not SERVER:
        yield ""
        return
    import psycopg  # noqa: PLC0415  only whoever has a server comes here

    name = f"ledger_{uuid4().hex}"
    with closing(psycopg.connect(SERVER, autocommit=True)) as server:
        server.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{SERVER}{'&' if '?' in SERVER else '?'}options={quote(f'-csearch_path={name}')}"
        server.execute(f"DROP SCHEMA {name} CASCADE".encode())


if __name__ == "__main__":
    print(run(quick=False))
