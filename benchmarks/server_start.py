"""How long a server takes from nothing to its first answer, beside importing what it is made of."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.report import Report, at_most, duration
from benchmarks.served_clinic import ServedClinic, contract

GOAL = 2.0


def run(rounds: int) -> Report:
    """Start the server and import its parts in turn."""
    started, imported = [], []
    with tempfile.TemporaryDirectory() as folder:
        clinic = ServedClinic.build(Path(folder), {"visits": contract("visits", 5, 1)}, 1)
        for _ in range(rounds):
            imported.append(_import("import fastapi, uvicorn, duckdb"))
            begun = perf_counter()
            with clinic.running():
                started.append(perf_counter() - begun)
    ours, theirs = median(started), median(imported)
    return Report(
        title="Cold start of a server",
        columns=("", "median", "target"),
        rows=[
            ("from the process to the first answer of /healthz", duration(ours), at_most(GOAL, ours)),
            ("python -c 'import fastapi, uvicorn, duckdb'", duration(theirs), ""),
        ],
        notes=[f"{rounds} rounds, in turn; the files were read before."],
        measured={"cold start": ours, "imports": theirs},
    )


def _import(statement: str) -> float:
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return perf_counter() - begun
