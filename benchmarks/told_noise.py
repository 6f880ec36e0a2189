"""The expected noise beside answers, over the mean error that many draws from the same plan have.

Statements run once; a plan's answers are drawn again and again around their totals.  Told noise depends on what was
released, so its median over the draws is taken.  Draws beside which no number is shown, because their interval is the
whole range, count in neither; where that is more than a tenth, nothing is compared.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.helpers.drawn_answers import KINDS, MEASURES, AskedOften, Drawn

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series

ROWS = (200, 2000, 20_000)
EPSILONS = (0.1, 0.5, 1, 3, 5)
LOW, HIGH = 0.85, 1.15
MOSTLY = 0.9
"""Where fewer draws than that show a number, those that do are a chosen few."""

FEWEST_ERRORS = 100
"""Where noise is mostly 0, a mean error of fewer than so many errors is not told from another."""

SAMPLES, CHEAP = 1000, 8000
DRAWS = {"COUNT": CHEAP, "COUNT DISTINCT": CHEAP, "PROPORTION": CHEAP, "HISTOGRAM": 400, "ROLLUP": 400, "CORR": 600}
UNTOLD = ("SUM / COUNT DISTINCT", "CDF")
"""No noise is told beside these."""


def run(_peers: PeerProcess | None = None, *, quick: bool) -> Series:
    """Draw, and compare: where each row is a unit, and where units have several rows."""
    reports = [_report(rows, several, quick) for several in (False, True) for rows in ROWS[: 2 if quick else 3]]
    every = {name: value for report in reports for name, value in report.measured.items()}
    missed = [f"{name}: {value:.2f}" for name, value in every.items() if not LOW <= value <= HIGH]
    return Series(
        tuple(reports),
        [
            f"Told noise over realised, {LOW} to {HIGH}: {'met' if not missed else 'MISSED'} in {len(every)} cells. "
            f"{'; '.join(missed)}",
            f"Nothing is told beside {', '.join(UNTOLD)}.",
        ],
    )


def _report(rows: int, several: bool, quick: bool) -> Report:
    names = [name for name in MEASURES if name not in UNTOLD]
    lines, measured = [], {}
    with tempfile.TemporaryDirectory(prefix="bench-noise-") as folder:
        for kind in KINDS:
            with AskedOften(kind, rows, several=several, ledger=Path(folder) / f"{kind}.db") as asked:
                for name in names:
                    cells = []
                    for epsilon in EPSILONS:
                        draws = DRAWS.get(name, SAMPLES) // (4 if quick else 1)
                        found = _ratio(asked.draw(name, epsilon, draws))
                        if found is not None:
                            whose = "several rows a unit" if several else "rows"
                            measured[f"{name}, {kind}, {rows} {whose}, epsilon {epsilon}"] = found
                        cells.append("-" if found is None else f"{found:.2f}")
                    lines.append((f"{name}, {kind}", *cells))
    return Report(
        title=f"Told noise over realised: {rows:,} rows{', several for each unit' if several else ''}",
        columns=("measure, values", *(f"{epsilon:g}" for epsilon in EPSILONS)),
        rows=lines,
        notes=["By epsilon. -: mostly nothing learnt, or too few errors to tell."],
        measured=measured,
    )


def _ratio(drawn: Drawn) -> float | None:
    """Return told noise over realised; None where there is nothing to compare."""
    if drawn.shown.mean() < MOSTLY or (drawn.errors[drawn.shown] > drawn.rounded).sum() < FEWEST_ERRORS:
        return None
    return drawn.told / drawn.realised
